"""A published release, and the names of files in a run folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from smc_dp.core.errors import InputError
from smc_dp.data.bounds import Bounds
from smc_dp.methods.model import Weights
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.run.agreement import Agreement

SHARES, RELEASE, TRANSCRIPT, TIMINGS = "shares.json", "release.json", "transcript.jsonl", "timings.json"
AUXILIARY, STUDY, COSIGNED = "auxiliary.json", "study.json", "transcript.cosigned"


@dataclass(frozen=True)
class PublishedRelease:
    """Release as it is published: all that Dave needs to classify rows, or a description of rows, and the guarantee.

    `result`: weights, d floats for two classes, d for each of more; or a description. `privacy` and `parameters` are
    JSON objects; `insecure` holds the reasons why the run protects nobody, if any. `coefficients`: what
    `make_coefficients` makes of the weights, or what a file states in its place; None in an earlier release, and
    beside a description. `inference`: what `make_intervals` makes of the published sums, of a method with intervals.
    """

    result: Weights | DescribeResult
    agreement: Agreement
    privacy: Mapping[str, Any]
    parameters: Mapping[str, Any]
    insecure: tuple[str, ...] = ()
    coefficients: Mapping[str, Any] | None = None
    inference: Mapping[str, Any] | None = None

    @property
    def weights(self) -> Weights:
        """Weights of the classifier; raises InputError for a release that is none."""
        if isinstance(self.result, DescribeResult):
            raise InputError("release.no_classifier", name=self.agreement.method.name)
        return self.result

    @property
    def description(self) -> DescribeResult | None:
        """Description of the rows, where the release is one."""
        return self.result if isinstance(self.result, DescribeResult) else None

    @property
    def bounds(self) -> Bounds:
        """Public bounds of the columns; the label is set."""
        return self.agreement.bounds

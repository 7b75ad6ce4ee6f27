"""A published release, and the names of files in a run folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from smc_dp.data.bounds import Bounds
from smc_dp.methods.model import Weights
from smc_dp.run.agreement import Agreement

SHARES, RELEASE, TRANSCRIPT, TIMINGS = "shares.json", "release.json", "transcript.jsonl", "timings.json"
AUXILIARY, STUDY = "auxiliary.json", "study.json"


@dataclass(frozen=True)
class PublishedRelease:
    """Release as it is published: all that Dave needs to classify rows, and the guarantee.

    `weights`: d floats for two classes, d for each of more. `privacy` and `parameters` are JSON objects; `insecure`
    holds the reasons why the run protects nobody, if any. `coefficients`: what `make_coefficients` makes of the
    weights, or what a file states in its place; None in an earlier release. `inference`: what
    `make_intervals` makes of the published sums, of a method that has intervals.
    """

    weights: Weights
    agreement: Agreement
    privacy: Mapping[str, Any]
    parameters: Mapping[str, Any]
    insecure: tuple[str, ...] = ()
    coefficients: Mapping[str, Any] | None = None
    inference: Mapping[str, Any] | None = None

    @property
    def bounds(self) -> Bounds:
        """Public bounds of the columns; the label is set."""
        return self.agreement.bounds

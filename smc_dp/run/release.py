"""A published release, and the names of the files in a run folder."""

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
    """What Dave needs to classify: the weights, the public bounds; and what is guaranteed.

    `weights`: d floats for two classes, d for each of more. `agreement` is what the parties agreed on. `privacy` and
    `parameters` are JSON objects; `insecure` holds the reasons why the run protects nobody, if any.
    """

    weights: Weights
    agreement: Agreement
    privacy: Mapping[str, Any]
    parameters: Mapping[str, Any]
    insecure: tuple[str, ...] = ()

    @property
    def bounds(self) -> Bounds:
        """What is publicly known of the columns; the label is set."""
        return self.agreement.bounds

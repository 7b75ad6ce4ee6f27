"""Report of a run to the person who started it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from smc_dp.core.errors import Fault
from smc_dp.methods.expected_accuracy import ExpectedAccuracy
from smc_dp.methods.personal import PersonalAccuracy
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.privacy.ledger.history import Standing
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.run.agreement import REASONS, Agreement
from smc_dp.run.metrics import Metrics
from smc_dp.run.protocols.cost import Cost
from smc_dp.run.regression_metrics import RegressionComparison

SIMULATION_ONLY = ("accuracy", "metrics", "baselines", "personalised", "loss")
"""Fields of a report that need everybody's rows in one place."""
SIGNAL = "signal"
"""Optional field of a report: the signal that follows from the true number of rows."""
SIMULATION_CAVEAT = (
    "Exact figures of private rows, without noise: they need everybody's data in one place, as a simulation has it. "
    "They are no part of the release, and the privacy statement does not cover them: do not publish them."
)
"""Warning beside the fields `SIMULATION_ONLY`."""


@dataclass(frozen=True)
class Comparison:
    """Test accuracies of a simulation: the release, each party alone, all rows pooled, the majority class.

    `metrics`: all figures of the release on the test rows.

    `smallest_rows`: number of rows of the smallest party, None unless they set the noise. `baseline_lambda`: lambda of
    the models compared with, where the method has none. `without_noise`: the same method on the same rows. `rows`:
    number of test rows. `weighted`: whether the release has weights of rows, which the models compared with have not.
    `personalised`: what each party has for itself; None where it was not computed.
    The figures need the rows of everybody, so only a simulation has them, and no file that is meant to be shared.
    """

    accuracy: float
    individual: dict[str, float]
    pooled: float
    majority: float
    smallest_rows: int | None
    baseline_lambda: float | None = None
    without_noise: float | None = None
    rows: int | None = None
    metrics: Metrics | None = None
    weighted: bool = False
    personalised: Mapping[str, PersonalAccuracy] | None = None

    @property
    def margin(self) -> float:
        """Two standard errors of the accuracy on so many rows: a smaller difference says nothing."""
        return 2 * math.sqrt(self.accuracy * (1 - self.accuracy) / self.rows) if self.rows else 0.0

    def compared_beyond_chance(self) -> tuple[int, int]:
        """Return how many parties alone the release beats, and how many beat it, by more than the margin."""
        alone = self.individual.values()
        return sum(x < self.accuracy - self.margin for x in alone), sum(x > self.accuracy + self.margin for x in alone)

    @property
    def lost(self) -> float | None:
        """Accuracy lost to noise; below 0 where noise happened to help."""
        return None if self.without_noise is None else self.without_noise - self.accuracy

    def loses_more_than(self, planned: float) -> bool:
        """Return whether noise cost more than this, by more than the margin: on few test rows it varies by chance."""
        return self.lost is not None and self.lost > planned + self.margin


@dataclass(frozen=True)
class Presence:
    """Parties whose contributions are in the release, that dropped out of the session, or of an earlier one."""

    took_part: tuple[str, ...]
    dropped_out: tuple[str, ...]
    left_out: tuple[str, ...]

    def as_dict(self) -> dict[str, list[str]]:
        """Return plain values for JSON."""
        named = {"took_part": self.took_part, "dropped_out": self.dropped_out, "left_out": self.left_out}
        return {name: list(names) for name, names in named.items()}


@dataclass(frozen=True)
class Report:
    """Report of a run; `comparison` is None without rows to test on.

    `simulated`: link and topology. `standings`: each party's budget after the run, empty without ledgers. `remarks`:
    warnings about the session and the ledgers. `signal`: see `HasSignal`; `planned`: the expected accuracy; None
    where no public figures give them. `described`: the description, where the release is one; `inference`: that of the
    release, where it has one. `regression`: figures on test rows of a release that predicts a number.
    """

    agreement: Agreement
    simulated: Mapping[str, str]
    comparison: Comparison | None
    cost: Cost | None
    run_dir: Path
    standings: Mapping[str, Standing] = field(default_factory=dict)
    remarks: tuple[Fault, ...] = ()
    present: Presence | None = None
    signal: float | None = None
    planned: ExpectedAccuracy | None = None
    described: DescribeResult | None = None
    inference: Mapping[str, Any] | None = None
    regression: RegressionComparison | None = None

    @property
    def worse_than_planned(self) -> bool | None:
        """True where noise cost more than planned, by more than chance; None where one of the two is not known."""
        if self.comparison is None or self.comparison.lost is None or self.planned is None:
            return None
        return self.comparison.loses_more_than(self.planned.interval.high)

    @property
    def privacy(self) -> PrivacyStatement:
        """Privacy statement of the release."""
        return self.agreement.statement

    @property
    def insecure(self) -> tuple[str, ...]:
        """Reasons why the run is insecure, if it is."""
        return tuple(REASONS[mark] for mark in self.agreement.marks)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; `simulation_only` names the fields that no party of a real run could know."""
        compared = self.comparison
        fields = [*SIMULATION_ONLY, *([] if self.signal is None else [SIGNAL])]
        lam = getattr(self.agreement.method, "lam", None)
        budgets = {name: standing.as_dict() for name, standing in self.standings.items()}
        return {
            "method": self.agreement.method.name,
            "protocol": self.agreement.protocol,
            "parties": len(self.agreement.parties),
            "dimension": self.agreement.bounds.dimension,
            **(self.present.as_dict() if self.present and self.agreement.terms.tolerates_dropouts else {}),
            **({} if lam is None else {"lambda": lam}),
            "calibration": self.agreement.target.calibration,
            "accuracy": compared.accuracy if compared else None,
            "metrics": compared.metrics.as_dict() if compared and compared.metrics else None,
            "baselines": {
                "individual": compared.individual if compared else None,
                "pooled": compared.pooled if compared else None,
                **({"lambda": compared.baseline_lambda} if compared and compared.baseline_lambda is not None else {}),
            },
            "personalised": _personalised(compared),
            "loss": {
                "without_noise": compared.without_noise if compared else None,
                "lost": compared.lost if compared else None,
                "planned": self.planned.as_dict() if self.planned else None,
                "worse_than_planned": self.worse_than_planned,
            },
            **({SIGNAL: self.signal} if self.signal is not None else {}),
            "simulation_only": {"fields": fields, "caveat": SIMULATION_CAVEAT},
            **({} if self.regression is None else {"regression": self.regression.as_dict()}),
            **({} if self.inference is None else {"inference": dict(self.inference)}),
            **({} if self.described is None else {"description": self.described.as_dict()}),
            "privacy": self.privacy.as_dict(),
            "cost": self.cost.as_dict() if self.cost else None,
            "run_dir": str(self.run_dir),
            **({"budgets": budgets} if budgets else {}),
            **({"remarks": list(map(str, self.remarks))} if self.remarks else {}),
        }


def _personalised(compared: Comparison | None) -> dict[str, Any] | None:
    if compared is None or compared.personalised is None:
        return None
    return {name: asdict(one) for name, one in compared.personalised.items()}

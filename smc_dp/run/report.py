"""What a run tells the person who started it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from smc_dp.core.errors import Fault
from smc_dp.methods.expected_accuracy import ExpectedAccuracy
from smc_dp.privacy.ledger.history import Standing
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.run.agreement import REASONS, Agreement
from smc_dp.run.protocols.cost import Cost

SIMULATION_ONLY = ("accuracy", "baselines", "loss")
"""The fields of a report that need everybody's rows in one place."""
SIGNAL = "signal"
"""A field of a report, where there is one: what the true number of rows led to expect."""
CAVEAT = (
    "Exact figures of private rows, without noise: they need everybody's data in one place, as a simulation has it. "
    "They are no part of the release, and the privacy statement does not cover them: do not publish them."
)


@dataclass(frozen=True)
class Comparison:
    """Test accuracies of a simulation: the release, each party alone, all rows pooled, the majority class.

    `smallest`: how many rows the smallest party has, where they set the noise. `stated_lambda`: that of the models that
    it is compared with, where its method has none. `without_noise`: the same method on the same rows. All of it needs
    the rows of everybody, so it exists in simulations only and is never written to a file that is meant to be shared.
    """

    accuracy: float
    individual: dict[str, float]
    pooled: float
    majority: float
    smallest: int | None
    stated_lambda: float | None = None
    without_noise: float | None = None

    @property
    def lost(self) -> float | None:
        """To noise; below 0 where it happened to help."""
        return None if self.without_noise is None else self.without_noise - self.accuracy


@dataclass(frozen=True)
class Presence:
    """Whose parts are in the release, who was gone before its end, and who was left out because it vanished before."""

    took_part: tuple[str, ...]
    vanished: tuple[str, ...]
    left_out: tuple[str, ...]

    def as_dict(self) -> dict[str, list[str]]:
        """Plain values for JSON."""
        return {name: list(names) for name, names in asdict(self).items()}


@dataclass(frozen=True)
class Report:
    """What came of a run; `comparison` is None without rows to test on.

    `simulated`: the link and the topology of the simulation. `standings`: how each party's budget stands now, empty
    without ledgers. `remarks`: what somebody should know of the session and the ledgers. `present`: who
    was there. `signal`: what was to be expected of so many rows, where public figures say it; see `HasSignal`.
    `planned`: the loss that was, where a plan says it.
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

    @property
    def worse_than_planned(self) -> bool | None:
        """Whether more was lost to noise than planned; None where one of the two is not known."""
        lost = None if self.comparison is None else self.comparison.lost
        return None if lost is None or self.planned is None else lost > self.planned.interval.high

    @property
    def _loss(self) -> dict[str, Any]:
        compared = self.comparison
        return {
            "without_noise": compared.without_noise if compared else None,
            "lost": compared.lost if compared else None,
            "planned": self.planned.as_dict() if self.planned else None,
            "worse_than_planned": self.worse_than_planned,
        }

    @property
    def privacy(self) -> PrivacyStatement:
        """What the release guarantees."""
        return self.agreement.statement

    @property
    def insecure(self) -> tuple[str, ...]:
        """Why the run protects nobody, if it does not."""
        return tuple(REASONS[mark] for mark in self.agreement.marks)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; `simulation_only` names the fields that no party of a real run could know."""
        compared = self.comparison
        fields = [*SIMULATION_ONLY, *([] if self.signal is None else [SIGNAL])]
        budgets = {name: standing.as_dict() for name, standing in self.standings.items()}
        return {
            "method": self.agreement.method.name,
            "protocol": self.agreement.protocol,
            "parties": len(self.agreement.parties),
            "dimension": self.agreement.bounds.dimension,
            **(self.present.as_dict() if self.present and self.agreement.terms.can_lose_parties else {}),
            "calibration": self.agreement.target.calibration,
            "accuracy": compared.accuracy if compared else None,
            "baselines": {
                "individual": compared.individual if compared else None,
                "pooled": compared.pooled if compared else None,
                **({"lambda": compared.stated_lambda} if compared and compared.stated_lambda is not None else {}),
            },
            "loss": self._loss,
            **({SIGNAL: self.signal} if self.signal is not None else {}),
            "simulation_only": {"fields": fields, "caveat": CAVEAT},
            "privacy": self.privacy.as_dict(),
            "cost": self.cost.as_dict() if self.cost else None,
            "run_dir": str(self.run_dir),
            **({"budgets": budgets} if budgets else {}),
            **({"remarks": list(map(str, self.remarks))} if self.remarks else {}),
        }

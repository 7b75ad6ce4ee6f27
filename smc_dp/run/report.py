"""What a run tells the person who started it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from smc_dp.aggregation import Cost
from smc_dp.ledger.history import Standing
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.run.agreement import REASONS, Agreement


@dataclass(frozen=True)
class Comparison:
    """Test accuracies of a simulation: the release, each party alone, all rows pooled, the majority class.

    They need the rows of everybody, so they exist in simulations only and are never written to a file that is meant to
    be shared.
    """

    accuracy: float
    individual: dict[str, float]
    pooled: float
    majority: float


@dataclass(frozen=True)
class Report:
    """What came of a run; `comparison` is None without rows to test on.

    `simulated`: the link and the topology of the simulation. `standings`: how each party's budget stands now, empty
    without ledgers.
    """

    agreement: Agreement
    simulated: Mapping[str, str]
    comparison: Comparison | None
    cost: Cost | None
    run_dir: Path
    standings: Mapping[str, Standing] = field(default_factory=dict)

    @property
    def privacy(self) -> PrivacyStatement:
        """What the release guarantees."""
        return self.agreement.statement

    @property
    def insecure(self) -> tuple[str, ...]:
        """Why the run protects nobody, if it does not."""
        return tuple(REASONS[mark] for mark in self.agreement.marks)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        compared = self.comparison
        budgets = {name: standing.as_dict() for name, standing in self.standings.items()}
        return {
            "method": self.agreement.method.name,
            "protocol": self.agreement.protocol,
            "parties": len(self.agreement.parties),
            "dimension": self.agreement.bounds.dimension,
            "calibration": self.agreement.target.calibration,
            "accuracy": compared.accuracy if compared else None,
            "baselines": {
                "individual": compared.individual if compared else None,
                "pooled": compared.pooled if compared else None,
            },
            "privacy": self.privacy.as_dict(),
            "cost": self.cost.as_dict() if self.cost else None,
            "run_dir": str(self.run_dir),
            **({"budgets": budgets} if budgets else {}),
        }

"""Small honest runs of many kinds, each unlike another in some fact of its assessment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from smc_dp import audit_run, run_protocol
from smc_dp.audit.run import checks
from smc_dp.audit.run.check import Check
from smc_dp.audit.run.report import AuditReport
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import CategoricalColumn, NumericColumn
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.sources import PreparedData
from smc_dp.methods.gradients.newton import Newton
from smc_dp.privacy.target import Target
from support.audited import charged_run, hospitals, sum_agreement
from support.audits import OF_THE_RUN
from support.deployed import deployed

DATA = hospitals((12, 8, 20), 2)
FIVE = hospitals((12, 8, 20, 10, 14), 3)


@dataclass(frozen=True)
class Audited:
    """A run folder with what its auditor is given."""

    run: Path
    identities: Path | None = None
    views: Path | None = None

    ledgers: Path | None = None

    def report(self, of: Sequence[Check] = OF_THE_RUN) -> AuditReport:
        """Audit the run by these checks; those of the code have tests of their own."""
        with patch.object(checks, "CHECKS", tuple(of)):
            return audit_run(self.run, identities=self.identities, views=self.views, ledgers=self.ledgers)


def _simulated(data: PreparedData = DATA, method: Any = "newton", **options: Any) -> Callable[[Path], Audited]:
    def make(folder: Path) -> Audited:
        run_protocol(data.federation, bounds=data.bounds, method=method, out=folder / "run", **options)
        return Audited(folder / "run")

    return make


def _known(folder: Path) -> Audited:
    """By identities that the auditor knows, with everybody's views, and ledgers."""
    folder.mkdir()
    made = charged_run(folder)
    return Audited(made.run, folder / "identities.json", made.views, folder / "ledgers")


def _by_sites(folder: Path) -> Audited:
    agreed = sum_agreement(DATA, Newton(), Target(Fraction(1), noise="ddg"), seeded=False)
    return Audited(deployed(DATA, agreed).write(folder, views=False).run)


def _on_public_rows(folder: Path) -> Audited:
    rng = np.random.default_rng(1)
    parties = tuple(Rows(X, (X[:, 0] > 0).astype(np.int64)) for X in rng.uniform(-0.7, 0.7, (4, 12, 2)))
    data = Federation(parties, 2, rng.uniform(-0.7, 0.7, (30, 2)))
    run_protocol(data, method="soft_ss", target=30.0, out=folder / "run")
    return Audited(folder / "run")


def _three_classes() -> PreparedData:
    rng = np.random.default_rng(2)
    parties = {name: Rows(rng.uniform(-0.5, 0.5, (15, 3)), np.arange(15) % 3) for name in ("a", "b")}
    columns = (NumericColumn("age", 0.0, 1.0, "leave out"), CategoricalColumn("sex", ("f", "m")))
    bounds = Bounds(columns, ("low", "mid", "high"), "level", bias=0.0, center=False)
    return PreparedData(Federation(tuple(parties.values()), 3, names=tuple(parties)), None, bounds)


def _with_a_constant() -> PreparedData:
    """For a method that learns a bias."""
    return replace(DATA, bounds=replace(DATA.bounds, columns=DATA.bounds.columns[:1], bias=0.5))


TEST_KEYS = {"key_bits": 256, "insecure_test_keys": True}
HONEST: Mapping[str, Callable[[Path], Audited]] = {
    "newton": _simulated(),
    "more parties and columns": _simulated(FIVE, target=2.0, most_rows=1000, colluders=2),
    "somebody vanishes": _simulated(FIVE, dropouts=1, colluders=0, drop_out={"north-1": 12}),
    "somebody vanishes before": _simulated(FIVE, dropouts=1, colluders=0, drop_out={"north-1": 1}),
    "three classes": _simulated(_three_classes(), Newton("addremove")),
    "rows known": _simulated(method="gd"),
    "from a seed": _simulated(insecure_seed=1),
    "by sites": _by_sites,
    "known": _known,
    "sizes released": _simulated(method="wsum", sizes="released"),
    "by shares": _simulated(method="wsum_ar", output="shares"),
    "of a party": _simulated(method="avg_clip"),
    "noise of its own": _simulated(_with_a_constant(), "ofpa"),
    "public rows": _on_public_rows,
    "the paper's mean": _simulated(method="prr_mean", **TEST_KEYS),
    "as the paper prints the noise": _simulated(method="prr_mean", target=Target(1, "paper"), protocol="linear"),
    "linear": _simulated(method="prr_mean", protocol="linear"),
}

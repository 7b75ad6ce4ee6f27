"""Honest runs of all kinds, odd ones included: no check of a run fails, and none is given up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.audited import Folders, agreement, hospitals
from support.mutants import OF_THE_RUN

from protocols.arithmetic.rng import Stream
from smc_dp.audit.run.report import AuditReport, audit_evidence
from smc_dp.data.bounds import Bounds, CategoricalColumn, Column, NumericColumn
from smc_dp.data.sources import PreparedData
from smc_dp.privacy.target import Target
from smc_dp.run.simulation import simulate_run

NUMBERS = (NumericColumn("x", -1.0, 1.0), NumericColumn("größe\u200b", -1e300, 1e300), NumericColumn("y", 0, 1e-300))
LISTED = (CategoricalColumn("Ort", ("Zürich", "東京", "f\u0301", "1")), CategoricalColumn("one", ("💉",)))
EPSILONS = (Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(1000))
RUNS, PART = 100, 25


@dataclass(frozen=True)
class Odd:
    """One honest run, drawn from its number."""

    number: int
    sizes: tuple[int, ...]
    columns: tuple[Column, ...]
    target: Target
    options: dict[str, Any]
    topology: str

    @classmethod
    def drawn(cls, number: int) -> Odd:
        rng = np.random.default_rng([11, number])
        K = 12 if number % 50 == 7 else int(rng.choice([2, 2, 3, 3, 4, 5]))
        sizes = [9] * K if rng.random() < 0.2 else rng.integers(2, 60, K).tolist()
        columns = [column for column in (*NUMBERS, *LISTED) if rng.random() < 0.4] or [NUMBERS[number % 2]]
        law = Target(
            EPSILONS[int(rng.integers(4))], ("proven", "paper")[rng.random() < 0.2], ("knorm", "laplace")[number % 2]
        )
        options = {"comparison": ("tournament", "all-pairs")[K < 6 and rng.random() < 0.3]}
        topology = "star" if K == 12 or rng.random() < 0.3 else "mesh"
        return cls(number, tuple(sizes), tuple(columns), law, options, topology)

    def run(self, folder: Path) -> Folders:
        bounds = Bounds(self.columns, ("no", "ja \u2713"), "outcome", bias=0.0, center=bool(self.number % 2))
        made = hospitals(self.sizes, bounds.dimension, self.number)
        data, folders = PreparedData(made.federation, None, bounds), Folders(folder / "run", folder / "views")
        agreed = agreement(data, self.target, key_bits=256, **self.options)
        rng = Stream.insecure_from_seed(f"odd {self.number}")
        simulate_run(data, agreed, rng, folders.run, topology=self.topology, views=folders.views)
        return folders


def alarms(report: AuditReport) -> Iterator[str]:
    for finding in report.findings:
        if finding.outcome.status == "failed" or not finding.outcome.finished:
            yield f"{finding.check.name}: {finding.outcome.detail}"


def audited(number: int, folder: Path) -> AuditReport:
    return audit_evidence(Odd.drawn(number).run(folder).evidence(), OF_THE_RUN)


@pytest.mark.parametrize("number", [0, 1])
def test_no_check_fails_for_an_honest_run(number: int, tmp_path: Path) -> None:
    assert list(alarms(audited(number, tmp_path))) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(RUNS // PART))
def test_no_check_fails_in_a_hundred_odd_runs(part: int, tmp_path: Path) -> None:
    found = {n: list(alarms(audited(n, tmp_path / str(n)))) for n in range(part * PART, (part + 1) * PART)}
    assert {n: alarm for n, alarm in found.items() if alarm} == {}


def test_the_odd_kinds_are_all_among_them_and_an_alarm_would_be_heard(tmp_path: Path) -> None:
    every = [Odd.drawn(number) for number in range(RUNS)]
    dimensions = {sum(column.width for column in odd.columns) for odd in every}
    assert 1 in dimensions
    assert {2, 3, 12} <= {len(odd.sizes) for odd in every}
    assert {odd.target.epsilon for odd in every} == set(EPSILONS)
    assert any(len(odd.sizes) == 12 and odd.topology == "star" for odd in every)
    assert all(any(column in odd.columns for odd in every) for column in (*NUMBERS, *LISTED))
    evidence = Odd.drawn(0).run(tmp_path).evidence()
    other = {**evidence.release, "privacy": {**evidence.release["privacy"], "unit": "party"}}
    assert list(alarms(audit_evidence(replace(evidence, release=other), OF_THE_RUN)))

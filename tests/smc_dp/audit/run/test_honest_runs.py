"""No check fails on an honest run, and none is given up, whatever its parameters: random numbers of parties, weights
and rows, odd names and bounds, both topologies, all comparisons, laws of noise and calibrations, equal sizes among
them; with views and without.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.audited import Folders, agreement, hospitals, long_term, toy_run
from support.audits import OF_THE_RUN, audit

from protocols.arithmetic.rng import Stream
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.audit.run.report import AuditReport, audit_evidence
from smc_dp.data.bounds import Bounds, CategoricalColumn, NumericColumn
from smc_dp.data.sources import PreparedData
from smc_dp.privacy.target import Target
from smc_dp.run.simulation import simulate_run

RUNS, EVERYDAY = 50, (1, 2)  # a star with a tournament, a mesh where all are compared
WITHOUT_VIEWS = 4  # the same checks are made with views: one in four runs is audited without, too
WITH_VIEWS = [check for check in OF_THE_RUN if check.group != "conformity"]
COLUMNS = (
    *(NumericColumn("x", -1.0, 1.0), NumericColumn("größe\u200b", -1e300, 1e300), NumericColumn("y", 0, 1e-300)),
    *(CategoricalColumn("Ort", ("Zürich", "東京", "f\u0301", "1")), CategoricalColumn("one", ("💉",))),
)
EPSILONS = (Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(29, 10), Fraction(1000))


def drawn(seed: int) -> dict[str, Any]:
    """The parameters of a run."""
    rng = np.random.default_rng(seed)
    K = 12 if seed % 50 == 7 else int(rng.integers(2, 7))
    sizes = [[9] * K, rng.choice([5, 5, 8, 13, 40], K).tolist(), rng.integers(2, 60, K).tolist()][rng.integers(3)]
    columns = [column for column in COLUMNS if rng.random() < 0.4] or [COLUMNS[seed % 2]]
    return {
        "sizes": tuple(sizes),
        "bounds": Bounds(tuple(columns), ("no", "ja \u2713"), "outcome", bias=0.0, center=bool(rng.integers(2))),
        "target": Target(
            EPSILONS[rng.integers(len(EPSILONS))],
            ("proven", "paper")[rng.integers(2)],
            ("knorm", "laplace")[rng.integers(2)],
        ),
        "lam": int(rng.integers(1, 20)) / 100,
        "topology": ("mesh", "star")[seed % 2],
        "comparison": ("tournament", "all-pairs")[seed // 2 % 2 and K < 12],
        "exponents": ("short", "full")[seed % 3 == 1],
        "link": ("none", "lan", "wan")[rng.integers(3)],
        "key_bits": (256, 384, 512)[rng.integers(3)],
        "identities": long_term(tuple(f"north-{j}" for j in range(K)), seed) if rng.integers(2) else None,
    }


def run(folder: Path, seed: int) -> Folders:
    """The run with these parameters."""
    options, folders = drawn(seed), Folders(folder / "run", folder / "views")
    sizes, bounds = options.pop("sizes"), options.pop("bounds")
    how = {name: options.pop(name) for name in ("topology", "link", "identities")}
    data = PreparedData(hospitals(sizes, bounds.dimension, seed).federation, None, bounds)
    rng = Stream.insecure_from_seed(f"audited {seed}")
    simulate_run(data, agreement(data, **options), rng, folders.run, views=folders.views, **how)
    return folders


def audited(folders: Folders, *, views: bool) -> AuditReport:
    return audit_evidence(folders.evidence(views=views), OF_THE_RUN)


def alarms(report: AuditReport) -> Iterator[str]:
    for finding in report.findings:
        if finding.outcome.status == "failed" or not finding.outcome.finished:
            yield f"{finding.check.name}: {finding.outcome.detail}"


@pytest.mark.parametrize("seed", EVERYDAY)
def test_no_false_alarm(tmp_path, seed):
    assert list(alarms(audited(run(tmp_path, seed), views=True))) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(RUNS))
def test_no_false_alarm_over_many_runs(tmp_path, seed):
    folders = run(tmp_path, seed)
    for views in (True,) if seed % WITHOUT_VIEWS else (True, False):
        assert list(alarms(audited(folders, views=views))) == [], drawn(seed)


def test_with_all_views_every_check_can_be_made(small):
    found = audited(small, views=True).findings
    left_out = {finding.check.name for finding in found if finding.outcome.status == "not possible"}
    of_sums = {"statements", "openings", "members", "commitments"}
    assert left_out <= {"identities", "approvals", "cosigned", "absences", "canaries", *of_sums}


@pytest.mark.parametrize("present", [(1,), (3,), (1, 2), (2, 3)])
def test_any_views_will_do(small, tmp_path, present):
    for number in present:
        shutil.copy(small.views / f"{number}.view", tmp_path)
    assert list(alarms(audit_evidence(load_evidence(small.run, views=tmp_path), WITH_VIEWS))) == []


@pytest.mark.slow
def test_no_false_alarm_with_keys_of_real_length(tmp_path):
    folders = toy_run(tmp_path, (9, 5, 7), 12, key_bits=2048, topology="star")
    assert audit(str(folders.run), "--views", str(folders.views)).code == 0
    assert audit(str(folders.run)).code == 0

"""No check fails on an honest run, whatever its parameters: random numbers of parties, weights and rows, both
topologies, all comparisons, laws of noise and calibrations, equal sizes among them; with views and without.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.audited import Folders, long_term, toy_run
from support.mutants import OF_THE_RUN, audit

from smc_dp.audit.run import report
from smc_dp.audit.run.check import CheckOutcome
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.privacy.target import Target

RUNS, EVERYDAY = 100, (1, 2)  # a star with a tournament, a mesh where all are compared
WITHOUT_VIEWS = 4  # the same checks are made with views: one in four runs is audited without, too
WITH_VIEWS = [check for check in OF_THE_RUN if check.group != "conformity"]


def drawn(seed: int) -> dict[str, Any]:
    """The parameters of a run."""
    rng = np.random.default_rng(seed)
    K, d = int(rng.integers(2, 7)), int(rng.integers(1, 7))
    sizes = tuple(int(n) for n in rng.choice([5, 5, 8, 13, 40], K))
    epsilon, lam = Fraction(int(rng.integers(1, 30)), 10), int(rng.integers(1, 20)) / 100
    target = Target(epsilon, ("proven", "paper")[rng.integers(2)], ("knorm", "laplace")[rng.integers(2)])
    return {
        "sizes": sizes,
        "d": d,
        "target": target,
        "lam": lam,
        "topology": ("mesh", "star")[seed % 2],
        "comparison": ("tournament", "all-pairs")[seed // 2 % 2],
        "exponents": ("short", "full")[seed % 3 == 1],
        "link": ("none", "lan", "wan")[rng.integers(3)],
        "key_bits": (256, 384, 512)[rng.integers(3)],
        "identities": long_term(tuple(f"north-{j}" for j in range(K)), seed) if rng.integers(2) else None,
    }


def outcomes(folders: Folders, *, views: bool) -> dict[str, CheckOutcome]:
    """What each check finds."""
    found = report.audit_evidence(load_evidence(folders.run, views=folders.views if views else None), OF_THE_RUN)
    return {finding.check.name: finding.outcome for finding in found.findings}


def no_alarm(folder: Path, seed: int, given: Iterable[bool]) -> None:
    options = drawn(seed)
    folders = toy_run(folder, options.pop("sizes"), options.pop("d"), seed=seed, **options)
    for views in given:
        failed = {n: o.detail for n, o in outcomes(folders, views=views).items() if o.status == "failed"}
        assert not failed, (seed, options)


@pytest.mark.parametrize("seed", EVERYDAY)
def test_no_false_alarm(tmp_path, seed):
    no_alarm(tmp_path, seed, (True,))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(RUNS))
def test_no_false_alarm_over_many_runs(tmp_path, seed):
    no_alarm(tmp_path, seed, (True,) if seed % WITHOUT_VIEWS else (True, False))


def test_the_seeds_cover_what_they_should():
    options = [drawn(seed) for seed in range(RUNS)]
    for name, values in (("topology", 2), ("comparison", 2), ("exponents", 2), ("link", 3), ("key_bits", 3), ("d", 6)):
        assert len({option[name] for option in options}) == values
    assert {len(option["sizes"]) for option in options} == {2, 3, 4, 5, 6}
    assert sum(option["sizes"].count(min(option["sizes"])) > 1 for option in options) > 25  # ties for the smallest
    assert {(options[i]["topology"], options[i]["comparison"]) for i in EVERYDAY} == {
        ("star", "tournament"),
        ("mesh", "all-pairs"),
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return toy_run(tmp_path_factory.mktemp("made"), (9, 5), 1, key_bits=256)


def test_with_all_views_every_check_can_be_made(made):
    found = outcomes(made, views=True)
    left_out = {name for name, outcome in found.items() if outcome.status == "not possible"}
    of_sums = {"statements", "openings", "members", "commitments"}
    assert left_out <= {"identities", "approvals", "absences", "canaries", *of_sums}


@pytest.mark.parametrize("present", [(1,), (3,), (1, 2), (2, 3)])
def test_any_views_will_do(made, tmp_path, present):
    for number in present:
        shutil.copy(made.views / f"{number}.view", tmp_path)
    found = report.audit_evidence(load_evidence(made.run, views=tmp_path), WITH_VIEWS)
    assert not {f.check.name: f.outcome.detail for f in found.findings if f.outcome.status == "failed"}


@pytest.mark.slow
def test_no_false_alarm_with_keys_of_real_length(tmp_path):
    folders = toy_run(tmp_path, (9, 5, 7), 12, key_bits=2048, topology="star")
    assert audit(str(folders.run), "--views", str(folders.views)).code == 0
    assert audit(str(folders.run)).code == 0

"""Every mutant of a run is caught, with exit code 1, by each check that should; and the honest run by none.

Every day the mutants of a few kinds of messages are tried, with `-m slow` those of all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from support.audited import Folders
from support.mutants import ALL, KINDS, OF_THE_RUN, RECORDS, VIEWS, Bench, Mutant, audit, bench

from smc_dp.audit.run import report
from smc_dp.audit.run.evidence import load_evidence

LEAST = 60  # mutants, over all kinds of messages
EVERYDAY = ("Relay", "PublishedShare")
EVERYDAY_LIARS = ("no mask", "stale blinding", "no noise selected", "the noise taken away", "a match turned round")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bench, Path]:
    folder = tmp_path_factory.mktemp("bench")
    return bench(folder), folder / "identities.json"


def tried(names: Iterable[str]) -> list[Any]:
    """The names, those of most kinds of messages and of most liars marked as slow."""
    often = tuple(f"{kind}:" for kind in EVERYDAY) + EVERYDAY_LIARS
    rare = tuple(f"{kind}:" for kind in KINDS) + tuple(name for name, mutant in VIEWS.items() if mutant.liar)
    slow = [name for name in names if name.startswith(rare) and not name.startswith(often)]
    return [pytest.param(name, marks=pytest.mark.slow) if name in slow else name for name in names]


def failures(folders: Folders, identities: Path, *, views: bool) -> set[str]:
    """The names of the checks that failed."""
    found = report.audit_evidence(load_evidence(folders.run, identities, folders.views if views else None), OF_THE_RUN)
    return {finding.check.name for finding in found.findings if finding.outcome.status == "failed"}


def caught(made: tuple[Bench, Path], mutant: Mutant, folder: Path) -> None:
    honest, identities = made
    folders = mutant.make(honest, folder)
    assert set(mutant.caught_by) <= failures(folders, identities, views=mutant.views)
    if mutant.liar:
        assert failures(folders, identities, views=False) == set()


def test_the_honest_runs_pass(made):
    honest, identities = made
    for folders in (honest.honest, honest.other):
        for views in (False, True):
            assert failures(folders, identities, views=views) == set()


def test_there_are_enough_mutants_over_all_kinds():
    assert len(ALL) >= LEAST
    for kind in KINDS:
        assert sum(name.startswith(f"{kind}:") for name in ALL) >= 9


@pytest.mark.parametrize("name", ["Relay: dropped", "Relay: sealed anew by a liar", "a weight", "no mask"])
def test_the_command_says_what_was_wrong(made, tmp_path, name):
    mutant = ALL[name]
    folders = mutant.make(made[0], tmp_path)
    given = ["--views", str(folders.views)] if mutant.views else []
    found = audit(str(folders.run), "--identities", str(made[1]), *given)
    assert (found.code, found.err) == (1, "")
    assert "FAILED: " in found.out.splitlines()[-1]
    as_json = json.loads(audit(str(folders.run), "--identities", str(made[1]), "--json", *given).out)
    failed = {finding["check"] for finding in as_json["findings"] if finding["status"] == "failed"}
    assert set(mutant.caught_by) <= failed
    assert as_json["first_fault"]["check"] in failed
    assert not as_json["passed"]


@pytest.mark.parametrize("name", tried(RECORDS))
def test_mutants_of_the_record_and_the_release(made, tmp_path, name):
    caught(made, RECORDS[name], tmp_path)


@pytest.mark.parametrize("name", tried(VIEWS))
def test_mutants_that_views_show(made, tmp_path, name):
    caught(made, VIEWS[name], tmp_path)

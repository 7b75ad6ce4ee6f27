"""Each stored mutant of `tests/mutants` is killed: the test that has to notice the fault fails where it is planted."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import mutants_by_room
import pytest
from mutants_by_room import in_turn, known_results, room_of, run_all, summary
from support.pages import ROOT
from support.planted import MUTANTS, Mutant, Planter

SUITE = "tests/support/carrier_suite.py"
"""Tests that classes of other files inherit."""


def test_every_mutant_can_be_planted_and_names_a_test() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) > 0
    for mutant in MUTANTS:
        content = (ROOT / mutant.file).read_text(encoding="utf-8")
        assert content.count(mutant.text) == 1, mutant.name
        assert mutant.text != mutant.replacement, mutant.name
        file, _, test = mutant.killer.partition("::")
        function = re.escape(test.partition("[")[0].rpartition("::")[2])
        tests = [(ROOT / path).read_text(encoding="utf-8") for path in (file, SUITE)]
        assert any(re.search(rf"^\s*def {function}\(", text, re.MULTILINE) for text in tests), mutant.name


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{Path(mutant.file).stem}: {mutant.name}")
def test_a_mutant_is_killed(mutant: Mutant, planter: Planter) -> None:
    assert planter.kills(mutant)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("replacement", "killer"),
    [
        ('__version__ = "0.2.0"  # the same\n', "tests/test_package.py"),
        ('__version__ = "0.2.0"  # no test\n', "tests/test_package.py::test_that_is_not_there"),
    ],
)
def test_a_mutant_that_changes_nothing_or_has_no_killer_survives(
    replacement: str, killer: str, planter: Planter
) -> None:
    harmless = Mutant("harmless", "smc_dp/core/version.py", '__version__ = "0.2.0"\n', replacement, killer)
    assert not planter.kills(harmless)


def test_each_mutant_has_a_room_and_its_likeliest_tests_come_first() -> None:
    assert {room for room in map(room_of, {m.file for m in MUTANTS}) if not (ROOT / room).is_dir()} == set()
    assert room_of("smc_dp/deploy/flare/job.py") == "tests/smc_dp/deploy"
    killer = "tests/smc_dp/core/test_writing.py::test_a"
    inside = Mutant("", "smc_dp/core/version.py", "", "", killer)
    first, files = in_turn(inside)
    assert (first, files[0]) == ([killer], "tests/smc_dp/core/test_writing.py")
    (files,) = in_turn(Mutant("", "smc_dp/audit/run/privacy/x.py", "", "", killer))
    assert all(file.startswith("tests/smc_dp/audit/") for file in files)


@pytest.mark.slow
def test_a_room_kills_or_a_survivor_needs_a_reason(
    tmp_path: Path, planter: Planter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants_by_room, "Planter", lambda *_: planter)
    monkeypatch.setattr(mutants_by_room._Room, "close", lambda _: None)
    harmless = Mutant("harmless", "smc_dp/core/version.py", '"0.2.0"\n', '"0.2.0" \n', "tests/test_package.py::test_a")
    known = next(mutant for mutant in MUTANTS if mutant.name == "Go is not bound to the session")
    run_all([harmless, known], tmp_path / "out", jobs=1)
    found = known_results(tmp_path / "out")
    assert (found["harmless"], found[known.name].partition("::")[0]) == ("", known.killer.partition("::")[0])
    assert not summary([harmless, *[known] * 19], found)[1]
    explained = replace(harmless, survives="it changes nothing")
    assert summary([explained, *[known] * 19], found)[1]
    assert not summary([explained, *[known] * 18], found)[1]

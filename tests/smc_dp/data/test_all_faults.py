"""A run says all that is wrong with all files at once, each line once, and lines that go together in one TOML file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from protocols.errors import Fault
from smc_dp.core.errors import InputError
from smc_dp.data.bounds import parse_bounds
from smc_dp.data.sources import read_own_files
from smc_dp.data.validate_file import validate_file
from tests.support.refusals import refused

BOUNDS = parse_bounds(
    """
[label]
classes = ["no", "yes"]
column = "out"
[columns]
sex = ["f", "m"]
smoker = ["never", "ex", "now"]
seen = [2000-01-01, 2029-12-31]
"""
)
NORTH = "sex,smoker,seen,out\n1,n,01/02/2024,no\n2,e,02/02/2024,YES\nm,now,2024-01-01,no\n"
SOUTH = "sex,smoker,out\nf,never,no\nm,often,yes\n"
MEANT = {"1": "f", "2": "m", "n": "never", "e": "ex"}


def refusals(folder: Path) -> tuple[Fault, ...]:
    """What a run of these two files is refused for, and that the checks of both say the same."""
    paths, found = {name: folder / f"{name}.csv" for name in ("north", "south")}, tuple[Fault, ...]()
    try:
        read_own_files([*paths.items()], BOUNDS)
    except InputError as error:
        found = error.faults
    checked = [fault for name, path in paths.items() for fault in validate_file(path, BOUNDS, name).faults]
    assert [fault.code for fault in found] == [fault.code for fault in checked]
    return found


def pasted(fault: Fault, choice: int = 0) -> str:
    """The lines that a refusal shows, one below the other; of several choices one."""
    said = str(fault).split(", or write these two lines")[choice]
    found = re.findall(r"(?:file|aliases) = \{.*?\}(?= and aliases|$)", said)
    return "\n".join(found)


def codes(faults: Sequence[Fault]) -> list[str]:
    return [fault.code for fault in faults]


def test_all_faults_of_all_files_are_refused_at_once_and_the_lines_go_together(tmp_path: Path) -> None:
    (tmp_path / "north.csv").write_text(NORTH)
    (tmp_path / "south.csv").write_text(SOUTH)
    found = refusals(tmp_path)
    unknown = "cell.unknown_level"
    assert codes(found) == [*[unknown] * 4, "cell.not_a_date", unknown, "table.no_column", unknown]
    assert ["north.csv.toml" in str(fault) for fault in found[:6]] == [True, False, False, False, True, False]
    # As it stands, the line is a format: what a person has to fill in says nothing, and is refused again.
    Path(tmp_path / "north.csv.toml").write_text(pasted(found[4]))
    again = refusals(tmp_path)
    assert codes(again) == [*[unknown] * 4, "table.no_column", unknown]
    # Filled in, it reads the file.
    text = pasted(again[0])
    for place, cell in re.findall(r"(LEVEL\d*) = \[\"(.)\"\]", text):
        text = text.replace(f'{place} = ["{cell}"]', f'{MEANT[cell]} = ["{cell}"]')
    Path(tmp_path / "north.csv.toml").write_text(text)
    assert codes(refusals(tmp_path)) == ["table.no_column", unknown]


def test_files_that_cannot_be_read_are_refused_together(tmp_path: Path) -> None:
    (tmp_path / "north.csv").write_text("")
    (tmp_path / "south.csv").write_text("sex,sex\nf,f\n")
    with refused("csv.empty", "header.same_name"):
        read_own_files([("north", tmp_path / "north.csv"), ("south", tmp_path / "south.csv")], BOUNDS)

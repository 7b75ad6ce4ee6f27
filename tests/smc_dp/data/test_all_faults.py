"""A run says all that is wrong with all files at once, each line once, and lines that go together in one TOML file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from protocols.errors import Fault
from smc_dp.core.errors import InputError, LinesFault, UnfitError
from smc_dp.data.bounds import parse_bounds
from smc_dp.data.refused_input import advise
from smc_dp.data.sources import read_own_files
from smc_dp.data.validate_file import validate_file
from tests.support.refusals import pasted, refused, to_copy

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
NORTH = "sex,smoker,seen,out\n1,n,01/02/2024,no\n2,e,02/02/2024,YES\nm,NOW,2024-01-01,no\n"
MEANT = {"1": "f", "2": "m", "n": "never", "e": "ex"}
SOUTH = "sex,smoker,out\nf,never,no\nm,often,yes\n"


def refusals(folder: Path) -> tuple[Fault, ...]:
    """What a run of these two files is refused for, and that the checks of both say the same."""
    paths, found = {name: folder / f"{name}.csv" for name in ("north", "south")}, tuple[Fault, ...]()
    try:
        read_own_files([*paths.items()], BOUNDS)
    except InputError as error:
        found = error.faults
    checked = [fault for name, path in paths.items() for fault in validate_file(path, BOUNDS, name).faults]
    assert [fault.code for fault in found if not isinstance(fault, LinesFault)] == [fault.code for fault in checked]
    return found


def codes(faults: Sequence[Fault]) -> list[str]:
    return [fault.code for fault in faults]


def test_all_faults_of_all_files_are_refused_at_once_and_the_lines_go_together(tmp_path: Path) -> None:
    (tmp_path / "north.csv").write_text(NORTH)
    (tmp_path / "south.csv").write_text(SOUTH)
    found = refusals(tmp_path)
    unknown = "cell.unknown_level"
    lines = "form.lines_beside"
    assert codes(found) == [*[unknown] * 5, "cell.not_a_date", unknown, lines, "table.no_column", unknown, lines]
    assert ["north.csv.toml" in str(fault) for fault in found[:8]] == [*[False] * 7, True]
    # As they stand, the lines have all that is sure; a person completes or chooses the others.
    _, *own = str(found[7]).splitlines()
    Path(tmp_path / "north.csv.toml").write_text("\n".join(own))
    assert codes(refusals(tmp_path)) == [*[unknown] * 4, "cell.not_a_date", lines, "table.no_column", unknown, lines]
    chosen = "\n".join(own).replace("# dates", "dates", 1)
    told = re.sub(r'# LEVEL = \["(.)"\]', lambda cell: f'{MEANT[cell[1]]} = ["{cell[1]}"]', chosen)
    Path(tmp_path / "north.csv.toml").write_text(told)
    assert codes(refusals(tmp_path)) == ["table.no_column", unknown, lines]


def test_one_fault_has_lines_to_copy_below_it(tmp_path: Path) -> None:
    fitting, own = replace(BOUNDS, columns=BOUNDS.columns[:1]), tmp_path / "north.csv.toml"
    (tmp_path / "north.csv").write_text("sex;out\nf;no\nm;yes\n")
    (tmp_path / "south.csv").write_text("sex,out\nf,no\n")
    parties = [f"{name}={tmp_path / name}.csv" for name in ("north", "south")]
    with refused("csv.one_column", "form.lines_beside", at="party north") as caught:
        read_own_files(parties, fitting)
    assert caught.value.code == "csv.one_column"
    placed = caught.value.within("study")
    assert [fault.place[:18] for fault in placed.faults] == ["study: party north"] * 2
    assert str(placed).splitlines()[2:] == ["  [file]", '  separator = ";"']
    own.write_text(to_copy(placed))
    read_own_files(parties, fitting)


def test_files_that_cannot_be_read_are_refused_together(tmp_path: Path) -> None:
    (tmp_path / "north.csv").write_text("")
    (tmp_path / "south.csv").write_text("sex,sex\nf,f\n")
    with refused("csv.empty", "header.same_name"):
        read_own_files([("north", tmp_path / "north.csv"), ("south", tmp_path / "south.csv")], BOUNDS)


def test_a_file_that_cannot_be_read_hides_no_fault_of_another(tmp_path: Path) -> None:
    (tmp_path / "north.csv").write_text(NORTH)
    (tmp_path / "south.csv").write_text(SOUTH.replace(",", ";"))
    alone = codes(validate_file(tmp_path / "north.csv", BOUNDS, "north").faults)
    lines = "form.lines_beside"
    with refused("csv.one_column", "table.no_column", "cell.unknown_level", lines, *alone, lines, error=UnfitError):
        read_own_files([("south", tmp_path / "south.csv"), ("north", tmp_path / "north.csv")], BOUNDS)


MARKS = parse_bounds(
    """
[label]
classes = ["no", "yes"]
column = "out"
[columns]
income = [0, 9000]
weight = [0, 200]
[missing]
weight = "indicator"
"""
)


def test_the_line_is_the_one_with_which_the_whole_file_is_read(tmp_path: Path) -> None:
    # 3.582 may be read in two ways, and a person chooses. Only in a column in which cells may be empty does a word seem
    # to stand for nothing.
    path, own = tmp_path / "p.csv", tmp_path / "p.csv.toml"
    path.write_text("income;weight;out\n3.582;70,5;no\n4.000;k. A.;yes\n", encoding="utf-8")
    faults = validate_file(path, MARKS, "p").faults
    own.write_text(pasted(faults[0].fault))
    (ambiguous,) = validate_file(path, MARKS, "p").faults
    assert (ambiguous.count, ambiguous.fault.fields["recognised"]) == (2, "ambiguous number")
    own.write_text(f"{own.read_text()}\nthousands = '.'")
    read = validate_file(path, MARKS, "p")
    assert (read.fits, read.points) == (True, ())
    own.unlink()
    path.write_text("income,weight,out\n8000,80.1,no\nless,70.1,yes\n")
    assert [fault.settings for fault in validate_file(path, MARKS, "p").faults] == [{}]


def test_cells_that_may_be_read_in_two_ways_are_one_fault(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text('income,weight,out\n"8,753",80,no\n"9,001",70,yes\n')
    (found,) = validate_file(tmp_path / "p.csv", MARKS, "p").faults
    assert (found.count, found.fault.fields["recognised"]) == (2, "ambiguous number")


def test_points_that_may_stand_between_thousands_come_with_a_warning(tmp_path: Path) -> None:
    path, own = tmp_path / "p.csv", tmp_path / "p.csv.toml"
    own.write_text('[file]\nseparator = ";"\n')
    for incomes, warned in ((("3.582", "12"), True), (("3.58", "1.000"), False), (("3582", "1000"), False)):
        path.write_text(f"income;weight;out\n{incomes[0]};80;no\n{incomes[1]};70;yes\n")
        found = validate_file(path, MARKS, "p")
        assert (found.fits, bool(found.points)) == (True, warned)


def test_columns_with_contradictory_marks_are_refused_each_by_its_own(tmp_path: Path) -> None:
    # 5,769.25 wants a comma between thousands, 52,7 before decimals: no format reads both, and none is invented.
    (tmp_path / "p.csv").write_text('income,weight,out\n"5,769.25","52,7",no\n"2,276.25","50,1",yes\n')
    found = validate_file(tmp_path / "p.csv", MARKS, "p")
    assert codes([fault.fault for fault in found.faults]) == ["cell.not_a_number", "cell.not_a_number"]
    said, lines = advise([fault.fault for fault in found.faults])
    assert [str(fault).endswith(end) for fault, end in zip(said, ("below)", ".toml)"), strict=True)] == [True] * 2
    assert lines.lines == ("[file]", 'thousands = ","')

"""A party's file held against bounds: what is a fault, what is a warning, and that a run says the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from smc_dp.data.bounds import Bounds, NumericColumn, parse_bounds
from smc_dp.data.file_format import DEFAULT_FORMAT
from smc_dp.data.preprocess import encode_labelled_rows
from smc_dp.data.table_reader import read_table
from smc_dp.data.validate_file import validate_file
from tests.support.refusals import refused
from tests.support.tables import numbers

BOUNDS = Bounds((NumericColumn("a", -1, 1), NumericColumn("b", -1, 1)), ("no", "yes"), "out", clip=1.0)


def file(folder: Path, *rows: str, header: str = "a,b,out") -> Path:
    path = folder / "rows.csv"
    path.write_text("\n".join((header, *rows)) + "\n")
    return path


@pytest.mark.parametrize("long", [0, 1, 2, 3])
def test_shortened_rows_deserve_a_word_where_they_are_more_than_one_in_twenty(long: int, tmp_path: Path) -> None:
    path = file(tmp_path, *["1,0.2,no"] * long, *["1,0,no"] * 20, *["0.7,0.7,yes"] * (20 - long))
    found = validate_file(path, BOUNDS, "north")
    assert (found.fits, found.clipped, found.classes) == (True, long, {"no": 20 + long, "yes": 20 - long})
    assert bool(list(found.warnings())) == (long > 2)  # 5 % of 40
    # The norm itself: what is clipped comes out with the norm 1 of a row that just fits.
    table = read_table(path, "rows")
    x = encode_labelled_rows(table, BOUNDS, "out").X[:, :2]
    raw = np.column_stack([numbers(table, "a"), numbers(table, "b")])
    assert found.clipped == int((np.linalg.norm(raw, axis=1) > 1.0).sum())
    assert np.linalg.norm(x, axis=1).max() <= 1


def test_rows_that_are_left_out_are_counted_and_none_left_is_a_fault(tmp_path: Path) -> None:
    bounds = parse_bounds(
        '[label]\nclasses = ["no", "yes"]\ncolumn = "out"\n[columns]\na = [0, 1]\n[missing]\na = "leave out"\n'
    )
    found = validate_file(file(tmp_path, "1,x,no", ",x,yes", ",x,maybe"), bounds, "north")
    assert (found.left_out, found.classes) == (2, {"no": 1, "yes": 0})
    assert "2 of 3 rows will be left out for an empty cell" in list(found.warnings())
    few = replace(bounds, columns=(*bounds.columns, NumericColumn("b", 0, 1)), clip=1.0)
    many = [*["1,1,no"] * 2, *["0.5,0.5,no"] * 28, *[",1,yes"] * 20]  # 2 of 30 that are kept, of 50 that are there
    found = validate_file(file(tmp_path, *many), few, "north")
    assert (found.left_out, found.clipped) == (20, 2)
    assert "2 of 30 rows (7%) are longer than clip" in " ".join(found.warnings())
    found = validate_file(file(tmp_path, ",x,yes"), bounds, "north")
    assert [fault.code for fault in found.faults] == ["rows.all_left_out"]
    assert (found.fits, found.left_out) == (False, 0)


FITTING = ("9,0,no", "0,0,no")


@pytest.mark.parametrize("row", ["x,0,no", ",0,no", "0,0,maybe", "0,0,", "nan,0,no", "0,0", *FITTING])
def test_a_run_takes_a_file_exactly_if_the_check_does(row: str, tmp_path: Path) -> None:
    path = file(tmp_path, "0,0,no", row)
    found = validate_file(path, BOUNDS, "north")
    assert found.fits == (row in FITTING)
    if found.fits:
        assert len(encode_labelled_rows(read_table(path, "rows"), BOUNDS, "out")) == found.rows == 2
        return
    with refused(*(fault.code for fault in found.faults), at=found.source):
        encode_labelled_rows(read_table(path, found.source), BOUNDS, "out")


def test_somebody_has_to_say_which_column_has_the_classes(tmp_path: Path) -> None:
    path = file(tmp_path, "0,0,no", "0,0,yes")
    unsaid = Bounds(BOUNDS.columns, BOUNDS.classes)
    with refused("bounds.no_label_column"):
        validate_file(path, unsaid, "north")
    assert validate_file(path, unsaid, "north", "out").fits


def test_lines_about_the_classes_mend_bounds_that_did_not_name_their_column(tmp_path: Path) -> None:
    path = file(tmp_path, "0,0,no", "0,0,YES", "0,0,")
    said = '[columns]\na = [-1, 1]\nb = [-1, 1]\n[label]\nclasses = ["no", "yes"]\n'
    naming, *others = validate_file(path, parse_bounds(said), "north", "out").faults
    assert [(fault.section, fault.line) for fault in (naming, *others)] == [
        *(("label", 'column = "out"'), (None, None), ("missing", 'out = "leave out"'))
    ]
    assert [fault.fixed_by for fault in (naming, *others)] == [("author",), ("site",), ("author", "site")]
    assert "addremove" in str(others[1].note)
    (tmp_path / "rows.csv.toml").write_text("\n".join(DEFAULT_FORMAT.with_settings(others[0].settings).sections()))
    added = f"[{others[1].section}]\n{others[1].line}\n"
    with refused("columns.unknown"):
        parse_bounds(said + added)
    assert validate_file(path, parse_bounds(f"{said}{naming.line}\n{added}"), "north").classes == {"no": 1, "yes": 1}


def test_an_empty_row_is_called_one(tmp_path: Path) -> None:
    (fault, *_) = validate_file(file(tmp_path, "0,0,no", "0,0,yes", ",,", ",,"), BOUNDS, "north").faults
    assert (fault.code, fault.rows, fault.line) == ("row.empty", (4, 5), None)
    blank, fault = validate_file(file(tmp_path, "0,0,no", ",0,yes", ",,"), BOUNDS, "north").faults
    assert (blank.code, blank.rows) == ("row.empty", (4,))
    assert (fault.rows, fault.line) == ((3,), 'a = "indicator"')

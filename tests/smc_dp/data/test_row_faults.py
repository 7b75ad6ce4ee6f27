"""Rows that fit bounds are encoded, and each other row has its reasons."""

from __future__ import annotations

import numpy as np
import pytest

from smc_dp.data.bounds import parse_bounds
from smc_dp.data.preprocess import encode_rows
from smc_dp.data.row_faults import encode_fitting_rows, known_labels, texts_or_nothing
from smc_dp.data.table import Table
from tests.support.refusals import refused

BOUNDS = parse_bounds("""
[columns]
age = [0, 100]
sex = ["f", "m"]
born = [2000-01-01, 2020-12-31]
dose = [0, 9]
[missing]
dose = "leave out"
[label]
column = "out"
classes = ["no", "yes"]
""")
ROWS = [
    ("30", "f", "2001-02-03", "1", "no"),
    ("", "f", "2001-02-03", "1", "yes"),
    ("x", "q", "yesterday", "1", "yes"),
    ("", "", "", "", ""),
    ("40", "m", "2002-02-03", "", "yes"),
    ("400", "m", "2002-02-03", "2", "maybe"),
]


def table(rows: list[tuple[str, ...]]) -> Table:
    columns = dict(zip(("age", "sex", "born", "dose", "out"), map(list, zip(*rows, strict=True)), strict=True))
    return Table("t", columns, range(1, len(rows) + 1))


def test_each_row_that_does_not_fit_has_every_reason_and_the_others_are_encoded() -> None:
    found = encode_fitting_rows(table(ROWS), BOUNDS)
    codes = {i: [fault.code for fault in faults] for i, faults in found.reasons.items()}
    assert codes == {
        1: ["cell.empty"],
        2: ["cell.not_a_number", "cell.unknown_level", "cell.not_a_date"],
        3: ["row.left_out"],
        4: ["row.left_out"],
    }
    assert [fault.place for fault in found.reasons[2]] == ["column 'age': ", "column 'sex': ", "column 'born': "]
    assert found.reasons[2][0].fields["got"] == "'x'"
    assert found.refused == {1, 2}
    assert found.encoded.kept.tolist() == [0, 5]
    np.testing.assert_array_equal(found.encoded.X, encode_rows(table([ROWS[0], ROWS[5]]), BOUNDS))


def test_the_encoding_of_a_row_does_not_depend_on_those_that_do_not_fit() -> None:
    alone = encode_fitting_rows(table([ROWS[0]]), BOUNDS).encoded.X
    for others in ([], [ROWS[1]], ROWS[1:], [ROWS[2]] * 100):
        found = encode_fitting_rows(table([*others, ROWS[0]]), BOUNDS)
        np.testing.assert_array_equal(found.encoded.X[-1:], alone)
        assert found.encoded.kept[-1] == len(others)


def test_an_empty_row_has_one_reason() -> None:
    bounds = parse_bounds(
        '[columns]\nage = [0, 100]\nsex = ["f", "m"]\n[label]\ncolumn = "out"\nclasses = ["no", "yes"]'
    )
    found = encode_fitting_rows(table(ROWS), bounds)
    assert [fault.code for fault in found.reasons[3]] == ["row.empty"]


def test_an_empty_row_that_the_bounds_have_rules_for_is_encoded_beside_any_other() -> None:
    rules = '[columns]\nage = [0, 100]\nsex = ["f", "m"]\n[missing]\nage = 50\nsex = "category"\n'
    bounds = parse_bounds(f'{rules}[label]\ncolumn = "out"\nclasses = ["no", "yes"]')
    for others in ([], [ROWS[2]]):
        found = encode_fitting_rows(table([*others, ROWS[3]]), bounds)
        assert found.encoded.kept.tolist() == [len(others)]


def test_a_missing_column_is_no_matter_of_single_rows() -> None:
    whole = table(ROWS)
    less = Table("t", {name: cells for name, cells in whole.columns.items() if name != "sex"}, whole.row_numbers)
    with refused("table.no_column", at="t"):
        encode_fitting_rows(less, BOUNDS)


def test_a_column_of_names_has_a_text_for_every_row() -> None:
    named = Table("t", {"id": ["a", "", None, 3, 0.5, float("nan"), "a"]}, range(1, 8))
    assert texts_or_nothing(named, "id") == ("a", "", "", "3", "0.5", "", "a")
    with refused("table.no_column"):
        texts_or_nothing(named, "name")


def test_labels_that_are_no_class_are_told_and_empty_ones_are_none() -> None:
    known, wrong = known_labels(table(ROWS), BOUNDS, "out")
    assert known.tolist() == pytest.approx([0, 1, 1, np.nan, 1, np.nan], nan_ok=True)
    assert [(fault.code, fault.rows) for fault in wrong] == [("cell.unknown_level", (7,))]

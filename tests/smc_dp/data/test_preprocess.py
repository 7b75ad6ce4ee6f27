from __future__ import annotations

import datetime
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc_dp.core.documents import validate_document
from smc_dp.core.errors import one_line
from smc_dp.data import limits
from smc_dp.data.bounds import Bounds, bounds_from_file, parse_bounds
from smc_dp.data.bounds_file import BoundsFile
from smc_dp.data.columns import BinnedColumn, CategoricalColumn, Column, DateColumn, NumericColumn
from smc_dp.data.file_format import DEFAULT_FORMAT, FileFormat
from smc_dp.data.format_sections import FileFormatDocument
from smc_dp.data.limits import allow_cells
from smc_dp.data.preprocess import encode_labelled_rows, encode_rows, examine_table, number_categories
from smc_dp.data.table import Table
from smc_dp.data.table_reader import parse_csv
from smc_dp.pages.text import printable
from tests.support.refusals import refused

FIRST, LAST = date(2020, 1, 1), date(2020, 12, 31)  # 365 days apart
CLASSES = ("no", "yes")


def features(column: Column, cells: Sequence[object], *, center: bool = True) -> list[list[float]]:
    """What cells become before rows are clipped: with a radius of 4 and no bias, where nothing is."""
    bounds = Bounds((column,), CLASSES, clip=4.0, bias=0.0, center=center)
    X = encode_rows(Table("t", {column.name: list(cells)}, range(1, len(cells) + 1)), bounds) * 4
    return np.round(X, 9).tolist()


def test_a_date_is_its_days_since_the_first_one():
    cells = ["2020-01-01", date(2020, 12, 31), " 2020-07-01 ", "2031-01-01", "1999-01-01"]
    middle = round(182 / 365 * 2 - 1, 9)
    assert features(DateColumn("d", FIRST, LAST), cells) == [[-1], [1], [middle], [1], [-1]]
    halves = [[0], [1], [round(182 / 365, 9)], [1], [0]]
    assert features(DateColumn("d", FIRST, LAST), cells, center=False) == halves


def test_a_bin_has_its_lower_edge_and_the_last_its_upper_too():
    cells = [0, "17.9", 18, 64.999, 65, 200, -3]
    places = [row.index(1.0) for row in features(BinnedColumn("b", (0.0, 18.0, 65.0)), cells)]
    assert places == [0, 0, 1, 1, 1, 1, 0]


def test_an_empty_cell_is_what_the_rule_of_its_column_says():
    number, empty = NumericColumn("n", 0.0, 4.0), [4, None, "", " ", float("nan")]
    assert features(replace(number, missing=3.0), empty) == [[1.0], *[[0.5]] * 4]
    assert features(replace(number, missing=0.0), empty) == [[1.0], *[[-1.0]] * 4]
    assert features(replace(number, missing="indicator"), empty) == [[1, 0], *[[0, 1]] * 4]
    assert features(replace(number, missing="indicator"), [2, ""]) == [[0, 0], [0, 1]]  # the middle, and a mark
    assert features(replace(number, missing="indicator"), [0, ""], center=False) == [[0, 0], [0, 1]]  # no number, 0
    days = DateColumn("d", FIRST, LAST)
    assert features(replace(days, missing="2020-12-31"), ["2020-01-01", ""]) == [[-1], [1]]
    assert features(replace(days, missing="indicator"), ["2020-01-01", ""]) == [[-1, 0], [0, 1]]
    levels = CategoricalColumn("c", ("f", "m"))
    assert features(replace(levels, missing="m"), ["f", None]) == [[1, 0], [0, 1]]
    assert features(replace(levels, missing="category"), ["f", "m", ""]) == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    bins = BinnedColumn("b", (0.0, 18.0, 65.0))
    assert features(replace(bins, missing=18.0), [3, None]) == [[1, 0], [0, 1]]
    assert features(replace(bins, missing="category"), [3, 30, None]) == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_truth_values_and_other_texts_are_levels():
    truth = CategoricalColumn("s", ("false", "true"), aliases=(("true", ("T", "1")),))
    assert features(truth, [True, "true", "T", 1, 1.0, False, " false"]) == [[0, 1]] * 5 + [[1, 0]] * 2
    bounds = Bounds((NumericColumn("n", 0.0, 1.0),), CLASSES, aliases=(("yes", ("1", "Y")),))
    table = parse_csv(b"n,y\n0,1.0\n0,Y\n0,yes\n0,no\n", "t")
    assert encode_labelled_rows(table, bounds, "y").y.tolist() == [1, 1, 1, 0]


TABLE = b"age,bmi,sex,out\n30,20,f,yes\n,21,m,no\n31,,f,no\n32,22,m,yes\n"
LEAVING = Bounds(
    (
        NumericColumn("age", 0.0, 100.0, "leave out"),
        NumericColumn("bmi", 0.0, 50.0, "indicator"),
        CategoricalColumn("sex", ("f", "m"), "leave out"),
    ),
    CLASSES,
)


def test_rows_that_are_left_out_are_gone_before_anything_else():
    found = examine_table(parse_csv(TABLE, "t"), LEAVING)
    assert found.kept.tolist() == [0, 2, 3]
    rows = encode_labelled_rows(parse_csv(TABLE, "t"), LEAVING, "out")
    np.testing.assert_array_equal(rows.X, found.X)
    assert rows.y.tolist() == [1, 0, 1]
    hidden = TABLE.replace(b",21,m,no", b",not a number,x,")  # nobody looks at the rest of such a row
    np.testing.assert_array_equal(encode_labelled_rows(parse_csv(hidden, "t"), LEAVING, "out").X, rows.X)
    assert examine_table(parse_csv(hidden, "t"), LEAVING, "out").faults == ()
    later = TABLE.replace(b"31,,f", b"31,x,f")  # and rows keep their numbers
    with refused("cell.not_a_number", at="column 'bmi', line 4", got="'x'"):
        encode_rows(parse_csv(later, "t"), LEAVING)


def test_a_party_of_whom_no_row_is_left_is_refused():
    none = parse_csv(b"age,bmi,sex,out\n,20,f,yes\n31,21,,no\n", "party north")
    with refused("rows.all_left_out", at="party north", columns="'age' or 'sex'"):
        encode_labelled_rows(none, LEAVING, "out")
    (fault,) = examine_table(none, LEAVING, "out").faults
    assert (fault.code, fault.count) == ("rows.all_left_out", 2)


WIDE = """
[columns]
age = [0, 120]
sex = ["f", "m"]
back = ["No", "Yes"]
admitted = [2010-01-01, 2025-12-31]
bmi = {bins = [0, 18, 60]}
[label]
classes = ["no", "yes"]
column = "out"
"""
MESSY = b"""age,sex,back,admitted,bmi,out
12,f,Yes,2012-01-01,20,yes
,f,yes,2012-01-01,20,1
x,F,0,01.02.2012,20,no
,Weird,no,,,no
2012-01-01,m,1,2012-01-01,true,
"""


def test_every_fault_of_a_table_comes_with_its_rows_and_the_line_that_mends_it():
    found = examine_table(parse_csv(MESSY, "north"), parse_bounds(WIDE), "out").faults
    said = [(f.column, f.count, f.rows, f.example, f.section, f.line) for f in found]
    assert said == [
        ("age", 2, (3, 5), "", "missing", 'age = "indicator"'),
        ("age", 1, (4,), "x", None, None),
        ("age", 1, (6,), "2012-01-01", None, None),
        ("sex", 1, (4,), "F", None, None),
        ("sex", 1, (5,), "Weird", None, None),
        ("back", 1, (3,), "yes", None, None),
        ("back", 1, (4,), "0", None, None),
        ("back", 1, (5,), "no", None, None),
        ("back", 1, (6,), "1", None, None),
        ("admitted", 1, (4,), "01.02.2012", None, None),
        ("admitted", 1, (5,), "", "missing", 'admitted = "indicator"'),
        ("bmi", 1, (5,), "", "missing", 'bmi = "category"'),
        ("bmi", 1, (6,), "true", None, None),
        ("out", 1, (3,), "1", None, None),
        ("out", 1, (6,), "", "missing", 'out = "leave out"'),
    ]
    # What the site that has the file can write: one line, with which all of these cells are read.
    own = {
        "aliases": (
            ("sex", (("f", ("F",)),)),
            ("back", (("Yes", ("yes", "1")), ("No", ("0", "no")))),
            ("out", (("yes", ("1",)),)),
        ),
        "dates": ("yyyy-mm-dd", "dd.mm.yyyy"),
    }
    assert [f.settings for f in found if f.settings] == [own] * 7
    assert [f.fixed_by for f in found] == [
        *(("author", "site"), ("site",), ("site",), ("site",), ("site", "author"), *[("site",)] * 5),
        *(("author", "site"), ("author", "site"), ("site",), ("site",), ("author", "site")),
    ]
    of_rows = [fault for fault in found if fault.column != "out"]
    with refused(*(fault.code for fault in of_rows), "form.lines_of_site") as caught:
        encode_rows(parse_csv(MESSY, "north"), parse_bounds(WIDE))
    first = caught.value.faults[0]
    assert first == found[0].placed("north")
    assert first.place == "north: column 'age', line 3: "
    assert str(first).endswith(
        'write age = "indicator" into [missing] of the bounds (adds a feature that marks empty cells)'
    )


def made_of(stated: dict[str, Any]) -> Bounds:
    return bounds_from_file(validate_document(BoundsFile, stated, "bounds"))


def written(stated: dict[str, Any], section: str, line: str) -> dict[str, Any]:
    """What a file of bounds says with this line in this section, in place of any other of the same key."""

    def merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        both = [key for key, value in other.items() if isinstance(one.get(key), dict) and isinstance(value, dict)]
        nested = {key: merged(one[key], other[key]) for key in both}
        return {**one, **other, **nested}

    return merged(stated, tomllib.loads(f"[{section}]\n{line}"))


@pytest.mark.parametrize(
    ("column", "bounds", "cells"),
    [
        ("age", "[0, 9]", ["1", ""]),
        ("my age", "[0, 9]", ["1", ""]),
        ('a "quoted" \\ key', "[0, 9]", ["1", ""]),
        ("age", "{bins = [0, 5, 9]}", ["1", ""]),
        ("age", "[2020-01-01, 2020-12-31]", ["2020-02-02", ""]),
        ("age", '["f", "m"]', ["f", "", "M", "F"]),
        ("age", '["it\'s", "\\"no\\" \\\\"]', ["IT'S", '"NO" \\']),
        ("age", "[false, true]", ["0", "1", "TRUE", "False", "no", "yes"]),
        ("age", '["Nein", "Yes"]', ["true", "1", "NEIN"]),
        ("age", "[0, 9]", ["true", "false"]),
        ("age", "[0, 9]", ["2020-02-02", "2021-02-02"]),
        ("age", "[0, 9]", ["", "true", "false"]),
        ("age", "{bins = [0, 9]}", ["2020-02-02", ""]),
        ("a  gap\x1b\u2028", '["a  b", "c"]', ["A  B", "C"]),
    ],
)
def test_the_lines_that_a_fault_shows_mend_it(column: str, bounds: str, cells: list[str]) -> None:
    stated = {"columns": {column: tomllib.loads(f"x = {bounds}")["x"]}, "label": {"classes": ["no", "yes"]}}
    table = Table("t", {column: cells}, range(1, len(cells) + 1))
    found = examine_table(table, made_of(stated), None).faults
    assert found
    for fault in found:
        assert fault.count == len(fault.rows) > 0
        if not fault.settings:
            assert fault.section
            assert fault.line
            stated = written(stated, one_line(fault.section), one_line(fault.line))
    own = {name: value for fault in found for name, value in fault.settings.items()}
    lines = "\n".join(map(printable, DEFAULT_FORMAT.with_settings(own).sections()))
    table = table.in_format(FileFormatDocument.model_validate(tomllib.loads(lines)).form)
    assert examine_table(table, made_of(stated), None).faults == ()
    assert len(encode_rows(table, made_of(stated))) == len(cells)


@pytest.mark.parametrize("aliases", [(), (("b", ("leave out",)),)])
def test_no_rule_is_shown_where_a_level_is_called_like_one(aliases):
    column = CategoricalColumn("c", ("b" if aliases else "category", "a"), aliases=aliases)
    bounds = Bounds((column,), CLASSES)
    (fault,) = examine_table(Table("t", {"c": ["a", ""]}, [1, 2]), bounds, None).faults
    assert (fault.code, fault.line) == ("cell.empty", None)


def test_of_two_other_kinds_of_cells_one_is_advised_and_of_an_endless_text_nothing():
    bounds = Bounds((NumericColumn("n", 0.0, 1.0), CategoricalColumn("c", ("no", "yes" * 400))), CLASSES)
    cells = {"n": ["true", "2020-02-02", "false"], "c": ["0", "no", "Yes" * 400]}
    found = examine_table(Table("t", cells, range(1, 4)), bounds, None).faults
    assert [fault.line for fault in found] == ["n = [false, true]", None, None, None]
    own = {"aliases": (("c", (("no", ("0",)),)),), "true": ("true",), "false": ("false",)}
    assert [fault.settings for fault in found] == [{}, {}, {"aliases": own["aliases"]}, {}]


def test_no_line_is_shown_where_two_levels_could_be_meant():
    bounds = Bounds((CategoricalColumn("c", ("y", "yes", "no")),), CLASSES)
    (fault,) = examine_table(Table("t", {"c": ["1"]}, [7]), bounds, None).faults
    assert (fault.section, fault.line) == (None, None)


def test_many_unknown_texts_are_counted_after_the_first():
    bounds = Bounds((CategoricalColumn("c", ("f", "m")),), CLASSES)
    cells = [f"x{i // 2}" for i in range(100)]
    found = examine_table(Table("t", {"c": cells}, range(1, 101)), bounds, None).faults
    assert [fault.example for fault in found] == [f"x{i}" for i in range(21)]
    assert sum(fault.count for fault in found) == 100
    assert (found[-1].code, found[-1].fault.fields["more"]) == ("cell.more_values", 29)


def test_a_label_of_many_numbers_is_no_label():
    bounds = Bounds((NumericColumn("n", 0.0, 1.0),), CLASSES, "y")
    table = Table("t", {"n": [0.5] * 41, "y": [f"{i / 8}" for i in range(40)] + [""]}, range(1, 42))
    fault, empty = examine_table(table, bounds, "y").faults
    assert (empty.code, empty.rows) == ("cell.empty", (42,))
    assert fault.code == "classes.many_numbers"
    assert fault.count == 40
    with refused("classes.many_numbers", "cell.empty", at="t: column 'y', line 2"):
        encode_labelled_rows(table, bounds, "y")
    few = Table("t", {"n": [0.5] * 4, "y": ["1", "2", "3", "3"]}, range(1, 5))
    assert {fault.code for fault in examine_table(few, bounds, "y").faults} == {"cell.unknown_level"}


def test_strict_bounds_are_faults_of_numbers_dates_and_bins():
    columns = (NumericColumn("n", 0.0, 1.0), DateColumn("d", FIRST, LAST), BinnedColumn("b", (0.0, 1.0)))
    bounds = Bounds(columns, CLASSES)
    cells = {"n": [0.5, 2, 3], "d": ["2021-01-01", "2020-01-01", "2020-01-01"], "b": [0, 1, -0.5]}
    table = Table("t", cells, range(1, 4))
    assert examine_table(table, bounds, None).faults == ()
    found = examine_table(table, bounds, None, strict=True).faults
    assert {fault.code for fault in found} == {"cell.outside_bounds"}
    assert [(f.fault.fields["got"], f.fault.fields["high"], f.count, f.rows) for f in found] == [
        (2.0, 1.0, 2, (3, 4)),
        ("2021-01-01", "2020-12-31", 1, (2,)),
        (-0.5, 1.0, 1, (4,)),
    ]


def test_missing_columns_are_all_named():
    found = examine_table(parse_csv(b"AGE,sex\n3,f\n", "north"), parse_bounds(WIDE), "out").faults
    assert [fault.column for fault in found] == ["age", "back", "admitted", "bmi", "out"]
    assert {fault.code for fault in found} == {"table.no_column"}
    assert (found[0].fault.fields["have"], found[0].fault.fields["recognised"]) == (["'AGE'", "'sex'"], "case")


def test_categories_with_a_rule_are_not_numbered():
    bounds = Bounds((CategoricalColumn("c", ("b", "a"), "category"),), CLASSES)
    with refused("missing.numbered_categories"):
        number_categories(Table("t", {"c": ["a"]}, [1]), bounds)


floats = st.floats(allow_nan=False, allow_infinity=False)
days = st.dates(date(1, 1, 1), date(9999, 12, 31))


@st.composite
def column_and_cells(draw: st.DrawFn, name: str) -> tuple[Column, st.SearchStrategy[object]]:
    """A column of any kind, with any rule, and what its cells may be."""
    kind = draw(st.sampled_from(["number", "date", "levels", "bins"]))
    rule: object = draw(st.sampled_from([None, "value", "own", "leave out"]))
    if kind == "number":
        low, high = draw(st.tuples(floats, floats).filter(lambda b: b[1] / 2 - b[0] / 2 > 0))
        rule = {"value": draw(st.floats(low, high)), "own": "indicator"}.get(str(rule), rule)
        column: Column = NumericColumn(name, low, high, rule)
        cells: st.SearchStrategy[object] = floats
    elif kind == "date":
        first, last = sorted(draw(st.tuples(days, days).filter(lambda d: d[0] != d[1])))
        rule = {"value": draw(st.dates(first, last)).isoformat(), "own": "indicator"}.get(str(rule), rule)
        column, cells = DateColumn(name, first, last, rule), days
    elif kind == "levels":
        rule = {"value": "y", "own": "category"}.get(str(rule), rule)
        column, cells = CategoricalColumn(name, ("x", "y", "z"), rule, (("x", ("X",)),)), st.sampled_from("xyzX")
    else:
        edges = sorted(draw(st.lists(floats, min_size=2, max_size=5, unique=True)))
        rule = {"value": draw(st.floats(edges[0], edges[-1])), "own": "category"}.get(str(rule), rule)
        column, cells = BinnedColumn(name, tuple(edges), rule), floats
    return column, cells if column.missing is None else cells | st.sampled_from([None, "", " "])


@st.composite
def tables(draw: st.DrawFn) -> tuple[Table, Bounds]:
    made = [draw(column_and_cells(f"c{i}")) for i in range(draw(st.integers(1, 4)))]
    rows = draw(st.integers(1, 5))
    cells: dict[str, Any] = {c.name: draw(st.lists(values, min_size=rows, max_size=rows)) for c, values in made}
    for name, found in cells.items():
        if all(isinstance(cell, float) for cell in found) and draw(st.booleans()):
            cells[name] = np.array(found)  # as data sets bring them
    clip, bias = draw(st.floats(1e-3, 1e3)), draw(st.just(0.0) | st.floats(1e-6, 1e6))
    bounds = Bounds(tuple(column for column, _ in made), CLASSES, clip=clip, bias=bias, center=draw(st.booleans()))
    return Table("t", cells, range(1, rows + 1)), bounds


@given(tables())
def test_any_row_of_any_columns_is_in_the_ball_and_depends_on_nothing_else(made):
    table, bounds = made
    found = examine_table(table, bounds)
    assert found.X.shape == (len(found.kept), bounds.dimension)
    for row in found.X.tolist():
        assert sum(Fraction(x) ** 2 for x in row) <= 1
    for i in range(table.rows):
        alone = examine_table(table.take(np.array([i]), "t"), bounds)
        (place,) = np.nonzero(found.kept == i)
        assert len(alone.kept) == len(place)  # and whether it is left out does too
        np.testing.assert_array_equal(alone.X, found.X[place])


def test_the_time_of_a_day_is_no_date():
    bounds = Bounds((DateColumn("d", FIRST, LAST),), CLASSES)
    for cell in (datetime.datetime(2020, 2, 2, 3), "02.02.2020", 5, "2020-02-30"):
        (fault,) = examine_table(Table("t", {"d": [cell]}, [1]), bounds, None).faults
        assert (fault.code, fault.fault.fields["dates"]) == ("cell.not_a_date", "yyyy-mm-dd")


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        (NumericColumn("x", 0.0, 1.0), "NA"),
        (NumericColumn("x", 0.0, 1.0), "NaN"),
        (CategoricalColumn("x", ("f", "m")), "n/a"),
        (DateColumn("x", FIRST, LAST), "-"),
    ],
)
def test_a_word_for_nothing_is_told_from_a_value(column: Column, cell: str) -> None:
    bounds = Bounds((replace(column, missing="leave out"),), CLASSES)
    table = Table("t", {"x": [cell]}, [1], FileFormat(missing=("k. A.",)))
    (fault,) = examine_table(table, bounds, None).faults
    assert f'missing = ["k. A.", "{cell}"]' in fault.what
    assert (fault.section, fault.line) == (None, None)


def test_whole_columns_are_listed_first_and_all_faults_are_refused_at_once(monkeypatch):
    bounds = Bounds((NumericColumn("n", 0.0, 1.0), NumericColumn("gone", 0.0, 1.0)), CLASSES)
    table = Table("t", {"n": ["x", 1], "y": ["no", "maybe"]}, [1, 2])
    listed = ["table.no_column", "cell.not_a_number", "cell.unknown_level"]
    assert [fault.code for fault in examine_table(table, bounds, "y").faults] == listed
    with refused(*listed, at="t"):
        encode_labelled_rows(table, bounds, "y")
    monkeypatch.setattr(limits, "_MOST_FEATURES", 5)
    with allow_cells(5):  # too many numbers are refused before a cell is, and listed alone
        assert [fault.code for fault in examine_table(table, bounds, "y").faults] == listed
        with refused(*listed, at="t"):
            encode_labelled_rows(table, bounds, "y")

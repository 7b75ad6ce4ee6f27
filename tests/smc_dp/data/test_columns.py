from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from smc_dp.core.errors import InputError
from smc_dp.data.bounds import Bounds, parse_bounds
from smc_dp.data.columns import (
    BinnedColumn,
    CategoricalColumn,
    Column,
    DateColumn,
    NumericColumn,
    as_plain,
    day_in,
)

NUMBER = NumericColumn("n", -1.0, 3.0)
LEVELS = CategoricalColumn("c", ("f", "m", "1.0"))
DAYS = DateColumn("d", date(2020, 1, 1), date(2020, 12, 31))
BINS = BinnedColumn("b", (0.0, 18.0, 65.0))

ALL = """
[columns]
age = [0, 120]
"postal code" = [0, 99]
sex = ["f", "m"]
smoker = [false, true]
admitted = [2010-01-01, 2025-12-31]
bmi = {bins = [0, 18, 25.5, 60]}
[label]
column = "outcome"
classes = ["no", "yes"]
[missing]
age = 50
"postal code" = "indicator"
sex = "category"
smoker = false
admitted = 2012-02-29
bmi = "leave out"
[aliases.sex]
f = ["F", "female", 2]
[aliases.smoker]
true = ["T", "True"]
[aliases.outcome]
yes = [1, true]
"""


def test_a_bounds_file_says_what_an_empty_cell_is_and_which_texts_are_alike():
    assert parse_bounds(ALL) == Bounds(
        (
            NumericColumn("age", 0.0, 120.0, 50.0),
            NumericColumn("postal code", 0.0, 99.0, "indicator"),
            CategoricalColumn("sex", ("f", "m"), "category", (("f", ("F", "female", "2")),)),
            CategoricalColumn("smoker", ("false", "true"), "false", (("true", ("T", "True")),)),
            DateColumn("admitted", date(2010, 1, 1), date(2025, 12, 31), "2012-02-29"),
            BinnedColumn("bmi", (0.0, 18.0, 25.5, 60.0), "leave out"),
        ),
        classes=("no", "yes"),
        label="outcome",
        aliases=(("yes", ("1", "true")),),
    )
    assert parse_bounds(ALL).dimension == 1 + 2 + 3 + 2 + 1 + 3 + 1


def test_a_level_is_named_in_any_of_its_forms():
    text = '[columns]\nc = ["1.0", "2"]\n[label]\nclasses = [0, 1]\n[missing]\nc = 1\n[aliases.c]\n1 = ["one"]\n'
    (column,) = parse_bounds(text).columns
    assert column == CategoricalColumn("c", ("1.0", "2"), "1.0", (("1.0", ("one",)),))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (
            "[columns]\nx = [2010-01-01, 5]",
            "[columns] x: wanted two numbers [low, high], two dates without time, a list",
        ),
        ("[columns]\nx = [2010-01-01T00:00:00, 2011-01-01T00:00:00]", "[columns] x: wanted two numbers"),
        ("[columns]\nx = [2010-01-01, 2011-01-01, 2012-01-01]", "[columns] x: wanted two numbers"),
        ("[columns]\nx = [2010-01-02, 2010-01-02]", "column 'x': wanted the first date before the last"),
        ("[columns]\nx = {bins = 3}", "[columns] x: bins: wanted a list, got 3"),
        ("[columns]\nx = {bins = [0, 1], low = 0}", "[columns] x: unknown key 'low'"),
        ('[columns]\nx = {bins = [0, "1"]}', "[columns] x: bins 2: wanted a number, got '1'"),
        ("[columns]\nx = {bins = [0]}", "column 'x': bins: wanted two or more finite numbers"),
        ("[columns]\nx = {bins = [0, 2, 2]}", "column 'x': bins: wanted two or more finite numbers"),
        ("[columns]\nx = {bins = [0, inf]}", "column 'x': bins: wanted two or more finite numbers"),
        ("[columns]\nx = [false, 1]", "[columns] x 1: wanted a number, got False"),
        ("[missing]\ny = 3", "[missing] y: wanted a column of [columns]"),
        ('[missing]\nout = "no"', "[missing] out: a row without a class"),
        (
            "[missing]\nn = 4",
            'column \'n\': missing: wanted a number from -1 to 3, "indicator" or "leave out", got 4.0',
        ),
        ("[missing]\nn = nan", "column 'n': missing: wanted a number from -1 to 3"),
        ("[missing]\nn = true", "[missing] n: wanted a number, got True"),
        ('[missing]\nn = "category"', "column 'n': missing: wanted a number from -1 to 3"),
        ('[missing]\nn = "mean"', "column 'n': missing: wanted a number from -1 to 3"),
        ('[missing]\nc = "indicator"', "column 'c': missing: wanted one of its categories, \"category\" or"),
        ("[missing]\nc = 1.5", "[missing] c: wanted a value of the column or one of"),
        ('[missing]\nc = "x"', "column 'c': missing: wanted one of its categories"),
        ("[missing]\nd = 3", "[missing] d: wanted a value of the column or one of"),
        ("[missing]\nd = 2019-12-31", "column 'd': missing: wanted a date from 2020-01-01 to 2020-12-31"),
        ('[missing]\nd = "category"', "column 'd': missing: wanted a date from 2020-01-01 to 2020-12-31"),
        ('[missing]\nd = "20200202"', "column 'd': missing: wanted a date from 2020-01-01 to 2020-12-31"),
        ('[missing]\nb = "indicator"', "column 'b': missing: wanted a number from 0 to 65, \"category\" or"),
        ("missing = 3", "[missing]: wanted a section"),
        ('[aliases.y]\nf = ["F"]', "[aliases] y: wanted a column of [columns]"),
        ('[aliases.n]\nf = ["F"]', "[aliases.n]: wanted those of a column of categories"),
        ('[aliases]\nc = ["F"]', "[aliases.c]: wanted a section"),
        ('[aliases.c]\nx = ["F"]', "column 'c': aliases: wanted those of one of f, m, got those of 'x'"),
        ('[aliases.c]\nf = "F"', "[aliases.c] f: wanted a list, got 'F'"),
        ("[aliases.c]\nf = []", "[aliases.c] f: wanted at least 1 value, got 0"),
        ("[aliases.c]\nf = [1.5]", "[aliases.c] f 1: wanted a text, a whole number, true or false, got 1.5"),
        ('[aliases.c]\nf = [" "]', "column 'c': aliases of 'f': an empty text is none"),
        ('[aliases.c]\nf = ["m"]', "column 'c': aliases of 'f': 'm' means 'm' already"),
        ('[aliases.c]\nf = ["1"]\nm = ["1.0"]', "column 'c': aliases of 'm': '1.0' means 'f' already"),
        ('[aliases.out]\nno = ["yes"]', "classes: aliases of 'no': 'yes' means 'yes' already"),
        ('[aliases.out]\nx = ["y"]', "classes: aliases: wanted those of one of no, yes, got those of 'x'"),
        (
            '[missing]\nc = "category"\n[aliases.c]\nf = ["category"]',
            "column 'c': missing: 'category' would be a rule and a category",
        ),
    ],
)
def test_what_is_no_rule_is_named(line: str, why: str) -> None:
    columns = '[columns]\nn = [-1, 3]\nc = ["f", "m"]\nd = [2020-01-01, 2020-12-31]\nb = {bins = [0, 18, 65]}\n'
    first, _, rest = line.partition("\n")
    text = columns + rest + "\n" if first == "[columns]" else columns
    text += '[label]\nclasses = ["no", "yes"]\ncolumn = "out"\n'
    if first == "missing = 3":
        text = line + "\n" + text
    elif first != "[columns]":
        text += line + "\n"
    with pytest.raises(InputError) as caught:
        parse_bounds(text)
    assert str(caught.value).startswith(f"bounds: {why}")
    assert "\n" not in str(caught.value)


def test_aliases_of_classes_want_a_named_label():
    text = '[columns]\nn = [0, 1]\n[label]\nclasses = ["no", "yes"]\n[aliases.out]\nyes = ["y"]\n'
    with pytest.raises(
        InputError, match=r"\[aliases\] out: wanted a column of \[columns\], and \[label\] column names"
    ):
        parse_bounds(text)


def test_a_word_for_a_rule_may_be_a_level_where_no_rule_is():
    column = CategoricalColumn("c", ("category", "leave out"))
    Bounds((column,), ("0", "1"))
    with pytest.raises(InputError, match="would be a rule and a category"):
        Bounds((replace(column, missing="leave out"),), ("0", "1"))


@pytest.mark.parametrize(
    ("column", "plain"),
    [
        (NUMBER, {"name": "n", "low": -1.0, "high": 3.0}),
        (replace(NUMBER, missing=0), {"name": "n", "low": -1.0, "high": 3.0, "missing": 0.0}),
        (LEVELS, {"name": "c", "categories": ("f", "m", "1.0")}),
        (
            replace(LEVELS, missing="f", aliases=(("f", ("F",)),)),
            {"name": "c", "categories": ("f", "m", "1.0"), "missing": "f", "aliases": (("f", ("F",)),)},
        ),
        (DAYS, {"name": "d", "first": "2020-01-01", "last": "2020-12-31"}),
        (BINS, {"name": "b", "edges": (0.0, 18.0, 65.0)}),
    ],
)
def test_a_column_says_in_a_digest_only_what_it_says(column: Column, plain: dict[str, object]) -> None:
    assert as_plain(column) == plain


def test_bounds_that_use_nothing_new_are_written_as_ever():
    """The digests of agreements, studies and releases that were made before rest on these keys."""
    bounds = Bounds((NUMBER, LEVELS), ("no", "yes"), "out")
    assert bounds.as_dict() == {
        "columns": [
            {"name": "n", "low": -1.0, "high": 3.0},
            {"name": "c", "categories": ("f", "m", "1.0")},
        ],
        **{"classes": ("no", "yes"), "label": "out", "clip": 2.0, "bias": 0.1, "center": True},
    }
    assert replace(bounds, aliases=(("no", ("0",)),)).as_dict()["aliases"] == (("no", ("0",)),)


@pytest.mark.parametrize("text", ["20200202", "2020-W05-7", "2020-2-2", "2020-02-30", "", "2020-02-02 "])
def test_a_date_is_written_in_one_way(text: str) -> None:
    assert day_in("2020-02-02") == date(2020, 2, 2)
    with pytest.raises(ValueError, match=r"Invalid isoformat|wanted a date|day is out of range"):
        day_in(text)

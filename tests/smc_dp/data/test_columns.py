from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from smc_dp.data.bounds import Bounds, parse_bounds
from smc_dp.data.columns import (
    BinnedColumn,
    CategoricalColumn,
    Column,
    DateColumn,
    NumericColumn,
    column_as_dict,
    parse_iso_date,
)
from tests.support.refusals import refused

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
    ("line", "code"),
    [
        ("[columns]\nx = [2010-01-01, 5]", "columns.wrong_kind"),
        ("[columns]\nx = [2010-01-01T00:00:00, 2011-01-01T00:00:00]", "columns.wrong_kind"),
        ("[columns]\nx = [2010-01-01, 2011-01-01, 2012-01-01]", "columns.wrong_kind"),
        ("[columns]\nx = [2010-01-02, 2010-01-02]", "columns.no_order_of_dates"),
        ("[columns]\nx = {bins = [0, 1], low = 0}", "document.unknown_key"),
        ('[columns]\nx = {bins = [0, "1"]}', "document.wrong_value"),
        ("[columns]\nx = {bins = [0]}", "columns.bins_not_rising"),
        ("[columns]\nx = {bins = [0, 2, 2]}", "columns.bins_not_rising"),
        ("[columns]\nx = {bins = [0, inf]}", "columns.bins_not_rising"),
        ("[columns]\nx = [false, 1]", "document.wrong_value"),
        ("[missing]\ny = 3", "columns.unknown"),
        ('[missing]\nout = "no"', "missing.no_rule_for_label"),
        ("[missing]\nn = 4", "missing.wrong_rule"),
        ("[missing]\nn = nan", "missing.wrong_rule"),
        ("[missing]\nn = true", "missing.wrong_rule"),
        ('[missing]\nn = "category"', "missing.wrong_rule"),
        ('[missing]\nc = "indicator"', "missing.wrong_rule"),
        ("[missing]\nc = 1.5", "missing.wrong_rule"),
        (f"[missing]\nc = 0x{'f' * 9000}", "missing.wrong_rule"),
        (f"[missing]\nn = 1{'0' * 400}", "missing.wrong_rule"),
        ('[missing]\nc = "x"', "missing.wrong_rule"),
        ("[missing]\nd = 3", "missing.wrong_rule"),
        ("[missing]\nd = 2019-12-31", "missing.wrong_rule"),
        ('[missing]\nd = "category"', "missing.wrong_rule"),
        ('[missing]\nb = "indicator"', "missing.wrong_rule"),
        ('[aliases.y]\nf = ["F"]', "columns.unknown"),
        ('[aliases.n]\nf = ["F"]', "aliases.not_categorical"),
        ('[aliases.c]\nx = ["F"]', "aliases.unknown_level"),
        ('[aliases.c]\nf = "F"', "document.wrong_value"),
        ("[aliases.c]\nf = []", "document.wrong_value"),
        ("[aliases.c]\nf = [1.5]", "columns.wrong_level"),
        ('[aliases.c]\nf = [" "]', "aliases.empty_text"),
        ('[aliases.c]\nf = ["m"]', "aliases.two_levels"),
        ('[aliases.c]\nf = ["1"]\nm = ["1.0"]', "aliases.two_levels"),
        ('[aliases.out]\nno = ["yes"]', "aliases.two_levels"),
        ('[aliases.out]\nx = ["y"]', "aliases.unknown_level"),
        ('[missing]\nc = "category"\n[aliases.c]\nf = ["category"]', "missing.rule_and_category"),
    ],
)
def test_what_is_no_rule_is_named(line: str, code: str) -> None:
    columns = '[columns]\nn = [-1, 3]\nc = ["f", "m"]\nd = [2020-01-01, 2020-12-31]\nb = {bins = [0, 18, 65]}\n'
    first, _, rest = line.partition("\n")
    text = columns + rest + "\n" if first == "[columns]" else columns
    text += '[label]\nclasses = ["no", "yes"]\ncolumn = "out"\n'
    if first != "[columns]":
        text += line + "\n"
    with refused(code) as caught:
        parse_bounds(text)
    assert "\n" not in str(caught.value)


def test_aliases_of_classes_want_a_named_label():
    text = '[columns]\nn = [0, 1]\n[label]\nclasses = ["no", "yes"]\n[aliases.out]\nyes = ["y"]\n'
    with refused("columns.unknown"):
        parse_bounds(text)


def test_a_word_for_a_rule_may_be_a_level_where_no_rule_is():
    column = CategoricalColumn("c", ("category", "leave out"))
    Bounds((column,), ("0", "1"))
    with refused("missing.rule_and_category"):
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
    assert column_as_dict(column) == plain


def test_bounds_that_use_nothing_new_are_written_as_ever():
    """The digests of agreements, studies and releases that were made before rest on these keys."""
    bounds = Bounds((NUMBER, LEVELS), ("no", "yes"), "out", clip=2.0)
    assert bounds.as_dict() == {
        "columns": [{"name": "n", "low": -1.0, "high": 3.0}, {"name": "c", "categories": ("f", "m", "1.0")}],
        **{"classes": ("no", "yes"), "label": "out", "clip": 2.0, "bias": 0.1, "center": True},
    }
    assert replace(bounds, aliases=(("no", ("0",)),)).as_dict()["aliases"] == (("no", ("0",)),)


@pytest.mark.parametrize("text", ["20200202", "2020-W05-7", "2020-2-2", "2020-02-30", "", "2020-02-02 "])
def test_a_date_is_written_in_one_way(text: str) -> None:
    assert parse_iso_date("2020-02-02") == date(2020, 2, 2)
    with pytest.raises(ValueError, match=r"Invalid isoformat|wanted a date|day is out of range"):
        parse_iso_date(text)

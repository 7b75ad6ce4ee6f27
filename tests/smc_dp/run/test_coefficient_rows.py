"""Coefficients with intervals for people and programs: per units that a reader names, and as a forest plot."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from statsmodels.stats.multitest import multipletests

from smc_dp.cli.main import main
from smc_dp.core.errors import InputFault
from smc_dp.data.bounds import Bounds, read_bounds
from smc_dp.data.columns import CategoricalColumn
from smc_dp.pages.blocks import Drawing, PageTable, Prose, Section
from smc_dp.run.coefficient_intervals_table import interval_blocks
from smc_dp.run.coefficient_rows import coefficient_rows, constant_columns
from smc_dp.run.forest_plot import draw_forest

BOUNDS = """
[columns]
age = [18, 98]
ward = ["a", "b", "c"]
seen = [2020-01-01, 2020-12-31]
dose = [0, 10]
[missing]
dose = "indicator"
[label]
column = "died"
classes = ["no", "yes"]
"""
FIGURES = ("standard_error", "sampling_error", "privacy_error", "low", "high", "p_value")


@pytest.fixture
def bounds(tmp_path: Path) -> Bounds:
    (tmp_path / "bounds.toml").write_text(BOUNDS)
    return read_bounds(tmp_path / "bounds.toml")


def term(kind: str, column: str = "", cell: str = "", estimate: float = 0.5, half: float = 0.2) -> dict[str, Any]:
    """A term as a release states it; without an interval where half of its width is 0."""
    figures = (half / 2, 0.09, 0.04, estimate - half, estimate + half, half) if half else (None,) * len(FIGURES)
    stated = dict(zip(FIGURES, figures, strict=True))
    return {"kind": kind, "column": column, "cell": cell, "estimate": estimate, **stated}


def inference(*terms: dict[str, Any]) -> dict[str, Any]:
    counts = {"rows": 900.0, "rows_error": 10.0, "left_out": 0.0, "left_out_error": 2.0, "last_step": 0.0}
    return {"level": 0.95, **counts, "times_needed": None, "obstacles": [], "cautions": [], "terms": list(terms)}


TERMS = (
    term("intercept"),
    term("slope", "age", estimate=-0.05, half=0.01),
    term("level", "ward", "b", half=0.0),
    term("level", "ward", "c", estimate=1.0),
    term("slope", "seen", estimate=0.001, half=0.002),
    term("empty", "dose"),
)


def test_a_coefficient_and_its_interval_are_per_units_that_the_reader_names(bounds: Bounds) -> None:
    rows = {row.column: row for row in coefficient_rows(TERMS, bounds, {"age": 10.0, "seen": 7.0})}
    age = rows["age"]
    assert (age.estimate, age.interval.low, age.interval.high) == pytest.approx((-0.5, -0.6, -0.4))
    assert (age.interval.standard_error, age.interval.p_value) == pytest.approx((0.05, 0.01))
    assert (age.interval.sampling_error, age.interval.privacy_error) == pytest.approx((0.9, 0.4))
    assert [row.what for row in rows.values()] == ["", "10 units", "c", "7 days", "empty"]
    assert (rows["ward"].estimate, rows["ward"].reference, rows["ward"].units) == (1.0, "a", None)
    assert rows["dose"].reference == ""
    assert [row.units for row in coefficient_rows(TERMS, bounds, {})] == [None, 1.0, None, None, 1.0, None]


@pytest.mark.parametrize("p", [[0.04, 0.001, 0.03, 0.9, 0.02], [0.3, 0.2], [0.01, 0.01, 0.02], [0.7]])
def test_adjusted_p_values_are_those_of_statsmodels(p: list[float], bounds: Bounds) -> None:
    terms = [term("slope", "age") | {"p_value": one} for one in p]
    others = [term("intercept") | {"p_value": 1e-9}, term("level", "ward", "b", half=0.0)]
    rows = list(coefficient_rows([*others, *terms], bounds, {"age": 10.0}))
    adjusted = [row.interval.p_value_holm if row.interval else None for row in rows]
    assert adjusted[:2] == [None, None]
    assert adjusted[2:] == pytest.approx(multipletests(p, method="holm")[1])


def drawing(bounds: Bounds, *terms: dict[str, Any], of_number: bool = False) -> Drawing:
    (found,) = draw_forest(list(coefficient_rows(terms, bounds, {})), "yes", of_number=of_number)
    return found


def pieces(found: Drawing, tag: str) -> list[dict[str, str]]:
    return [piece.attrib for piece in ElementTree.fromstring(found.svg.markup("x")).iter(tag)]


def words(found: Drawing) -> list[str]:
    return [str(piece.text) for piece in ElementTree.fromstring(found.svg.markup("x")).iter("text")]


def test_a_disc_stands_at_its_odds_ratio_on_the_scale(bounds: Bounds) -> None:
    """Against the positions of the ticks, whose odds ratios stand beside them."""
    found = drawing(bounds, *TERMS)
    discs = [float(disc["cx"]) for disc in pieces(found, "circle")]
    wanted = [-0.05, 1.0, 0.001, 0.5]  # neither the intercept nor what has no interval
    texts = [(piece.get("x"), piece.text) for piece in ElementTree.fromstring(found.svg.markup("x")).iter("text")]
    ticks = {math.log(float(text)): float(x) for x, text in texts if x and text in ("1", "2")}
    (zero, at_zero), (one, at_one) = sorted(ticks.items())
    assert zero == 0
    assert discs == pytest.approx([at_zero + score / one * (at_one - at_zero) for score in wanted], abs=0.01)
    assert "age, a unit" in words(found)
    assert "2.72 (2.23 to 3.32)" in words(found)
    assert not any("marker-end" in line for line in pieces(found, "line"))


def test_a_coefficient_of_a_number_stands_on_a_linear_scale(bounds: Bounds) -> None:
    found = drawing(bounds, *TERMS, of_number=True)
    texts = [(piece.get("x"), piece.text) for piece in ElementTree.fromstring(found.svg.markup("x")).iter("text")]
    (zero, at_zero), *_, (one, at_one) = sorted((float(text), float(x)) for x, text in texts if x and is_number(text))
    assert (zero, one) == (0.0, 1.0)
    discs = [float(disc["cx"]) for disc in pieces(found, "circle")]
    wanted = [-0.05, 1.0, 0.001, 0.5]
    assert discs == pytest.approx([at_zero + score / one * (at_one - at_zero) for score in wanted], abs=0.01)
    assert "-0.05 (-0.06 to -0.04)" in words(found)


def is_number(text: str | None) -> bool:
    return text is not None and text.lstrip("-").replace(".", "").replace("e", "").replace("+", "").isdigit()


@pytest.mark.parametrize(
    ("estimate", "half", "of_number"),
    [
        *((e, h, True) for e, h in ((0.01, 1e-9), (3e6, 2e6), (-0.02, 0.004), (0.0, 95.0), (1.0, 1e-30))),
        *((0.01, half, False) for half in (0.001, 0.1, 0.5, 1.0, 2.0, 4.0, 9.0)),
    ],
)
def test_a_scale_has_a_few_ticks(estimate: float, half: float, *, of_number: bool, bounds: Bounds) -> None:
    found = drawing(bounds, term("slope", "age", estimate=estimate, half=half), of_number=of_number)
    ticks = [float(text) for text in words(found) if is_number(text)]
    assert 1 + of_number <= len(ticks) <= 7
    assert float(not of_number) in ticks
    assert not of_number or not any("marker-end" in line for line in pieces(found, "line"))


def test_what_lies_beyond_the_scale_ends_with_an_arrow(bounds: Bounds) -> None:
    found = drawing(bounds, term("slope", "age", estimate=2.0, half=9.0), term("level", "ward", "b", estimate=3.0))
    arrows = [line for line in pieces(found, "line") if "marker-end" in line]
    assert len(arrows) == 2  # both ends of the first
    beyond = drawing(bounds, term("slope", "age", estimate=20.0, half=1.0))
    assert pieces(beyond, "circle") == []
    assert words(beyond)[-1] == "above 1e6 (above 1e6 to above 1e6)"


def test_of_very_many_coefficients_the_first_are_drawn_and_of_none_nothing(bounds: Bounds) -> None:
    found = drawing(bounds, *(term("level", "ward", str(i)) for i in range(70)))
    assert len(pieces(found, "circle")) == 60
    assert len(found.said) == 2
    # Without intervals there is no plot.
    kept_back = inference(*TERMS) | {"obstacles": ["collinear"]}
    stated = [inference(*TERMS), inference(TERMS[0], TERMS[2]), kept_back]
    plots = [[b for b in interval_blocks(one, bounds) if isinstance(b, Section)] for one in stated]
    assert [len(some) for some in plots] == [1, 0, 0]


def test_the_table_states_the_units(bounds: Bounds) -> None:
    blocks = interval_blocks(inference(*TERMS), bounds, {"age": 10.0})
    (table,) = (block for block in blocks if isinstance(block, PageTable))
    named = {row[:2]: row[2:] for row in table.rows}
    assert named["age", "10 units"][:3] == ("-0.5", "0.05", "-0.6 to -0.4")
    assert ("seen", "a day") in named


@pytest.mark.parametrize("given", ["age", "age=0", "age=x", "age=-1"])
def test_units_that_are_none_are_refused(given: str, tmp_path: Path) -> None:
    assert main(["show", str(tmp_path), "--per", given]) == 2


def test_a_column_of_one_level_is_named_where_it_has_no_coefficient(bounds: Bounds) -> None:
    one = replace(bounds, columns=(*bounds.columns, CategoricalColumn("site", ("only",))))
    for found in (inference(*TERMS), inference(*TERMS) | {"obstacles": ["far_start"]}):
        said = [block.text for block in interval_blocks(found, one) if isinstance(block, Prose)]
        assert len([text for text in said if "site" in text]) == 1
        assert not [
            block for block in interval_blocks(found, bounds) if isinstance(block, Prose) and "site" in block.text
        ]
    assert constant_columns(one) == {"site": "only"}
    assert constant_columns(bounds) == {}


def test_an_obstacle_names_its_figures(bounds: Bounds) -> None:
    found = inference(*TERMS) | {"obstacles": ["far_start", "few_rows"], "last_step": 0.81, "rows": 3.2}
    said = {
        block.code: block.text for block in interval_blocks(found, bounds) if isinstance(block, Prose) and block.code
    }
    for code, fields in (
        ("intervals.far_start", {"moved": 0.9, "most": 0.05**0.5}),
        ("intervals.few_rows", {"rows": 3, "coefficients": len(TERMS)}),
    ):
        assert said[code] == str(InputFault(code, fields))

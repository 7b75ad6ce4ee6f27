"""Coefficients of a release by column name: what they say of raw cells is what `predict` says, by another program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import forgeries as f
from support.audited import toy_run
from support.raw_models import RawModel, draw_model

from smc_dp.audit.run.conformity.publication import check_release
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.data.bounds import Bounds, NumericColumn
from smc_dp.data.columns import CategoricalColumn
from smc_dp.pages.blocks import PageTable
from smc_dp.run.coefficients import coefficients_fault, make_coefficients
from smc_dp.run.coefficients_table import coefficient_blocks
from smc_dp.run.release import RELEASE
from smc_dp.run.verify_release import verify_release
from tests.support.refusals import refused

UNSHORTENED = 1e3  # a clip that no row of few columns reaches


def by_hand(stated: dict[str, Any], model: RawModel, row: dict[str, Any], form: str = "") -> float:
    """The score of a raw row by the page's sentences; `form`: standardised or in the units of the columns."""
    found = stated[f"{form}intercept"]
    for column in model.bounds.columns:
        cell, of = row[column.name], stated["columns"][column.name]
        if cell is None and column.missing in ("indicator", "category"):
            found += of.get(f"{form}empty", of["empty"])
            continue
        cell = column.missing if cell is None else cell
        if isinstance(column, CategoricalColumn):
            meant = {text: level for level, texts in column.aliases for text in texts}
            found += of["levels"][meant.get(cell, cell)]
        elif hasattr(column, "edges"):
            places = [i for i, low in enumerate(column.edges[:-1]) if cell >= low]
            found += list(of["bins"].values())[places[-1] if places else 0]
        else:
            low, high = (column.low, column.high) if isinstance(column, NumericColumn) else (column.first, column.last)
            if not isinstance(column, NumericColumn):
                day = cell if not isinstance(cell, str) else type(low).fromisoformat(cell)
                cell, low, high = (day - low).days, 0, (high - low).days
            cell = min(max(cell, low), high)
            if form:
                middle, half = ((low + high) / 2, (high - low) / 2) if model.bounds.center else (0, max(-low, high))
                cell = (cell - middle) / half
            found += of[f"{form}slope"] * cell
    return found


@given(st.integers(0, 10**9))
def test_coefficients_give_raw_rows_their_scores_in_both_forms(seed: int) -> None:
    model = draw_model(seed, 20, clip=UNSHORTENED)
    wanted = model.scores().reshape(model.rows, -1)
    stated = make_coefficients(model.weights, model.bounds)
    assert list(stated) == list(model.bounds.classes[-1:] if len(model.bounds.classes) == 2 else model.bounds.classes)
    kept = np.flatnonzero(~np.isnan(wanted[:, 0]))
    for form in ("", "standardised_"):
        found = [[by_hand(of, model, model.row(i), form) for of in stated.values()] for i in kept]
        np.testing.assert_allclose(np.array(found).reshape(-1, wanted.shape[1]), wanted[kept], rtol=1e-9, atol=1e-9)


def test_a_slope_is_per_unit_and_standardised_per_half_of_the_range() -> None:
    bounds = Bounds((NumericColumn("age", 0, 120), CategoricalColumn("sex", ("f", "m"))), ("no", "yes"), "y", 1.0, 0.0)
    stated = make_coefficients((6.0, 1.0, -1.0), bounds)["yes"]
    assert stated["columns"]["age"] == pytest.approx({"slope": 0.1, "standardised_slope": 6.0})
    assert stated["columns"]["sex"]["levels"] == pytest.approx({"f": 1.0, "m": -1.0})
    assert (stated["intercept"], stated["standardised_intercept"]) == (pytest.approx(-6.0), 0.0)


def test_what_no_document_can_hold_is_null() -> None:
    bounds = Bounds((NumericColumn("a", 0.0, 1e-308),), ("no", "yes"), "y", 1.0, 1.0, center=False)
    stated = make_coefficients((1.0, 1e300), bounds)["yes"]
    assert stated["columns"]["a"]["slope"] is None
    tiny = make_coefficients((1e299, 1e299), Bounds((NumericColumn("a", 1.0, 2.0),), ("no", "yes"), "y", 1e-300, 1.0))
    assert tiny["yes"] == {
        "intercept": None,
        "standardised_intercept": pytest.approx(1e299 / 2**0.5),
        "columns": {"a": {"slope": None, "standardised_slope": None}},
    }
    assert json.loads(json.dumps(tiny, allow_nan=False)) == tiny


@given(st.integers(0, 10**9))
def test_another_last_digit_of_a_weight_has_other_coefficients(seed: int) -> None:
    model = draw_model(seed, 1)
    stated = json.loads(json.dumps(make_coefficients(model.weights, model.bounds)))
    assert coefficients_fault(stated, model.weights, model.bounds) is None
    moved = np.array(model.weights)
    moved.flat[seed % moved.size] *= 1 + 2.0**-48
    changed: Any = tuple(moved.tolist()) if moved.ndim == 1 else tuple(map(tuple, moved.tolist()))
    fault = coefficients_fault(stated, changed, model.bounds)
    assert fault.code == "release.other_coefficients"


def test_coefficients_that_do_not_follow_are_used_by_nobody(tmp_path: Path) -> None:
    run = toy_run(tmp_path, (12, 8)).run

    def slope(document: dict[str, Any]) -> None:
        document["coefficients"]["yes"]["columns"]["x0"]["slope"] += 1.0

    forged = f.edited(run, tmp_path / "forged", RELEASE, slope)
    with refused("release.other_coefficients"):
        verify_release(forged)
    found = check_release(load_evidence(forged))
    assert (found.status, found.fault.code) == ("failed", "release.other_coefficients")


def tables(classes: int, columns: int = 2) -> list[PageTable]:
    listed = tuple(NumericColumn(f"x{i}", 0.0, 4.0, "indicator") for i in range(columns))
    bounds = Bounds(listed, tuple(f"c{i}" for i in range(classes)), "y", 1.0, 0.0)
    row = (2.0, 7.0) * columns
    weights: Any = row if classes == 2 else (row,) * classes
    blocks = coefficient_blocks(make_coefficients(weights, bounds), bounds, 0.0)
    return [block for block in blocks if isinstance(block, PageTable)]


def test_show_has_the_coefficients_in_a_table_that_ends() -> None:
    (table,) = tables(2)
    assert table.rows == (
        ("(intercept)", "", "-4", "0"),
        *(("x0", "a unit", "1", "2"), ("x0", "empty", "9", "7")),
        *(("x1", "a unit", "1", "2"), ("x1", "empty", "9", "7")),
    )
    assert [len(table.rows) for table in tables(7, columns=300)] == [200] * 5

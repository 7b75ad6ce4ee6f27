"""Weights of rows: what bounds say of them, and what each row gets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc_dp.data.bounds import Bounds, parse_bounds
from smc_dp.data.preprocess import encode_labelled_rows, examine_table
from smc_dp.data.row_weights import RowWeights
from smc_dp.data.table_reader import parse_csv
from tests.support.refusals import refused

BOUNDS = """[columns]
age = [0, 120]
[label]
classes = ["no", "yes"]
column = "outcome"
"""
FILE = b"age,w,outcome\n30,1,no\n40,2,yes\n50,9,no\n60,-1,yes\n"


def weighted(section: str) -> Bounds:
    return parse_bounds(f"{BOUNDS}[weights]\n{section}\n")


@pytest.mark.parametrize(
    ("section", "wanted"),
    [
        ("classes = [1, 4]", [0.25, 1, 0.25, 1]),
        ("classes = [1, 100]", [0.01, 1, 0.01, 1]),  # the largest ratio
        ('column = "w"\nmost = 4', [0.25, 0.5, 1, 0]),  # what lies beyond is clipped
        ('classes = [1, 4]\ncolumn = "w"\nmost = 4', [1 / 16, 0.5, 0.25, 0]),
    ],
)
def test_a_row_has_the_product_of_both_weights_in_parts_of_the_largest(section: str, wanted: list[float]) -> None:
    found = encode_labelled_rows(parse_csv(FILE, "t"), weighted(section), "outcome")
    assert found.weights.tolist() == wanted
    plain = encode_labelled_rows(parse_csv(FILE, "t"), parse_bounds(BOUNDS), "outcome")
    assert plain.weights is None
    assert found.X.tolist() == plain.X.tolist()


@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=4), st.floats(1e-3, 1e6), st.randoms())
def test_a_weight_follows_from_its_own_row_and_is_at_most_one(classes: list[float], most: float, rng: object) -> None:
    weights = RowWeights(tuple(classes), "w", most)
    y = np.arange(12) % len(classes)
    numbers = np.linspace(-most, 2 * most, 12)
    found = weights.of_rows(y, numbers)
    assert ((found >= 0) & (found <= 1)).all()
    for i in range(12):
        alone = weights.of_rows(y[i : i + 1], numbers[i : i + 1])
        assert found[i] == alone[0]
    top = int(np.argmax(classes))
    assert weights.of_rows(np.array([top]), np.array([most])) == [1.0]


@pytest.mark.parametrize(
    ("section", "code"),
    [
        ("", "row_weights.none"),
        ("classes = [1, 2, 3]", "row_weights.not_one_for_each_class"),
        ("classes = [1, 0]", "row_weights.not_positive"),
        ("classes = [1, inf]", "row_weights.not_positive"),
        ("classes = [1, 101]", "row_weights.too_different"),
        ('classes = "balanced"', "row_weights.from_private_counts"),
        ('column = "age"\nmost = 2', "row_weights.column_used_otherwise"),
        ('column = "outcome"\nmost = 2', "row_weights.column_used_otherwise"),
        ('column = "w"\nmost = 0', "row_weights.most_not_positive"),
        ("classes = [1, 2]\nmost = 2", "row_weights.most_without_column"),
    ],
)
def test_weights_that_fit_no_table_are_refused(section: str, code: str) -> None:
    with refused(code):
        weighted(section)


def test_a_column_of_weights_is_read_as_numbers_where_classes_are_read() -> None:
    bounds = weighted('column = "w"\nmost = 4')
    for cell, code in ((b"", "cell.empty"), (b"much", "cell.not_a_number")):
        wrong = parse_csv(FILE.replace(b"40,2", b"40," + cell), "t")
        with refused(code, at="line 3"):
            encode_labelled_rows(wrong, bounds, "outcome")
        (fault,) = examine_table(wrong, bounds, "outcome").faults
        assert fault.line is None  # no rule of [missing] stands for a weight
        assert not examine_table(wrong, bounds).faults  # a prediction needs no weights
    with refused("table.no_column"):
        encode_labelled_rows(parse_csv(b"age,outcome\n30,no\n", "t"), bounds, "outcome")
    outside = examine_table(parse_csv(FILE, "t"), bounds, "outcome").outside
    assert [(fault.column, fault.count) for fault in outside] == [("w", 2)]
    assert examine_table(parse_csv(FILE, "t"), bounds, "outcome", strict=True).faults

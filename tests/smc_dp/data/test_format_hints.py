"""Errors about cells say what a cell looks like, and of an ordinary one nothing."""

from __future__ import annotations

import datetime

import pytest

from smc_dp.core.errors import InputError
from smc_dp.data.bounds import parse_bounds
from smc_dp.data.format_hints import of_no_category, of_no_number
from smc_dp.data.preprocess import encode
from smc_dp.data.tables import parse_csv

BOUNDS = parse_bounds('[columns]\nage = [0, 120]\nsex = ["f", "m"]\n[label]\nclasses = ["no", "yes"]\n')


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        *((date, "a date") for date in ("2020-01-31", "31.1.2020", "1/31/20", "2020-01-31T10:00", "2020-01-31 10:00")),
        *((datetime.date(2020, 1, 31), "a date") for _ in range(1)),
        (datetime.timedelta(3), "a date or time"),
        *((truth, "a truth value") for truth in ("true", "FALSE", "Yes", " no ")),
        ("1,5", "a decimal comma"),
        *((other, "") for other in ("abc", "12a", "1.2.3.4", "1,234.5", "20-1", "truth", None, b"x")),
    ],
)
def test_what_is_no_number_is_recognised(cell: object, said: str) -> None:
    assert of_no_number(cell).startswith(f" ({said}" if said else "")
    assert bool(of_no_number(cell)) == bool(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [("F", "differs from 'f' in letter case only"), ("true", "a truth value"), ("2020-01-31", "a date"), ("x", "")],
)
def test_what_is_no_category_is_recognised(text: str, said: str) -> None:
    assert said in of_no_category(text, ["f", "m"])
    assert bool(of_no_category(text, ["f", "m"])) == bool(said)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            "2020-01-31,f",
            "column 'age', row 1: wanted a number, got '2020-01-31' (a date); write age = [2000-01-01,",
        ),
        ("true,f", "column 'age', row 1: wanted a number, got 'true' (a truth value"),
        ("7,M", "column 'sex', row 1: unknown value 'M' (it differs from 'm' in letter case only), wanted one of f, m"),
        ("7,x", "column 'sex', row 1: unknown value 'x', wanted one of f, m"),
    ],
)
def test_the_error_names_the_cell_and_what_it_looks_like(row: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        encode(parse_csv(f"age,sex\n{row}\n".encode(), "north.csv"), BOUNDS)
    assert said in str(caught.value)


def test_a_column_in_another_letter_case_is_named() -> None:
    with pytest.raises(InputError) as caught:
        encode(parse_csv(b"Age,sex\n7,f\n", "north.csv"), BOUNDS)
    assert str(caught.value).endswith("the table has Age, sex (it differs from 'Age' in letter case only)")
    with pytest.raises(InputError, match=r"column 'age' is missing; the table has years, sex$"):
        encode(parse_csv(b"years,sex\n7,f\n", "north.csv"), BOUNDS)

"""Errors about cells say what a cell looks like, and of an ordinary one nothing."""

from __future__ import annotations

import datetime

import pytest

from smc_dp.core.errors import Fault, InputError
from smc_dp.data.bounds import parse_bounds
from smc_dp.data.format_hints import Refused, explain
from smc_dp.data.preprocess import encode
from smc_dp.data.table import NOT_A_NUMBER
from smc_dp.data.tables import parse_csv

BOUNDS = parse_bounds('[columns]\nage = [0, 120]\nsex = ["f", "m"]\n[label]\nclasses = ["no", "yes"]\n')


UNKNOWN = Fault("cell.unknown_level", "unknown value {got}{hint}", {"got": None, "hint": ""})


@pytest.mark.parametrize(
    ("cell", "looks"),
    [
        *((date, "date") for date in ("2020-01-31", "31.1.2020", "1/31/20", "2020-01-31T10:00", "2020-01-31 10:00")),
        (datetime.date(2020, 1, 31), "date"),
        (datetime.timedelta(3), "time"),
        *((truth, "truth") for truth in ("true", "FALSE", "Yes", " no ")),
        ("1,5", "decimal comma"),
        ("n/a", "nothing"),
        *((other, "") for other in ("abc", "12a", "1.2.3.4", "1,234.5", "20-1", "truth", None, b"x")),
    ],
)
def test_what_is_no_number_is_recognised(cell: object, looks: str) -> None:
    found = explain(NOT_A_NUMBER, Refused(cell=cell)).fields
    assert (found["looks"], bool(found["hint"])) == (looks, bool(looks))


@pytest.mark.parametrize(
    ("text", "looks"), [("F", "case"), ("true", "truth"), ("2020-01-31", "date"), ("?", "nothing"), ("x", "")]
)
def test_what_is_no_category_is_recognised(text: str, looks: str) -> None:
    found = explain(UNKNOWN, Refused(cell=text, text=text, levels=["f", "m"])).fields
    assert (found["looks"], bool(found["hint"])) == (looks, bool(looks))


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

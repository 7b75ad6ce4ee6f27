"""Errors about cells say what a cell looks like, and of an ordinary one nothing."""

from __future__ import annotations

import datetime

import pytest

from smc_dp.core.errors import Fault
from smc_dp.data.bounds import parse_bounds
from smc_dp.data.cell_values import NOT_A_NUMBER
from smc_dp.data.format_hints import add_hint
from smc_dp.data.preprocess import encode_rows
from smc_dp.data.refused_input import RefusedInput
from smc_dp.data.table_reader import parse_csv
from tests.support.refusals import refused

BOUNDS = parse_bounds('[columns]\nage = [0, 120]\nsex = ["f", "m"]\n[label]\nclasses = ["no", "yes"]\n')


UNKNOWN = Fault("cell.unknown_level", {"got": None, "hint": ""})


@pytest.mark.parametrize(
    ("cell", "recognised"),
    [
        *((date, "date") for date in ("2020-01-31", "31.1.2020", "1/31/20", "2020-01-31T10:00", "2020-01-31 10:00")),
        (datetime.date(2020, 1, 31), "date"),
        (datetime.timedelta(3), "time"),
        *((truth, "truth") for truth in ("true", "FALSE", "Yes", " no ")),
        ("1,5", "decimal comma"),
        ("1,234.5", "thousands"),
        ("1\u00a0234", "thousands"),
        ("1,234", "ambiguous number"),
        ("n/a", "nothing"),
        *((other, "") for other in ("abc", "1.2.3.4", "12,34.5", "20-1", "truth", None, b"x")),
    ],
)
def test_what_is_no_number_is_recognised(cell: object, recognised: str) -> None:
    found = add_hint(NOT_A_NUMBER, RefusedInput(cell=cell)).fields
    assert (found["recognised"], bool(found["hint"])) == (recognised, bool(recognised))


@pytest.mark.parametrize(
    ("text", "recognised"), [("F", "case"), ("true", "truth"), ("2020-01-31", "date"), ("?", "nothing"), ("x", "")]
)
def test_what_is_no_category_is_recognised(text: str, recognised: str) -> None:
    found = add_hint(UNKNOWN, RefusedInput(cell=text, text=text, levels=["f", "m"])).fields
    assert (found["recognised"], bool(found["hint"])) == (recognised, bool(recognised))


@pytest.mark.parametrize(
    ("text", "levels", "recognised"),
    [("47", ["18", "110"], "number"), ("47", ["1", "2", "3"], ""), ("x", ["18", "110"], ""), ("4", ["1", "b"], "")],
)
def test_bounds_in_quotes_are_recognised(text: str, levels: list[str], recognised: str) -> None:
    found = add_hint(UNKNOWN, RefusedInput(cell=text, text=text, levels=levels)).fields
    assert found["recognised"] == recognised


@pytest.mark.parametrize(
    ("row", "code", "at", "fields"),
    [
        ("2020-01-31,f", "cell.not_a_number", "age", {"got": "'2020-01-31'", "recognised": "date"}),
        ("82 kg,f", "cell.not_a_number", "age", {"got": "'82 kg'", "recognised": "unit"}),
        ("82 83,f", "cell.not_a_number", "age", {"got": "'82 83'", "recognised": ""}),
        ("7,M", "cell.unknown_level", "sex", {"got": "'M'", "recognised": "case", "levels": ["'f'", "'m'"]}),
        ("7,x", "cell.unknown_level", "sex", {"got": "'x'", "recognised": ""}),
    ],
)
def test_the_error_names_the_cell_and_what_it_looks_like(
    row: str, code: str, at: str, fields: dict[str, object]
) -> None:
    with refused(code, at=f"column '{at}', line 2", **fields):
        encode_rows(parse_csv(f"age,sex\n{row}\n".encode(), "north.csv"), BOUNDS)

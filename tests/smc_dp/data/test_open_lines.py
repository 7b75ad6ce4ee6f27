"""Open lines of drafted bounds are refused, all at once; "?" as one level among others is a level."""

from __future__ import annotations

import pytest

from smc_dp.data.bounds import parse_bounds
from smc_dp.data.columns import CategoricalColumn
from tests.support.refusals import refused

LABEL = '[label]\ncolumn = "out"\nclasses = ["no", "yes"]\n'
COLUMNS = "[columns]\nage = [0, 120]\n"


@pytest.mark.parametrize(
    "value",
    [
        '[2010-01-01, "?"]',
        '{bins = ["?"]}',
        '{bins = [0, "?"]}',
    ],
)
def test_an_open_column_is_refused(value: str) -> None:
    with refused("bounds.open_column", column="sex", at="[columns] sex"):
        parse_bounds(f"{LABEL}{COLUMNS}sex = {value}\n")


def test_all_open_lines_are_named_at_once() -> None:
    drafted = '[label]\ncolumn = "?"\nclasses = ["?", "?"]\n[columns]\nage = "?"\n"b.c" = [1, "?"]\n'
    with refused("bounds.open_label", "bounds.open_classes", "bounds.open_column", "bounds.open_column") as caught:
        parse_bounds(drafted)
    assert [fault.fields["column"] for fault in caught.value.faults[2:]] == ["age", '"b.c"']
    with refused("bounds.open_classes"):
        parse_bounds(LABEL.replace('"no"', '"?"') + COLUMNS)


def test_a_question_mark_among_levels_is_one() -> None:
    found = parse_bounds(f'{LABEL}{COLUMNS}work = ["?", "private"]\nknown = ["?", true]\n')
    assert found.columns[1:] == (
        CategoricalColumn("work", ("?", "private")),
        CategoricalColumn("known", ("?", "true")),
    )

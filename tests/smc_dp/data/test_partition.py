from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc_dp.data.partition import check_names, even_shares, group_rows, name_of_file, parse_split, split_rows
from smc_dp.data.table_reader import parse_csv
from tests.support.refusals import refused


@pytest.mark.parametrize(
    ("split", "sizes"),
    [("15,20,20,20,25", [4884, 6512, 6512, 6512, 8141]), ("10,20,20,20,30", [3256, 6512, 6512, 6512, 9769])],
)
def test_the_splits_of_the_paper(split, sizes):
    assert [len(part) for part in split_rows(32561, parse_split(split), seed=0)] == sizes


@given(st.integers(0, 300), st.lists(st.integers(1, 40), min_size=1, max_size=9), st.integers(0, 2**32))
def test_every_row_is_dealt_once_and_nobody_is_off_by_more_than_one(rows, weights, seed):
    shares = [Fraction(100 * w, sum(weights)) for w in weights]
    parts = split_rows(rows, shares, seed)
    assert sorted(np.concatenate(parts).tolist()) == list(range(rows))
    for part, share in zip(parts, shares, strict=True):
        assert abs(len(part) - rows * share / 100) < 1


def test_the_seed_decides_who_gets_what():
    one, again, other = (split_rows(100, even_shares(4), seed)[0].tolist() for seed in (1, 1, 2))
    assert one == again != other


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("50,40", "split.wrong_sum"),
        ("33.3,33.3,33.3", "split.wrong_sum"),
        ("50,,50", "split.no_percentages"),
        ("0,100", "split.not_positive"),
        ("-10,110", "split.no_percentages"),
        ("a,b", "split.no_percentages"),
        ("nan,50", "split.no_percentages"),
    ],
)
def test_a_split_must_be_percentages_that_sum_to_100(text, code):
    with refused(code):
        parse_split(text)


def test_a_split_is_exact():
    assert parse_split("33.3, 33.3,33.4") == [Fraction(333, 10), Fraction(333, 10), Fraction(334, 10)]


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["a", "b", "a"], "party.same_name"),
        (["a", "charlie"], "party.reserved_name"),
        (["Public", "b"], "party.reserved_name"),
        (["a b", "c"], "party.wrong_name"),
        (["", "c"], "party.wrong_name"),
        (["a", "x" * 65], "party.wrong_name"),
        (["a\n", "b"], "party.wrong_name"),
        ([".x", "c"], "party.wrong_name"),
        (["a"], "parties.too_few"),
        ([], "parties.too_few"),
    ],
)
def test_party_names_are_simple_and_used_once(names, code):
    with refused(code):
        check_names(names)


def test_rows_are_grouped_by_a_column():
    groups = group_rows(parse_csv(b"h,x\nb,1\na,2\nb,3\n", "t"), "h")
    assert {name: rows.tolist() for name, rows in groups.items()} == {"b": [0, 2], "a": [1]}
    assert list(groups) == ["b", "a"]


def test_very_many_party_names_take_no_time() -> None:
    """A release of a stranger may list half a million: each is looked up, and not compared with all others."""
    names = [f"p{i}" for i in range(60_000)]
    before = time.process_time()
    check_names(names)
    with refused("party.same_name"):
        check_names([*names, "p0"])
    assert time.process_time() - before < 5


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("north.csv", "north"),
        ("Klinik Nord (2).csv", "Klinik_Nord_2"),
        ("Zürich.csv", "Zurich"),
        ("a" * 80 + ".csv", "a" * 64),
        ("北.csv", "北"),  # of which nothing is left
    ],
)
def test_the_name_of_a_file_makes_the_name_of_a_party(file: str, name: str) -> None:
    assert name_of_file(Path(file)) == name

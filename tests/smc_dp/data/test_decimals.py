"""Decimals of 2 to 4 bytes: the same texts and the same floats, to the bit, as those that were packed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smc_dp.data.decimals import Decimals, join_decimals, pack_decimals

UNUSUAL = ("007", "+1", "1.", ".5", "1e2", "1_0", "1.2.3", "--1", "-", ".", " 1", "inf", "nan", "1,5", "0x1", "-.5")
SIGNED = st.tuples(st.sampled_from(["", "-"]), st.integers(0, 2**31 - 3), st.integers(0, 22))
DECIMALS = st.one_of(
    SIGNED.map(lambda x: f"{x[0]}{x[1] // 10 ** x[2]}" + (f".{x[1] % 10 ** x[2]:0{x[2]}d}" if x[2] else "")),
    st.floats(-99, 99).map(lambda x: f"{x:.2f}"),
    st.just(""),
)


def packed(texts: Sequence[str]) -> Decimals | None:
    return pack_decimals(pa.array(texts, pa.string()))


def texts_of(numbers: Decimals) -> list[str]:
    texts: list[str] = numbers.encoded().dictionary_decode().to_pylist()
    return texts


def floats_of(texts: Sequence[str]) -> bytes:
    return np.array([float(text or "nan") for text in texts]).tobytes()


@given(st.lists(DECIMALS, max_size=200))
@example(["-0.00", "0.00", "-0", "0", "-0.0000000000000000000001"])
@example(["32766", "-32766"])
@example(["32767", "-32767"])
@example(["-32768", "32768"])
@example(["2147483646", "", "-2147483646"])
def test_texts_and_floats_come_back(texts: list[str]) -> None:
    found = packed(texts)
    assert texts_of(found) == texts
    assert found.numbers().tobytes() == floats_of(texts)


@pytest.mark.parametrize("text", [*UNUSUAL, "2147483648", "-2147483648", "1" * 400, "0." + "0" * 22 + "1", "1e400"])
@pytest.mark.parametrize("beside", [["1.5"], ["1.5"] * 100, ["2"]])
def test_a_text_that_would_not_come_back_is_not_packed(text: str, beside: list[str]) -> None:
    assert packed(beside) is not None
    assert packed([*beside, text]) is None
    assert packed([text, *beside]) is None


@given(st.text("0123456789.-+eE \n", max_size=8))
def test_whatever_is_packed_comes_back(text: str) -> None:
    if (found := packed([text])) is not None:
        assert texts_of(found) == [text]
        assert found.numbers().tobytes() == floats_of([text])


@given(st.lists(st.lists(DECIMALS, min_size=1, max_size=5), min_size=1, max_size=4), st.data())
def test_parts_are_joined_and_taken_with_their_empty_cells(parts: list[list[str]], data: st.DataObject) -> None:
    found = join_decimals([numbers for part in parts if (numbers := packed(part)) is not None])
    texts = [text for part in parts for text in part]
    assert texts_of(found) == texts
    order = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=8))
    assert texts_of(found.take(np.array(order, dtype=np.int64))) == [texts[i] for i in order]
    assert found.numbers().tobytes() == floats_of(texts)


@pytest.mark.parametrize(
    ("texts", "size"), [(["-1.2345", "", "3.2000"], 2), (["12", "7"], 2), (["1.2345", "4.0000"], 4), (["1.5", "2"], 3)]
)
def test_a_number_takes_two_to_five_bytes(texts: list[str], size: int) -> None:
    found = packed(texts)
    of_places = 0 if isinstance(found.places, int) else found.places.itemsize
    assert found.digits.itemsize + of_places == size

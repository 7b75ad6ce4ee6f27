"""Kinds of values in documents: what was asked for comes out, or a sentence that names the field."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from smc_dp.core.documents import Document, validate_document
from smc_dp.core.errors import UnfitError
from smc_dp.core.kinds import (
    DigestText,
    FiniteFigure,
    FiniteNumbers,
    OneOf,
    SettingValue,
    Texts,
    TwoNumbers,
    WholeNumberText,
    limit_keys,
)
from tests.support.refusals import refused


class Every(Document):
    """One field of each kind."""

    numbers: FiniteNumbers = []  # noqa: RUF012
    pair: TwoNumbers = [0.0, 1.0]  # noqa: RUF012
    texts: Texts = []  # noqa: RUF012
    whole: WholeNumberText = "0"
    figure: FiniteFigure = 0
    digest: DigestText = "0" * 64
    term: SettingValue = ""
    word: Annotated[str, OneOf(("a", "b"))] = "a"
    crowd: Annotated[dict[str, dict[str, int]], limit_keys(3, deep=True)] = {}  # noqa: RUF012


@pytest.mark.parametrize(("name", "good", "bad"), [
    ("numbers", [1.0, 2], [[True], ["1"], [float("inf")], [float("nan")], [10**400], [1e301], None, (1.0,)]),
    ("pair", [1, 2.5], [[1], [1, 2, 3], {}]),
    ("texts", ["a", "b"], ["ab", [1], None]),
    ("whole", "12", ["012", "-1", "1.0", 12, "", "9" * 5000, "1\n", "\u0663", "\ud800"]),
    ("figure", 7, [True, "7", float("nan"), 10**400, None]),
    ("digest", "0f" * 32, ["0F" * 32, "0f" * 31, 15]),
    ("term", ["a"], [1.5, None, [1], {}]),
    ("word", "b", ["c", 1]),
    ("crowd", {"a": {"b": 1}}, [{"a": {"b": 1, "c": 2, "d": 3}}, {str(i): {} for i in range(4)}, {"a": {"b": True}}]),
])  # fmt: skip
def test_the_right_value_passes_and_others_name_the_field(name: str, good: Any, bad: list[Any]) -> None:
    assert getattr(validate_document(Every, {name: good}, "x"), name) == good
    for value in bad:
        with pytest.raises(UnfitError) as caught:
            validate_document(Every, {name: value}, "x")
        assert all(fault.place.startswith(name) for fault in caught.value.faults)
        assert len(str(caught.value).splitlines()) == 1


def test_very_many_wrong_values_cost_one_line() -> None:
    for crowd, code in (
        ({"numbers": ["1"] * 200_000}, "document.wrong_value"),
        ({str(i): 1 for i in range(200_000)}, "document.too_many_keys"),
    ):
        with refused(code) as caught:
            validate_document(Every, crowd, "x")
        assert len(str(caught.value)) < 100

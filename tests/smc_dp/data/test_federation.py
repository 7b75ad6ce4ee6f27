"""A federation takes what it can use, and refuses anything else in one sentence that names the party."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from smc_dp.data.federation import Federation, Rows
from tests.support.refusals import refused


def rows(n: int = 3, d: int = 2, **changes: Any) -> Rows:
    fields: dict[str, Any] = {"X": np.full((n, d), 0.5), "y": np.arange(n, dtype=np.int64) % 2} | changes
    return Rows(**fields)


def test_what_parties_hold() -> None:
    both = Federation((rows(3), rows(5)), 2)
    assert both.dimension == 2
    assert both.sizes.tolist() == [3, 5]
    assert len(both.pooled()) == 8
    np.testing.assert_array_equal(both.pooled().y, [0, 1, 0, 0, 1, 0, 1, 0])
    assert both.name(1) == "party 2"
    assert Federation((rows(),), 2, names=("north",)).name(0) == "party north"
    np.testing.assert_array_equal(rows(4).take(np.array([1, 3])).y, [1, 1])


WRONG: dict[str, tuple[Any, str]] = {
    "no parties": (lambda: Federation((), 2), "parties.none"),
    "no rows": (lambda: Federation((rows(), rows(0)), 2), "rows.none"),
    "wider": (lambda: Federation((rows(), rows(d=3)), 2), "federation.wrong_width"),
    "flat": (lambda: Federation((rows(X=np.ones(3)),), 2), "federation.wrong_width"),
    "too long": (lambda: Federation((rows(X=np.full((3, 2), 0.8)),), 2), "rows.outside_ball"),
    "a label too few": (lambda: Federation((rows(y=np.array([0, 1])),), 2), "rows.no_class_numbers"),
    "labels of another type": (lambda: Federation((rows(y=np.array([0.0, 1, 1])),), 2), "rows.no_class_numbers"),
    "names": (lambda: Federation((rows(),), 2, names=("a", "b")), "parties.names_not_different"),
    "classes as text": (lambda: Federation((rows(),), "2"), "classes.not_a_number"),  # type: ignore[arg-type]
    "a list of parties": (lambda: Federation([rows()], 2), "parties.not_rows"),  # type: ignore[arg-type]
    "pairs": (lambda: Federation(((rows().X, rows().y),), 2), "parties.not_rows"),  # type: ignore[arg-type]
    "half precision": (lambda: Federation((rows(X=np.full((3, 2), 0.5, dtype=np.float16)),), 2), "rows.not_float64"),
    "masked": (lambda: Federation((rows(X=np.ma.ones((3, 2))),), 2), "rows.not_float64"),
    "no labels": (lambda: Federation((rows(y=None),), 2), "rows.no_class_numbers"),
    "auxiliary list": (lambda: Federation((rows(),), 2, unlabelled=[[0.1]]), "rows.not_float64"),  # type: ignore[arg-type]
    "auxiliary width": (lambda: Federation((rows(),), 2, unlabelled=np.ones((2, 3)) / 9), "federation.wrong_width"),
}


def test_the_place_of_what_does_not_fit_is_named() -> None:
    with refused("federation.not_finite", at="party 2", row=2, column=1, got=np.inf):
        Federation((rows(), rows(X=np.array([[0.1, 0], [np.inf, 0], [0, 0]]))), 2)
    with refused("rows.unknown_class", at="party b", row=3, last=1, got="2"):
        Federation((rows(), rows(y=np.array([0, 1, 2]))), 2, names=("a", "b"))
    with refused("rows.outside_ball", at="the public labelled rows", row=1):
        Federation((rows(),), 2, labelled=rows(X=np.ones((3, 2))))


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_refused(name: str) -> None:
    make, code = WRONG[name]
    with refused(code) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_a_name_in_a_message_is_short_and_on_one_line() -> None:
    found = Federation((rows(),), 2, names=("north\nsouth" + "x" * 500,)).name(0)
    assert "\n" not in found
    assert len(found) < 80

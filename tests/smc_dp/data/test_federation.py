"""A federation takes what it can use, and refuses anything else in one sentence that names the party."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from smc_dp.core.errors import InputError
from smc_dp.data.federation import Federation, Rows


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
    "no parties": (lambda: Federation((), 2), "parties: wanted at least one"),
    "one class": (lambda: Federation((rows(),), 1), "classes: wanted a number from 2 to 1000, got 1"),
    "no rows": (lambda: Federation((rows(), rows(0)), 2), "party 2: has no rows"),
    "wider": (lambda: Federation((rows(), rows(d=3)), 2), "party 2: wanted rows of width 2"),
    "flat": (lambda: Federation((rows(X=np.ones(3)),), 2), "party 1: wanted rows of width d"),
    "too long": (lambda: Federation((rows(X=np.full((3, 2), 0.8)),), 2), "party 1: row 1: wanted a Euclidean norm"),
    "nan": (
        lambda: Federation((rows(X=np.array([[0.1], [np.nan], [0]])),), 2),
        "party 1: row 2: column 1: wanted a finite number, got nan",
    ),
    "infinite": (
        lambda: Federation((rows(X=np.array([[0.1], [0.1], [np.inf]])),), 2),
        "row 3: column 1: wanted a finite number, got inf",
    ),
    "third class": (lambda: Federation((rows(y=np.array([0, 1, 2])),), 2), "row 3: wanted a class from 0 to 1, got 2"),
    "negative class": (lambda: Federation((rows(y=np.array([0, -1, 1])),), 2), "row 2: wanted a class"),
    "labels of another length": (lambda: Federation((rows(y=np.array([0, 1])),), 2), "wanted 3 class numbers"),
    "labels of another type": (lambda: Federation((rows(y=np.array([0.0, 1, 1])),), 2), "of float64"),
    "names": (lambda: Federation((rows(),), 2, names=("a", "b")), "names: wanted 1 different"),
    "names alike": (lambda: Federation((rows(), rows()), 2, names=("a", "a")), "names: wanted 2 different texts"),
    "classes as text": (lambda: Federation((rows(),), "2"), "classes: wanted a number from 2 to 1000, got '2'"),  # type: ignore[arg-type]
    "endless classes": (lambda: Federation((rows(),), 10**6), "classes: wanted a number from 2 to 1000"),
    "a list of parties": (lambda: Federation([rows()], 2), "parties: wanted a tuple of Rows"),  # type: ignore[arg-type]
    "pairs": (lambda: Federation(((rows().X, rows().y),), 2), "parties: wanted a tuple of Rows"),  # type: ignore[arg-type]
    "half precision": (lambda: Federation((rows(X=np.full((3, 2), 0.5, dtype=np.float16)),), 2), "array of float16"),
    "single precision": (lambda: Federation((rows(X=np.full((3, 2), 0.5, dtype=np.float32)),), 2), "array of float32"),
    "complex": (lambda: Federation((rows(X=np.full((3, 2), 0.5j)),), 2), "array of complex128"),
    "objects": (lambda: Federation((rows(X=np.full((3, 2), None)),), 2), "array of object"),
    "a list of rows": (
        lambda: Federation((rows(X=[[0.5, 0.5]]),), 2),
        "wanted rows as an array of float64, got 'list'",
    ),
    "masked": (lambda: Federation((rows(X=np.ma.ones((3, 2))),), 2), "party 1: wanted rows as an array of float64"),
    "no labels": (lambda: Federation((rows(y=None),), 2), "party 1: wanted an array of class numbers, got None"),
    "auxiliary list": (lambda: Federation((rows(),), 2, unlabelled=[[0.1]]), "the auxiliary rows: wanted rows as"),  # type: ignore[arg-type]
    "auxiliary width": (lambda: Federation((rows(),), 2, unlabelled=np.ones((2, 3)) / 9), "the auxiliary rows: wanted"),
    "no auxiliary": (lambda: Federation((rows(),), 2, unlabelled=np.ones((0, 2))), "the auxiliary rows: has no rows"),
    "labelled outside": (
        lambda: Federation((rows(),), 2, labelled=rows(X=np.ones((3, 2)))),
        "the public labelled rows: row 1",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_refused(name: str) -> None:
    make, words = WRONG[name]
    with pytest.raises(InputError) as caught:
        make()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_in_a_message_is_short_and_on_one_line() -> None:
    found = Federation((rows(),), 2, names=("north\nsouth" + "x" * 500,)).name(0)
    assert "\n" not in found
    assert len(found) < 80

"""Weights of rows in a fit: public numbers of classes, and private numbers of rows with a public largest one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from smc_dp.core.arrays import Array, IntArray
from smc_dp.core.errors import InputError, InputFault, clipped_too_often, shown, warn_clipped
from smc_dp.data.row_weights import MOST_RATIO, RowWeights
from smc_dp.estimators.validation import LabelArray, check_labels, check_number, list_first, out_of_range
from smc_dp.methods.method import WITH_WEIGHTS

NOT_OF_FAMILY = InputFault("class_weight.not_of_family", {"methods": WITH_WEIGHTS})


def uses_weights(methods: tuple[str, ...]) -> bool:
    """Return whether all these methods use weights of classes and of rows."""
    return set(methods) <= set(WITH_WEIGHTS)


def check_weight_settings(class_weight: object, most_weight: object) -> None:
    """Raise InputError for parameters of an estimator that no public terms of weights follow from."""
    if isinstance(class_weight, str):
        raise InputError("class_weight.from_private_counts", got=shown(class_weight))
    if class_weight is not None:
        if not isinstance(class_weight, Mapping) or not class_weight:
            raise InputError("class_weight.no_numbers", got=shown(class_weight))
        numbers = [check_number("class_weight", weight) for weight in class_weight.values()]
        if not all(0 < number < math.inf for number in numbers):
            raise InputError("class_weight.not_positive", got=shown(dict(class_weight)))
    if not 0 < check_number("most_weight", most_weight) < math.inf:
        raise out_of_range("most_weight", "a finite number above 0", most_weight)


def weigh_rows(
    class_weight: Mapping[Any, float] | None, most_weight: float, given: object, classes: LabelArray, numbers: IntArray
) -> Array | None:
    """Return the weight of each row in parts of the largest that any may have, (n,), or None where none has any.

    given: None, or a weight from 0 for each row, of which larger ones than `most_weight` are clipped; numbers: (n,),
    class numbers. Raises InputError for weights of other classes, and for what is no weight of a row.
    """
    if class_weight is None and given is None:
        return None
    by_class = () if class_weight is None else _by_class(class_weight, classes)
    if given is None:
        return RowWeights(by_class).of_rows(numbers, None)
    found = _numbers(given, len(numbers))
    clipped = int(np.count_nonzero(found > most_weight))
    if clipped_too_often(clipped, len(found)):
        fields = {"clipped": clipped, "rows": len(found), "most": float(most_weight)}
        warn_clipped(InputFault("sample_weight.clipped", fields), stacklevel=6)
    return RowWeights(by_class, "sample_weight", float(most_weight)).of_rows(numbers, found)


def _by_class(class_weight: Mapping[Any, float], classes: LabelArray) -> tuple[float, ...]:
    """Return a number for each class, 1 for one that has none of its own."""
    known = classes.tolist()
    if unknown := [label for label in class_weight if label not in known]:
        raise InputError("class_weight.unknown_class", classes=list_first(known), got=shown(unknown[0]))
    found = tuple(float(class_weight.get(label, 1.0)) for label in known)
    if max(found) > MOST_RATIO * min(found):
        raise InputError("class_weight.too_different", most=MOST_RATIO, got=shown(dict(class_weight)))
    return found


def _numbers(given: object, n: int) -> Array:
    """Return a copy of the weights as floats, (n,); InputError unless each is a finite number, and one is above 0."""
    listed = check_labels("sample_weight", given, n, f"the {n} rows", "a weight")
    try:
        found: Array = listed.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight.no_numbers", got=str(listed.dtype)) from None
    wrong = np.flatnonzero(~(np.isfinite(found) & (found >= 0)))
    if len(wrong):
        raise InputError("sample_weight.no_weight", row=int(wrong[0]) + 1, got=float(found[wrong[0]]))
    if not found.any():
        raise InputError("sample_weight.all_zero")
    return found

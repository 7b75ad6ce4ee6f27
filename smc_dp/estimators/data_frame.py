"""Figures of an estimator as a data frame of pandas, which the package does without."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from smc_dp.core.errors import InputError


def data_frame(rows: Iterable[Mapping[str, object]], columns: Sequence[str], numbers: Sequence[str]) -> Any:
    """Return the rows as a data frame with these columns, of which `numbers` are floats; InputError without pandas."""
    try:
        import pandas  # type: ignore[import-untyped]  # which the package does without
    except ImportError:
        raise InputError("frame.no_pandas") from None
    return pandas.DataFrame(list(rows), columns=list(columns)).astype(dict.fromkeys(numbers, float))

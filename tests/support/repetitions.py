"""Parameters of a test of which some are tried every day and the others, which repeat the claim, are slow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def with_slow(values: Iterable[Any], *slow: Any) -> list[Any]:
    """Return all values; these are slow. A tuple has a value for each argument."""
    found = list(values)
    unknown = [value for value in slow if value not in found]
    if unknown:
        raise ValueError(f"not among them: {unknown}")
    return [pytest.param(*arguments(value), marks=pytest.mark.slow) if value in slow else value for value in found]


def arguments(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)

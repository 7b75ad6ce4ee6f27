"""Which functions a call runs through: what a page shows as code has to be among them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from types import CodeType, FrameType, ModuleType
from typing import Any


def run_through(work: Callable[[], object]) -> frozenset[CodeType]:
    """The code of all functions that are called meanwhile, on this thread."""
    seen: set[CodeType] = set()

    def look(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            seen.add(frame.f_code)

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return frozenset(seen)


def idle(shown: Iterable[Callable[..., object]], seen: frozenset[CodeType]) -> list[str]:
    """The names of those that were not called."""
    return [function.__qualname__ for function in shown if inspect.unwrap(function).__code__ not in seen]  # type: ignore[attr-defined]


def forget(module: ModuleType) -> None:
    """Empty what the module keeps from an earlier trial, so that the next one calls all that it needs."""
    for kept in vars(module).values():
        if getattr(kept, "__module__", None) == module.__name__ and hasattr(kept, "cache_clear"):
            kept.cache_clear()

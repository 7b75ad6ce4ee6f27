"""Commands that hold much in memory to their end look for garbage seldom."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (5_000_000, 20, 100)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """While the block runs: the symbolic engine keeps most of what it makes, and looking through it took it long."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()

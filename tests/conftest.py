"""One profile for all tests: machines are shared, so a slow example is no failure, and a worker has one BLAS thread,
looks for garbage seldom and computes some things once.
"""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.linalg
import typer.main
from hypothesis import settings
from threadpoolctl import threadpool_limits

EXAMPLES = 50  # of each property, where a test names no other number: stored mutants need no more

if TYPE_CHECKING:
    from support.browser import Chromium
    from support.planted import Planter

settings.register_profile("shared machine", deadline=None, max_examples=EXAMPLES)
settings.load_profile("shared machine")

# As many workers as cores, each with as many threads, wait for each other more than they compute. A limit holds for
# the libraries that are loaded, numpy's and scipy's; the variable is for the processes that tests start.
LIMITED = (np, scipy.linalg)
LIMITS = threadpool_limits(1, user_api="blas")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A commit of a ledger or a site waits for its disk, so folders of tests are in memory where there is room for them, and
# nobody has named a place.
MEMORY, ROOM = Path("/dev/shm"), 4 << 30
HAS_ROOM = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM
if HAS_ROOM and "TMPDIR" not in os.environ and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected is there to the end: to look for garbage in it takes a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(50_000, 10, 10)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what drives other programs, and mostly waits: no worker is left with it when the others are done."""
    items.sort(key=lambda item: not item.path.name.startswith(("test_flare", "test_flower")))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """The distribution's browser, started once a worker."""
    from support import browser

    if browser.CHROMIUM is None:
        pytest.skip(browser.MISSING)
    started = browser.Chromium()
    yield started
    started.close()


@pytest.fixture(scope="session")
def planter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planter]:
    """A copy of the repository for mutants and recipes, made once a worker."""
    from support.planted import Planter

    made = Planter(tmp_path_factory.mktemp("planted"))
    yield made
    made.close()


@pytest.fixture(scope="session", autouse=True)
def _computed_once() -> Iterator[None]:
    """A process of the program makes its tree of commands once, so hundreds of commands in one process do too; sessions
    of one process verify the same signatures and multiply the same points again.
    """
    from protocols.crypto import identity, oblivious

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", cache(typer.main.get_command))
        for module, name in ((identity, "_is_accepted_fast"), (oblivious, "_product")):
            patch.setattr(module, name, lru_cache(1 << 14)(getattr(module, name)))
        yield

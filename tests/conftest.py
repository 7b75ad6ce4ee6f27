"""One profile for all tests: machines are shared, so a slow example is no failure, and a worker has one BLAS thread and
looks for garbage seldom.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest
import scipy.linalg
from hypothesis import settings
from threadpoolctl import threadpool_limits

settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")

# As many workers as cores, each with as many threads, wait for each other more than they compute. A limit holds for
# the libraries that are loaded, numpy's and scipy's.
LIMITED = (np, scipy.linalg)
LIMITS = threadpool_limits(1, user_api="blas")


def pytest_collection_finish() -> None:
    """What was collected is there to the end, and is most of memory: nothing to look for garbage in."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What an audit keeps goes into no user's folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield

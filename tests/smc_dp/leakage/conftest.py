"""Matrices are computed as the command computes them: the symbolic engine keeps most of its objects."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from smc_dp.cli.screen import rare_garbage_collection


@pytest.fixture(scope="module", autouse=True)
def garbage_is_collected_rarely() -> Iterator[None]:
    """Half of the time of a matrix is garbage collection otherwise."""
    with rare_garbage_collection():
        yield

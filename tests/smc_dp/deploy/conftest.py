"""Sessions that were played once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest
from support import sites
from support.sites import Sites

from smc_dp.deploy.frame import Frame


@pytest.fixture(scope="session", autouse=True)
def _frames_are_read_once() -> Iterator[None]:
    """Sites of one process decode the same frames again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Frame, "decode", staticmethod(lru_cache(1 << 12)(Frame.decode)))
        yield


@pytest.fixture(autouse=True)
def _sites_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close at the end of a test the sites that it has begun."""
    begun, begin = list[Sites](), Sites.begin
    monkeypatch.setattr(Sites, "begin", lambda run, name: (begun.append(run), begin(run, name)))
    yield
    for run in begun:
        run.close()


@pytest.fixture
def run(played: Sites, tmp_path: Path) -> Sites:
    """A copy of what a module has played so far, for one test."""
    return played.again(tmp_path / "run")


@pytest.fixture(scope="session")
def sum_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """Sums of three parties, one of whom may vanish, undisturbed, to the end."""
    run = Sites(sites.joint(sites.one_sum()), tmp_path_factory.mktemp("sum")).run()
    yield run
    run.close()

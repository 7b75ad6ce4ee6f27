"""Folders for many small commits: in memory, where the machine has such a place."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import sites
from support.sites import Sites

_IN_MEMORY = Path("/dev/shm")


@pytest.fixture(scope="session")
def fast_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where a commit that waits for its disk does not wait long."""
    if not _IN_MEMORY.is_dir():
        yield tmp_path_factory.mktemp("sites")
        return
    folder = Path(tempfile.mkdtemp(dir=_IN_MEMORY, prefix="smc-dp-sites-"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def fast_path(fast_folder: Path) -> Path:
    """One of them for one test."""
    return Path(tempfile.mkdtemp(dir=fast_folder))


@pytest.fixture(scope="session")
def curator_run(fast_folder: Path) -> Iterator[Sites]:
    """Three parties and Charlie with toy keys, undisturbed, to the end."""
    run = Sites(sites.joint(sites.PRR_MEAN), fast_folder / "curator").run()
    yield run
    run.close()


@pytest.fixture(scope="session")
def sum_run(fast_folder: Path) -> Iterator[Sites]:
    """Sums of three parties, one of whom may vanish, undisturbed, to the end."""
    run = Sites(sites.joint(sites.few_sums()), fast_folder / "sum").run()
    yield run
    run.close()

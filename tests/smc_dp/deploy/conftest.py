"""Folders for many small commits, in memory where the machine has such a place; sessions that were played once."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from support import sites
from support.sites import Sites

from protocols.crypto import identity

_IN_MEMORY = Path("/dev/shm")


class RememberedKey:
    """A public key that takes a signature at once if it has verified it before: whether it holds cannot change."""

    def __init__(self, public: bytes) -> None:
        self._key = Ed25519PublicKey.from_public_bytes(public)
        self._verified = set[tuple[bytes, bytes]]()

    def verify(self, signature: bytes, message: bytes) -> None:
        if (signature, message) not in self._verified:
            self._key.verify(signature, message)
            self._verified.add((signature, message))


class RememberedKeys:
    from_public_bytes = staticmethod(lru_cache(1 << 12)(RememberedKey))


@pytest.fixture(scope="session", autouse=True)
def _signatures_are_verified_once() -> Iterator[None]:
    """Sites of one process verify the same signatures, and tests the same again: a ninth of the time of a session."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identity, "Ed25519PublicKey", RememberedKeys)
        yield


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
    run = Sites(sites.joint(sites.LINEAR), fast_folder / "curator").run()
    yield run
    run.close()


@pytest.fixture(scope="session")
def sum_run(fast_folder: Path) -> Iterator[Sites]:
    """Sums of three parties, one of whom may vanish, undisturbed, to the end."""
    run = Sites(sites.joint(sites.one_sum()), fast_folder / "sum").run()
    yield run
    run.close()

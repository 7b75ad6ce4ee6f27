"""Runs for all tests of what an audit came to, each with its views; nobody changes them."""

from __future__ import annotations

import pytest
from support.audited import Folders, charged_run, long_term, toy_run


@pytest.fixture(scope="session")
def charged(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """A sum, and beside it `identities.json` and the folder `ledgers`."""
    return charged_run(tmp_path_factory.mktemp("charged"))


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """A run of two parties with the shortest keys."""
    return toy_run(tmp_path_factory.mktemp("small"), (9, 5), 1, key_bits=256)


@pytest.fixture(scope="session")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """A run of three parties by identities that outlive it."""
    own = long_term(("north-0", "north-1", "north-2"))
    return toy_run(tmp_path_factory.mktemp("honest"), (12, 8, 20), identities=own)

"""One run for all tests of what an audit came to."""

from __future__ import annotations

import pytest
from support.audited import Folders, charged_run


@pytest.fixture(scope="session")
def charged(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """A run with views, and beside it `identities.json` and the folder `ledgers`; nobody changes it."""
    return charged_run(tmp_path_factory.mktemp("charged"))

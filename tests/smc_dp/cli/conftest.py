"""Commands run in an empty working folder, without the data of the papers."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("SMC_DP_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path

"""A private text shows nothing but to its owner."""

from __future__ import annotations

import copy
import json
import logging
import stat
from pathlib import Path

import pytest

from smc_dp.core.private_text import PrivateText

CELL = "HIV positive 4711"


def test_a_private_text_shows_nothing_where_it_is_written_as_a_value(caplog: pytest.LogCaptureFixture) -> None:
    text = PrivateText(f"row 3: {CELL}\nand more")
    logging.getLogger("smc_dp").error("%s %r", text, text)
    shown = (f"{text}", str(text), repr(text), f"{text!s:.9}", repr([text]), repr(vars(PrivateText)), caplog.text)
    assert [line for line in shown if "row 3" in line or "HIV" in line] == []
    assert "<private text>" in caplog.text
    for made in (copy.copy, copy.deepcopy, json.dumps):  # the first as pickle does
        with pytest.raises(TypeError):
            made(text)
    assert text.on_screen() == f"row 3: {CELL} and more"  # one line, whatever it holds


def test_a_private_text_is_written_where_only_its_owner_reads(tmp_path: Path) -> None:
    file = tmp_path / "state" / "details"
    for _ in range(2):
        PrivateText(CELL).append_to(file)
    assert file.read_text() == f"{CELL}\n" * 2
    assert (stat.S_IMODE(file.parent.stat().st_mode), stat.S_IMODE(file.stat().st_mode)) == (0o700, 0o600)
    file.chmod(0o644)
    PrivateText(CELL).append_to(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="link"):
        PrivateText(CELL).append_to(link)

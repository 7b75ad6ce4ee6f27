"""Commands that are refused, and the one line that they print."""

from __future__ import annotations

from pathlib import Path

import pytest

from smc_dp.cli.main import main


def refusal(capsys: pytest.CaptureFixture[str], folder: Path, *argv: str) -> str:
    """Return the line of a command that ends with code 2, prints nothing else and changes no file in this folder."""
    before = {path: path.lstat().st_mtime_ns for path in folder.rglob("*")}
    capsys.readouterr()
    assert main(list(argv)) == 2
    out, err = capsys.readouterr()
    assert (out, err[:7], err[-1]) == ("", "error: ", "\n")
    assert err[:-1].isprintable(), "one line, without colours and boxes"
    assert {path: path.lstat().st_mtime_ns for path in folder.rglob("*")} == before
    return err.removeprefix("error: ").removesuffix("\n")

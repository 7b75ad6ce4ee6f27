"""The log on standard error, for whoever asks for it, and the lines of local warnings."""

from __future__ import annotations

import json
import logging
import re
import warnings
from pathlib import Path

import pytest

from smc_dp.cli import verbose
from smc_dp.cli.main import main
from smc_dp.core.errors import RowsClippedWarning

LINE = re.compile(r"\d\d:\d\d:\d\d\.\d{3} (INFO|DEBUG) (protocols|smc_dp)\.[\w.]+: .+")
RUN = ("run", "--method", "wsum", "--parties", "3", "--json")


def logged(lines: str) -> list[str]:
    return [line for line in lines.splitlines() if LINE.fullmatch(line)]


def test_the_course_of_a_run_is_on_standard_error_and_the_result_alone_on_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = {}
    for much in ("-v", "-vv"):
        assert main([much, *RUN, "--out", str(tmp_path / much)]) == 0
        out, err = capsys.readouterr()
        assert json.loads(out)["privacy"]
        assert logged(err) == err.splitlines()
        counts[much] = len(logged(err))
    assert 0 < counts["-v"] < counts["-vv"]
    for package in ("protocols", "smc_dp"):  # and nothing is left of it
        logger = logging.getLogger(package)
        assert logger.level == logging.NOTSET
        assert not any(type(handler) is logging.StreamHandler for handler in logger.handlers)


def test_a_name_cannot_talk_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with verbose.logging_to_stderr(1):
        logging.getLogger("smc_dp.run").info("party %s is gone", "x\x1b[2J\nforged line")
        logging.getLogger("elsewhere").warning("of somebody else")
    assert "party x [2J forged line is gone\n" in capsys.readouterr().err


def test_a_local_warning_is_a_line_and_others_stay_what_they_were(capsys: pytest.CaptureFixture[str]) -> None:
    with verbose.local_warnings():
        for _ in range(2):  # each time
            warnings.warn(RowsClippedWarning("rows.clipped"), stacklevel=1)
        with pytest.raises(UserWarning, match="another"):  # an error, as all are here
            warnings.warn("another", UserWarning, stacklevel=1)
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err == "warning: rows.clipped\n" * 2
    with pytest.warns(UserWarning, match="another"), verbose.local_warnings():
        warnings.warn("another", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == ""

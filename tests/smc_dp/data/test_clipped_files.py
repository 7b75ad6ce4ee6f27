"""Whoever has rows is told when many of them, or of a column's numbers, are clipped; and nobody else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from smc_dp.cli.main import main
from smc_dp.core import errors
from smc_dp.data.bounds import Bounds, parse_bounds
from smc_dp.data.preprocess import examine_table
from smc_dp.data.sources import read_own_files
from smc_dp.data.table_reader import read_table
from smc_dp.deploy.preflight import read_rows
from tests.support.refusals import told

BOUNDS = """
[columns]
age = [0, 120]
seen = [2020-01-01, 2025-12-31]
sex = ["f", "m"]
[label]
column = "outcome"
classes = ["no", "yes"]
[rows]
clip = 1.5
"""


def rows(old: int = 0, late: int = 0, n: int = 40) -> str:
    """So many of n rows with an age, or a date, outside the bounds; no other row is long."""
    lines = ["age,seen,sex,outcome"]
    for i in range(n):
        age, seen = 140 if i < old else 61, "2031-05-01" if n - late <= i else "2023-01-03"
        lines.append(f"{age},{seen},{'fm'[i % 2]},{('no', 'yes')[i % 3 == 0]}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "bounds.toml").write_text(BOUNDS)
    (tmp_path / "north.csv").write_text(rows(old=5))
    (tmp_path / "south.csv").write_text(rows(late=2))
    return tmp_path


def bounds(**changes: str) -> Bounds:
    text = BOUNDS
    for old, new in changes.items():
        text = text.replace(old, new)
    return parse_bounds(text)


def test_each_party_is_told_of_its_own_numbers(files: Path) -> None:
    parties = [str(files / "north.csv"), str(files / "south.csv")]
    said = told(lambda: read_own_files(parties, files / "bounds.toml"))
    assert len(said) == 1  # 2 of 40 are 5 %, which is not more than that
    assert said[0].startswith(f"party north ({files / 'north.csv'}): column 'age': 5 of 40 cells are moved into the")
    assert said[0].endswith(errors._LOCAL)
    (files / "south.csv").write_text(rows(late=3))
    assert "column 'seen': 3 of 40 cells" in told(lambda: read_own_files(parties, files / "bounds.toml"))[1]


def test_rows_longer_than_clip_are_counted_before_they_are_shortened(files: Path) -> None:
    table = read_table(files / "north.csv", "file")
    assert examine_table(table, bounds()).clipped == 0  # ages outside become 1, and sqrt 2 is below 1.5
    short = bounds(**{"clip = 1.5": "clip = 1.2"})
    assert examine_table(table, short).clipped == 5
    assert [(fault.column, fault.count) for fault in examine_table(table, short).outside] == [("age", 5)]
    said = told(lambda: read_own_files([str(files / "north.csv"), str(files / "south.csv")], short))
    assert "5 of 40 rows are longer than clip 1.2 of [rows] and are shortened" in said[0]
    exactly = parse_bounds('[columns]\nsex = ["f", "m"]\n[label]\nclasses = ["no", "yes"]\n[rows]\nclip = 1\n')
    assert examine_table(table, exactly).clipped == 0  # as long as the norm, and not longer


def test_a_site_is_told_of_its_own_rows(files: Path) -> None:
    assert "data " in told(lambda: read_rows(files / "north.csv", bounds()))[0]
    assert told(lambda: read_rows(files / "south.csv", bounds())) == []


def test_a_run_says_it_on_standard_error_and_in_nothing_that_it_writes(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    given = ["--party", "north.csv", "--party", "south.csv", "--bounds", "bounds.toml", "--method", "wsum"]
    assert main(["run", *given, "--out", "run", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("warning: party north (north.csv): column 'age': 5 of 40 cells")
    assert err.count("\n") == 1
    texts = {path.name: path.read_text() for path in (files / "run").iterdir()}
    written = out + "".join(texts.values())
    for words in ("clipped", "5 of 40", "moved into"):
        assert words not in written
    assert "of 40 cells" in err  # the twin: it is told where it should be

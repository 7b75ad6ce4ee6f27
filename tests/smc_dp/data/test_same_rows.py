"""The same rows are known again: of two parties, and whatever the parts of a divided table are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from smc_dp.data import sources
from smc_dp.data.fingerprint import fingerprint_data
from smc_dp.data.sources import read_file_of_each
from smc_dp.data.table import Table
from tests.support.refusals import refused

KEY = bytes(range(32))


def test_two_parties_do_not_bring_the_same_rows(tmp_path: Path) -> None:
    for name, rows in (("a", "1,2\n3,4\n"), ("b", "3,4\n1,2\n"), ("c", "1,2\n3,5\n"), ("d", "1,4\n3,2\n")):
        (tmp_path / f"{name}.csv").write_text(f"x,y\n{rows}")
    a, b, c, d = ((name, tmp_path / f"{name}.csv") for name in "abcd")
    assert list(read_file_of_each([a, c, d])) == ["a", "c", "d"]  # d has the cells of a in each column, in other rows
    for parties in ([a, b], [a, c, b], [a, d, b]):
        with refused("party.same_rows", other="a"):
            read_file_of_each(parties)


def test_large_files_of_other_rows_are_not_compared_row_by_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n")
    (tmp_path / "b.csv").write_text("y,x\n2,1\n5,3.0\n")
    monkeypatch.setattr(sources, "fingerprint_data", lambda key, table: pytest.fail("every row was digested"))
    assert len(read_file_of_each([(name, tmp_path / f"{name}.csv") for name in "ab"])) == 2


@pytest.mark.parametrize("called", ["north", "7", ""])
def test_the_dividing_column_is_no_part_of_a_table(called: str) -> None:
    columns = {"x": [1.0, 2.0], "hospital": [called] * 2}
    plain = fingerprint_data(KEY, Table("t", {"x": [2.0, 1.0]}, range(1, 3)))
    assert fingerprint_data(KEY, Table("t", columns, range(1, 3), partition_column="hospital")) == plain
    assert fingerprint_data(KEY, Table("t", columns, range(1, 3))) != plain

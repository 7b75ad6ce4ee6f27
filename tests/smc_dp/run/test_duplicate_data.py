"""Neither another name nor other bounds make a new budget for the same rows; what does is said, and tested here."""

from __future__ import annotations

import csv
import json
import stat
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.clear import in_the_clear

from protocols.errors import PeerError
from smc_dp import Federation, Rows, run_protocol
from smc_dp.cli.main import main
from smc_dp.data import sources
from smc_dp.data.bounds import Bounds, NumericColumn
from smc_dp.data.fingerprint import fingerprint_data
from smc_dp.data.table import Table
from smc_dp.data.table_reader import read_table
from smc_dp.privacy.ledger import export
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.history import Limit
from smc_dp.run import duplicate_data
from smc_dp.run.ledgers import Ledgers
from smc_dp.run.protocols import execution
from tests.support.refusals import refused

BOUNDS = '[columns]\nage = [0, 100]\nsex = ["f", "m"]\n[label]\nclasses = ["no", "yes"]\ncolumn = "outcome"\n'
OTHER = '[columns]\nage = [0, 50]\n[label]\nclasses = ["yes", "no"]\ncolumn = "outcome"\n[rows]\nclip = 1.0\n'
QUARTER = Guarantee("pure", Fraction(1, 4), Fraction(0), "record", "replace")
Cells = list[list[str]]
KEY = bytes(range(32))


def table(n: int, seed: int) -> Cells:
    rng = np.random.default_rng(seed)
    drawn = zip(rng.integers(0, 99, n), rng.integers(0, 2, n), rng.random(n), strict=True)
    rows = [[str(age), "fm"[sex], f"{weight:.3f}"] for age, sex, weight in drawn]
    return [["age", "sex", "weight", "outcome"], *([*row, ("no", "yes")[int(row[0]) > 50]] for row in rows)]


def write(path: Path, cells: Cells) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(cells)
    return path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two hospitals and their bounds in the working folder, and the ideal functionality in place of the protocol."""
    monkeypatch.setattr(execution, "run_session", in_the_clear)
    monkeypatch.chdir(tmp_path)
    Path("bounds.toml").write_text(BOUNDS)
    Path("other.toml").write_text(OTHER)
    write(Path("north.csv"), table(40, 1))
    write(Path("south.csv"), table(30, 2))
    return tmp_path


def run(*parties: str, bounds: str = "bounds.toml", epsilon: str = "0.5", more: tuple[str, ...] = ()) -> int:
    """One run with ledgers; whoever has none gets a budget of 1."""
    named = [word for party in parties for word in ("--party", party)]
    books = ("--ledgers", "books", "--budget", "1")
    return main(["run", "--method", "prr_mean", *named, "--bounds", bounds, "--epsilon", epsilon, *books, *more])


def spent() -> dict[str, int]:
    """How many releases each ledger is charged for."""
    histories = {path.name: export.read_history(path) for path in sorted(Path("books").glob("*.ledger"))}
    return {name: sum(map(len, history.charged.values())) for name, history in histories.items()}


@pytest.mark.parametrize(
    ("guise", "bounds"),
    [
        (lambda cells: cells, "bounds.toml"),
        (lambda cells: [cells[0], *reversed(cells[1:])], "other.toml"),
        (lambda cells: [row[::-1] for row in cells], "bounds.toml"),
    ],
    ids=("as it was", "rows in another order", "columns in another order"),
)
def test_another_name_or_other_bounds_make_no_new_budget(
    guise: Callable[[Cells], Cells], bounds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("north.csv", "south.csv") == 0
    write(Path("renamed.csv"), guise(table(40, 1)))
    before = sorted(Path("books").iterdir())
    capsys.readouterr()
    assert run("renamed.csv", "south.csv", bounds=bounds, epsilon="0.25") == 2
    *_, line = capsys.readouterr().err.splitlines()
    assert line.startswith("error: party renamed: ledger books/north.ledger is charged for the same rows already")
    assert line.endswith("take part as north")
    assert sorted(Path("books").iterdir()) == before
    assert spent() == {"north.ledger": 1, "south.ledger": 1}
    assert run("north=renamed.csv", "south.csv", bounds=bounds, epsilon="0.25") == 0  # as the line says
    assert spent() == {"north.ledger": 2, "south.ledger": 2}


def test_truth_values_and_days_of_parquet_are_those_of_a_csv_file() -> None:
    write(Path("t.csv"), [["smokes", "since"], ["true", "2020-01-02"], ["false", ""]])
    columns = {"smokes": pa.array([True, False]), "since": pa.array([date(2020, 1, 2), None], pa.date32())}
    pq.write_table(pa.table(columns), "t.parquet")
    pq.write_table(pa.table({name: cells.dictionary_encode() for name, cells in columns.items()}), "coded.parquet")
    files = ("t.csv", "t.parquet", "coded.parquet")
    assert len({fingerprint_data(KEY, read_table(Path(name), "a")) for name in files}) == 1


def parties(data: sources.PreparedData, prefix: str = "") -> dict[str, Table | Rows]:
    return {prefix + name: held for name, held in data.as_read.items()}


def test_data_sets_that_are_dealt_and_rows_in_memory_are_known_too() -> None:
    books = Ledgers(Path("books"), Limit(Fraction(1), Fraction(0)))
    five, four = (sources.dataset("breast_cancer", parties=K) for K in (5, 4))
    books.reserve(parties(five), "m", QUARTER, "a" * 64)
    books.reserve(parties(four), "m", QUARTER, "b" * 64)  # dealt otherwise
    for attempt in (books.check, lambda p, g: books.reserve(p, "m", g, "c" * 64)):
        with refused("ledger.same_rows", party="x-hospital-1", path="books/hospital-1.ledger", other="hospital-1"):
            attempt(parties(five, "x-"), QUARTER)  # type: ignore[operator]
    rng = np.random.default_rng(1)
    X = rng.uniform(-0.5, 0.5, (40, 2))
    federation = Federation((Rows(X[:20], np.arange(20) % 2), Rows(X[20:], np.arange(20) % 2)), 2, names=("a", "b"))
    wide = Bounds((NumericColumn("p", -2, 2), NumericColumn("q", -2, 2)), ("0", "1"), "class", clip=1.0, bias=0.0)
    run_protocol(federation, method="prr_mean", target=0.25, ledgers=books)
    with refused("ledger.same_rows", party="c", path="books/a.ledger", other="a"):
        run_protocol(replace(federation, names=("c", "b")), method="prr_mean", target=0.25, bounds=wide, ledgers=books)
    run_protocol(federation, method="prr_mean", target=0.25, bounds=wide, ledgers=books)


def divided(path: Path, **renamed: str) -> Path:
    """Both parties' rows in one table, and a column that says whose each is."""
    held = {name: table(n, seed) for name, n, seed in (("north", 40, 1), ("south", 30, 2))}
    rows = [[*row, renamed.get(name, name)] for name, cells in held.items() for row in cells[1:]]
    return write(path, [[*held["north"][0], "hospital"], *rows])


def run_divided(path: Path, *more: str) -> int:
    return run(str(path), more=("--parties-by", "hospital", *more), epsilon="0.25")


def test_renaming_the_values_of_the_dividing_column_makes_no_new_budget(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_divided(divided(Path("all.csv"))) == 0
    assert run_divided(divided(Path("all.csv"))) == 0  # the same ledgers again
    for renamed in ({"north": "n"}, {"south": "7"}, {"north": "south", "south": "north"}):
        capsys.readouterr()
        assert run_divided(divided(Path("renamed.csv"), **renamed), "--json") == 2
        assert json.loads(capsys.readouterr().out)["error"]["code"] == "ledger.same_rows"
    assert spent() == {"north.ledger": 2, "south.ledger": 2}
    assert run("x=north.csv", "south.csv") == 2  # nor does a file of its own, without the column


@pytest.mark.parametrize("name", ["north", "7"])
def test_a_data_set_that_was_charged_with_the_dividing_column_is_still_charged(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Charged by the version before, in whose digest of a table the column stood: it said what the party is called."""
    with monkeypatch.context() as before:
        before.setattr(sources, "_grouped", lambda *said: without_its_mark(grouped(*said)))
        assert run_divided(divided(Path("all.csv"), north=name, south="b")) == 0
    charged = spent()
    capsys.readouterr()
    for renamed in ({"north": "x", "south": "b"}, {"north": "b", "south": name}):
        assert run_divided(divided(Path("renamed.csv"), **renamed), "--json") == 2
        assert json.loads(capsys.readouterr().out)["error"]["code"] == "ledger.same_rows"
    assert spent() == charged
    assert run_divided(divided(Path("all.csv"), north=name, south="b")) == 0
    assert set(spent().values()) == {2}


grouped = sources._grouped


def without_its_mark(tables: dict[str, Table]) -> dict[str, Table]:
    return {name: replace(held, partition_column=None) for name, held in tables.items()}


def test_of_two_runs_at_once_one_sees_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `check` has passed is looked at again once the charge is on disk, and then nobody keeps it."""
    books = Ledgers(Path("books"), Limit(Fraction(1), Fraction(0)))
    held = parties(sources.read_own_files(["north.csv", "south.csv"], "bounds.toml"))
    renamed = {"x": held["north"], "y": held["south"]}
    books.check(held, QUARTER)
    books.check(renamed, QUARTER)
    books.reserve(held, "m", QUARTER, "a" * 64)
    with refused("ledger.same_rows", party="x", other="north"):
        books.reserve(renamed, "m", QUARTER, "b" * 64)
    assert spent() == {"north.ledger": 1, "south.ledger": 1, "x.ledger": 0, "y.ledger": 0}


def test_what_came_to_nothing_leaves_the_rows_free(monkeypatch: pytest.MonkeyPatch) -> None:
    def aborted(*_: Any, **__: Any) -> None:
        raise PeerError("south", "peer.lied")

    monkeypatch.setattr(execution, "run_session", aborted)
    assert run("north.csv", "south.csv") == 2
    assert spent() == {"north.ledger": 0, "south.ledger": 0}
    monkeypatch.setattr(execution, "run_session", in_the_clear)
    assert run("x=north.csv", "south.csv") == 0


def test_the_key_is_secret_and_no_ledger_is_a_fingerprint(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("north.csv", "south.csv") == 0
    key = Path("books") / duplicate_data.KEY_FILE
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(key.read_bytes()) == 32
    Path("books").rename("first")
    assert run("north.csv", "south.csv") == 0
    assert key.read_bytes() != (Path("first") / duplicate_data.KEY_FILE).read_bytes()
    first, second = (export.read_history(Path(place) / "north.ledger").data_sets for place in ("first", "books"))
    assert len(first | second) == 2
    out, err = capsys.readouterr()
    everything = b"".join(p.read_bytes() for p in Path().rglob("*") if p.is_file() and p.name != key.name)
    for form in (key.read_bytes(), key.read_bytes().hex().encode()):
        assert form not in everything + out.encode() + err.encode()


def test_an_older_folder_goes_on_and_says_what_it_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    said = duplicate_data.KEY_FILE
    assert run("north.csv", "south.csv") == 0
    key = Path("books") / duplicate_data.KEY_FILE
    assert said not in capsys.readouterr().out
    key.unlink()
    assert run("north.csv", "south.csv", epsilon="0.25", more=("--json",)) == 0
    document = json.loads(capsys.readouterr().out)
    assert any(said in remark for remark in document["remarks"])
    assert document["budgets"]["north"]["left"] == "1/4"
    assert run("north.csv", "south.csv", epsilon="0.25") == 0
    assert said not in capsys.readouterr().out
    key.write_bytes(b"short")
    assert run("new=north.csv", "again=south.csv", epsilon="0.25") == 2
    assert "rows.key: wanted a key of 32 bytes, got 5" in capsys.readouterr().err

"""The ledger's file: append-only, chained, exact, and unusable ones are refused in one line."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import secrets
import shutil
import sqlite3
import stat
import struct
import tempfile
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smc_dp.cli.main import main
from smc_dp.core.errors import InputError
from smc_dp.core.spreadsheet import is_formula
from smc_dp.data.federation import Rows
from smc_dp.data.fingerprint import fingerprint_data
from smc_dp.pages.blocks import PageTable, coded_prose
from smc_dp.privacy.ledger import export, report
from smc_dp.privacy.ledger.entry import ENTRY_COLUMNS, Entry
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.history import PARTIES, Account, BrokenLedgerError, History, Limit, OverBudgetError
from smc_dp.privacy.ledger.ledger import Ledger, run_key
from smc_dp.privacy.ledger.numbers import delta_rounded_up, digits_rounded_down, digits_rounded_up, from_text, to_text
from smc_dp.privacy.ledger.storage import MOST_LEDGER_BYTES
from tests.support.guarantees import curve, pure
from tests.support.refusals import refused

DATA, OTHER, RUN, RELEASE = ("a" * 64, "b" * 64, "c" * 64, "d" * 64)
DATE = "2026-01-31T12:00:00Z"
ACCOUNT = Account("record", "replace")


def anew() -> str:
    """The key of a release that nobody made before."""
    return secrets.token_hex(32)


@pytest.fixture(scope="module")
def north(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with a release, a reservation that came to nothing, and one without outcome."""
    path = tmp_path_factory.mktemp("north") / "north.ledger"
    with Ledger.create(path, Fraction(1)) as ledger:
        for state in ("released", "refunded", None):
            number = ledger.reserve(DATA, "pathak2010", pure("0.1"), anew())
            if state:
                ledger.settle(number, state, RELEASE if state == "released" else None)
    return path


@pytest.fixture
def path(north: Path, tmp_path: Path) -> Path:
    """A copy of it, to be spoilt."""
    return Path(shutil.copy(north, tmp_path))


def raw(path: Path, *, guarded: bool = False) -> sqlite3.Connection:
    """The file as anybody may open it, without its triggers unless `guarded`."""
    connection = sqlite3.connect(path, isolation_level=None)
    if not guarded:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
    return connection


def tampered(path: Path, *statements: str) -> None:
    """Change the file behind the ledger's back, and put the triggers back."""
    guards = [sql for (sql,) in raw(path, guarded=True).execute("SELECT sql FROM sqlite_master WHERE type = 'trigger'")]
    connection = raw(path)
    for statement in (*statements, *guards):
        connection.execute(statement)
    connection.close()


def test_keys_differ_in_session_and_label() -> None:
    labels = ("", "release", "sum 1", "sum 11", "sum 2", "\N{GREEK SMALL LETTER SIGMA}")
    assert len({run_key(session, label) for session, label in product((b"s" * 32, b"t" * 32), labels)}) == 12


def test_spent_is_what_was_reserved_and_is_not_void(path: Path) -> None:
    with Ledger.open(path) as ledger:
        standing = ledger.history().standing(ACCOUNT)
        assert (standing.total.epsilon, standing.left) == (Fraction(1, 5), Fraction(4, 5))
        assert [e.state for e in ledger.history().entries] == [
            "limit",
            *["reserved", "released"],
            "reserved",
            "refunded",
            "reserved",
        ]


def test_the_same_key_is_one_charge(path: Path) -> None:
    """Twice the same, released or not, is the entry that stands; the twin, which always appends, charges twice."""
    with Ledger.open(path) as ledger:
        run = anew()
        number = ledger.reserve(DATA, "m", pure("0.7"), run)
        before = ledger.history()
        assert ledger.reserve(DATA, "m", pure("0.7"), run) == number  # though another 0.7 would not fit
        assert ledger.history() == before
        ledger.settle(number, "released", RELEASE)
        before = ledger.history()
        assert ledger.reserve(DATA, "m", pure("0.7"), run) == number
        assert ledger.history() == before
        assert ledger.reserve(DATA, "m", pure("0.05"), anew()) == number + 2
    twin = History(before.start, (*before.entries, before.reserved(DATA, "m", pure("0.1"), run, DATE)))
    assert len(twin.charged[ACCOUNT]) == len(before.charged[ACCOUNT]) + 1


@pytest.mark.parametrize("state", [None, "released", "refunded"])
def test_a_key_means_one_release(path: Path, state: Any) -> None:
    with Ledger.open(path) as ledger:
        run = anew()
        number = ledger.reserve(DATA, "m", pure("0.1"), run)
        if state:
            ledger.settle(number, state, RELEASE if state == "released" else None)
        before = ledger.history()
        for what, dataset, mechanism, guarantee in (
            ("data set", OTHER, "m", pure("0.1")),
            ("mechanism", DATA, "n", pure("0.1")),
            ("guarantee", DATA, "m", pure("0.2")),
            ("guarantee", DATA, "m", pure("0.1", "record", "addremove")),
        ):
            with refused("ledger.same_run_other_release", number=number, what=what) as caught:
                ledger.reserve(dataset, mechanism, guarantee, run)
            assert DATA[:8] not in str(caught.value)
        assert ledger.history() == before


def test_what_came_to_nothing_is_charged_anew(path: Path) -> None:
    with Ledger.open(path) as ledger:
        run = anew()
        first = ledger.reserve(DATA, "m", pure("0.1"), run)
        ledger.settle(first, "refunded")
        spent = ledger.history().standing(ACCOUNT).left
        again = ledger.reserve(DATA, "m", pure("0.1"), run)
        assert again == first + 2
        assert ledger.history().standing(ACCOUNT).left == spent - Fraction(1, 10)
        assert ledger.reserve(DATA, "m", pure("0.1"), run) == again
        ledger.settle(again, "refunded")
        ledger.reserve(DATA, "m", pure("0.75"), anew())
        with pytest.raises(OverBudgetError):  # others may have had it by then
            ledger.reserve(DATA, "m", pure("0.1"), run)


OF_A_RECORD = (pure("0.5"), pure("0.25", "record", "addremove"), pure("0.5", "party", "party"))


@pytest.mark.parametrize("second", OF_A_RECORD, ids=lambda guarantee: guarantee.adjacency)
@pytest.mark.parametrize("first", OF_A_RECORD, ids=lambda guarantee: guarantee.adjacency)
def test_no_adjacency_and_no_unit_has_a_budget_of_its_own(tmp_path: Path, first: Guarantee, second: Guarantee) -> None:
    """Each of them costs a record that is replaced 1/2."""
    with Ledger.create(tmp_path / "x", Fraction(1)) as ledger:
        for guarantee in (first, second):
            ledger.reserve(DATA, "m", guarantee, anew())
        assert ledger.history().standing(ACCOUNT).left == 0
        for third in OF_A_RECORD:
            with pytest.raises(OverBudgetError):
                ledger.reserve(DATA, "m", replace(third, epsilon=Fraction(1, 10**9)), anew())
        of_parties = [g for g in (first, second) if g.unit == "party"]
        assert ledger.history().standing(PARTIES).left == 1 - sum(g.epsilon for g in of_parties)


# Written by version 0.1.0, where addremove after replace was a second budget.
APART = Path(__file__).parent / "stored" / "accounts_apart.ledger"


def test_a_ledger_of_before_is_converted_to_the_stricter_account_with_its_entries(tmp_path: Path) -> None:
    path = Path(shutil.copy(APART, tmp_path))
    history = export.read_history(path)
    assert path.read_bytes() == APART.read_bytes()  # looked at, and not touched
    charged = {e.mechanism: (e.adjacency, e.kind) for e in history.charged[ACCOUNT]}
    assert list(charged) == [f"release {n}" for n in (1, 2, 3, 4, 6)]  # the fifth came to nothing
    # 1/2 as it is and 2 * 1/2 for addremove, before the first Gaussian one; mu = 1/8 doubles, and 1/4 of a party counts
    # as a Gaussian one that comes after.
    spent = history.standing(ACCOUNT).total
    gaussian = curve(Fraction(1, 4) ** 2 + Fraction("1.5708") / 16, Fraction(1, 10**5))
    assert spent.epsilon == Fraction(3, 2) + gaussian
    assert spent.epsilon > 3  # each of the accounts apart was within the limit, the fullest at 1.06
    assert history.standing(PARTIES).left == 3 - Fraction(1, 4)
    with Ledger.open(path) as ledger:
        for guarantee in (pure("1e-9"), pure("1e-9", "record", "addremove"), pure("1e-9", "party", "party")):
            with pytest.raises(OverBudgetError):
                ledger.reserve(DATA, "m", guarantee, anew())
        ledger.settle(history.pending[0], "refunded")
        again = ledger.history()
    assert again.entries[:-1] == history.entries
    assert [entry.state for entry in again.entries if entry.is_refund] == ["void", "refunded"]  # digests hold the first
    assert history.charged == {a: [e for e in c if e.number != 9] for a, c in history.charged.items()}
    shown = [row[2] for block in report.blocks(again) if isinstance(block, PageTable) for row in block.rows]
    assert shown.count("refunded") == 2
    assert export.read_history(path) == again
    exported = json.loads(export.to_json(again))
    for version in (5, 2):
        text = json.dumps({**exported, "format": f"smc-dp ledger {version}"})
        assert export.from_json(text.encode(), "again") == again
    for version in (1, 3, 4):  # of no version that was released
        with refused("ledger.no_export"):
            export.from_json(json.dumps({**exported, "format": f"smc-dp ledger {version}"}).encode(), "again")


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 3)])
def test_the_limit_itself_fits_and_nothing_beyond_it(tmp_path: Path, epsilon: Fraction) -> None:
    """There is no slack: neither in epsilon nor in delta."""
    delta, least = Fraction(1, 10**6), Fraction(1, 10**90)
    with Ledger.create(tmp_path / "x", epsilon, delta) as ledger:
        for more in (
            Guarantee("approx", epsilon + least, delta, *ACCOUNT),
            Guarantee("approx", epsilon, delta + least, *ACCOUNT),
            Guarantee("pure", epsilon + least, Fraction(0), *ACCOUNT),
            Guarantee("pure", epsilon / 2 + least, Fraction(0), "record", "addremove"),
        ):
            with pytest.raises(OverBudgetError):
                ledger.check(more)
        ledger.check(Guarantee("pure", epsilon / 2, Fraction(0), "record", "addremove"))
        ledger.reserve(DATA, "m", Guarantee("approx", epsilon, delta, *ACCOUNT), anew())
        with pytest.raises(OverBudgetError):
            ledger.reserve(DATA, "m", Guarantee("pure", least, Fraction(0), *ACCOUNT), anew())


def test_an_approval_serves_one_release_whatever_became_of_it(path: Path) -> None:
    for outcome in ("released", "refunded", None):
        approval = secrets.token_hex(32)
        with Ledger.open(path) as ledger:
            run = anew()
            number = ledger.reserve(DATA, "m", pure("0.01"), run, approval)
            assert ledger.reserve(DATA, "m", pure("0.01"), run, approval) == number
            if outcome:
                ledger.settle(number, outcome, RELEASE if outcome == "released" else None)
            before = ledger.history()
            with refused("ledger.approval_used", number=number):
                ledger.reserve(DATA, "m", pure("0.01"), anew(), approval)
            assert ledger.history() == before
            ledger.reserve(DATA, "m", pure("0.01"), anew(), secrets.token_hex(32))


def test_another_data_set_does_not_have_the_budget_again(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "x", Fraction(1)) as ledger:
        ledger.reserve(DATA, "m", pure("0.6"), anew())
        ledger.reserve(OTHER, "m", pure("0.1"), anew())
        with refused("budget.passed", error=OverBudgetError, spent="0.7", limit="epsilon 1"):
            ledger.reserve(OTHER, "m", pure("0.4"), anew())
        history = ledger.history()
    assert history.standing(ACCOUNT).left == Fraction(3, 10)


def test_an_outcome_comes_once_and_after_its_reservation(path: Path) -> None:
    with Ledger.open(path) as ledger:
        for number in (0, 1, 2, 3, 99):
            with pytest.raises(ValueError, match=r"reservation|settled"):
                ledger.settle(number, "refunded")
        ledger.settle(6, "released", RELEASE)
        with pytest.raises(ValueError, match="settled already"):
            ledger.settle(6, "refunded")
    with Ledger.open(path) as ledger, refused("ledger_entry.field_not_of_state", name="run"):
        ledger.settle(ledger.reserve(DATA, "m", pure("0.1"), anew()), "refunded", RELEASE)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET epsilon = '1/1000' WHERE number = 2",
        "DELETE FROM entries WHERE number = 6",
        "DELETE FROM entries",
        "INSERT OR REPLACE INTO entries SELECT * FROM entries WHERE number = 2",
        "INSERT OR REPLACE INTO entries (number, refers) VALUES (7, 2)",
        "INSERT INTO entries (number) VALUES (9)",
        "INSERT INTO entries (state) VALUES ('refunded')",
        "UPDATE secret SET key = zeroblob(32)",
        "DELETE FROM secret",
        "INSERT INTO secret VALUES (zeroblob(32))",
    ],
)
def test_the_file_itself_refuses_changes(path: Path, statement: str) -> None:
    before = path.read_bytes()
    connection = raw(path, guarded=True)
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)
    connection.close()
    assert path.read_bytes() == before
    unguarded = raw(path)  # the twin without triggers takes it
    if "(9)" not in statement and "('refunded')" not in statement and "SELECT" not in statement:
        assert unguarded.execute(statement).rowcount != 0
    unguarded.close()


CHANGES = {
    "state": ("'refunded'", 3),
    "date": ("'2020-01-01T00:00:00Z'", 2),
    "refers": ("6", 3),
    "dataset": (f"'{OTHER}'", 2),
    "unit": ("'party'", 2),
    "adjacency": ("'addremove'", 2),
    "mechanism": ("'wsum'", 2),
    "kind": ("'approx'", 2),
    "epsilon": ("'1/1000'", 2),
    "delta": ("'1/1000'", 2),
    "rho": ("'1/1000'", 2),
    "mu": ("'1/1000'", 2),
    "run": (f"'{OTHER}'", 2),
    "previous": (f"'{OTHER}'", 3),
    "digest": (f"'{OTHER}'", 3),
    "approval": (f"'{OTHER}'", 2),
    "party": ("'south'", 1),
    "number": ("99", 6),
}


BY_THE_CHAIN = ("date", "dataset", "adjacency", "mechanism", "epsilon", "run", "party")
"""Columns of which nothing but the chain notices a change."""


@pytest.mark.parametrize("column", ENTRY_COLUMNS)
def test_a_changed_column_is_noticed(path: Path, column: str, monkeypatch: pytest.MonkeyPatch) -> None:
    value, number = CHANGES[column]
    tampered(path, f"UPDATE entries SET {column} = {value} WHERE number = {number}")
    with pytest.raises(InputError) as caught:
        export.read_history(path)
    assert str(caught.value).count("\n") == 0
    with Ledger.open(path) as ledger, pytest.raises(InputError):
        ledger.reserve(OTHER, "m", pure("0.1"), anew())
    if column in BY_THE_CHAIN:
        assert isinstance(caught.value, BrokenLedgerError)
        assert caught.value.code == "ledger.entry_changed"
        assert caught.value.fault.fields["number"] == number
        monkeypatch.setattr("smc_dp.privacy.ledger.history._check_chain", lambda history: None)  # twin: no chain
        assert export.read_history(path).entries


@pytest.mark.parametrize(
    "statements",
    [
        ("DELETE FROM entries WHERE number = 4",),
        ("DELETE FROM entries WHERE number = 2", "DELETE FROM entries WHERE number = 3"),
        ("UPDATE entries SET number = 0 WHERE number = 2", "UPDATE entries SET number = 2 WHERE number = 4"),
        ("DELETE FROM entries",),
        ("UPDATE secret SET key = randomblob(32)",),
    ],
)
def test_missing_entries_and_another_key_are_noticed(path: Path, statements: tuple[str, ...]) -> None:
    tampered(path, *statements)
    with pytest.raises(InputError):
        export.read_history(path)


def rewritten(history: History, *changes: Entry) -> list[dict[str, object]]:
    """All entries anew, in a chain that holds."""
    by_number = {entry.number: entry for entry in (*history.entries, *changes)}
    previous, rows = history.start, []
    for number in sorted(by_number):
        linked = by_number[number].after(previous)
        previous = linked.digest
        rows.append(linked.values())
    return rows


def test_a_chain_that_holds_is_not_enough(path: Path) -> None:
    history = export.read_history(path)
    assert History.read(history.start, rewritten(history)) == history
    second = history.entries[1]
    for change in (
        Entry(7, "refunded", second.date, refers=2),  # it has an outcome
        Entry(7, "refunded", second.date, refers=3),
        Entry(7, "refunded", second.date, refers=7),
        Entry(7, "limit", second.date, epsilon=Fraction(9), delta=Fraction(0)),
        replace(second, number=8),
    ):
        with refused("ledger.entry_out_of_order", error=BrokenLedgerError):
            History.read(history.start, rewritten(history, change))
    for rows in ([], [replace(second, number=1).after(history.start).values()]):  # without a limit
        with refused("ledger.entry_out_of_order", error=BrokenLedgerError):
            History.read(history.start, rows)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"epsilon": "2/20"}, "ledger.no_fraction"),
        ({"epsilon": "0.1"}, "ledger.no_fraction"),
        ({"epsilon": 0.1}, "ledger.no_fraction"),
        ({"epsilon": "-1/10"}, "ledger.no_fraction"),
        ({"epsilon": "1/0"}, "ledger.no_fraction"),
        ({"epsilon": "9" * 5000 + "/1"}, "ledger.no_fraction"),
        ({"epsilon": None}, "ledger_entry.field_not_of_state"),
        ({"number": True}, "ledger_entry.no_number"),
        ({"number": 10**10}, "ledger_entry.no_number"),
        ({"state": ["refunded"]}, "ledger_entry.unknown_state"),
        ({"refers": 1.5, "state": "refunded"}, "ledger_entry.field_not_of_state"),
        ({"dataset": "A" * 64}, "ledger_entry.bad_field"),
        ({"dataset": b"a" * 64}, "ledger_entry.bad_field"),
        ({"run": "a" * 63}, "ledger_entry.bad_field"),
        ({"approval": "a" * 65}, "ledger_entry.bad_field"),
        ({"mechanism": "a\x1b[2J"}, "ledger_entry.bad_field"),
        ({"mechanism": "m" * 101}, "ledger_entry.bad_field"),
        ({"party": "north"}, "ledger_entry.field_not_of_state"),
        ({"date": "yesterday"}, "ledger_entry.bad_field"),
        ({"kind": "none"}, "guarantee.not_chargeable"),
        ({"unit": "party"}, "statement.unit_of_other_adjacency"),
        ({"extra": 1}, "json.unknown_key"),
    ],
)
def test_what_is_no_entry_is_refused(path: Path, change: dict[str, object], code: str) -> None:
    row = export.read_history(path).entries[1].values()
    assert Entry.read(row).values() == row
    with refused(code):
        Entry.read({**row, **change})


def test_a_limit_may_name_a_party_in_plain_characters(path: Path) -> None:
    row = export.read_history(path).entries[0].values()
    assert Entry.read({**row, "party": "north"}).party == "north"
    for name in ("", "a\x1b[2J", "n" * 201, 7):
        with refused("ledger_entry.bad_field"):
            Entry.read({**row, "party": name})


def unusable(tmp_path: Path, name: str, good: Path) -> Path:
    path = tmp_path / "bad"
    if name in ("missing", "folder", "link"):
        {"missing": lambda: None, "folder": path.mkdir, "link": lambda: path.symlink_to(good)}[name]()
    elif name == "huge":
        with path.open("wb") as file:
            file.truncate(MOST_LEDGER_BYTES + 1)
    elif name in ("empty", "text", "cut short", "scrambled"):
        whole = good.read_bytes()
        scrambled = whole[:5000] + bytes(b ^ 255 for b in whole[5000:9000]) + whole[9000:]
        content = {"empty": b"", "text": b"number,state\n" * 99, "cut short": whole[:-9000], "scrambled": scrambled}
        path.write_bytes(content[name])
    else:
        shutil.copy(good, path)
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute(SCHEMAS[name])
        connection.close()
    return path


SCHEMAS = {
    "another trigger": "CREATE TRIGGER spy AFTER INSERT ON entries BEGIN UPDATE secret SET key = 1; END",
    "a missing trigger": "DROP TRIGGER no_delete",
    "another table": "CREATE TABLE more (x)",
    "a view": "CREATE VIEW v AS WITH RECURSIVE f(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM f) SELECT x FROM f",
    "an index": "CREATE INDEX i ON entries (date)",
    "another column": "ALTER TABLE entries ADD COLUMN note",
}


@pytest.mark.parametrize(
    "name", ["missing", "folder", "link", "huge", "empty", "text", "cut short", "scrambled", *SCHEMAS]
)
def test_an_unusable_file_is_one_line(
    tmp_path: Path, path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = unusable(tmp_path, name, path)
    assert main(["ledger", "check", str(bad)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert str(bad) in printed.err
    with pytest.raises(InputError), Ledger.open(bad) as ledger:
        ledger.reserve(DATA, "m", pure("0.1"), anew())


def journal_naming(victim: Path, ledger: Path) -> bytes:
    """A journal that restores the ledger's first page as it is, and says that it is one of several databases."""
    content, size = ledger.read_bytes(), 4096
    magic = bytes.fromhex("d9d505f920a163d7")
    head = (magic + struct.pack(">5I", 1, 0, len(content) // size, 512, size)).ljust(512, b"\0")
    page = struct.pack(">I", 1) + content[:size] + struct.pack(">I", sum(content[size - 200 : 0 : -200]))
    name = str(victim).encode()
    return head + page + struct.pack(">I", 2**30 // size + 1) + name + struct.pack(">2I", len(name), sum(name)) + magic


def test_a_journal_cannot_delete_another_file(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = tmp_path / "precious"
    victim.write_text("precious")
    journal = path.with_name(f"{path.name}-journal")
    journal.write_bytes(journal_naming(victim, path))
    with refused("ledger.foreign_journal"):
        export.read_history(path)
    assert victim.exists()
    monkeypatch.setattr(
        "smc_dp.privacy.ledger.storage._refuse_beside", lambda path: None
    )  # the twin that does not look
    assert export.read_history(path).entries
    assert not victim.exists()


@pytest.mark.parametrize("name", ["folder", "link", "huge", "wal", "shm"])
def test_what_no_ledger_has_beside_it_is_refused(path: Path, tmp_path: Path, name: str) -> None:
    beside = path.with_name(f"{path.name}-{name if name in ('wal', 'shm') else 'journal'}")
    unusable(tmp_path, name if name in ("folder", "link", "huge") else "empty", path).rename(beside)
    with refused("ledger.foreign_journal"):
        export.read_history(path)
    if beside.is_dir():
        beside.rmdir()
    else:
        beside.unlink()
    assert export.read_history(path).entries


def test_nobody_is_told_to_move_a_journal_that_may_be_the_ledgers_own(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a crash SQLite takes back with it what was half written."""
    path.with_name(f"{path.name}-journal").touch()
    read = Path.open

    def denied(file: Path, *args: Any, **options: Any) -> Any:
        if file.name.endswith("-journal"):
            raise PermissionError(13, "Permission denied")
        return read(file, *args, **options)

    monkeypatch.setattr(Path, "open", denied)
    with refused("ledger.journal_not_read", at=f"ledger {path}: ", reason="Permission denied"):
        export.read_history(path)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, tuple[Entry, ...]]:
    """The bytes of a ledger and what it says."""
    path = tmp_path_factory.mktemp("good") / "x"
    with Ledger.create(path, Fraction(1)) as ledger:
        ledger.reserve(DATA, "pathak2010", pure("0.1"), anew())
        entries = ledger.history().entries
    return path.read_bytes(), entries


@settings(max_examples=80, deadline=None)
@given(at=st.integers(0, 16383), bits=st.integers(1, 255))
def test_a_flipped_byte_is_refused_or_changes_nothing(
    good: tuple[bytes, tuple[Entry, ...]], at: int, bits: int
) -> None:
    content, entries = bytearray(good[0]), good[1]
    content[at % len(content)] ^= bits
    with tempfile.TemporaryDirectory() as folder:
        bad = Path(folder) / "bad"
        bad.write_bytes(content)
        with contextlib.suppress(InputError):
            assert export.read_history(bad).entries == entries


def test_a_locked_ledger_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smc_dp.privacy.ledger.storage._WAIT", 0.05)
    connection = raw(path, guarded=True)
    connection.execute("BEGIN IMMEDIATE")
    with Ledger.open(path) as ledger, refused("ledger.in_use"):
        ledger.reserve(DATA, "m", pure("0.1"), anew())
    connection.close()


def test_making_one_is_private_and_never_over_another(tmp_path: Path) -> None:
    path = tmp_path / "x"
    Ledger.create(path, Fraction(1)).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    with refused("file.exists"):
        Ledger.create(path, Fraction(2))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x"]
    for epsilon, delta in ((Fraction(0), Fraction(0)), (Fraction(1), Fraction(1)), (Fraction(1), Fraction(-1))):
        with pytest.raises(InputError):
            Ledger.create(tmp_path / "y", epsilon, delta)
    with refused("file.not_written"):
        Ledger.create(tmp_path / "no" / "y", Fraction(1))


def examples(rows: list[list[float]], labels: list[int]) -> Rows:
    return Rows(np.array(rows), (np.array(labels) + 1) // 2)


def named(ledger: Ledger, rows: Rows) -> str:
    """Return the name of these rows in this ledger."""
    return ledger.dataset(lambda key: fingerprint_data(key, rows))


def test_a_data_set_has_one_name_in_one_ledger_only(tmp_path: Path) -> None:
    rows = examples([[0.0, 0.5], [0.25, 0.0], [0.0, 0.5]], [1, -1, 1])
    with Ledger.create(tmp_path / "x", Fraction(1)) as x, Ledger.create(tmp_path / "y", Fraction(1)) as y:
        name = named(x, rows)
        assert name == named(x, examples([[0.25, -0.0], [0.0, 0.5], [0.0, 0.5]], [-1, 1, 1]))  # in another order
        others = [
            examples([[0.0, 0.5], [0.25, 0.0]], [1, -1]),
            examples([[0.0, 0.5], [0.25, 0.0], [0.0, 0.5]], [1, 1, 1]),
            examples([[0.0, 0.5], [0.25, 2**-52], [0.0, 0.5]], [1, -1, 1]),
            examples([[0.0], [0.5], [0.25]], [1, -1, 1]),
        ]
        assert len({name, *(named(x, other) for other in others)}) == 5
        assert named(y, rows) != name
    with Ledger.open(tmp_path / "x") as x:
        assert named(x, rows) == name


def test_an_export_shows_everything_but_the_key(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ((key,),) = raw(path, guarded=True).execute("SELECT key FROM secret").fetchall()
    assert main(["ledger", "export", str(path)]) == 0
    text = capsys.readouterr().out
    assert len(key) == 32
    assert key.hex() not in text
    exported = path.with_name("north.json")
    exported.write_text(text)
    assert export.read_history(exported) == export.read_history(path)
    assert main(["ledger", "check", str(exported)]) == 0
    whole = json.loads(text)
    whole["entries"][1]["epsilon"] = "1/100"
    exported.write_text(json.dumps(whole))
    assert main(["ledger", "check", str(exported)]) == 1
    for broken in ("{", "[]", "{}", json.dumps({**whole, "start": "x"}), json.dumps({**whole, "entries": [1]})):
        exported.write_text(broken)
        assert main(["ledger", "check", str(exported)]) == 2
    capsys.readouterr()
    assert main(["ledger", "export", str(path), "--csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == ",".join(ENTRY_COLUMNS)
    assert len(lines) == 7
    assert main(["ledger", "export", str(path), "--csv", "--json"]) == 2


@pytest.mark.parametrize("mark", ",;")
def test_no_mechanism_is_a_formula_in_a_spreadsheet(path: Path, mark: str) -> None:
    """In half of Europe a spreadsheet divides the lines of a CSV file at semicolons."""
    with Ledger.open(path) as ledger:
        for name in ("=1+1", "m;=1+1", "m; @x", "'m"):
            ledger.reserve(DATA, name, pure("0.001"), anew())
        lines = export.history_to_csv(ledger.history()).splitlines()
    assert not any(is_formula(cell) for row in csv.reader(lines, delimiter=mark) for cell in row)
    assert [row["mechanism"] for row in csv.DictReader(lines)][-4:] == ["'=1+1", "m;'=1+1", "m;' @x", "''m"]


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "north.ledger")
    assert main(["ledger", "init", file, "--budget", "1"]) == 0
    assert main(["ledger", "check", file, "--epsilon", "1"]) == 0
    assert main(["ledger", "check", file, "--epsilon", "1.000000001"]) == 1
    assert " 1.00001 " in capsys.readouterr().out
    with Ledger.open(Path(file)) as ledger:
        ledger.reserve(DATA, "pathak2010", pure("0.25"), anew())
    assert main(["ledger", "check", file, "--epsilon", "0.75"]) == 0
    out = capsys.readouterr().out
    assert [figure for figure in ("Entries: 2", "0.25 ", "0.75 ", "spent: entry 2") if figure not in out] == []
    assert main(["ledger", "check", file, "--epsilon", "0.76"]) == 1
    capsys.readouterr()
    assert main(["ledger", "show", file]) == 0
    out = capsys.readouterr().out
    shown_values = ("record", "replace", "0.25 ", "0.75 ", DATA[:16], "pathak2010")
    assert [value for value in shown_values if value not in out] == []
    assert main(["ledger", "show", file, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    (account,) = shown["accounts"]
    assert (account["spent"], account["left"]) == ("1/4", "3/4")
    assert (shown["limit"], shown["pending"]) == ({"epsilon": "1/1", "delta": "0/1"}, [2])
    for wrong in (["--budget", "0"], ["--budget", "1", "--delta", "1"], ["--budget", "nan"], []):
        assert main(["ledger", "init", str(tmp_path / "y"), *wrong]) == 2
    assert main(["ledger", "init", file, "--budget", "1"]) == 2
    assert main(["ledger", "init", str(tmp_path / "z"), "--budget", "1", "--delta", "1e-12"]) == 0
    assert capsys.readouterr().out.endswith("z. Limit: epsilon 1, delta 1e-12\n")
    assert main(["ledger", "show", str(tmp_path / "z")]) == 0
    assert "Limit: epsilon 1, delta 1e-12; nothing has been charged\n" in capsys.readouterr().out


def test_check_adds_up_too(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history = export.read_history(path)
    first = replace(history.entries[0], epsilon=Fraction(1, 10))
    rows = rewritten(history, first)
    document = {"format": "smc-dp ledger 5", "start": history.start, "entries": rows}
    file = path.with_name("forged.json")
    file.write_text(json.dumps(document))
    assert main(["ledger", "check", str(file)]) == 1
    assert coded_prose("ledger.limit_passed", account="").text in capsys.readouterr().out


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(
            st.just("reserve"), st.integers(0, 6), st.fractions(Fraction(1, 100), Fraction(1), max_denominator=100)
        ),
        st.tuples(st.sampled_from(["released", "refunded"]), st.integers(2, 15), st.none()),
    ),
    max_size=20,
)
GUARANTEES = (
    lambda e: (DATA, pure(e)),
    lambda e: (DATA, Guarantee("approx", e, Fraction(1, 10**7), "record", "replace")),
    lambda e: (DATA, Guarantee("zcdp", 4 * e, Fraction(1, 10**6), "record", "replace", e**2 / 20)),
    lambda e: (DATA, Guarantee("zcdp", 4 * e, Fraction(1, 10**6), "record", "replace", e**2 / 20, e / 3)),
    lambda e: (OTHER, pure(e)),
    lambda e: (OTHER, pure(e, "party", "party")),
    lambda e: (OTHER, pure(e, "record", "addremove")),
)


@settings(max_examples=40, deadline=None)
@given(OPERATIONS, st.sampled_from([Fraction(0), Fraction(1, 10**6)]))
def test_whatever_happens_the_limit_is_kept(
    operations: list[tuple[str, int, Fraction | None]], delta: Fraction
) -> None:
    """Spent never falls but by a void entry; and of pure releases it is their plain sum, or less where delta allows."""
    history = History.begin("e" * 64, Limit(Fraction(2), delta), DATE)
    before = {account: Fraction(0) for account in (ACCOUNT, PARTIES)}
    for name, which, epsilon in operations:
        with contextlib.suppress(OverBudgetError, ValueError):
            history = History(history.start, (*history.entries, operated(history, name, which, epsilon)))
        for account, spent in before.items():
            standing = history.standing(account)
            assert standing.fits
            assert name == "refunded" or standing.total.epsilon >= spent
            before[account] = standing.total.epsilon
            entries = history.charged.get(account, [])
            if all(e.kind == "pure" for e in entries):
                plain = sum(((1 + (e.adjacency == "addremove")) * e.epsilon for e in entries if e.epsilon), Fraction(0))
                assert standing.total.epsilon == plain if delta == 0 else standing.total.epsilon <= plain
    assert History.read(history.start, [entry.values() for entry in history.entries]) == history


def operated(history: History, name: str, which: int, epsilon: Fraction | None) -> Entry:
    if epsilon is not None:
        dataset, guarantee = GUARANTEES[which](epsilon)
        return history.reserved(dataset, "m", guarantee, RUN, DATE)
    return (
        history.settled(which, "refunded", None, DATE)
        if name == "refunded"
        else history.settled(which, "released", RUN, DATE)
    )


def test_numbers() -> None:
    for value in (Fraction(0), Fraction(1, 3), Fraction(0.1), Fraction(10**90)):
        assert from_text("x", to_text(value)) == value
    third = Fraction(1, 3)
    assert (delta_rounded_up(Fraction(1e-5)), delta_rounded_up(Fraction(100001, 10**10))) == ("0.00001", "0.0000101")
    assert (
        digits_rounded_up(third),
        digits_rounded_down(third),
        digits_rounded_up(Fraction(1)),
        digits_rounded_down(Fraction(0)),
    ) == ("0.333334", "0.333333", "1", "0")
    assert (digits_rounded_up(Fraction(1, 10**9)), digits_rounded_down(Fraction(10**12))) == ("1e-9", "1e+12")
    assert (digits_rounded_up(Fraction(2, 3)), digits_rounded_down(Fraction(100))) == ("0.666667", "100")

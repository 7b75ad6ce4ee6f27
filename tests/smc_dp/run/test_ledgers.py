"""What a run charges: before the first message, in every party's own ledger, and what an abort costs."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.audited import agreement, hospitals
from support.clear import in_the_clear

from protocols.arithmetic.rng import Stream
from protocols.errors import PeerError, ProtocolError, StallError
from protocols.runtime.simulate import simulate as simulated
from smc_dp import aggregation
from smc_dp.aggregation import Outcome, Participants, by_protocol
from smc_dp.cli.main import main
from smc_dp.errors import InputError
from smc_dp.ledger import export
from smc_dp.ledger.guarantee import Guarantee
from smc_dp.ledger.history import Limit, OverBudgetError
from smc_dp.ledger.ledger import Ledger
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import Target
from smc_dp.run import folder as run_folder
from smc_dp.run.ledgers import KEPT, VOIDED, Ledgers, price
from smc_dp.run.report import Report
from smc_dp.run.simulation import simulate_run

CASE = hospitals((12, 8, 20), 2)
PARTIES = CASE.federation.names
ROWS = CASE.federation.by_name
ONE = Limit(Fraction(1), Fraction(0))
HALF = Guarantee("pure", Fraction(1, 2), Fraction(0), "record", "replace")


def run(tmp_path: Path, name: str, books: Ledgers | None, epsilon: str = "0.4", **options: Any) -> Report:
    target = Target(Fraction(epsilon), options.pop("calibration", "proven"))
    agreed = agreement(CASE, target, seeded=False, **options)
    rng = Stream(hashlib.sha256(name.encode()).digest(), insecure=False)
    return simulate_run(CASE, agreed, rng, tmp_path / name, ledgers=books)


def states(books: Ledgers, party: str) -> list[str]:
    return [entry.state for entry in export.read(books.path(party)).entries]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ideal functionality in place of the protocol, and how often it was called."""
    calls: list[str] = []

    def secure(functionality: Any, parts: Any, taking_part: Participants, **rest: Any) -> Outcome:
        calls.append(taking_part.session.parameters.agreed)
        return in_the_clear(functionality, parts, taking_part, **rest)

    monkeypatch.setattr(aggregation, "secure", secure)
    return calls


@pytest.fixture
def books(tmp_path: Path) -> Ledgers:
    return Ledgers(tmp_path / "books", ONE)


def test_a_real_run_is_charged_and_says_what_is_left(tmp_path: Path, books: Ledgers) -> None:
    report = run(tmp_path, "first", books)
    assert {name: s.left for name, s in report.standings.items()} == dict.fromkeys(PARTIES, Fraction(3, 5))
    assert report.as_dict()["budgets"][PARTIES[0]]["left"] == "3/5"
    digest = hashlib.sha256((tmp_path / "first" / "release.json").read_bytes()).hexdigest()
    agreed = run_folder.read(tmp_path / "first").parameters["agreed"]
    for party in PARTIES:
        _, reserved, released = export.read(books.path(party)).entries
        assert (reserved.run, reserved.mechanism, reserved.epsilon) == (agreed, "pathak2010", Fraction(2, 5))
        assert (released.state, released.refers, released.run) == ("released", 2, digest)


def test_without_ledgers_nothing_is_kept(tmp_path: Path, sent: list[str]) -> None:
    report = run(tmp_path, "first", None)
    assert report.standings == {}
    assert "budgets" not in report.as_dict()
    assert [p.name for p in tmp_path.iterdir()] == ["first"]


def test_no_message_is_sent_beyond_the_limit(tmp_path: Path, books: Ledgers, sent: list[str]) -> None:
    run(tmp_path, "first", books)
    run(tmp_path, "second", books)
    with pytest.raises(OverBudgetError, match=r"spent 0.8 of epsilon 1, .* epsilon 0.4, 0.2 is left") as caught:
        run(tmp_path, "third", books)
    assert len(sent) == 2
    assert not (tmp_path / "third").exists()
    assert PARTIES[0] in str(caught.value)
    run(tmp_path, "fourth", books, "0.2")  # just fits
    assert len(sent) == 3


def test_the_last_party_refuses_and_nobody_is_charged(tmp_path: Path, books: Ledgers, sent: list[str]) -> None:
    books.folder.mkdir()
    Ledger.create(books.path(PARTIES[2]), Fraction(1, 10)).close()
    with pytest.raises(OverBudgetError) as caught:
        run(tmp_path, "first", with_two(books))
    assert PARTIES[2] in str(caught.value)
    assert not any(other in str(caught.value) for other in PARTIES[:2])
    assert "0.1 is left" in str(caught.value)
    assert sent == []
    assert [states(books, party) for party in PARTIES] == [["limit"]] * 3
    with pytest.raises(OverBudgetError):  # and so it is when a budget is used up while the parties train
        with_two(books).reserve(ROWS, "m", HALF, "c" * 64)
    assert [states(books, party) for party in PARTIES] == [["limit", "reserved", "void"]] * 2 + [["limit"]]


def with_two(books: Ledgers) -> Ledgers:
    """The same folder with the ledgers of the first two parties made, if they were not."""
    for party in PARTIES[:2]:
        if not books.path(party).exists():
            Ledger.create(books.path(party), Fraction(1)).close()
    return Ledgers(books.folder)


def dropping(session: Any, identities: Any, seeds: Any, inputs: Any, setting: Any) -> Any:
    """The real protocol, in which the tenth message is lost."""
    lossy = replace(setting, tamper=lambda n, envelope: [] if n == 10 else [(envelope.to, envelope)])
    return simulated(session, identities, seeds, inputs, lossy)


def test_an_abort_of_the_real_protocol_costs_nothing(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_protocol, "simulate", dropping)
    with pytest.raises(ProtocolError):
        run(tmp_path, "first", books)
    assert not (tmp_path / "first").exists()
    for party in PARTIES:
        assert states(books, party) == ["limit", "reserved", "void"]
    monkeypatch.undo()
    assert run(tmp_path, "second", books, "1").standings[PARTIES[0]].left == 0


def raising(error: BaseException) -> Callable[..., Outcome]:
    def secure(*_: Any, **__: Any) -> Outcome:
        raise error

    return secure


@pytest.mark.parametrize(
    ("error", "last"),
    [
        (PeerError("north-0", "lied"), "void"),
        (StallError({"north-0": "mail"}), "void"),
        (InputError("names do not fit"), "void"),
        (KeyboardInterrupt(), "void"),
        (SystemExit(143), "void"),
        (MemoryError(), "reserved"),
        (OSError("disk"), "reserved"),
        (ValueError("a bug"), "reserved"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else value,
)
def test_what_may_have_revealed_something_counts_as_spent(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch, error: BaseException, last: str
) -> None:
    monkeypatch.setattr(aggregation, "secure", raising(error))
    with pytest.raises(type(error)) as caught:
        run(tmp_path, "first", books, "1")
    assert caught.value.__notes__ == [VOIDED if last == "void" else KEPT]
    for party in PARTIES:
        history = export.read(books.path(party))
        assert history.entries[-1].state == last
        (charged,) = history.charged.values()
        assert len(charged) == (last == "reserved")


def test_a_release_that_cannot_be_written_counts_as_spent(
    tmp_path: Path, books: Ledgers, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise InputError("run folder: cannot be written: no space left")

    monkeypatch.setattr(run_folder, "write", full)
    with pytest.raises(InputError, match="no space left") as caught:
        run(tmp_path, "first", books, "1")
    assert caught.value.__notes__ == [KEPT]
    assert [states(books, party) for party in PARTIES] == [["limit", "reserved"]] * 3


def test_a_run_that_guarantees_nothing_has_no_price(tmp_path: Path, books: Ledgers, sent: list[str]) -> None:
    with pytest.raises(InputError, match="kind none"):
        simulate_run(CASE, agreement(CASE), Stream.insecure_from_seed(1), tmp_path / "first", ledgers=books)
    assert sent == []
    assert not books.folder.exists()


def test_paper_calibration_is_charged_what_it_really_guarantees(
    tmp_path: Path, books: Ledgers, sent: list[str]
) -> None:
    books = replace(books, limit=Limit(Fraction(10**6), Fraction(0)))
    report = run(tmp_path, "first", books, "1", calibration="paper")
    (charged,) = export.read(books.path(PARTIES[0])).charged.values()
    assert report.privacy.epsilon not in (None, 1.0)
    assert charged[0].epsilon == Fraction(report.privacy.epsilon or 0)


def test_adjacencies_and_units_keep_their_own_books(tmp_path: Path, books: Ledgers) -> None:
    for unit, adjacency in (("record", "replace"), ("record", "addremove"), ("party", "party")):
        statement = PrivacyStatement("pure", 1.0, 0.0, unit, adjacency, "everybody", ())  # type: ignore[arg-type]
        books.reserve(ROWS, "m", price(statement), "c" * 64)
        with pytest.raises(OverBudgetError):
            books.reserve(ROWS, "m", price(statement), "c" * 64)


def test_a_missing_ledger_or_another_limit_is_refused(tmp_path: Path, books: Ledgers, sent: list[str]) -> None:
    with pytest.raises(InputError, match=r"party north-0: ledger .* there is none"):
        run(tmp_path, "first", replace(books, limit=None))
    run(tmp_path, "first", books)
    with pytest.raises(InputError, match="has a limit of epsilon 1 already"):
        run(tmp_path, "second", replace(books, limit=Limit(Fraction(2), Fraction(0))))
    run(tmp_path, "third", replace(books, limit=None))
    books.path(PARTIES[1]).write_bytes(b"junk")
    with pytest.raises(InputError, match="party north-1: ledger"):
        run(tmp_path, "fourth", books, "0.1")
    assert states(books, PARTIES[0])[-1] == "released"
    with pytest.raises(InputError, match="party north-1: ledger") as caught:
        books.reserve(ROWS, "m", replace(HALF, epsilon=Fraction(1, 10)), "c" * 64)
    assert caught.value.__notes__ == [VOIDED]
    assert states(books, PARTIES[0])[-1] == "void"
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="cannot be made"):
        run(tmp_path, "fifth", Ledgers(tmp_path / "file", ONE))


def test_names_of_files_are_safe_and_different(tmp_path: Path) -> None:
    books = Ledgers(tmp_path)
    names = ["north", "North", "NORTH", "no.rth", "..", ".", "a/b", "a\\b", "a\0b", "%", "%25", "ä", "a b", "con.", "-"]
    files = [books.path(name).name for name in names]
    assert len({file.lower() for file in files}) == len(names)
    for name, file in zip(names, files, strict=True):
        assert set(file) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_%ABCDEF."), name
        assert file.count(".") == 1
        assert books.path(name).parent == tmp_path
    assert books.path("north-1").name == "north-1.ledger"
    for name in ("", "x" * 201, "ä" * 40):
        with pytest.raises(InputError, match="name"):
            books.path(name)


@pytest.mark.usefixtures("sent")
def test_the_options_of_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--epsilon", "0.7", "--ledgers", "books", "--budget", "1"]) == 0
    assert "Budget of hospital-3: 0.7 spent of epsilon 1; 0.3 left (exact sum)" in capsys.readouterr().out
    assert main(["run", "--epsilon", "0.7", "--parties", "4", "--ledgers", "books"]) == 2  # other rows, the same book
    assert "error: party hospital-1: ledger" in capsys.readouterr().err
    assert main(["run", "--epsilon", "0.7", "--ledgers", "books"]) == 2
    assert (
        capsys.readouterr().err.splitlines()[-1].startswith("error: party hospital-1: ledger books/hospital-1.ledger:")
    )
    assert main(["run", "--epsilon", "0.3", "--ledgers", "books", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["budgets"]["hospital-5"]["left"] == "0/1"
    for wrong, words in (
        (["--budget", "1"], "goes with --ledgers"),
        (["--ledgers", "books", "--budget", "0"], "--budget"),
        (["--ledgers", "books", "--insecure-seed", "1"], "kind none"),
        (["--ledgers", "other"], "there is none"),
    ):
        assert main(["run", *wrong]) == 2
        assert words in capsys.readouterr().err


def test_every_charge_is_on_disk_before_the_first_message(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []

    def secure(*_: Any, **__: Any) -> Outcome:
        seen.extend(states(books, party) for party in PARTIES)
        raise PeerError("north-0", "lied")

    monkeypatch.setattr(aggregation, "secure", secure)
    with pytest.raises(PeerError):
        run(tmp_path, "first", books)
    assert seen == [["limit", "reserved"]] * 3


def test_a_ledger_that_cannot_be_written_to_stays_charged_and_is_named(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def secure(*_: Any, **__: Any) -> Outcome:
        books.path(PARTIES[1]).unlink()
        raise PeerError("north-0", "lied")

    monkeypatch.setattr(aggregation, "secure", secure)
    with pytest.raises(PeerError) as caught:
        run(tmp_path, "first", books)
    assert caught.value.__notes__ == [
        f"nothing was revealed, but the ledgers of {PARTIES[1]} cannot be written to: there it counts as spent"
    ]
    assert [states(books, PARTIES[j])[-1] for j in (0, 2)] == ["void"] * 2


def test_nobody_trains_in_vain_and_a_refused_run_makes_no_ledger(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smc_dp.run.party.part", lambda *_: pytest.fail("a party trained"))
    with pytest.raises(OverBudgetError, match="party north-0: the budget would be passed"):
        run(tmp_path, "first", books, "1.5")
    assert not books.folder.exists()
    with pytest.raises(pytest.fail.Exception, match="trained"):  # within the limit it gets there
        run(tmp_path, "second", books, "1")


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (PeerError("x", "lied"), 2)])
def test_the_person_is_told_what_a_stop_costs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(aggregation, "secure", raising(error))
    assert main(["run", "--ledgers", "books", "--budget", "1"]) == code
    assert capsys.readouterr().err.splitlines()[-1].endswith(f"; {VOIDED}")
    error.__notes__.clear()
    assert main(["run"]) == code  # without ledgers there is nothing to say
    assert VOIDED not in capsys.readouterr().err


def test_a_terminated_run_says_what_it_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def secure(*_: Any, **__: Any) -> Outcome:
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("the signal came too late")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(aggregation, "secure", secure)
    with pytest.raises(SystemExit) as caught:
        main(["run", "--ledgers", "books", "--budget", "1"])
    assert caught.value.code == 143
    assert capsys.readouterr().err.splitlines()[-1] == f"terminated; {VOIDED}"
    assert states(Ledgers(tmp_path / "books"), "hospital-1") == ["limit", "reserved", "void"]

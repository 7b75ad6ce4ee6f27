"""What a run charges: before the first message, in every party's own ledger, and what an abort costs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.audited import agreement, hospitals
from support.clear import Tamper, in_the_clear, striking

from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.errors import PeerError, ProtocolError, StallError
from protocols.runtime.envelope import Envelope
from smc_dp.cli.main import main
from smc_dp.core.errors import InputError
from smc_dp.data.fingerprint import fingerprint_data
from smc_dp.data.table import Table
from smc_dp.data.table_reader import read_table
from smc_dp.privacy.ledger import export
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.history import Limit, OverBudgetError, account_of
from smc_dp.privacy.ledger.ledger import Ledger, run_key
from smc_dp.privacy.target import Target
from smc_dp.run import folder as run_folder
from smc_dp.run.budget_charge import RELEASED, GivenUp, OpenCharge
from smc_dp.run.ledgers import KEPT, REFUNDED, Ledgers
from smc_dp.run.party import LocalParty
from smc_dp.run.protocols import execution
from smc_dp.run.protocols.cost import Outcome
from smc_dp.run.protocols.execution import SimulatedSession
from smc_dp.run.release import TRANSCRIPT
from smc_dp.run.report import Report
from smc_dp.run.simulation import simulate_run
from smc_dp.run.site_ledger import SiteLedger
from tests.support.refusals import refused

CASE = hospitals((12, 8, 20), 2)
PARTIES = CASE.federation.names
ROWS = CASE.federation.by_name
ONE = Limit(Fraction(1), Fraction(0))
RUN, SHARE = "c" * 64, "PublishedShare"
HALF = Guarantee("pure", Fraction(1, 2), Fraction(0), "record", "replace")


def run(tmp_path: Path, name: str, books: Ledgers | None, epsilon: str = "0.4", **options: Any) -> Report:
    target = Target(Fraction(epsilon), options.pop("calibration", "proven"))
    agreed = agreement(CASE, target, seeded=False, **options)
    rng = Stream(hashlib.sha256(name.encode()).digest(), insecure=False)
    return simulate_run(CASE, agreed, rng, tmp_path / name, ledgers=books)


def session_of(folder: Path) -> bytes:
    """The session id in the record of a run."""
    head = json.loads((folder / TRANSCRIPT).read_text().splitlines()[0])
    return bytes.fromhex(head["session"])


def states(books: Ledgers, party: str) -> list[str]:
    return [entry.state for entry in export.read_history(books.path(party)).entries]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ideal functionality in place of the protocol, and how often it was called."""
    calls: list[str] = []

    def secure(functionality: Any, parts: Any, taking_part: SimulatedSession, **rest: Any) -> Outcome:
        calls.append(taking_part.session.parameters.agreed)
        return in_the_clear(functionality, parts, taking_part, **rest)

    monkeypatch.setattr(execution, "run_session", secure)
    return calls


@pytest.fixture
def books(tmp_path: Path) -> Ledgers:
    return Ledgers(tmp_path / "books", ONE)


def test_a_real_run_is_charged_and_says_what_is_left(tmp_path: Path, books: Ledgers) -> None:
    report = run(tmp_path, "first", books)
    assert books.folder.stat().st_mode & 0o777 == 0o700
    assert {name: s.left for name, s in report.standings.items()} == dict.fromkeys(PARTIES, Fraction(3, 5))
    assert report.as_dict()["budgets"][PARTIES[0]]["left"] == "3/5"
    digest = hashlib.sha256((tmp_path / "first" / "release.json").read_bytes()).hexdigest()
    key = run_key(session_of(tmp_path / "first"), RELEASED)
    for party in PARTIES:
        _, reserved, released = export.read_history(books.path(party)).entries
        assert (reserved.run, reserved.mechanism, reserved.epsilon) == (key, "pathak2010", Fraction(2, 5))
        assert (released.state, released.refers, released.run) == ("released", 2, digest)


def test_the_last_party_refuses_and_nobody_is_charged(tmp_path: Path, books: Ledgers, sent: list[str]) -> None:
    books.folder.mkdir()
    Ledger.create(books.path(PARTIES[2]), Fraction(1, 10)).close()
    with pytest.raises(OverBudgetError) as caught:
        run(tmp_path, "first", with_two(books))
    assert PARTIES[2] in str(caught.value)
    assert not any(other in str(caught.value) for other in PARTIES[:2])
    assert "Left: 0.1" in str(caught.value)
    assert [caught.value.fault.fields[name] for name in ("spent", "after")] == ["0", "epsilon 0.4"]
    assert sent == []
    assert [states(books, party) for party in PARTIES] == [["limit"]] * 3
    with pytest.raises(OverBudgetError):  # and so it is when a budget is used up while the parties train
        with_two(books).reserve(ROWS, "m", HALF, RUN)
    assert [states(books, party) for party in PARTIES] == [["limit", "reserved", "refunded"]] * 2 + [["limit"]]


def with_two(books: Ledgers) -> Ledgers:
    """The same folder with the ledgers of the first two parties made, if they were not."""
    for party in PARTIES[:2]:
        if not books.path(party).exists():
            Ledger.create(books.path(party), Fraction(1)).close()
    return Ledgers(books.folder)


def test_two_runs_of_one_agreement_are_two_charges(tmp_path: Path, books: Ledgers, sent: list[str]) -> None:
    """The same was agreed on twice: a key without the nonce of a session would make one charge of it."""
    for name in ("first", "second"):
        run(tmp_path, name, books)
    assert sent[0] == sent[1]
    for party in PARTIES:
        history = export.read_history(books.path(party))
        assert len({entry.run for entry in history.entries if entry.state == "reserved"}) == 2
        assert history.standing(account_of(HALF)).left == Fraction(1, 5)


def test_a_session_is_charged_once(tmp_path: Path, books: Ledgers) -> None:
    """The same coins again make the same session: what stands is not this run's to make void."""
    books.reserve(ROWS, "m", HALF, RUN)
    before = [export.read_history(books.path(party)) for party in PARTIES]
    with refused("ledger.run_known"):
        books.reserve(ROWS, "m", HALF, RUN)
    assert [export.read_history(books.path(party)) for party in PARTIES] == before


def at(kind: str, sender: str, strike: Callable[[Envelope], list[tuple[str, Envelope]]]) -> Tamper:
    """Strike at each message of this kind and sender."""
    return lambda n, e: strike(e) if (e.kind, e.sender) == (kind, sender) else [(e.to, e)]


def flipped(e: Envelope) -> list[tuple[str, Envelope]]:
    return [(e.to, replace(e, body=bytes([e.body[0] ^ 1]) + e.body[1:]))]


def stopped(e: Envelope) -> list[tuple[str, Envelope]]:
    raise KeyboardInterrupt


# What strikes, how many shares had left by then, and what the person is told; "": whose had left, and whose had not.
BREAKS: dict[str, tuple[Tamper, int, str]] = {
    "tampered before": (at("Ready", PARTIES[2], flipped), 0, REFUNDED),
    "stopped before": (at("Ready", PARTIES[2], stopped), 0, REFUNDED),
    "stopped at the first share": (at(SHARE, PARTIES[0], stopped), 1, ""),
    "stopped at the second share": (at(SHARE, PARTIES[1], stopped), 2, ""),
    "stopped at the last share of a party": (at(SHARE, PARTIES[2], stopped), 3, KEPT),
    "stopped at Charlie's share": (at(SHARE, CURATOR_NAME, stopped), 3, KEPT),
    "tampered first share": (at(SHARE, PARTIES[0], flipped), 3, KEPT),
    "tampered last share": (at(SHARE, CURATOR_NAME, flipped), 3, KEPT),
    "lost share": (at(SHARE, PARTIES[2], lambda e: []), 3, KEPT),
}


def named(parts: list[str]) -> list[list[str]]:
    """The parties in each part of a sentence."""
    return [re.findall(r"north-\d", part) for part in parts]


def uncharged(books: Ledgers, posted: list[Envelope]) -> list[str]:
    """Whose share has left, and whose reservation is void all the same."""
    left = [party for party in PARTIES if any((e.kind, e.sender) == (SHARE, party) for e in posted)]
    return [party for party in left if states(books, party)[-1] == "refunded"]


@pytest.mark.parametrize("name", BREAKS)
def test_whose_share_has_left_stays_charged(
    name: str, tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch
) -> None:
    tamper, out, note = BREAKS[name]
    posted: list[Envelope] = []
    monkeypatch.setattr(execution, "simulate", striking(tamper, posted))
    with pytest.raises((ProtocolError, KeyboardInterrupt)) as caught:
        run(tmp_path, "first", books)
    (told,) = caught.value.__notes__
    assert told == note if note else named(told.split(";")) == [[*PARTIES[:out]], [*PARTIES[out:]]]
    assert [states(books, party)[-1] for party in PARTIES] == ["reserved"] * out + ["refunded"] * (3 - out)
    assert uncharged(books, posted) == []


def test_a_ledger_that_cannot_be_written_to_is_named_among_those_that_are_spared(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def strike(e: Envelope) -> list[tuple[str, Envelope]]:
        books.path(PARTIES[2]).unlink()
        raise KeyboardInterrupt

    monkeypatch.setattr(execution, "simulate", striking(at(SHARE, PARTIES[0], strike), []))
    with pytest.raises(KeyboardInterrupt) as caught:
        run(tmp_path, "first", books)
    (note,) = caught.value.__notes__
    left, *spared = note.split(";")
    assert named([left, *spared[0].split(", but ")]) == [["north-0"], ["north-1", "north-2"], ["north-2"]]
    assert [states(books, party)[-1] for party in PARTIES[:2]] == ["reserved", "refunded"]


def raising(error: BaseException) -> Callable[..., Outcome]:
    def secure(*_: Any, **__: Any) -> Outcome:
        raise error

    return secure


@pytest.mark.parametrize(
    ("error", "last"),
    [
        (PeerError("north-0", "peer.lied"), "refunded"),
        (StallError({"north-0": "mail"}), "refunded"),
        (InputError("names do not fit"), "refunded"),
        (KeyboardInterrupt(), "refunded"),
        (SystemExit(143), "refunded"),
        (MemoryError(), "reserved"),
        (OSError("disk"), "reserved"),
        (ValueError("a bug"), "reserved"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else value,
)
def test_what_may_have_revealed_something_counts_as_spent(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch, error: BaseException, last: str
) -> None:
    monkeypatch.setattr(execution, "run_session", raising(error))
    with pytest.raises(type(error)) as caught:
        run(tmp_path, "first", books, "1")
    assert caught.value.__notes__ == [REFUNDED if last == "refunded" else KEPT]
    for party in PARTIES:
        history = export.read_history(books.path(party))
        assert history.entries[-1].state == last
        (charged,) = history.charged.values()
        assert len(charged) == (last == "reserved")


def test_a_release_that_cannot_be_written_counts_as_spent(
    tmp_path: Path, books: Ledgers, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise InputError("file.not_written", why="no space left")

    monkeypatch.setattr(run_folder, "write_run", full)
    with refused("file.not_written", why="no space left") as caught:
        run(tmp_path, "first", books, "1")
    assert caught.value.__notes__ == [KEPT]
    assert [states(books, party) for party in PARTIES] == [["limit", "reserved"]] * 3


def test_paper_calibration_is_charged_what_it_really_guarantees(
    tmp_path: Path, books: Ledgers, sent: list[str]
) -> None:
    books = replace(books, limit=Limit(Fraction(10**6), Fraction(0)))
    report = run(tmp_path, "first", books, "1", calibration="paper")
    (charged,) = export.read_history(books.path(PARTIES[0])).charged.values()
    assert report.privacy.epsilon not in (None, 1.0)
    assert charged[0].epsilon == Fraction(report.privacy.epsilon or 0)


def test_exchanged_ledgers_are_refused_and_nobody_is_charged(tmp_path: Path, books: Ledgers, sent: list[str]) -> None:
    run(tmp_path, "first", books)
    before = {party: states(books, party) for party in PARTIES}
    one, two = (books.path(party) for party in PARTIES[:2])
    one.rename(tmp_path / "aside")
    two.rename(one)
    (tmp_path / "aside").rename(two)
    (books.folder / "rows.key").unlink()  # which would know the rows, but does not come along with single ledgers
    with refused("ledger.of_another_party", at=f"party {PARTIES[0]}", owner=PARTIES[1]):
        run(tmp_path, "second", books)
    assert {party: states(books, party) for party in PARTIES} == before
    assert len(sent) == 1


@pytest.mark.usefixtures("sent")
def test_a_ledger_that_names_nobody_is_charged(tmp_path: Path, books: Ledgers) -> None:
    books.folder.mkdir()
    for party in PARTIES:
        Ledger.create(books.path(party), *ONE).close()
    run(tmp_path, "first", books)
    assert {export.read_history(books.path(party)).party for party in PARTIES} == {None}


def test_a_missing_ledger_or_another_limit_is_refused(tmp_path: Path, books: Ledgers, sent: list[str]) -> None:
    with refused("ledger.missing"):
        run(tmp_path, "first", replace(books, limit=None))
    run(tmp_path, "first", books)
    with refused("ledger.other_limit", held="epsilon 1", got="epsilon 2"):
        run(tmp_path, "second", replace(books, limit=Limit(Fraction(2), Fraction(0))))
    with refused("ledger.other_limit"):
        run(tmp_path, "second", replace(books, limit=Limit(ONE.epsilon, Fraction(1, 10**6))))
    run(tmp_path, "third", replace(books, limit=None))
    books.path(PARTIES[1]).write_bytes(b"junk")
    with refused("ledger.not_readable", at="party north-1"):
        run(tmp_path, "fourth", books, "0.1")
    assert states(books, PARTIES[0])[-1] == "released"
    with refused("ledger.not_readable", at="party north-1") as caught:
        books.reserve(ROWS, "m", replace(HALF, epsilon=Fraction(1, 10)), RUN)
    assert caught.value.__notes__ == [REFUNDED]
    assert states(books, PARTIES[0])[-1] == "refunded"
    (tmp_path / "file").write_bytes(b"")
    with refused("folder.cannot_be_made"):
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
        with refused("ledger.name_too_long"):
            books.path(name)


@pytest.mark.usefixtures("sent")
def test_the_options_of_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--method", "prr_mean", "--epsilon", "0.7", "--ledgers", "books", "--budget", "1"]) == 0
    said = capsys.readouterr().out
    assert "Budget of hospital-3: 0.7 spent of epsilon 1; 0.3 left" in said
    assert "This counts how much each release may reveal about any one record" in said
    assert main(["run", "--method", "prr_mean", "--epsilon", "0.3", "--ledgers", "books", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["budgets"]["hospital-5"]["left"] == "0/1"
    for wrong, words in (
        (["--budget", "1"], "goes with --ledgers"),
        (["--ledgers", "books", "--budget-delta", "1e-5"], "--budget-delta: goes with --budget"),
        (["--ledgers", "books", "--budget", "0"], "--budget"),
        (["--ledgers", "books", "--insecure-seed", "1"], "a run without a guarantee"),
        (["--ledgers", "other"], "does not exist"),
    ):
        assert main(["run", "--method", "prr_mean", *wrong]) == 2
        assert words in capsys.readouterr().err


def test_nobody_trains_in_vain_and_a_refused_run_makes_no_ledger(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LocalParty, "contribution", property(lambda _: pytest.fail("a party trained")))
    with refused("budget.passed", error=OverBudgetError, at="party north-0"):
        run(tmp_path, "first", books, "1.5")
    assert not books.folder.exists()
    with pytest.raises(pytest.fail.Exception, match="trained"):  # within the limit it gets there
        run(tmp_path, "second", books, "1")


def terminate(*_: Any, **__: Any) -> Outcome:
    os.kill(os.getpid(), signal.SIGTERM)
    raise AssertionError("the signal came too late")


@pytest.mark.parametrize(
    ("stop", "code"), [(raising(KeyboardInterrupt()), 130), (raising(PeerError("x", "peer.lied")), 2), (terminate, 143)]
)
def test_the_person_is_told_what_a_stop_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], stop: Any, code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(execution, "run_session", stop)
    for ledgers in ([], ["--ledgers", "books", "--budget", "1"]):  # without ledgers there is nothing to say
        try:
            ended: Any = main(["run", "--method", "prr_mean", *ledgers])
        except SystemExit as terminated:
            ended = terminated.code
        assert ended == code
        assert capsys.readouterr().err.splitlines()[-1].endswith(f"; {REFUNDED}") == bool(ledgers)


# One party's own ledger in a session: charged once, void or released once, however often it is asked.


OWN_ROWS = CASE.federation.parties[0]
AGREED = agreement(CASE, Target(Fraction("0.4")), seeded=False)
SESSION, OTHER = b"s" * 32, b"t" * 32
LEFT = OpenCharge().leaving("sum 0")
BACK = LEFT.disowned("sum 0")
ENDS = ("refunded", "released", "no member", "no member that paid")


@pytest.fixture
def site(tmp_path: Path) -> SiteLedger:
    return made(tmp_path)


def made(folder: Path) -> SiteLedger:
    Ledger.create(folder / "own.ledger", Fraction(1)).close()
    (folder / "release.json").write_text("{}")
    return SiteLedger(folder / "own.ledger")


def states_of(site: SiteLedger) -> list[str]:
    with Ledger.open(site.path) as ledger:
        return [entry.state for entry in ledger.history().entries][1:]


def end(site: SiteLedger, how: str) -> None:
    """Any of the ways in which a session ends for a party."""
    release = site.path.with_name("release.json")
    if how == "refunded":
        site.refund(SESSION, GivenUp(BACK))
    else:
        charge = LEFT if how == "no member that paid" else BACK
        site.released(SESSION, release, charge, member=how == "released")


WRITTEN = {"refunded": ["refunded"], "released": ["released"], "no member": ["refunded"], "no member that paid": []}


def test_no_charge_from_before_a_recovery_is_refunded(site: SiteLedger) -> None:
    """The lost ledger may have known of a release that the copy does not know of."""
    charge = Guarantee("pure", Fraction(1, 10), Fraction(0), "record", "replace")
    site.reserve(SESSION, AGREED, OWN_ROWS)
    with Ledger.open(site.path) as ledger:
        ledger.recover(lambda _: [("recovered 1: 2 charges", run_key(OTHER, RELEASED), charge)])
    for session in (SESSION, OTHER):
        site.refund(session, GivenUp(OpenCharge()))
    assert states_of(site) == ["reserved", "reserved"]


@pytest.mark.parametrize("how", ENDS)
def test_whatever_is_asked_again_is_found_done(site: SiteLedger, how: str) -> None:
    number = site.reserve(SESSION, AGREED, OWN_ROWS)
    assert site.reserve(SESSION, AGREED, OWN_ROWS) == number == 2
    assert states_of(site) == ["reserved"]
    for _ in range(2):
        end(site, how)
        assert states_of(site) == ["reserved", *WRITTEN[how]]
    with Ledger.open(site.path) as ledger:
        entry = ledger.history().entries[1]
        assert entry.run == run_key(SESSION, RELEASED)
        assert (entry.mechanism, entry.epsilon) == ("pathak2010", Fraction(2, 5))
        assert entry.dataset == ledger.dataset(partial(fingerprint_data, held=OWN_ROWS))
    site.reserve(OTHER, AGREED, OWN_ROWS)
    assert states_of(site) == ["reserved", *WRITTEN[how], "reserved"]


@pytest.mark.parametrize("how", ENDS)
def test_a_session_has_one_end(site: SiteLedger, how: str) -> None:
    """Whatever comes after it: another end, another release, or the session again once it was given up."""
    site.reserve(SESSION, AGREED, OWN_ROWS)
    end(site, how)
    before = states_of(site)
    for other in ENDS:
        if WRITTEN[other] not in ([], WRITTEN[how]) and WRITTEN[how]:
            with refused("ledger.other_outcome", number=2, state=WRITTEN[how][0], wanted=WRITTEN[other][0]):
                end(site, other)
    if how == "released":
        site.path.with_name("release.json").write_text("{ }")
        with refused("ledger.other_release", number=2):
            end(site, how)
    if WRITTEN[how] == ["refunded"]:
        with refused("ledger.session_given_up", number=2):
            site.reserve(SESSION, AGREED, OWN_ROWS)
        with Ledger.open(site.path) as ledger:  # twin: the ledger alone charges it anew, and the session would go on
            ledger.reserve(
                ledger.dataset(partial(fingerprint_data, held=OWN_ROWS)),
                AGREED.protocol,
                price(site),
                run_key(SESSION, RELEASED),
            )
        assert states_of(site) == [*before, "reserved"]
    else:
        assert site.reserve(SESSION, AGREED, OWN_ROWS) == 2
        assert states_of(site) == before


def price(site: SiteLedger) -> Guarantee:
    with Ledger.open(site.path) as ledger:
        return ledger.history().entries[1].guarantee


def test_what_was_not_charged_has_no_end_to_write(site: SiteLedger) -> None:
    site.refund(SESSION, GivenUp(OpenCharge()))
    assert states_of(site) == []
    with refused("ledger.session_unknown"):
        end(site, "released")


def test_it_says_before_what_a_reservation_would(site: SiteLedger, tmp_path: Path) -> None:
    site.check(AGREED)
    assert states_of(site) == []
    much = replace(AGREED, target=Target(Fraction("1.5")))
    nothing = agreement(CASE, seeded=True)
    for asked in (site.check, lambda agreed: site.reserve(SESSION, agreed, OWN_ROWS)):
        with refused("budget.passed", error=OverBudgetError, at="own.ledger"):
            asked(much)
        with refused("ledger.no_price"):
            asked(nothing)
    assert states_of(site) == []
    with refused("file.unreadable", at="no.ledger"):
        SiteLedger(tmp_path / "no.ledger").check(AGREED)


def test_one_session_is_about_one_table_and_one_price(site: SiteLedger, tmp_path: Path) -> None:
    """A table is named as it was read, before any bounds; another one under the same session is refused."""
    table = read(tmp_path, "age,outcome\n1,no\n2,yes\n")
    site.reserve(SESSION, AGREED, table)
    assert site.reserve(SESSION, AGREED, read(tmp_path, "outcome,age\nyes,2.0\nno,1\n")) == 2  # the same table
    for agreed, held, what in (
        (AGREED, read(tmp_path, "age,outcome\n1,no\n3,yes\n"), "data set"),
        (replace(AGREED, target=Target(Fraction("0.3"))), table, "guarantee"),
    ):
        with refused("ledger.same_run_other_release", number=2, what=what):
            site.reserve(SESSION, agreed, held)
    assert states_of(site) == ["reserved"]


def read(folder: Path, text: str) -> Table:
    (folder / "own.csv").write_text(text)
    return read_table(folder / "own.csv", "own")

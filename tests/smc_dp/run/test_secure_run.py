"""Whole runs of secure sums: what stands in the folder, who is noticed that edits it, who pays, who is left out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import forgeries as f
from support.audited import hospitals, long_term, sum_agreement
from support.clear import striking

from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.errors import StoppedError
from protocols.runtime import message as messages
from protocols.runtime.envelope import Envelope
from protocols.runtime.simulate import simulate as simulated
from protocols.secure_sum import steps
from protocols.secure_sum.messages import Masked
from smc_dp import predict
from smc_dp.methods.gradients.newton import Newton
from smc_dp.privacy.ledger import export
from smc_dp.privacy.ledger.history import Limit
from smc_dp.privacy.target import Target
from smc_dp.run import release_consistency
from smc_dp.run.ledgers import REFUNDED, Ledgers
from smc_dp.run.party import LocalParty
from smc_dp.run.protocols import execution
from smc_dp.run.release import RELEASE, SHARES, TIMINGS, TRANSCRIPT
from smc_dp.run.report import Report
from smc_dp.run.simulation import simulate_run
from smc_dp.run.verify_release import read_release_evidence, verify_release
from tests.support.refusals import refused

CASE, FOUR = hospitals((12, 8, 20), 2), hospitals((12, 8, 20, 9), 2)
A, B, C, D = FOUR.federation.names
OWN = long_term((A, B, C))
READY = 5  # of four parties, D = 1: the greeting, three letters of shares, and "ready" have left


def run(
    folder: Path,
    data: Any = CASE,
    method: Any = None,
    *,
    books: Ledgers | None = None,
    drop_out: Any = (),
    **given: Any,
) -> Report:
    """With coins of no seed, as far as anybody can see, so that the statement claims an epsilon."""
    agreed = sum_agreement(data, method, Target(Fraction("0.4"), noise="ddg"), seeded=False, **given)
    rng = Stream(hashlib.sha256(folder.name.encode()).digest(), insecure=False)
    own = OWN if data is CASE else None
    return simulate_run(data, agreed, rng, folder, identities=own, ledgers=books, drop_out=dict(drop_out))


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("honest") / "run"
    run(folder)
    return folder


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With additive shares, and no Charlie."""
    folder = tmp_path_factory.mktemp("shared") / "run"
    run(folder, output="shares")
    return folder


ROWS = np.array([[0.5, -0.5], [-0.5, 0.5]])


def test_a_run_has_shares_where_masked_inputs_are_published_and_else_none(honest: Path, shared: Path) -> None:
    files = {RELEASE, TRANSCRIPT, TIMINGS}
    for folder, more in ((honest, set[str]()), (shared, {SHARES})):
        assert {path.name for path in folder.iterdir()} == files | more
        document = json.loads((folder / RELEASE).read_text())
        assert set(document["digests"]) == (files | more) - {RELEASE}
        assert predict(folder, ROWS).missing_files_text is None
    shares = json.loads((shared / SHARES).read_text())["shares"]
    assert {name: len(share) for name, share in shares.items()} == {A: 3, B: 3, C: 3}  # two weights and the size


def parameter(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["parameters"].update(fields)


EDITS: dict[str, tuple[Callable[[dict[str, Any]], Any], Any]] = {
    "a weight": (lambda d: d["weights"].__setitem__(0, 0.5), partial(refused, "release.other_weights")),
    "colluders": (parameter(colluders=2), partial(refused, "release.other_parameter", name="colluders", release="2")),
    "shares that there are none of": (
        lambda d: d["digests"].update({SHARES: "0" * 64}), partial(refused, "release.other_files", wanted="none"),
    ),
    "as shares": (parameter(output="shares"), partial(refused, "release.other_files", wanted="one")),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_whoever_edits_a_release_is_noticed(name: str, honest: Path, tmp_path: Path) -> None:
    change, why = EDITS[name]
    with why():
        verify_release(f.edited(honest, tmp_path / "run", RELEASE, change))


@pytest.mark.parametrize(("change", "why"), [
    (lambda i: f.flip(i, 3), partial(refused, "transcript.not_signed", name=CURATOR_NAME)),
    (lambda i: f.drop(i), partial(refused, "transcript.no_result")),
    (lambda i: f.sign(i, OWN[A]), partial(refused, "transcript.not_signed", name=CURATOR_NAME)),
])  # fmt: skip
def test_the_sum_is_the_one_that_charlie_signed(
    honest: Path, tmp_path: Path, change: Callable[[int], f.Change], why: Any
) -> None:
    forged = f.forge(honest, tmp_path / "run", change(f.read_record(honest).place("PublishedSum", CURATOR_NAME)))
    with why():
        verify_release(forged)


@pytest.mark.parametrize(("members", "why"), [
    (0b011, "a sum of 2 parties, wanted at least 3"), (0b1111, "a list of survivors names party 4 of 3"),
])  # fmt: skip
def test_a_sum_of_fewer_than_the_statement_counts_is_none(honest: Path, tmp_path: Path, members: int, why: str) -> None:
    """Signed by Charlie himself: with fewer parties there is less noise in it than is claimed."""
    record = f.read_record(honest)
    i = record.place("PublishedSum", CURATOR_NAME)
    body = record.envelopes[i].body
    session = read_release_evidence((honest / TRANSCRIPT).read_bytes()).session
    said = release_consistency.published_message(session, record.envelopes[i])
    payload = messages.encode(replace(said, members=(members,)), session.layout, {})
    forged = f.signed(replace(record.envelopes[i], body=payload + body[-64:]), OWN[CURATOR_NAME])
    with refused("transcript.no_result", why=why):
        verify_release(f.forge(honest, tmp_path / "run", lambda found: found.put(i, forged)))


def test_of_two_sums_that_charlie_signed_none_counts(honest: Path, tmp_path: Path) -> None:
    """Without the rule it would be the second, which is that of the release."""
    record = f.read_record(honest)
    i = record.place("PublishedSum", CURATOR_NAME)
    session = read_release_evidence((honest / TRANSCRIPT).read_bytes()).session
    said = release_consistency.published_message(session, record.envelopes[i])
    payload = messages.encode(replace(said, S=(said.S[0] ^ 1, *said.S[1:])), session.layout, {})
    other = f.signed(replace(record.envelopes[i], body=payload + record.envelopes[i].body[-64:]), OWN[CURATOR_NAME])
    forged = f.forge(honest, tmp_path / "run", f.duplicate(i), lambda found: found.put(i, other))
    with refused("transcript.published_twice", sender=repr(CURATOR_NAME), first=i + 1, again=i + 2):
        verify_release(forged)


# Who pays.


def states(books: Ledgers, party: str) -> list[str]:
    return [entry.state for entry in export.read_history(books.path(party)).entries][1:]


@pytest.fixture
def books(tmp_path: Path) -> Ledgers:
    return Ledgers(tmp_path / "books", Limit(Fraction(1), Fraction(1, 1000)))


PAID, UNKNOWN, REFUND = ["reserved", "released"], ["reserved"], ["reserved", "refunded"]


@pytest.mark.parametrize(
    ("sent", "members", "paid"),
    [
        (READY, (A, C, D), {A: PAID, B: REFUND, C: PAID, D: PAID}),  # gone before it was charged, when others were
        (READY + 1, (A, B, C, D), dict.fromkeys((A, B, C, D), PAID)),  # in the sum, opened by the others
    ],
)
def test_who_vanishes_has_paid_if_its_masked_input_left(
    tmp_path: Path, books: Ledgers, sent: int, members: tuple[str, ...], paid: dict[str, list[str]]
) -> None:
    report = run(tmp_path / "run", FOUR, books=books, dropouts=1, drop_out={B: sent + 1})
    assert (report.present.took_part, report.present.dropped_out, report.present.left_out) == (members, (B,), ())
    assert {name: states(books, name) for name in paid} == paid
    assert verify_release(tmp_path / "run").missing_files_text is None


def test_the_new_session_has_new_noise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same coins again two sums would differ by the bare part of who was left out."""
    parts: list[tuple[str, Any]] = []
    coins = set()

    def part(own: LocalParty) -> Any:
        coins.add(own.rng.key)  # type: ignore[union-attr]
        parts.append((own.name, own.agreement.spec.part(own.rows, own.rng)))
        return parts[-1][1]

    made = cached_property(part)
    made.__set_name__(LocalParty, "contribution")
    monkeypatch.setattr(LocalParty, "contribution", made)
    run(tmp_path / "run", FOUR, colluders=0, dropouts=1, drop_out={B: READY})
    first, second = dict(parts[:4]), dict(parts[4:])
    assert set(second) == {A, C, D}
    assert len(coins) == 7  # fewer parties draw other shares even with the same coins
    for name, again in second.items():
        assert first[name].numbers == again.numbers
        assert first[name].noise != again.noise


@pytest.mark.parametrize(
    ("spent", "proved", "paid"), [((0,), (0,), REFUND), ((0,), (), UNKNOWN), ((0, 1), (1,), UNKNOWN)]
)
def test_only_a_proof_that_it_is_not_in_the_sum_gives_a_budget_back(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch, spent: Any, proved: Any, paid: list[str]
) -> None:
    """A party that was charged and is no member: that nothing came proves nothing, nor what came for another sum."""

    def simulate(session: Any, identities: Any, seeds: Any, inputs: Any, setting: Any, *home: Any) -> Any:
        for r in spent:
            setting.charge(B, f"sum {r}")
        for r in proved:
            setting.refund(B, f"sum {r}")
        return simulated(session, identities, seeds, inputs, setting, *home)

    monkeypatch.setattr(execution, "simulate", simulate)
    run(tmp_path / "run", FOUR, books=books, dropouts=1, drop_out={B: READY + 1})
    assert {name: states(books, name) for name in (A, B, C, D)} == {B: paid} | dict.fromkeys((A, C, D), PAID)


def test_with_nobody_to_lose_whose_masked_input_left_has_paid(tmp_path: Path, books: Ledgers) -> None:
    """D = 0: once masked inputs left, a party that vanishes ends it, and no budget comes back."""
    with refused("session.others_could_not_go_on", error=StoppedError, dropped_out=[B]) as caught:
        run(tmp_path / "run", books=books, drop_out={B: 3})
    (note,) = caught.value.__notes__
    assert [word for word in re.findall(r"[\w-]+", note) if word in (A, B, C)] == [A, C, B]  # who paid, and who not
    assert {name: states(books, name) for name in (A, B, C)} == {A: UNKNOWN, B: REFUND, C: UNKNOWN}
    assert not (tmp_path / "run").exists()


def test_a_party_is_charged_before_its_masked_input_leaves(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever stops it then."""

    def strike(n: int, envelope: Envelope) -> list[tuple[str, Envelope]]:
        if envelope.kind == "Masked" and envelope.sender == B:
            assert {name: states(books, name) for name in (A, B, C)} == dict.fromkeys((A, B, C), UNKNOWN)  # on the disk
            raise KeyboardInterrupt
        return [(envelope.to, envelope)]

    monkeypatch.setattr(execution, "simulate", striking(strike, []))
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", books=books)
    assert [states(books, name) == UNKNOWN for name in (A, B, C)] == [True, True, False]


def test_a_sum_that_is_given_up_is_paid_by_nobody(tmp_path: Path, books: Ledgers) -> None:
    """More vanish than may, once all were charged: enough of the others sign that the sum is nobody's."""
    five = hospitals((12, 8, 20, 9, 7), 2)
    names = five.federation.names
    with refused("session.others_could_not_go_on", error=StoppedError, dropped_out=list(names[1:3])) as caught:
        run(tmp_path / "run", five, books=books, colluders=0, dropouts=1, drop_out={names[1]: 7, names[2]: 7})
    assert caught.value.__notes__ == [REFUNDED]
    assert {name: states(books, name) for name in names} == dict.fromkeys(names, REFUND)


def test_where_the_others_cannot_go_on_nobody_pays(tmp_path: Path, books: Ledgers) -> None:
    """Three parties of whom one may vanish cannot be two of whom one may."""
    with refused("session.none_of_others", error=StoppedError, dropped_out=(B,)) as caught:
        run(tmp_path / "run", books=books, colluders=0, dropouts=1, drop_out={B: 1})
    assert caught.value.__notes__ == [REFUNDED]
    assert {name: states(books, name) for name in (A, B, C)} == dict.fromkeys((A, B, C), REFUND)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("sent", "why", "notes"), [
    (1, partial(refused, "session.none_of_others", dropped_out=(B, C, D)), []),
    (READY + 2, partial(refused, "session.others_could_not_go_on", dropped_out=[C, D]),
     [f"{B} had dropped out before anybody was charged"]),
])  # fmt: skip
def test_whoever_was_left_out_of_an_earlier_session_is_named_too(
    tmp_path: Path, sent: int, why: Any, notes: list[str]
) -> None:
    five, drop_out = hospitals((12, 8, 20, 9, 7), 2), {B: 1, C: sent + 1, D: sent + 1}
    with why(error=StoppedError) as caught:
        run(tmp_path / "run", five, colluders=0, dropouts=1, drop_out=drop_out)
    assert getattr(caught.value, "__notes__", []) == notes


def test_whoever_vanishes_before_anybody_is_charged_is_left_out_one_session_after_the_other(
    tmp_path: Path, books: Ledgers
) -> None:
    """B sends nothing. C greets in that session, and in the one without B sends all but that it is ready."""
    six = hospitals((12, 8, 20, 9, 7, 11), 2)
    names = six.federation.names
    report = run(tmp_path / "run", six, books=books, dropouts=1, drop_out={names[1]: 1, names[2]: 7})
    agreed, stated = report.agreement, verify_release(tmp_path / "run").release.parameters
    assert report.present.took_part == agreed.parties == (names[0], *names[3:])
    assert report.present.left_out == agreed.terms.left_out == names[1:3]  # type: ignore[attr-defined]
    assert report.as_dict()["left_out"] == stated["left_out"] == [*names[1:3]]
    remarks = {remark.code: remark.fields for remark in report.remarks}
    assert remarks["run.parties_left_out"]["names"] == tuple(names[1:3])
    assert "of 4 parties" in report.privacy.adversary  # the statement is that of the last session
    paid = {names[1]: REFUND, names[2]: REFUND * 2} | dict.fromkeys(agreed.parties, REFUND * 2 + PAID)
    assert {name: states(books, name) for name in names} == paid


def test_only_parties_drop_out(tmp_path: Path) -> None:
    with refused("drop_out.unknown_party", parties=(A, B, C), got="'nobody'"):
        run(tmp_path / "run", drop_out={"nobody": 1})
    with refused("drop_out.unknown_party"):
        run(tmp_path / "run", drop_out={CURATOR_NAME: 1})
    with refused("drop_out.no_number", name=A, got="0"):
        run(tmp_path / "run", drop_out={A: 0})


# Who pays for a session of several sums: one entry, which stands as soon as one of the sums does.


SUMS = 8
MET, EACH = 5, 3  # letters of a party before the first sum, and in each sum


def run_rounds(folder: Path, books: Ledgers, data: Any = FOUR, **options: Any) -> Report:
    settings = {"colluders": 1, "dropouts": 1, "most_rows": 100, **options}
    return run(folder, data, Newton(), books=books, **settings)


def of_all(books: Ledgers) -> dict[str, list[str]]:
    return {name: states(books, name) for name in (A, B, C, D)}


def unsigned_by(party: str, in_sums: Callable[[int], bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """What this party enters to these sums is not signed, so that they are certified without it."""
    send, count = steps.send_masked, [0]

    def sending(me: Any, p: Any, at: bytes, y: Any) -> None:
        if me.name != party:
            send(me, p, at, y)
            return
        r, count[0] = count[0], count[0] + 1
        if in_sums(r):
            me.send(me.curator, Masked(at, y, bytes(64)))
        else:
            send(me, p, at, y)

    monkeypatch.setattr(steps, "send_masked", sending)


def test_eight_sums_are_charged_once_and_who_vanishes_in_a_later_one_has_paid_for_all(
    tmp_path: Path, books: Ledgers
) -> None:
    """B is in sums 0 to 2, and gone before its fourth masked input: which is safe, and more than it lost."""
    report = run_rounds(tmp_path / "run", books, drop_out={B: MET + 3 * EACH + 1})
    assert (report.present.took_part, report.present.dropped_out) == ((A, B, C, D), (B,))
    assert of_all(books) == dict.fromkeys((A, B, C, D), PAID)
    (_, reserved, _) = export.read_history(books.path(A)).entries
    assert reserved.epsilon == Fraction(2, 5)  # and not eight times that


@pytest.mark.parametrize(
    ("left_out", "paid"),
    [(range(1), PAID), (range(7, 8), PAID), (range(SUMS), REFUND)],
    ids=["of the first", "of the last", "of all"],
)
def test_a_party_that_is_left_out_of_some_sums_pays_and_out_of_all_does_not(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch, left_out: range, paid: list[str]
) -> None:
    unsigned_by(B, lambda r: r in left_out, monkeypatch)
    report = run_rounds(tmp_path / "run", books, drop_out={B: 10**6})
    assert (B in report.present.took_part) == (paid == PAID)
    assert "run.stayed_to_the_end" in [remark.code for remark in report.remarks]
    assert of_all(books) == {B: paid} | dict.fromkeys((A, C, D), PAID)


def test_a_proof_about_one_sum_says_nothing_of_another(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B is in sum 0 and not in sum 1, and nothing comes of sum 2: its first masked input was of use to somebody."""
    unsigned_by(B, lambda r: r == 1, monkeypatch)
    gone = MET + 2 * EACH + 1  # before sum 2; B sends two letters less, for it signs and opens nothing in sum 1
    with refused("session.others_could_not_go_on", error=StoppedError, dropped_out=[B, C]) as caught:
        run_rounds(tmp_path / "run", books, drop_out={B: gone - 2, C: gone})
    assert "sum 2" in str(caught.value)
    assert states(books, B) == UNKNOWN
    assert {name: states(books, name) for name in (A, C, D)} == dict.fromkeys((A, C, D), UNKNOWN)


def test_who_was_in_no_sum_when_it_vanished_pays_nothing(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch
) -> None:
    unsigned_by(B, lambda r: r == 0, monkeypatch)
    report = run_rounds(
        tmp_path / "run", books, drop_out={B: MET + 2}
    )  # after its masked input to sum 0, which is of no use
    assert report.present.took_part == (A, C, D)
    assert of_all(books) == {B: REFUND} | dict.fromkeys((A, C, D), PAID)


def test_a_sum_that_is_given_up_takes_back_no_sum_before_it(tmp_path: Path, books: Ledgers) -> None:
    """Two of five vanish where one may: all who are left hold the proof that sum 3 is nobody's, and sum 2 stands."""
    five = hospitals((12, 8, 20, 9, 7), 2)
    names = five.federation.names
    met = MET + 1
    gone = met + 3 * EACH + 1
    with refused("session.others_could_not_go_on", error=StoppedError, dropped_out=list(names[1:3])) as caught:
        run_rounds(tmp_path / "run", books, five, colluders=0, drop_out={names[1]: gone, names[2]: gone})
    assert {name: states(books, name) for name in names} == dict.fromkeys(names, UNKNOWN)
    assert "counts as spent" in caught.value.__notes__[0]


@pytest.mark.parametrize(("kind", "number", "paid"), [("Ready", 1, REFUND), ("Result", 4, UNKNOWN)])
def test_an_abort_between_sums_leaves_all_charged(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch, kind: str, number: int, paid: list[str]
) -> None:
    """Ctrl-C after the result of the first sum: it is out; before anything was masked: nobody pays."""
    seen = [0]

    def strike(n: int, envelope: Envelope) -> list[tuple[str, Envelope]]:
        seen[0] += envelope.kind == kind
        if seen[0] == number:
            raise KeyboardInterrupt
        return [(envelope.to, envelope)]

    monkeypatch.setattr(execution, "simulate", striking(strike, []))
    with pytest.raises(KeyboardInterrupt):
        run_rounds(tmp_path / "run", books)
    assert of_all(books) == dict.fromkeys((A, B, C, D), paid)

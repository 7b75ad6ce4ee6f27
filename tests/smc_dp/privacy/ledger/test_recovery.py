"""A lost ledger is recovered from heads: it never counts less than was spent, or a witness refuses it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.crypto.identity import Identity
from smc_dp.core.errors import InputError
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.head import HeadRequest, LedgerRecovery, check_extends, relate, verify_head
from smc_dp.privacy.ledger.history import RECORDS, History, Limit
from smc_dp.privacy.ledger.ledger import RELEASED, UNKNOWN_DATA, Ledger, run_key
from smc_dp.privacy.ledger.recovery import lost_charges
from smc_dp.privacy.ledger.signed_note import Checkpoint, SignedNote
from smc_dp.privacy.ledger.witness import Witness
from smc_dp.privacy.statement import round_up
from tests.support.refusals import refused

OWNER = Identity(b"n" * 32)
LIMIT, DATE, DATA = Limit(Fraction(10), Fraction(1, 10**4)), "2026-01-31T12:00:00Z", "a" * 64
SPENT_ALL = Fraction(10**9)


def gaussian(mu: float) -> Guarantee:
    exact = Fraction(mu)
    rho = Fraction(round_up(exact**2 / 2))
    return Guarantee("zcdp", Fraction(4), Fraction(1, 10**5), "record", "replace", rho, exact)


def pure(epsilon: str) -> Guarantee:
    return Guarantee("pure", Fraction(epsilon), Fraction(0), "record", "replace")


STUDIES = {
    hashlib.sha256(name.encode()).hexdigest(): cost
    for name, cost in {"a": pure("1"), "b": pure("1/50"), "c": gaussian(0.25), "d": gaussian(0.5)}.items()
}
DIGESTS = tuple(STUDIES)


@dataclass
class Log:
    """A ledger and what its witnesses keep: the heads of each."""

    history: History = field(default_factory=lambda: History.begin("0" * 64, LIMIT, DATE))
    heads: dict[str, list[Checkpoint]] = field(default_factory=dict)
    sessions: int = 0

    def charge(self, cost: Guarantee, key: str = "") -> None:
        self.sessions += 1
        key = key or run_key(self.session, RELEASED)
        made = self.history.charge(DATA, "newton", cost, key, DATE)
        self.history = replace(self.history, entries=(*self.history.entries, made))

    @property
    def session(self) -> bytes:
        return self.sessions.to_bytes(32, "big")

    def head(self, witnesses: str, study: str, session: bytes) -> None:
        note = HeadRequest.make(self.history, OWNER, 0, study, session.hex()).note
        for name in witnesses:
            self.heads.setdefault(name, []).append(verify_head(note, OWNER.public))

    def study(self, witnesses: str, study: str = DIGESTS[0]) -> None:
        """A session of a study, which these witnesses have seen."""
        self.charge(STUDIES[study])
        self.head(witnesses, study, self.session)

    def settle(self, refunded: bool) -> None:
        if self.history.pending:
            end = self.history.settled(
                self.history.pending[0], "refunded" if refunded else "released", None if refunded else DATA, DATE
            )
            self.history = replace(self.history, entries=(*self.history.entries, end))

    def of(self, *names: str) -> list[Checkpoint]:
        return [head for name in names for head in self.heads.get(name, [])]


def recovered(held: History, heads: list[Checkpoint]) -> History:
    for mechanism, key, cost in lost_charges(held, heads, STUDIES):
        made = held.charge(UNKNOWN_DATA, mechanism, cost, key, DATE)
        held = replace(held, entries=(*held.entries, made))
    return held


def until(history: History, entries: int) -> History:
    return replace(history, entries=history.entries[:entries])


def spent(history: History) -> Fraction:
    total = history.standing(RECORDS).total
    return SPENT_ALL if total is None else total.epsilon


def is_refused(history: History, heads: list[Checkpoint]) -> bool:
    try:
        for head in heads:
            check_extends(history, head, "w")
    except InputError:
        return True
    return False


STEP = st.one_of(
    st.tuples(st.just("study"), st.sampled_from(["s", "w", "sw"]), st.sampled_from(DIGESTS)),
    st.tuples(
        st.just("together"), st.sampled_from(["s", "w", "sw"]), st.sampled_from(DIGESTS), st.sampled_from(DIGESTS)
    ),
    st.tuples(st.just("alone"), st.sampled_from(DIGESTS)),
    st.tuples(st.just("settle"), st.booleans()),
)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(STEP, min_size=1, max_size=9),
    st.integers(0, 9),
    st.sampled_from(["s", "w", "sw"]),
    st.booleans(),
    st.booleans(),
)
def test_a_recovered_ledger_never_counts_less_than_was_spent(
    steps: list[tuple[str, ...]], kept: int, answering: str, spends: bool, is_new: bool
) -> None:
    """Studies, two at once, charges that nobody has seen, and outcomes. The copy may have been charged since it was put
    back. Some witnesses answer; what only the others have seen makes these refuse the ledger.
    """
    log = Log()
    copies = [log.history]
    for step in steps:
        match step:
            case ("study", names, study):
                log.study(str(names), str(study))
            case ("together", names, one, other):  # the second is charged before the first asks for its cosignatures
                log.charge(STUDIES[one])
                first = log.session
                log.study(str(names), str(other))
                log.head(str(names), str(one), first)
            case ("alone", study):
                log.charge(STUDIES[study])
            case ("settle", is_refund):
                log.settle(bool(is_refund))
        copies.append(log.history)
    held = Log(History.begin("1" * 64, LIMIT, DATE) if is_new else copies[min(kept, len(copies) - 1)])
    if spends:
        held.sessions = 1000
        held.charge(STUDIES[DIGESTS[len(steps) % 4]])
    heads = log.of(*answering)
    if heads and not is_refused(held.history, heads):
        with refused("recovery.nothing_lost"):
            recovered(held.history, heads)
        return
    found = recovered(held.history, heads)

    def truth(entries: int) -> Fraction:
        """What was spent up to so many entries of the lost ledger, and since a copy was put back."""
        true = Log(until(log.history, entries))
        if spends:
            true.charge(held.history.entries[-1].guarantee)
        return spent(true.history)

    assert spent(found) >= truth(max((head.size for head in heads), default=len(log.history.entries)))
    assert not is_refused(found, heads)
    for name in "sw":
        seen = max((head.size for head in log.of(name)), default=1)
        assert is_refused(found, log.of(name)) or spent(found) >= truth(seen)


def test_studies_after_the_last_entry_still_held_are_charged_in_full() -> None:
    log = Log()
    log.study("s")
    held = log.history
    log.study("w", DIGESTS[2])
    log.settle(True)
    log.study("s", DIGESTS[1])
    found = recovered(held, log.of("s", "w"))
    assert [entry.guarantee for entry in found.entries[2:]] == [STUDIES[DIGESTS[2]], STUDIES[DIGESTS[1]]]
    assert LedgerRecovery.of(found) == (1, 3)
    assert found.last_under(run_key(log.session, RELEASED))  # the session is known, and is not begun again
    with refused("recovery.nothing_lost"):
        recovered(found, log.of("s", "w"))


def test_a_charge_that_no_head_explains_costs_the_whole_budget() -> None:
    log = Log()
    log.charge(STUDIES[DIGESTS[1]])
    log.study("s", DIGESTS[1])
    found = recovered(until(log.history, 1), log.of("s"))
    assert (LedgerRecovery.of(found), spent(found)) == ((1, None), SPENT_ALL)
    assert not any(found.standing(account).fits for account in found.charged)
    without_count = [replace(head, further=head.further[:2]) for head in log.of("s")]
    assert LedgerRecovery.of(recovered(until(log.history, 1), without_count)).charges is None


def test_a_charge_of_the_older_copy_explains_none_of_the_lost_ledger() -> None:
    log, copy = Log(), Log()
    log.charge(STUDIES[DIGESTS[0]])
    log.study("s", DIGESTS[1])
    copy.charge(STUDIES[DIGESTS[1]], "f" * 64)
    assert LedgerRecovery.of(recovered(copy.history, log.of("s"))).charges is None


def test_a_head_of_another_copy_is_not_recovered_by_the_number_of_its_charges() -> None:
    """Two copies were charged, and their witnesses did not meet."""
    log, other = Log(), Log()
    log.study("s")
    other.sessions = 1000
    other.study("w")
    found = recovered(until(log.history, 1), log.of("s"))
    with refused("head.not_recovered"):
        check_extends(found, other.of("w")[0], "w")


def true_spent(log: Log, *since: Guarantee) -> Fraction:
    """What a lost ledger and the charges of its older copy come to."""
    true = Log(log.history)
    for cost in since:
        true.charge(cost)
    return spent(true.history)


SMALL, CURVE = DIGESTS[1], DIGESTS[2]


def test_where_the_first_gaussian_charge_stood_is_not_guessed() -> None:
    """Small pure charges cost less after it. One that the older copy was charged stands before all lost ones."""
    log = Log()
    for _ in range(8):
        log.study("s", SMALL)
    for kept in (1, 3):
        copy = Log(until(log.history, kept))
        copy.charge(STUDIES[CURVE], "f" * 64)
        found = recovered(copy.history, log.of("s"))
        assert spent(found) >= true_spent(log, STUDIES[CURVE])
        assert LedgerRecovery.of(found).charges is None
    assert LedgerRecovery.of(recovered(until(log.history, 1), log.of("s"))) == (1, 8)


def test_two_charges_of_one_number_may_stand_in_any_order() -> None:
    log = Log()
    log.charge(STUDIES[SMALL])
    first = log.session
    log.study("s", CURVE)
    log.head("s", SMALL, first)
    assert LedgerRecovery.of(recovered(until(log.history, 1), log.of("s"))).charges is None
    apart = Log()
    apart.study("s", SMALL)
    apart.study("s", CURVE)
    found = recovered(until(apart.history, 1), apart.of("s"))
    assert (LedgerRecovery.of(found), spent(found)) == ((1, 2), spent(apart.history))


def test_a_refund_since_the_copy_was_put_back_does_not_count_before_a_lost_gaussian_charge() -> None:
    log = Log()
    log.study("s", DIGESTS[0])
    copy = Log(log.history)
    log.study("s", CURVE)
    copy.settle(True)
    log.settle(True)
    found = recovered(copy.history, log.of("s"))
    assert spent(found) >= spent(log.history)
    assert LedgerRecovery.of(found).charges is None


def test_a_ledger_that_nothing_was_charged_to_is_recovered_for_nothing() -> None:
    log = Log()
    log.head("s", "", b"")
    found = recovered(History.begin("1" * 64, LIMIT, DATE), log.of("s"))
    assert (LedgerRecovery.of(found), len(found.entries)) == ((1, 0), 2)
    assert spent(found) < Fraction(1, 10**9)
    assert not is_refused(found, log.of("s"))


def test_without_a_witness_the_whole_budget_is_spent_and_without_a_study_nothing_is_charged() -> None:
    log = Log()
    log.study("s")
    assert spent(recovered(until(log.history, 1), [])) == SPENT_ALL
    with refused("recovery.study_missing", study=DIGESTS[0]):
        lost_charges(until(log.history, 1), log.of("s"), {})


def test_a_witness_that_saw_more_refuses_a_recovered_ledger_and_one_that_saw_less_does_not() -> None:
    log = Log()
    log.study("s")
    log.study("sw")
    found = recovered(until(log.history, 1), log.of("s"))
    assert not is_refused(found, log.of("w"))
    log.study("w")
    with refused("head.not_recovered", name="w"):
        check_extends(found, log.of("w")[-1], "w")
    assert LedgerRecovery.of(recovered(found, log.of("w"))) == (2, None)
    with refused("head.recovered_since", name="w"):
        check_extends(log.history, verify_head(HeadRequest.make(found, OWNER).note, OWNER.public), "w")


def test_a_recovered_ledger_is_another_log_of_the_same_owner(tmp_path: Path) -> None:
    """Its witnesses take it up from nothing, and cosign no head of the lost ledger any more."""
    log = Log()
    log.study("s")
    lost, held = HeadRequest.make(log.history, OWNER), until(log.history, 1)
    found = recovered(held, log.of("s"))
    request = HeadRequest.make(found, OWNER)
    with Witness.create(tmp_path / "s", "s") as south:
        notes = [south.cosign(lost, OWNER.public), south.cosign(request, OWNER.public)]
        assert SignedNote.read_all(b"\n".join(note.encode() for note in notes)) == notes == south.heads(OWNER.public)
        assert south.last(OWNER.public) == notes[1]
        log.charge(STUDIES[DIGESTS[0]])
        with refused("witness.recovered_since"):
            south.cosign(HeadRequest.make(log.history, OWNER, 2), OWNER.public)
    assert relate(lost, request, OWNER.public) == "head.recovered"
    assert notes[1].text.startswith(f"smc-dp.ledger/{OWNER.public.hex()}/1\n2\n")
    for origin in ("0", "01", "1/1", "x", ""):
        text = notes[1].text.replace("/1\n", f"/{origin}\n", 1)
        with refused("head.of_another_ledger"):
            verify_head(SignedNote(text), OWNER.public)


def test_recovered_charges_are_appended_whatever_the_limit(tmp_path: Path) -> None:
    Ledger.create(tmp_path / "ledger", Fraction(1, 2)).close()
    log = Log()
    log.study("s")
    with Ledger.open(tmp_path / "ledger") as ledger:
        found = ledger.recover(lambda held: lost_charges(held, log.of("s"), STUDIES))
        assert (ledger.history(), spent(found)) == (found, 1)
        with pytest.raises(InputError):
            ledger.check(pure("1/1000"))


@pytest.mark.parametrize("content", [b"", b"a\n\n", b"a\n\nb\n\nc\n", b"a\n\nb\n"])
def test_heads_that_are_none_are_refused(content: bytes) -> None:
    with pytest.raises(InputError):
        SignedNote.read_all(content)

"""A lost ledger is recovered from heads of one witness, or its whole budget counts: never less than was spent."""

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
from smc_dp.privacy.ledger.head import HeadRequest, LedgerRecovery, check_extends, generation_of, relate, verify_head
from smc_dp.privacy.ledger.history import PARTIES, RECORDS, Account, History, Limit
from smc_dp.privacy.ledger.ledger import RELEASED, UNKNOWN_DATA, Ledger, run_key
from smc_dp.privacy.ledger.recovery import lost_charges
from smc_dp.privacy.ledger.signed_note import SignedNote
from smc_dp.privacy.ledger.witness import Witness
from smc_dp.privacy.statement import round_up
from tests.support.guarantees import pure
from tests.support.refusals import refused

OWNER = Identity(b"n" * 32)
LIMIT, DATE, DATA = Limit(Fraction(10), Fraction(1, 10**4)), "2026-01-31T12:00:00Z", "a" * 64
SPENT_ALL = Fraction(10**9)


def gaussian(mu: float) -> Guarantee:
    exact = Fraction(mu)
    rho = Fraction(round_up(exact**2 / 2))
    return Guarantee("zcdp", Fraction(4), Fraction(1, 10**5), "record", "replace", rho, exact)


STUDIES = {
    hashlib.sha256(name.encode()).hexdigest(): cost
    for name, cost in {
        "a": pure("1"),
        "b": pure("1/50"),
        "c": gaussian(0.25),
        "d": gaussian(0.5),
        "e": replace(pure("1/50"), unit="party", adjacency="party"),
        "f": replace(gaussian(0.25), unit="party", adjacency="party"),
    }.items()
}
DIGESTS = tuple(STUDIES)
LARGE, SMALL, CURVE = DIGESTS[:3]
Chain = list[HeadRequest]


@dataclass
class Log:
    """A ledger and what its witnesses keep: the heads of each, with their proofs."""

    history: History = field(default_factory=lambda: History.begin("0" * 64, LIMIT, DATE))
    chains: dict[str, Chain] = field(default_factory=dict)
    sessions: int = 0

    def charge(self, cost: Guarantee, key: str = "") -> None:
        self.sessions += 1
        key = key or run_key(self.session, RELEASED)
        made = self.history.charge(DATA, "newton", cost, key, DATE)
        self.history = replace(self.history, entries=(*self.history.entries, made))

    @property
    def session(self) -> bytes:
        return self.sessions.to_bytes(32, "big")

    def head(self, witnesses: str, study: str = "", session: bytes = b"") -> None:
        for name in witnesses:
            chain = self.chains.setdefault(name, [])
            own = LedgerRecovery.of(self.history).generation
            old = chain[-1].head.size if chain and generation_of(chain[-1].head) == own else 0
            chain.append(HeadRequest.make(self.history, OWNER, old, study, session.hex()))

    def study(self, witnesses: str, study: str = LARGE) -> None:
        """A session of a study, which these witnesses have seen."""
        self.charge(STUDIES[study])
        self.head(witnesses, study, self.session)

    def settle(self, refunded: bool) -> None:
        if self.history.pending:
            end = self.history.settled(
                self.history.pending[0], "refunded" if refunded else "released", None if refunded else DATA, DATE
            )
            self.history = replace(self.history, entries=(*self.history.entries, end))

    def of(self, *names: str) -> list[Chain]:
        return [self.chains[name] for name in names if name in self.chains]


def recovered(held: History, chains: list[Chain]) -> History:
    for mechanism, key, cost in lost_charges(held, chains, STUDIES):
        made = held.charge(UNKNOWN_DATA, mechanism, cost, key, DATE)
        held = replace(held, entries=(*held.entries, made))
    return held


def until(history: History, entries: int) -> History:
    return replace(history, entries=history.entries[:entries])


def spent(history: History, account: Account = RECORDS) -> Fraction:
    total = history.standing(account).total
    return SPENT_ALL if total is None else total.epsilon


def is_refused(history: History, chains: list[Chain]) -> bool:
    try:
        for chain in chains:
            for request in chain:
                check_extends(history, request.head, "w")
    except InputError:
        return True
    return False


def counts(history: History) -> tuple[int, int | None]:
    return LedgerRecovery.of(history)


def fresh() -> History:
    return History.begin("1" * 64, LIMIT, DATE)


Step = tuple[str, str, str, str]
STEP = st.tuples(
    st.sampled_from(["study", "study", "study", "together", "alone", "by hand", "released", "refunded"]),
    st.sampled_from(["s", "w", "sw"]),
    st.sampled_from(DIGESTS),
    st.sampled_from(DIGESTS),
)
STEPS = st.lists(STEP, max_size=5)


def live(log: Log, steps: list[Step]) -> None:
    """Studies, two at once, charges that nobody has seen, heads by hand, and outcomes."""
    for kind, names, one, other in steps:
        match kind:
            case "study":
                log.study(names, one)
            case "together":  # the second is charged before the first asks for its cosignatures
                log.charge(STUDIES[one])
                first = log.session
                log.study(names, other)
                log.head(names, one, first)
            case "alone":
                log.charge(STUDIES[one])
            case "by hand":
                log.head(names)
            case _:
                log.settle(kind == "refunded")


def without(log: Log, chain: Chain, place: int) -> Chain:
    """The chain of a malicious witness: it leaves out a head, and has got a proof from the one before it."""
    kept = [request for at, request in enumerate(chain) if at != place]
    for at, request in enumerate(kept):
        further = dict(line.split(" ", 1) for line in request.head.further)
        old, history = kept[at - 1].head.size if at else 0, until(log.history, request.head.size)
        kept[at] = HeadRequest.make(history, OWNER, old, further.get("study", ""), further.get("session", ""))
    return kept


def all_spent(logs: list[Log], chains: list[Chain], account: Account) -> Fraction:
    """What logs have spent up to the largest head of each in the chains, without what one of them has refunded by now.

    They may begin with the same entries. A session that one of them refunded published nothing, so it cost nothing.
    """
    true, charged = Log(), set[str]()
    refunded = {
        log.history.entries[entry.refers - 1].digest
        for log in logs
        for entry in log.history.entries
        if entry.is_refund and entry.refers
    }
    for log in logs:
        own = {request.note.text for chain in log.chains.values() for request in chain}
        given = [request.head.size for chain in chains for request in chain if request.note.text in own]
        for entry in log.history.entries[: max(given, default=0)]:
            if entry.state == "reserved" and entry.digest not in refunded | charged:
                true.charge(entry.guarantee, entry.run or "")
                charged.add(entry.digest)
    return spent(true.history, account)


@settings(max_examples=80, deadline=None)
@given(
    STEPS,
    STEPS,
    STEPS,
    st.sampled_from(["the copy", "the start", "as it was", "fresh", "the other"]),
    st.sampled_from(["", "charge", "refunded", "released"]),
    st.lists(st.tuples(st.booleans(), st.sampled_from("sw"), st.integers(-1, 4), st.booleans()), max_size=3),
)
def test_a_recovered_ledger_never_counts_less_than_the_heads_that_were_given_say(
    common: list[Step],
    steps: list[Step],
    others: list[Step],
    holds: str,
    since: str,
    files: list[tuple[bool, str, int, bool]],
) -> None:
    """Two logs of one owner, a lost ledger and a copy of it that was put back once, each with two witnesses. Some
    answer; a malicious one leaves out a head, or hands over heads of both logs. The ledger that is recovered is a
    copy or a new one, and something may have happened to it since.
    """
    log = Log()
    live(log, common)
    shared = len(log.history.entries)
    other = Log(log.history, {name: [*chain] for name, chain in log.chains.items()}, 1000)
    live(log, steps)
    live(other, others)
    held = {
        "the copy": Log(until(log.history, shared), sessions=2000),
        "the start": Log(until(log.history, 1), sessions=2000),
        "as it was": Log(log.history, sessions=2000),
        "fresh": Log(fresh(), sessions=2000),
        "the other": Log(other.history, sessions=2000),
    }[holds]
    if since == "charge":
        held.charge(STUDIES[CURVE])
    elif since:
        held.settle(since == "refunded")
    chains: list[Chain] = []
    for is_other, name, left_out, mixes in files:
        of, against = (other, log) if is_other else (log, other)
        chain = of.chains.get(name, [])
        made = without(of, chain, left_out) if 0 <= left_out < len(chain) else [*chain]
        chains.append([*made, *against.chains.get(name, [])] if mixes else made)
    heads = [request for chain in chains for request in chain]
    if heads and not is_refused(held.history, chains):
        with refused("recovery.nothing_lost"):
            recovered(held.history, chains)
        return
    found = recovered(held.history, chains)
    assert not is_refused(found, chains)
    for account in (RECORDS, PARTIES):
        assert spent(found, account) >= spent(held.history, account)
        assert spent(found, account) >= all_spent([log, other], chains, account)
    for one in (log, other):  # one that did not answer refuses the ledger, or what it has seen is counted
        for chain in one.chains.values():
            assert is_refused(found, [chain]) or spent(found) >= all_spent([log, other], [chain], RECORDS)


def test_studies_after_the_last_entry_still_held_are_charged_in_full() -> None:
    log = Log()
    log.study("s")
    held = Log(log.history)
    held.settle(False)  # an outcome charges nothing
    log.study("s", CURVE)
    log.settle(True)
    log.study("s", SMALL)
    log.head("s", SMALL, log.session)
    found = recovered(held.history, log.of("s"))
    assert [entry.guarantee for entry in found.entries[3:]] == [STUDIES[CURVE], STUDIES[SMALL]]
    assert counts(found) == (1, 3)
    assert found.last_under(run_key(log.session, RELEASED))  # the session is known, and is not begun again
    assert counts(recovered(fresh(), log.of("s"))) == (1, 3)
    with refused("recovery.nothing_lost"):
        recovered(found, log.of("s"))


def test_a_charge_that_no_head_explains_costs_the_whole_budget() -> None:
    log = Log()
    log.charge(STUDIES[SMALL])
    log.study("s", SMALL)
    found = recovered(until(log.history, 1), log.of("s"))
    assert (counts(found), spent(found)) == ((1, None), SPENT_ALL)
    assert not any(found.standing(account).fits for account in found.charged)
    alone = Log()
    alone.study("s", SMALL)
    alone.charge(STUDIES[SMALL])
    alone.head("s", SMALL, alone.session[:-1])  # another session than the one that was charged is a new one
    assert counts(recovered(fresh(), alone.of("s"))) == (1, 2)
    alone.charge(STUDIES[LARGE])
    alone.head("s", SMALL, alone.session[:-1])  # a session that is known explains no further charge
    assert counts(recovered(fresh(), alone.of("s"))) == (1, None)


def test_a_head_by_hand_names_no_session_and_explains_no_charge() -> None:
    log = Log()
    log.study("s", SMALL)
    copy = log.history
    log.head("w")
    assert counts(recovered(fresh(), log.of("s", "w"))) == (1, None)
    log.head("s")
    assert counts(recovered(fresh(), log.of("s"))) == (1, None)
    log.study("s", SMALL)  # what the copy extends needs no explanation
    found = recovered(copy, log.of("s"))
    assert (counts(found), is_refused(found, log.of("s"))) == ((1, 2), False)
    log.charge(STUDIES[LARGE])
    log.head("s")
    assert counts(recovered(copy, log.of("s"))) == (1, None)


def test_heads_without_a_count_are_enough_where_the_copy_extends_them() -> None:
    log = Log()
    log.study("s", SMALL)
    copy = log.history
    (old,) = log.chains["s"]
    text = "".join(line for line in old.note.text.splitlines(keepends=True) if not line.startswith("charges"))
    log.chains["s"] = [replace(old, note=SignedNote(text, old.note.signatures))]
    log.study("s", SMALL)
    assert counts(recovered(copy, log.of("s"))) == (1, 2)
    assert counts(recovered(fresh(), log.of("s"))) == (1, None)


def test_heads_of_two_logs_cost_the_whole_budget() -> None:
    """5 by a simulation and a study that s has seen; then a new ledger under the same identity, which w has seen."""
    log = Log()
    log.charge(pure("5"))
    log.study("s", SMALL)
    new = Log(fresh(), sessions=1000)
    new.study("w", SMALL)
    for held in (new.history, fresh(), log.history):
        assert counts(recovered(held, log.of("s") + new.of("w"))) == (1, None)
    mixed = [[*new.chains["w"], *log.chains["s"]]]
    assert counts(recovered(fresh(), mixed)) == (1, None)


def test_a_chain_is_proven_from_head_to_head() -> None:
    """A head of another log, with a number that fits, does not follow."""
    log, other = Log(), Log(sessions=1000)
    log.study("s", SMALL)
    copy = log.history
    other.charge(pure("5"))
    other.study("s", SMALL)
    for held in (copy, fresh()):
        assert counts(recovered(held, [[*log.chains["s"], *other.chains["s"]]])) == (1, None)


def test_a_head_that_another_witness_has_seen_must_be_in_the_chain() -> None:
    log = Log()
    log.study("sw", SMALL)
    log.study("s", SMALL)
    assert counts(recovered(fresh(), log.of("s", "w"))) == (1, 2)
    log.study("w", SMALL)
    assert counts(recovered(fresh(), log.of("s", "w"))) == (1, None)


def test_a_head_that_a_witness_leaves_out_costs_the_whole_budget() -> None:
    log = Log()
    for _ in range(3):
        log.study("s", SMALL)
    assert counts(recovered(fresh(), log.of("s"))) == (1, 3)
    for place in range(2):
        assert counts(recovered(fresh(), [without(log, log.chains["s"], place)])) == (1, None)
        left = log.chains["s"][:place] + log.chains["s"][place + 1 :]
        assert counts(recovered(fresh(), [left])) == (1, None)


@pytest.mark.parametrize("since", ["charge", "refund", "charged before the first head"])
def test_what_happened_to_the_copy_since_it_was_put_back_costs_the_whole_budget(since: str) -> None:
    log = Log()
    if since == "charged before the first head":
        log.charge(STUDIES[SMALL])
    else:
        log.study("s", LARGE)
    copy = Log(log.history, sessions=1000)
    log.study("s", CURVE)
    if since == "charge":
        copy.charge(STUDIES[CURVE])
    elif since == "refund":
        copy.settle(True)
    assert counts(recovered(copy.history, log.of("s"))) == (1, None)


def test_two_charges_of_one_number_may_stand_in_any_order() -> None:
    log = Log()
    log.charge(STUDIES[SMALL])
    first = log.session
    log.study("s", CURVE)
    log.head("s", SMALL, first)
    assert counts(recovered(fresh(), log.of("s"))) == (1, None)
    apart = Log()
    apart.study("s", SMALL)
    apart.study("s", CURVE)
    found = recovered(fresh(), apart.of("s"))
    assert (counts(found), spent(found)) == ((1, 2), spent(apart.history))


def test_a_ledger_that_nothing_was_charged_to_is_recovered_for_nothing() -> None:
    log = Log()
    log.head("s")
    found = recovered(fresh(), log.of("s"))
    assert (counts(found), len(found.entries)) == ((1, 0), 2)
    assert spent(found) < Fraction(1, 10**9)
    assert not is_refused(found, log.of("s"))


@pytest.mark.parametrize("limit", [LIMIT, Limit(Fraction(10**120), Fraction(0)), Limit(Fraction(1, 10**120), LIMIT[1])])
def test_without_a_witness_the_whole_budget_is_spent_whatever_the_limit(limit: Limit) -> None:
    for chains in ([], [[]]):
        found = recovered(History.begin("1" * 64, limit, DATE), chains)
        assert counts(found) == (1, None)
        assert not found.standing(RECORDS).fits
        assert not found.standing(PARTIES).fits


def test_without_a_study_nothing_is_charged() -> None:
    log = Log()
    log.study("s")
    with refused("recovery.study_missing", study=LARGE):
        lost_charges(fresh(), log.of("s"), {})


def test_a_witness_that_saw_more_refuses_a_recovered_ledger_and_one_that_saw_less_does_not() -> None:
    log = Log()
    log.study("s")
    log.study("sw")
    found = recovered(fresh(), log.of("s"))
    assert not is_refused(found, log.of("w"))
    log.study("w")
    with refused("head.not_recovered", name="w"):
        check_extends(found, log.chains["w"][-1].head, "w")
    for chains in (log.of("w"), []):
        again = recovered(found, chains)
        assert counts(again) == (2, None)
        assert not is_refused(again, log.of("s", "w"))
    with refused("head.recovered_since", name="w"):
        check_extends(log.history, verify_head(HeadRequest.make(found, OWNER).note, OWNER.public), "w")


def test_a_head_of_another_log_is_not_recovered_by_the_number_of_its_charges() -> None:
    """Neither for a session that is not counted, nor for one that was charged again since, nor for none."""
    log, other = Log(), Log(sessions=1000)
    log.study("s", SMALL)
    other.study("wx", SMALL)
    found = Log(recovered(fresh(), log.of("s")))
    assert is_refused(found.history, other.of("w"))
    found.charge(STUDIES[SMALL], run_key(other.session, RELEASED))
    assert is_refused(found.history, other.of("w"))
    by_hand = Log(sessions=1000)
    by_hand.charge(pure("5"))
    by_hand.head("x")
    assert is_refused(found.history, by_hand.of("x"))


def test_a_head_is_compared_with_the_recovery_of_its_own_log() -> None:
    """X has seen a charge that s has not. Two recoveries later the ledger has as many charges, and not that one."""
    log = Log()
    log.study("s", SMALL)
    log.settle(False)
    log.study("s", SMALL)
    session = log.session
    log.charge(pure("5"))
    log.head("x", SMALL, session)
    later = Log(recovered(fresh(), log.of("s")), log.chains, sessions=1000)
    assert is_refused(later.history, log.of("x"))
    later.study("s", SMALL)
    copy = later.history
    later.study("s", SMALL)
    found = recovered(copy, later.of("s"))
    assert counts(found) == (2, 4)
    assert not is_refused(found, later.of("s"))
    assert is_refused(found, log.of("x"))


def test_a_recovered_ledger_is_another_log_of_the_same_owner(tmp_path: Path) -> None:
    """Its witnesses take it up from nothing, and cosign no head of the lost ledger any more."""
    log = Log()
    log.head("s")
    log.study("s")
    lost, held = log.chains["s"], until(log.history, 1)
    found = recovered(held, log.of("s"))
    request = HeadRequest.make(found, OWNER)
    with Witness.create(tmp_path / "s", "s") as south:
        notes = [south.cosign(one, OWNER.public) for one in (*lost, request)]
        kept = HeadRequest.read_all(b"\n".join(one.encode() for one in south.heads(OWNER.public)))
        assert [(one.old, one.proof, one.head) for one in kept] == [
            (one.old, one.proof, one.head) for one in (*lost, request)
        ]
        assert [one.note for one in kept] == notes
        assert lost_charges(held, [kept[:2]], STUDIES) == lost_charges(held, log.of("s"), STUDIES)
        assert south.last(OWNER.public) == notes[-1]
        log.charge(STUDIES[LARGE])
        with refused("witness.recovered_since"):
            south.cosign(HeadRequest.make(log.history, OWNER, 2), OWNER.public)
    assert relate(lost[1], request, OWNER.public) == "head.recovered"
    assert notes[-1].text.startswith(f"smc-dp.ledger/{OWNER.public.hex()}/1\n2\n")
    for origin in ("0", "01", "1/1", "x", ""):
        text = notes[-1].text.replace("/1\n", f"/{origin}\n", 1)
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


@pytest.mark.parametrize("content", [b"", b"a\n\n", b"a\n\nb\n", b"old 0\n\nb\n\nc\n", b"a\n\nb\n\nc\n\nd\n"])
def test_heads_that_are_none_are_refused(content: bytes) -> None:
    with pytest.raises(InputError):
        HeadRequest.read_all(content)

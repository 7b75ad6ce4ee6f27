"""One session under every driver: the same bytes, one charge before each masked input, nothing kept of what is over."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from support import byte_steps, role_code
from support.coalition import session
from support.repetitions import with_slow
from support.sessions import Setup, by_link, play, start
from support.sums import made, parameters

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.crypto import masking, sealing
from protocols.curator import CURATOR_NAME
from protocols.errors import LocalError
from protocols.runtime import replay
from protocols.runtime.actor import Actor, actors
from protocols.runtime.envelope import HELLO, Envelope
from protocols.runtime.simulate import Run
from protocols.secure_sum import PROGRAM, complete, dealing, ideal
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import Vault
from tests.support.refusals import refused

TWO = made(parameters(3, 0, 1, (2, 1)))
SESSIONS = {
    "drop-outs": TWO,
    "nobody may vanish": made(parameters(3, 2, 0, (2, 1))),
    "nobody may vanish, in a circle": made(parameters(5, 1, 0, (2, 1), degree=2)),
    "shares": made(parameters(3, 1, 0, output="shares")),
    "verifiable": made(parameters(4, 0, 1, (1, 2), verifiable=True)),
}
VANISHINGS: dict[str, dict[str, int]] = {
    "nobody": {},
    "before its shares": {"P1": 1},
    "when all are ready": {"P2": 5},
    "after its input": {"P2": 6},
    "in the second sum": {"P3": 9},
    "too many": {"P1": 5, "P2": 7},
    "Charlie": {CURATOR_NAME: 9},
}
EVERY_DAY = ("when all are ready", "in the second sum", "Charlie")


@pytest.mark.parametrize("name", SESSIONS)
def test_the_same_bytes_from_every_driver(name: str) -> None:
    setup = SESSIONS[name]
    wanted = by_link(setup.simulate().transcript.envelopes)
    shuffled = setup.simulate(schedule=Stream.insecure_from_seed("order"))
    assert by_link(shuffled.transcript.envelopes) == wanted
    coins = Stream.insecure_from_seed("steps")
    stepped = play(setup, lambda names: list(Permutation.random(len(names), coins)(names)), batch=1)
    assert by_link(stepped.envelopes) == wanted


@pytest.mark.parametrize(
    "who", [*EVERY_DAY, *(pytest.param(w, marks=pytest.mark.slow) for w in VANISHINGS if w not in EVERY_DAY)]
)
def test_the_same_bytes_whoever_vanishes(who: str) -> None:
    vanish = VANISHINGS[who]
    run = TWO.simulate(drop_outs=vanish)
    wanted = by_link(run.transcript.envelopes)
    for seed in range(2):
        other = TWO.simulate(drop_outs=vanish, schedule=Stream.insecure_from_seed(seed))
        assert by_link(other.transcript.envelopes) == wanted
        assert (other.absent, other.ends, other.why) == (run.absent, run.ends, run.why)
    for name in TWO.session.names:
        sent, end = alone(TWO, run, name)
        told = [e for e in run.transcript.envelopes if e.sender == name]
        assert sent[: len(told)] == told
        assert run.ends[name] == "gone" or (len(told), end) == (len(sent), run.ends[name])


def alone(setup: Setup, run: Run, name: str) -> tuple[list[Envelope], str | None]:
    """A participant once more by `byte_steps.step` from its mail and marks, saved after every letter: what it sends."""
    session, sent = setup.session, run.transcript.envelopes
    board = {e.sender: e for e in sent if e.kind == HELLO}
    me, coins = setup.identities[name], Stream.insecure_from_seed(f"alone {name}")
    step = byte_steps.begin(session, name, me, setup.seeds[name], setup.inputs[name], board)
    out, marks = list(step.mail), tuple(run.absent[name])
    links = [[e for e in sent if (e.sender, e.to) == (sender, name)] for sender in session.names]
    step = byte_steps.step(session, step.state, [], me, step.counter, board, marks)
    out += step.mail
    while waiting := [link for link in links if link]:
        letter = waiting[coins.below(len(waiting))].pop(0)
        step = byte_steps.step(session, step.state, [letter], me, step.counter, board)
        out += step.mail
    if step.done and run.published:
        out += byte_steps.release(session, step.state, me, step.counter, board).mail
    return out, step.end


# A charge is on the disk before the masked input leaves.


class CrashError(Exception):
    """The machine stops."""


def crashed(setup: Setup, name: str) -> tuple[list[str], list[Envelope], list[str]]:
    """A party's machine stops while its first charge is written, and it goes on from its last state: the ledger at the
    crash, what has left by then, the ledger in the end.
    """
    run = setup.simulate()
    session, me, ledger, fails = setup.session, setup.identities[name], list[str](), [True]
    board = {e.sender: e for e in run.transcript.envelopes if e.kind == HELLO}

    def charge(label: str) -> None:
        if label not in ledger:
            ledger.append(label)
        if fails and fails.pop():
            raise CrashError

    step = byte_steps.begin(session, name, me, setup.seeds[name], setup.inputs[name], board, charge)
    left, at_crash, left_by_then = list(step.mail), list[str](), list[Envelope]()
    for letter in [e for e in run.transcript.envelopes if e.to == name]:
        try:
            step = byte_steps.step(session, step.state, [letter], me, step.counter, board, charge=charge)
        except CrashError:
            at_crash, left_by_then = list(ledger), list(left)
            step = byte_steps.step(session, step.state, [letter], me, step.counter, board, charge=charge)
        left += step.mail
    assert left == [e for e in run.transcript.envelopes if e.sender == name]
    return at_crash, left_by_then, ledger


def test_after_a_crash_between_charge_and_letter_the_ledger_has_the_charge() -> None:
    at_crash, left, ledger = crashed(TWO, "P1")
    assert at_crash == ["sum 0"]
    assert [e.kind for e in left if e.kind == "Masked"] == []
    assert ledger == ["sum 0", "sum 1"]


def test_the_ledger_is_told_before_a_masked_input_is_sent() -> None:
    early: list[bool] = []

    def charge(name: str, label: str) -> None:
        early.append(any(envelope.kind == "Masked" for envelope in c.honest[name].out))

    c = session(role_code.honest(), 5, 1, 1, charge=charge)
    c.seat()
    assert early == [False] * 4


def test_who_is_in_a_sum_has_paid_for_it_though_it_heard_nothing_after_its_input() -> None:
    everybody = ("P1", "P2", "P3", "P4", "P5")
    c = session(role_code.honest(), 5, 1, 1).seat()
    c.miss("P1")
    c.lead(0, everybody, ("P2", "P3", "P4"))
    assert [read.of for read in c.readable(0)] == [{"P1", "P2", "P3", "P4"}]
    assert ("P1", "sum 0") in c.charged
    assert ("P1", "sum 0") not in c.voided


# What is kept.


def named_states(setup: Setup, vanish: Mapping[str, int] | None = None) -> Iterator[tuple[str, int, bytes]]:
    """Every state of every role in the run, one after each letter: whose, and how many sums were over for it."""
    run = setup.simulate(drop_outs=vanish or {})
    sent = run.transcript.envelopes
    board = {e.sender: e for e in sent if e.kind == HELLO}
    for name in setup.session.names:
        role = Actor(setup.session, name, setup.identities[name], setup.seeds[name], setup.inputs[name], board)
        role.advance()
        for mark in run.absent[name]:
            role.mark(mark)
        for letter in [None, *(e for e in sent if e.to == name)]:
            if letter:
                role.deliver(letter)
            role.advance()
            yield name, max(0, len(role.progress.results) - 1), replay.save(role)


def secrets_of(setup: Setup, r: int) -> list[bytes]:
    """Every seed, secret mask key and share of sum r."""
    p: Parameters = setup.session.parameters
    found = []
    for name in p.parties:
        dealt = dealing.deal_seeds(p, setup.seeds[name].fork("greeting"))
        found += [dealt.b[r], dealt.s[r], *(x for held in dealt.shares for x in (held[r].b, held[r].s))]
    return found


def kept_too_long(setup: Setup, vanish: Mapping[str, int] | None = None) -> int:
    """In how many states secrets stand that belong to a sum which is over; those of the others have to be found."""
    p: Parameters = setup.session.parameters
    secrets, kept, there = [secrets_of(setup, r) for r in range(p.R)], 0, set()
    for _, over, state in named_states(setup, vanish):
        kept += any(x in state for r in range(min(over, p.R)) for x in secrets[r])
        there |= {r for r in range(over, p.R) if any(x in state for x in secrets[r])}
    assert there == set(range(p.R))
    return kept


@pytest.mark.parametrize("vanish", [{}, {"P2": 6}, {"P2": 5}], ids=["nobody", "after its input", "before it"])
def test_no_state_holds_a_secret_of_a_sum_that_is_over(vanish: dict[str, int]) -> None:
    assert kept_too_long(TWO, vanish) == 0


def common(setup: Setup, name: str) -> list[list[bytes]]:
    """By sum, and for one after the last, what a party has in common with each other one where nobody may vanish."""
    p: Parameters = setup.session.parameters
    secrets = {other: dealing.closed_secret(setup.seeds[other].fork("greeting")) for other in p.parties}
    pairs = masking.closed_pairs(secrets[name], p.parties.index(name), list(map(masking.closed_key, secrets.values())))
    found = []
    for _ in range(p.R + 1):
        found.append([x for i, x in enumerate(pairs.agreed) if x and i != pairs.index])
        pairs = masking.closed_after(pairs)
    return found


def held_of_sums(setup: Setup) -> set[tuple[int, bool, tuple[bool, ...]]]:
    """How many sums are over, whether the secret mask key is in the state, and of which sums what it was made for."""
    p: Parameters = setup.session.parameters
    keys = {name: dealing.closed_secret(setup.seeds[name].fork("greeting")).secret for name in p.parties}
    pairs = {name: common(setup, name) for name in p.parties}
    return {
        (over, keys[name] in state, tuple(any(x in state for x in of_sum) for of_sum in pairs[name]))
        for name, over, state in named_states(setup)
        if name in keys
    }


def test_where_nobody_may_vanish_no_state_goes_back_to_a_sum_that_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """The secret mask key follows from the seed in set-up alone; then there is what masks the next sum, if any."""
    setup = SESSIONS["nobody may vanish"]
    right = {
        (0, False, (False, False, False)),
        (0, False, (True, False, False)),
        (1, False, (False, True, False)),
        (2, False, (False, False, False)),
    }
    assert held_of_sums(setup) == right
    monkeypatch.setattr(
        complete, "with_next_pairs", lambda p, over: replace(over, secrets=masking.closed_after(over.pairs))
    )
    assert held_of_sums(setup) ^ right == {(2, False, (False, False, on)) for on in (False, True)}  # one too many
    monkeypatch.setattr(complete, "with_next_pairs", lambda p, over: over)  # the twin keeps the first for all sums
    assert (1, False, (True, False, False)) in held_of_sums(setup)


def link_keys_of(setup: Setup, name: str) -> list[bytes]:
    """What opens the recorded letters of a party to and from the others, the shares among them."""
    secrets = {other: seed.fork("channel").fork("x25519").bytes(32) for other, seed in setup.seeds.items()}
    keys = [
        sealing.link_keys(secrets[name], sealing.public_key(secrets[other]), setup.session.id, name, other)
        for other in setup.session.parties
        if other != name
    ]
    return [secrets[name], *(key for of_one in keys for key in (of_one.outgoing, of_one.incoming))]


def openers(setup: Setup) -> tuple[int, int]:
    """In how many states of parties such a key stands, before the first sum is over, and after it."""
    found = [0, 0]
    keys = {name: link_keys_of(setup, name) for name in setup.session.parties}
    for name, over, state in named_states(setup):
        found[over > 0] += any(key in state for key in keys.get(name, ()))
    return found[0], found[1]


def test_no_later_state_opens_recorded_shares() -> None:
    """Else whoever gets hold of T later states, and a record, has the shares of the sums that are over."""
    before, after = openers(TWO)
    assert before > 0
    assert after == 0


def test_no_key_of_a_link_is_a_mask_key() -> None:
    """Else a mask key that is opened would open its owner's mail."""
    p, parties = TWO.session.parameters, TWO.session.parties
    mask_keys = {key for n in parties for key in dealing.deal_seeds(p, TWO.seeds[n].fork("greeting")).s}
    roles = actors(*TWO, {})
    assert {len(roles[name].channel.secret) for name in parties} == {masking.KEY_BYTES}
    assert not mask_keys & {roles[name].channel.secret for name in parties}


def test_links_that_stay_open_are_told_apart() -> None:
    keeping = TWO._replace(session=replace(TWO.session, program=replace(PROGRAM, closed=None)))
    assert openers(keeping)[1] > 0


# Sizes, and what is printed.


def sizes(setup: Setup, vanish: Mapping[str, int]) -> dict[tuple[str, str], list[tuple[str, int, int]]]:
    links: dict[tuple[str, str], list[tuple[str, int, int]]] = {}
    for e in setup.simulate(drop_outs=vanish).transcript.envelopes:
        links.setdefault((e.sender, e.to), []).append((e.kind, len(e.header), len(e.body)))
    return links


EXTREMES = (lambda name, bits: 0), (lambda name, bits: 2**bits - 1)


@pytest.mark.parametrize("vanish", with_slow([{}, {"P2": 5}, {"P2": 6}], {"P2": 6}))
@pytest.mark.parametrize("name", ["drop-outs", "nobody may vanish", "verifiable"])
def test_no_size_depends_on_a_secret(name: str, vanish: dict[str, int]) -> None:
    """Nothing but zeros, nothing but ones, and other seeds: as many envelopes, of the same kinds and lengths."""
    p = SESSIONS[name].session.parameters
    wanted = sizes(SESSIONS[name], vanish)
    for seed, value in enumerate(EXTREMES):
        assert sizes(extreme(p, value, seed), vanish) == wanted


def extreme(p: Parameters, value: Callable[[str, int], int], seed: int) -> Setup:
    return start(PROGRAM, p, ideal.inputs(p, value), f"extreme {seed}")


def texts(secret: bytes) -> set[str]:
    return {secret.hex(), repr(secret)[2:-1], str(int.from_bytes(secret, "big"))}


def told(setup: Setup, values: Iterable[Any]) -> list[str]:
    """The types of values whose `repr` holds a seed, a secret mask key, a share, or a number of 16 digits or more."""
    p: Parameters = setup.session.parameters
    secrets = {text for r in range(p.R) for x in secrets_of(setup, r) for text in texts(x)}
    return [type(x).__name__ for x in values if re.search(r"\d{16}", repr(x)) or any(s in repr(x) for s in secrets)]


def test_nothing_that_holds_a_secret_prints_it() -> None:
    setup = made(parameters(3, 0, 1, (2, 1), ring_bits=128))
    run = setup.simulate(views=True)
    shown = [run, *run.results.values(), *run.published.values(), *actors(*setup, {}).values()]
    for view in run.views.values():
        shown += [view, *view.inputs, *view.results, *(message for _, message in view.messages)]
    vault = next(x for x in run.views["P1"].results if isinstance(x, Vault))
    dealt = dealing.deal_seeds(setup.session.parameters, setup.seeds["P1"].fork("greeting"))
    shown += [vault, dealt, *(held for of_one in dealt.shares for held in of_one)]
    assert told(setup, shown) == []
    assert told(setup, [vars(dealt)]) == ["dict"]


def test_no_error_tells_a_secret() -> None:
    """Shares that are not those of the greeting, a secret that is erased, a threshold that is not met."""
    setup = made(parameters(3, 0, 1, (2, 1)))
    run = setup.simulate(views=True)
    vault = next(x for x in run.views["P1"].results if isinstance(x, Vault))
    with refused("sum.over", error=LocalError, sum=1) as erased:
        vault.of(1)
    too_few = setup.simulate(drop_outs={"P1": 6, "P2": 7})
    assert set(too_few.why) == {"P3", CURATOR_NAME}
    assert told(setup, [str(erased.value), *map(str, too_few.why.values())]) == []

"""A coalition that chooses its moves by coins gets what the theorem lets it have and no more, as often as it tries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support import role_code
from support.coalition import Coalition, session
from support.role_code import Code, Patch, copied

from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME


def broken_rule(c: Coalition, r: int) -> str | None:
    """Which part of the theorem the coalition has broken in this sum, if any."""
    reads = c.readable(r)
    wrong = [read for read in reads if read.value != c.total(read.of, r)]
    if wrong:
        raise AssertionError("what is readable was computed wrongly")
    if len(reads) > 1:
        return f"{len(reads)} sums were read"
    parties = [name for name in c.honest if name in c.p.parties]
    if c.p.D and any(c.opened(r, name, "b") and c.opened(r, name, "s") for name in parties):
        return "both secrets of one party are open"
    if reads and len(reads[0].of) < c.p.H:
        return f"a sum over {len(reads[0].of)} honest parties was read, wanted {c.p.H}"
    paid = [(name, f"sum {r}") for name in c.to_charlie("Masked", r)]
    if not set(paid) <= set(c.charged):
        return "a masked input was not charged"
    if reads and any((name, f"sum {r}") in c.voided for name in reads[0].of):
        return "the charge for a sum that was read became void"
    return None


def wander(code: Code, K: int, t: int, D: int, seed: int, *, disputed: bool = False) -> Coalition:
    """Two sums against a coalition that chooses by these coins."""
    coins = Stream.insecure_from_seed(f"wander {K} {t} {D} {seed}")
    c = session(code, K, t, D, sums=(1, 1), seed=seed)
    c.greet()
    _two_faces(c, coins)
    if disputed:
        _dispute(c, coins)
    else:
        c.pump()
        _set_up(c)
    for r in range(2):
        _lead(c, r, coins)
    return c


def _two_faces(c: Coalition, coins: Stream) -> None:
    """Sometimes a member shows some parties another greeting, with the same shares."""
    members = [name for name in c.members if name in c.p.parties]
    if members and c.p.D and not coins.below(8):
        hello = c.greeting(members[0], lambda said: replace(said, commitments=(bytes(32), *said.commitments[1:])))
        for name in c.honest:
            if coins.below(2):
                c.boards[name][members[0]] = hello


def _set_up(c: Coalition) -> None:
    if c.p.D:
        for name in c.members:
            if name in c.p.parties:
                c.deal(name)
    for name, ready in c.to_charlie("Ready").items():
        c.say(CURATOR_NAME, name, c.start_with(ready.roster))


def _dispute(c: Coalition, coins: Stream) -> None:
    """Shares between honest parties are held up, members accuse anybody and deal what they like, and Charlie tells each
    party one of two sets of complaints, or of none.
    """
    parties = [name for name in c.honest if name in c.p.parties]
    held = {pair for dealer in parties for pair in _late(c, dealer, parties, coins)}
    c.withholds = lambda e: e.kind == "Shares" and (e.sender, e.to) in held and c.p.may_accuse_silence
    c.pump()
    for name in c.members[:-1]:
        c.deal(name, lambda shares, _: c.code.complaints.wrong_shares(shares) if not coins.below(3) else shares)
    for holder in parties:
        if gone := [dealer for dealer in c.honest[holder].awaited if (dealer, holder) in held]:
            c.miss(holder, *gone)
    if coins.below(2):
        c.release()
    told = [_complaints(c, coins)] * 2 if coins.below(4) else [_complaints(c, coins) for _ in range(2)]
    said = {name: told[coins.below(2)] if coins.below(30) else None for name in c.to_charlie("Ready")}
    for name, every in said.items():
        c.say(CURATOR_NAME, name, c.start_with(c.to_charlie("Ready")[name].roster, int(every is not None)))
        if every is not None and c.plays(name):
            c.say(CURATOR_NAME, name, every)
    for name, every in said.items():
        if every is not None and c.plays(name):
            c.say(CURATOR_NAME, name, c.start_with(c.to_charlie("Ready")[name].roster))
            c.say(CURATOR_NAME, name, c.code.complaints.replacements(c.p, every.accused, *_disclosed(c, name)))
    c.release()


def _late(c: Coalition, dealer: str, parties: list[str], coins: Stream) -> list[tuple[str, str]]:
    """To whom the shares of a dealer are late: as a rule to no more than it opens them."""
    others = [name for name in parties if name != dealer]
    most = min(c.p.most_accusers + (not coins.below(20)), len(others))
    return [(dealer, others.pop(coins.below(len(others)))) for _ in range(most - coins.below(2) if most else 0)]


def _complaints(c: Coalition, coins: Stream) -> Any:
    """What honest parties complained of, and members of anybody."""
    ready = c.to_charlie("Ready")
    roster = next(iter(ready.values())).roster
    accused = {name: 0 if coins.below(3) else coins.below(1 << c.p.K) for name in c.members[:-1]}
    ready |= {name: c.ready(name, roster, dealers) for name, dealers in accused.items()}
    every = [ready[name] for name in c.p.parties]
    return c.code.messages.Accused(tuple(x.accused[0] for x in every), tuple(x.signature[0] for x in every))


def _disclosed(c: Coalition, name: str) -> tuple[int, list[Any]]:
    """The place of a party, and what all dealers disclose to it: what they dealt, for the test knows it."""
    place, message = c.p.parties.index(name), c.code.messages.Disclosed
    every = [[x for of_holder in c.dealt(dealer).shares for x in of_holder] for dealer in c.p.parties]
    return place, [message(tuple(x.b for x in held), tuple(x.s for x in held), b"") for held in every]


def _lead(c: Coalition, r: int, coins: Stream) -> None:
    masked = c.to_charlie("Masked", r)
    if c.p.D:
        lists = [_list(c, coins)] * 2 if coins.below(2) else [_list(c, coins) for _ in range(2)]
        chosen = {name: lists[coins.below(2)] for name in c.honest if name in masked}
        agreed = {name: _proposed(c, r, name, U, masked, coins) for name, U in chosen.items() if c.plays(name)}
        for name, said in agreed.items():
            c.certify(_any_signatures(c, said, r, coins), [name])
    S = c.p.ring.random_vector(1, coins)
    for name in c.honest:
        if name in masked:
            told = S if coins.below(4) else c.p.ring.random_vector(1, coins)
            c.end(r, chosen[name] if c.p.D else c.p.parties, told, [name])


def _list(c: Coalition, coins: Stream) -> tuple[str, ...]:
    """Any list, as a rule one that is long enough to be signed."""
    if not coins.below(8):
        return ()
    left_out = coins.below(c.p.D + 1 if coins.below(4) else c.p.K)
    names = list(c.p.parties)
    for _ in range(left_out):
        names.pop(coins.below(len(names)))
    return tuple(names)


def _proposed(c: Coalition, r: int, name: str, U: tuple[str, ...], masked: Any, coins: Stream) -> Any:
    others = sorted(masked)
    context = masked[name if coins.below(20) else others[coins.below(len(others))]].context
    return c.propose(r, U, [name], context=context)


def _any_signatures(c: Coalition, agreed: Any, r: int, coins: Stream) -> dict[str, bytes]:
    """All that there are of this statement; sometimes one goes to other places, or those of another sum are there."""
    found = c.signatures(agreed, r)
    if found and not coins.below(12):
        one = found[sorted(found)[coins.below(len(found))]]
        return dict.fromkeys(c.p.parties, one)
    if r and not coins.below(12):
        return {name: signed.signature for name, signed in c.to_charlie("Signed", 0).items()} | found
    return found


CASES = [(3, 0, 1), (4, 0, 1), (4, 2, 0), (5, 1, 1), (6, 1, 2), (6, 2, 1), (7, 1, 2)]
FEW, SOME, MANY = 2, 12, 25
FOUND: dict[str, tuple[tuple[int, int, int], tuple[Patch, ...]]] = {
    "a quorum of half": ((5, 1, 2), (Patch("parameters", "(K + t) // 2 + 1)", "(K + t) // 2)"),)),
    "no certificate": (
        (6, 1, 2),
        (Patch("sums", "if len(_signers(me, p, agreed, signatures, U or range(p.K))) < p.Q:", "if False:"),),
    ),
    "one mask key for all sums": (
        (4, 0, 1),
        (
            Patch("dealing", "s = tuple(rng.bytes(SEED_BYTES) for _ in range(p.R))", "s = (rng.bytes(32),) * p.R"),
            Patch("roster", "if owners.get(agreed) == name:", "if False:"),
            Patch("roster", "if agreed in owners:", "if owners.get(agreed, name) != name:"),
        ),
    ),
    "one seed for all sums": (
        (4, 0, 1),
        (Patch("dealing", "b = tuple(rng.bytes(SEED_BYTES) for _ in range(p.R))", "b = (rng.bytes(32),) * p.R"),),
    ),
}
"""Mutants that it comes upon by itself."""


def broken(code: Code, case: tuple[int, int, int], tries: int) -> tuple[list[str], int]:
    """Which rules were broken, and how many sums were read."""
    found, sums = [], 0
    for seed in range(tries):
        c = wander(code, *case, seed)
        found += [why for r in range(2) if (why := broken_rule(c, r))]
        sums += sum(len(c.readable(r)) for r in range(2))
    return found, sums


@pytest.mark.parametrize("case", CASES[2:4])
def test_a_few_coalitions_get_one_sum_over_enough(case: tuple[int, int, int]) -> None:
    assert broken(role_code.honest(), case, FEW)[0] == []


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_coalitions_get_one_sum_over_enough(case: tuple[int, int, int]) -> None:
    found, sums = broken(role_code.honest(), case, SOME)
    assert found == []
    assert sums >= SOME // 5  # else they tried nothing that leads anywhere


DISPUTED = [(4, 1, 1), (5, 1, 1), (6, 2, 1), (7, 1, 2), (10, 3, 1), (5, 2, 1), (4, 0, 1)]
"""In the first five silence is accused."""
IS_OPENED_TO_MORE = Patch("parameters", " - (self.t if self.may_accuse_silence else 0)", "")


def disputed(code: Code, case: tuple[int, int, int], tries: int) -> tuple[list[str], int]:
    """Which rules were broken where shares are held up and parties accused, and how many sums were read."""
    found, sums = [], 0
    for seed in range(tries):
        c = wander(code, *case, seed, disputed=True)
        found += [why for r in range(2) if (why := broken_rule(c, r))]
        found += [f"{e.culprit} was named" for e in c.failed.values() if e.culprit in c.honest]
        sums += sum(len(c.readable(r)) for r in range(2))
    return found, sums


@pytest.mark.parametrize("case", DISPUTED[:2])
def test_a_few_coalitions_that_hold_up_shares_get_no_more(case: tuple[int, int, int]) -> None:
    assert disputed(role_code.honest(), case, FEW)[0] == []


@pytest.mark.slow
@pytest.mark.parametrize("case", DISPUTED)
def test_coalitions_that_hold_up_shares_get_no_more(case: tuple[int, int, int]) -> None:
    found, sums = disputed(role_code.honest(), case, SOME)
    assert found == []
    assert sums


def test_coalitions_that_hold_up_shares_find_a_dealer_that_opens_to_one_more() -> None:
    assert "both secrets of one party are open" in disputed(copied(IS_OPENED_TO_MORE), DISPUTED[1], FEW)[0]


@pytest.mark.slow
@pytest.mark.parametrize("mutant", FOUND)
def test_what_a_mutant_lets_them_have_is_found(mutant: str) -> None:
    case, patches = FOUND[mutant]
    runs = (wander(copied(*patches), *case, seed) for seed in range(MANY))
    assert any(broken_rule(c, r) for c in runs for r in range(2))

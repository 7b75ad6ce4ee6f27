"""A coalition that tries anything: its own list of survivors for each, other results, second greetings, any signatures.

What it must not get is the theorem's: more than one sum, a sum over fewer than H honest parties, both secrets of one
party, a sum with somebody who was not charged for it or whose charge became void.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from support.coalition import Coalition, session
from support.role_code import Code


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


def wander(code: Code, K: int, t: int, D: int, seed: int) -> Coalition:
    """Two sums against a coalition that chooses by these coins."""
    coins = Stream.insecure_from_seed(f"wander {K} {t} {D} {seed}")
    c = session(code, K, t, D, sums=(1, 1), seed=seed)
    c.greet()
    _two_faces(c, coins)
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
        c.say(CURATOR_NAME, name, c.code.messages.Start(ready.roster))


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

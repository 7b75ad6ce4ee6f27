"""What an audit of the code asks of the sums: in which sessions, who vanishes in them, and what secrets there are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from protocols.curator import CURATOR_NAME
from protocols.runtime.message import Message
from protocols.secure_sum.graph import LEAST_DEGREE
from protocols.secure_sum.messages import Masked, PublishedShare, Survivors
from protocols.secure_sum.parameters import SHARES, Block, Parameters, most_dropouts


def sample(K: int) -> Parameters:
    """K parties, of whom one may vanish if any may, with as many colluders as that leaves; two sums of two lengths."""
    names = tuple(f"P{j}" for j in range(1, K + 1))
    sums = ((Block(2, "none"),), (Block(1, "none"),))
    colluders = max((t for t in range(K) if most_dropouts(K, t)), default=None)
    return Parameters(names, 0, 0, sums) if colluders is None else Parameters(names, colluders, 1, sums)


def profiles(p: Parameters) -> tuple[Parameters, ...]:
    """Nobody may vanish; and what is published is all that Charlie added up, or masked inputs as shares. From six
    parties on, of whom one may collude, they can stand in a circle without being neighbours of all.
    """
    full = replace(p, colluders=p.K - 1, dropouts=0)
    published = (replace(p, verifiable=True), replace(full, output=SHARES, sums=p.sums[:1]))
    circle = (replace(p, colluders=1, dropouts=1, degree=LEAST_DEGREE),) if p.K > LEAST_DEGREE + 1 else ()
    return (*((full, *published) if p.D else published), *circle)


def vanishing(p: Parameters) -> tuple[str, ...]:
    """Every party; Charlie can only tell less."""
    return p.parties


def outcomes(p: Parameters, j: int) -> Mapping[str, tuple[str, ...]]:
    """What each party adds, noise included."""
    parties, places = range(1, p.K + 1), range(1, p.numbers + 1)
    return {f"z_{i}({place})": (f"x_{i}({place})", f"E_{i}({place})") for i in parties for place in places}


def took_part(p: Parameters, said: Sequence[tuple[str, Message]], members: Collection[str]) -> list[tuple[int, ...]]:
    """Who is in each sum, as far as it came to that: those whom Charlie lists, or all.

    With D = 0 all have to have masked what they add, but for those who help Charlie, and can do it whenever they like.
    """
    if p.D:
        listed = {m.context: p.members(m.members) for _, m in said if isinstance(m, Survivors)}
        return [parties for parties in listed.values() if parties]
    absent = members if CURATOR_NAME in members else ()
    masked: dict[bytes, set[str]] = {}
    for sender, m in said:
        if isinstance(m, Masked | PublishedShare):
            masked.setdefault(m.context if isinstance(m, Masked) else b"", set()).add(sender)
    return [tuple(range(p.K)) for those in masked.values() if those.union(absent).issuperset(p.parties)]

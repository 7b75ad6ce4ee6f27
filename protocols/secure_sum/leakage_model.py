"""Model of the sums for the leakage matrix: sessions, parties that drop out, and secrets."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from protocols.curator import CURATOR_NAME
from protocols.runtime.message import Message
from protocols.secure_sum.graph import LEAST_CLOSED_DEGREE, LEAST_DEGREE
from protocols.secure_sum.messages import Masked, PublishedShare, Survivors
from protocols.secure_sum.parameters import SHARES, Block, Parameters, most_dropouts


def sample_session(K: int) -> Parameters:
    """Return K parties, of whom one may drop out if any may, with as many colluders as that leaves; two sums of two
    lengths.
    """
    names = tuple(f"P{j}" for j in range(1, K + 1))
    sums = ((Block(2, "none"),), (Block(1, "none"),))
    colluders = max((t for t in range(K) if most_dropouts(K, t)), default=None)
    return Parameters(names, 0, 0, sums) if colluders is None else Parameters(names, colluders, 1, sums)


def profiles(p: Parameters) -> tuple[Parameters, ...]:
    """Return the other kinds of session: no drop-outs, a published opening, published shares, a sparse graph without
    drop-outs, and one with drop-outs, from as many parties on as there have to be for not all to be neighbours.
    """
    full = replace(p, colluders=p.K - 1, dropouts=0)
    published = (replace(p, verifiable=True), replace(full, output=SHARES, sums=p.sums[:1]))
    closed = (replace(full, colluders=1, degree=LEAST_CLOSED_DEGREE),) if p.K > LEAST_CLOSED_DEGREE + 1 else ()
    circle = (replace(p, colluders=1, dropouts=1, degree=LEAST_DEGREE),) if p.K > LEAST_DEGREE + 1 else ()
    return (*((full, *published) if p.D else published), *closed, *circle)


def possible_dropouts(p: Parameters) -> tuple[str, ...]:
    """Return the parties whose drop-out is looked at: every party, for Charlie can only tell less."""
    return p.parties


def addend_outcomes(p: Parameters, j: int) -> Mapping[str, tuple[str, ...]]:
    """Return what each party adds, noise included, as sums of unknowns."""
    parties, places = range(1, p.K + 1), range(1, p.numbers + 1)
    return {f"z_{i}({place})": (f"x_{i}({place})", f"E_{i}({place})") for i in parties for place in places}


def members_of_sums(
    p: Parameters, said: Sequence[tuple[str, Message]], members: Collection[str]
) -> list[tuple[int, ...]]:
    """Return the members of each sum that was reached: those whom Charlie lists, or all.

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

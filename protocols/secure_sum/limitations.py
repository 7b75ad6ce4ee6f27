"""Limitations of the claim, the worst first; each attack of a coalition outside of it succeeds in every run.

An attack is given the public parameters p, the views of the coalition's members, and what was published; nothing else.
All members follow the protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from protocols.arithmetic.ring import Vector
from protocols.curator import CURATOR_NAME
from protocols.runtime.claims import Attack, Inputs, Limitation, View
from protocols.runtime.message import Message
from protocols.secure_sum import dealing, masks
from protocols.secure_sum.messages import Masked, PublishedOpening, Shares
from protocols.secure_sum.parameters import SHARES, Parameters
from protocols.secure_sum.values import Addends, Vault

M = TypeVar("M", bound=Message)
Coalitions = tuple[tuple[str, ...], ...]


def with_shares_enough(p: Parameters) -> Coalitions:
    """Return the coalitions of Charlie and T parties; or of T parties, where masked inputs are published."""
    if not p.D or p.degree or p.T >= p.K:
        return ()
    parties = p.parties[: p.T]
    return ((*parties, CURATOR_NAME), parties) if p.verifiable else ((*parties, CURATOR_NAME),)


def addend_of_victim(p: Parameters, views: Sequence[View], published: Mapping[str, Any]) -> Vector:
    """Compute what the next party added to the first sum, noise included: T shares of its seed and of its secret mask
    key take all masks off its masked input.
    """
    parties = [view for view in views if view.name != CURATOR_NAME]
    victim = _victim(p, views)
    name = p.parties[victim]
    held = {p.parties.index(view.name): _read(view, Shares, name) for view in parties[: p.T]}
    b = dealing.seed_of_shares({holder: shares.b[0] for holder, shares in held.items()})
    s = dealing.seed_of_shares({holder: shares.s[0] for holder, shares in held.items()})
    vault = next(x for x in reversed(parties[0].results) if isinstance(x, Vault))
    y, context = _masked(p, views, published, victim)
    blinds = masks.mask_openly(p, (0,) * p.length(0), context, victim, b, s, vault.keys[0])
    return p.ring.subtract_vectors(y, blinds)


def all_but_one(p: Parameters) -> Coalitions:
    """Return the coalition of Charlie and all parties but the last, where they are more than t, in a complete graph."""
    return () if p.degree else _without_the_last(p)


def all_around_one(p: Parameters) -> Coalitions:
    """Return the same coalition in a sparse graph."""
    return _without_the_last(p) if p.degree else ()


def _without_the_last(p: Parameters) -> Coalitions:
    return () if p.output == SHARES or p.t >= p.K - 1 else ((*p.parties[:-1], CURATOR_NAME),)


def addend_of_the_last(p: Parameters, views: Sequence[View], published: Mapping[str, Any]) -> Vector:
    """Compute what the others added to the first sum, noise included: the sum less what these added."""
    (said,) = published.values()
    mine = [_input(view) for view in views if view.name != CURATOR_NAME]
    known = p.ring.add_vectors(*(x.numbers[0] for x in mine), *(x.noise[0] for x in mine))
    return p.ring.subtract_vectors(said.S[: p.length(0)], known)


def _true_addend(p: Parameters, given: Inputs, names: tuple[str, ...]) -> Vector:
    victim = next(name for name in p.parties if name not in names)
    mine: Addends = given[victim][1]
    return p.ring.add_vectors(mine.numbers[0], mine.noise[0])


def _victim(p: Parameters, views: Sequence[View]) -> int:
    here = {view.name for view in views}
    return next(i for i, name in enumerate(p.parties) if name not in here)


def _input(view: View) -> Addends:
    mine: Addends = view.inputs[1]
    return mine


def _masked(p: Parameters, views: Sequence[View], published: Mapping[str, Any], victim: int) -> tuple[Vector, bytes]:
    """Return a party's masked input to the first sum, and its context."""
    charlie = next((view for view in views if view.name == CURATOR_NAME), None)
    if charlie is not None:
        read = _read(charlie, Masked, p.parties[victim])
        return read.y, read.context
    opening: PublishedOpening = published[CURATOR_NAME]
    d = p.length(0)
    own = next(message for view in views for _, message in view.messages if hasattr(message, "context"))
    return opening.y[victim * d : (victim + 1) * d], own.context


def _read(view: View, kind: type[M], sender: str) -> M:
    """Return the first message of this kind by this sender."""
    return next(message for who, message in view.messages if who == sender and isinstance(message, kind))


def _may_drop_out(p: Parameters) -> bool:
    return p.D > 0


LIMITATIONS = (
    Limitation(
        "If drop-outs are allowed, Charlie and T or more parties can remove the masks from a single party's "
        "contribution. Then only that party's own share of the noise protects it. T is the number of shares that open "
        "a secret. If each party shares masks with all others, T is greater than t, the number of parties that may "
        "collude. If masked inputs are published, T parties can do this without Charlie.",
        Attack(with_shares_enough, addend_of_victim, _true_addend),
        _may_drop_out,
    ),
    Limitation(
        "If more than t parties collude with Charlie, the noise is less than the guarantee needs; t is the number of "
        "colluders that was agreed on. If all parties but one collude with him, only the last one's share is left.",
        Attack(all_but_one, addend_of_the_last, _true_addend),
        lambda p: not p.degree,
    ),
    Limitation(
        "If each party shares masks only with its neighbours in a sparse graph, and more than t parties collude with "
        "Charlie, the noise is less than the guarantee needs; t is the number of colluders that was agreed on. If "
        "those around a stretch of the cyclic order of parties collude, as many as one party has neighbours, they can "
        "read the sum of that stretch, down to a single party's contribution. A party whose state is read counts as "
        "one of the t only if whose it is does not depend on that order.",
        Attack(all_around_one, addend_of_the_last, _true_addend),
        lambda p: p.degree > 0,
    ),
    Limitation(
        "If each party shares masks only with its neighbours in a sparse graph, nothing is claimed against a malicious "
        "Charlie or malicious parties. Charlie can send different lists of survivors to different stretches of the "
        "cyclic order of parties. Each party between two stretches then reveals both of its secrets: the key of the "
        "masks that it shares, and the seed of its own mask. Parties that know the graph can cut it in two by dropping "
        "out.",
        applies=lambda p: p.degree > 0 and p.D > 0,
    ),
    Limitation(
        "If each party shares masks only with its neighbours in a sparse graph, and nobody may drop out, nothing is "
        "claimed against a malicious Charlie or malicious parties. Charlie can choose the coins of malicious parties "
        "last, and so the order of all parties. In an order in which malicious parties stand on both sides of a party, "
        "they can remove the masks from its contribution. If different parties read different greetings of one party, "
        "the sum is false, and is charged. Nobody notices during the session.",
        applies=lambda p: p.degree > 0 and not p.D,
    ),
    Limitation(
        "Inputs are not validated: each party can spoil the sum. Charlie can withhold the sum. He can also state "
        "another sum, unless the values that he added up are published."
    ),
    Limitation(
        "Charlie knows the earlier sums when he chooses which parties to leave out of a sum as drop-outs.",
        applies=_may_drop_out,
    ),
    Limitation(
        "Parties that refuse to answer can stop a sum. The charge for that sum is taken back only if the "
        "session goes on without the missing parties, and enough of the others sign that this sum was given up."
    ),
    Limitation(
        "A party that goes back to an old state loses the protection of its masks. A folder of counters at each site "
        "shows that a state is old. That folder must never be restored from a backup."
    ),
    Limitation(
        "A dealer is a party that hands out shares, and a holder one that receives them. A dealer whose shares open no "
        "secret can stop a sum after all parties have been charged. That dealer is named. If a dealer does not answer "
        "a complaint, only Charlie knows whether it kept silent or he withheld its answer. Every complaint shows "
        "Charlie the holder's share, even if the complaint is false or the share was only late.",
        applies=_may_drop_out,
    ),
    Limitation(
        "A party counts as one of the t colluders if its state is read before it has erased its secrets of a sum. A "
        "party that Charlie invents counts as a colluder, too. Each party therefore has to confirm all keys over "
        "another channel."
    ),
)

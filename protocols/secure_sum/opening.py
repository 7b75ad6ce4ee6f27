"""Verification of sums that were published with all that Charlie added up (`verifiable`).

The greetings and the publication are enough: every masked input is signed for this sum by who sent it, enough survivors
signed the list, every opened seed is the one that its owner greeted with, and the sum of the masked inputs without
their masks is the one that Charlie states. What a party put in is not shown, and is not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from protocols.arithmetic.ring import Vector
from protocols.crypto import masking
from protocols.curator import CURATOR_NAME
from protocols.errors import Fault, LocalError
from protocols.runtime.claims import Violation
from protocols.runtime.endpoint import Greeted
from protocols.runtime.message import Message
from protocols.secure_sum import masks, roster, unmasking
from protocols.secure_sum.messages import Agreed, Input, MaskKeys, PublishedOpening
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import Opening

Attested = Callable[[str, Message, bytes], bool]
"""Whether the participant of this name signed this statement with this signature."""


def opening_fault(
    p: Parameters,
    session: bytes,
    greetings: Mapping[str, Greeted[MaskKeys]],
    published: PublishedOpening,
    attested: Attested,
) -> Violation | None:
    """Return why the published sums are not those of the masked inputs; None if they are.

    It names Charlie where his signature of the publication shows that he deviated, whatever the greetings are said to
    be. It does where all that parties signed holds for these, for then he had the same.
    """
    if found := roster.mask_key_fault(p, greetings):
        name, unusable = found
        return Violation(unusable.within(name or ""))
    g, keys, query = roster.greetings_digest(p, greetings), roster.mask_keys(p, greetings), roster.first_query(session)
    start = 0
    for r in range(p.R):
        S = published.S[start : start + p.length(r)]
        at = roster.sum_context(session, g, r, query)
        opening = _of_sum(p, published, r, start)
        wrong = _of_members(p, published.members[r]) or _of_signatures(
            p, r, at, published.members[r], opening, attested
        )
        wrong = wrong or _of_values(p, r, at, published.members[r], opening, S, keys[r], greetings)
        if wrong:
            return replace(wrong, fault=wrong.fault.within(f"sum {r}"))
        query, start = roster.next_query(p, session, r, query, published.members[r], S), start + p.length(r)
    return None


def _of_members(p: Parameters, members: int) -> Violation | None:
    try:
        U = p.members(members)
    except LocalError as error:
        return Violation(error.fault, CURATOR_NAME)
    if len(U) >= p.fewest:
        return None
    few = Fault("sum.too_few_members", {"got": len(U), "parties": p.K, "wanted": p.fewest})
    return Violation(few, CURATOR_NAME)


def _of_signatures(
    p: Parameters, r: int, at: bytes, members: int, opening: Opening, attested: Attested
) -> Violation | None:
    """Return what parties should have signed and did not, for these greetings."""
    U = p.members(members)
    digests = {i: masking.digest(opening.y[i], p.width) for i in U}
    for i, name in enumerate(p.parties):
        if i in U and not attested(name, Input(at, digests[i]), opening.inputs[i]):
            return Violation(Fault("sum.member_without_input", {"name": name}))
        if i not in U and (any(opening.y[i]) or any(opening.inputs[i])):
            return Violation(Fault("sum.input_without_member", {"name": name}), CURATOR_NAME)
    if not p.D:
        return None
    masked = {i: (digests[i], opening.inputs[i]) for i in U}
    agreed = Agreed(r, at, members, roster.inputs_digest(masked))
    signers = [i for i in U if attested(p.parties[i], agreed, opening.agreed[i])]
    for i, name in enumerate(p.parties):
        if i not in signers and any(opening.agreed[i]):
            return Violation(Fault("sum.false_signature", {"name": name}))
    if len(signers) >= p.Q:
        return None
    few = {"got": len(signers), "wanted": p.Q}
    return Violation(Fault("sum.too_few_signers", few))


def _of_values(
    p: Parameters,
    r: int,
    at: bytes,
    members: int,
    opening: Opening,
    S: Vector,
    keys: tuple[bytes, ...],
    greetings: Mapping[str, Greeted[MaskKeys]],
) -> Violation | None:
    """Return what was opened and is not as its owner greeted, or that the sum is another."""
    U = p.members(members)
    for i, seed in enumerate(opening.seeds):
        said = greetings[p.parties[i]].message.commitments[r]
        if not unmasking.is_promised(said, keys[i], i, r, i in U, seed):
            return Violation(Fault("sum.other_seed", {"name": p.parties[i]}), CURATOR_NAME)
    seeds = dict(enumerate(opening.seeds))
    if masks.unmask_sum(p, at, {i: opening.y[i] for i in U}, seeds, keys) != S:
        return Violation(Fault("sum.other_value"), CURATOR_NAME)
    return None


def _of_sum(p: Parameters, published: PublishedOpening, r: int, start: int) -> Opening:
    """Return the part of sum r, which begins after `start` numbers of each party."""
    d, first, at = p.length(r), p.K * start, p.K * r
    return Opening(
        tuple(published.y[first + i * d : first + (i + 1) * d] for i in range(p.K)),
        published.inputs[at : at + p.K],
        published.agreed[at : at + p.K],
        published.seeds[at : at + p.K],
    )

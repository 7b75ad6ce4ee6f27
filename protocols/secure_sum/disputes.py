"""Stage 1 with dealt shares: everybody is ready, or complains of shares, and the dealer answers or is left out.

A party tells Charlie, signed, the dealers whose shares are not those that they committed to. Where nobody is accused
all start. Else everybody is told all complaints, and every dealer discloses the shares of those who accuse it: an
honest dealer is accused by malicious holders, who have these shares, and where silence is accused also by honest ones
whose message came too late. If a disclosure is not what its dealer committed to, everybody is shown it, and refuses the
dealer; otherwise holders go on with what was disclosed.

What a dealer signs names all complaints that it was told, so a Charlie who tells others of more has no proof. Nobody
is left out for a complaint, and nobody has paid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from protocols.arithmetic.ring import Vector
from protocols.runtime.endpoint import Endpoint, Greeted
from protocols.secure_sum import complaints, dealing
from protocols.secure_sum.messages import (
    Accused,
    Complaint,
    Disclosed,
    Disclosure,
    MaskKeys,
    Ready,
    Replaced,
    Shares,
    Start,
)
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import Held, Tree

_Greetings = Mapping[str, Greeted[MaskKeys]]
_HeldByDealer = tuple[tuple[Held, ...], ...]


# Deadlines that a set-up waits for each message, so that a silent dealer is the one who is missing: a reader of
# somebody who may wait waits for one more. Without them a holder would still wait when Charlie gives the holder up.
DEALT, READY, STARTED = 1, 2, 3


async def receive_shares(me: Endpoint, p: Parameters, dealt: dealing.Seeds) -> _HeldByDealer:
    """Return what every dealer gives me to hold. Where parties may accuse silence, a dealer that sends nothing usable
    gives me nothing, and I shall complain. Else wait for all.
    """
    others = me.others
    if p.may_accuse_silence:
        got = await me.collect_usable(others, Shares, deadlines=DEALT)
    else:
        got = dict(zip(others, await me.gather(others, Shares), strict=True))
    return complaints.shares_held(p, got, me.index, dealt)


async def settle_complaints(
    me: Endpoint, p: Parameters, greetings: _Greetings, roster: bytes, dealt: dealing.Seeds, held: _HeldByDealer
) -> tuple[_HeldByDealer, tuple[Tree, ...]]:
    """Return the shares that I hold of every dealer, all as committed to, and their trees: as they were sent, or as
    disclosed on my complaint.
    """
    trees = complaints.share_trees(me.index, held)
    mine = complaints.accused_dealers(p, greetings, me.index, trees)
    me.send(me.curator, Ready(roster, (mine,), (me.attest(Complaint(roster, mine)),)))
    start = await await_start(me, roster, STARTED if p.may_accuse_silence else None)
    if not any(start.accused):
        if mine:
            me.refuse(me.curator, "complaint.withheld")
        return held, trees
    accused_by_holder = await _heard(me, p, roster, mine)
    if (count := complaints.count_accusers(accused_by_holder, me.index)) > p.most_accusers:
        me.stop("shares.too_many_accusers", got=count, most=p.most_accusers)
    answers, shares = (
        complaints.complaints_digest(p, accused_by_holder),
        complaints.shares_to_disclose(p, accused_by_holder, me.index, dealt),
    )
    signature = me.attest(Disclosure(roster, answers, complaints.shares_digest(shares)))
    me.send(me.curator, Disclosed(tuple(x.b for x in shares), tuple(x.s for x in shares), signature))
    start = await await_start(me, roster)
    if any(start.accused):
        await _convinced(me, p, greetings, roster, accused_by_holder, start.accused[0])
    held = complaints.with_disclosed_shares(p, held, mine, await me.receive(me.curator, Replaced))
    trees = complaints.share_trees(me.index, held)
    if complaints.accused_dealers(p, greetings, me.index, trees):
        me.refuse(me.curator, "complaint.not_answered")
    return held, trees


async def mediate_complaints(
    me: Endpoint, p: Parameters, greetings: _Greetings, roster: bytes, ready: Sequence[Ready]
) -> None:
    """Run Charlie's side: tell everybody all complaints, and every holder the shares that were disclosed to it. A
    dealer that disclosed others than it committed to is shown to everybody, and is the one who is left out.
    """
    accused_by_holder = tuple(said.accused[0] for said in ready)
    signatures = tuple(said.signature[0] for said in ready)
    for name, accused, signature in zip(p.parties, accused_by_holder, signatures, strict=True):
        if not me.attested(name, Complaint(roster, accused), signature):
            me.refuse(name, "complaint.not_signed")
    if not any(accused_by_holder):
        me.broadcast(p.parties, Start(roster, (0,)))
        return
    me.broadcast(p.parties, Start(roster, (complaints.all_accused(accused_by_holder),)))
    me.broadcast(p.parties, Accused(accused_by_holder, signatures))
    disclosures = await me.gather(p.parties, Disclosed)
    answered = complaints.complaints_digest(p, accused_by_holder)
    for name, got in zip(p.parties, disclosures, strict=True):
        disclosure = Disclosure(roster, answered, complaints.shares_digest(complaints.shares_in(got)))
        if not me.attested(name, disclosure, got.signature):
            me.refuse(name, "complaint.answer_not_signed")
    wrong = complaints.first_wrong_disclosure(p, greetings, accused_by_holder, disclosures)
    if wrong is not None:
        me.broadcast(p.parties, Start(roster, (p.listed((wrong,)),)))
        me.broadcast(p.parties, disclosures[wrong])
        me.stop("shares.disclosed_otherwise", dealer=p.parties[wrong])  # and no refusal: what is shown has to leave
    me.broadcast(p.parties, Start(roster, (0,)))
    for holder, name in enumerate(p.parties):
        me.send(name, complaints.replacements(p, accused_by_holder, holder, disclosures))


async def await_start(me: Endpoint, roster: bytes, deadlines: int | None = None) -> Start:
    """Wait for `Start`: everybody is still there, and saw the same greetings."""
    start = await me.receive(me.curator, Start, deadlines=deadlines)
    if start.roster != roster:
        me.refuse(me.curator, "sum.among_other_greetings")
    return start


async def _heard(me: Endpoint, p: Parameters, roster: bytes, mine: int) -> Vector:
    """Return who accuses whom, mine as I said it, and everybody's signed."""
    heard = await me.receive(me.curator, Accused)
    if heard.accused[me.index] != mine:
        me.refuse(me.curator, "complaint.withheld")
    for name, accused, signature in zip(p.parties, heard.accused, heard.signatures, strict=True):
        if not me.attested(name, Complaint(roster, accused), signature):
            me.refuse(me.curator, "complaint.not_signed")
    return heard.accused


async def _convinced(
    me: Endpoint, p: Parameters, greetings: _Greetings, roster: bytes, accused_by_holder: Sequence[int], wrong: int
) -> NoReturn:
    """Refuse the dealer whom Charlie names if it answered with other shares than it committed to, and else Charlie."""
    shown = await me.receive(me.curator, Disclosed)
    disclosure = Disclosure(
        roster,
        complaints.complaints_digest(p, accused_by_holder),
        complaints.shares_digest(complaints.shares_in(shown)),
    )
    for i, name in enumerate(p.parties):
        proven = wrong == p.listed((i,)) and me.attested(name, disclosure, shown.signature)
        if proven and complaints.is_wrong_disclosure(p, greetings, accused_by_holder, i, shown):
            me.refuse(name, "shares.disclosed_otherwise", dealer=name)
    me.refuse(me.curator, "complaint.not_proven")

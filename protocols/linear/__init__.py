"""The linear protocol computes what the curator protocol of Pathak, Rane and Raj (2010) computes, by other messages:
the sum of all weights plus the noise of the party with the fewest rows. Its cost grows in proportion to the number of
parties, K. Charlie, the curator, is a helper without data.

The functionality is that of `protocols.pathak2010`, by other means: halves of sizes, one garbled search for the
smallest between P_1 and Charlie, whose labels open one row of noise, and masks that cancel. `messages.py` lists the
conversation, `ideal.py` states the security, `NOTES.md` has the proof.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from protocols.curator import CURATOR_NAME, parties_and_curator
from protocols.linear import publication, selection, setup, submission
from protocols.linear.messages import KINDS
from protocols.linear.parameters import Parameters
from protocols.linear.publication import broken_commitment
from protocols.linear.values import RECORDS, Announced, PartyInput
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR, PARTY
from protocols.runtime.session import KeptValues, Program, until

_SUBMITTED, _SELECTED = 2, 3  # stages that are over by then


async def party(me: Endpoint, p: Parameters, mine: PartyInput) -> Announced:
    """Run P_j. Inputs: its size (number of rows), weights and noise. Outputs: its published share of the noisy sum,
    and the digest of all commitments, which the message Go announced.
    """
    p.check_length(mine.w, mine.eta)
    keys = await me.stage(setup.party, p)
    if me.index:
        left = await me.stage(submission.party, p, keys, mine)
        return await me.stage(publication.party, p, mine.w, left.masks)
    left, all_rows = await me.stage(submission.first, p, keys, mine)
    summand = await me.stage(selection.first, p, all_rows, mine.w)
    return await me.stage(publication.party, p, summand, left.masks)


async def curator(me: Endpoint, p: Parameters) -> Announced:
    """Run Charlie, the curator, who has no input and is not trusted with any. His outputs are his published share of
    the noisy sum and all commitments.
    """
    keys = await me.stage(setup.curator, p)
    mine = await me.stage(submission.curator, p)
    row = await me.stage(selection.curator, p, keys, mine)
    return await me.stage(publication.curator, p, row.summand, mine.masks)


def peers(p: Parameters, name: str) -> tuple[str, ...]:
    """Return the peers of a participant: the hubs have links with all, the others with hubs and ring neighbours."""
    hubs = (p.parties[0], CURATOR_NAME)
    if name in hubs:
        return tuple(other for other in (*p.parties, CURATOR_NAME) if other != name)
    j = p.parties.index(name)
    ring = {*p.after(j), *p.before(j)}
    return (*hubs, *(p.parties[i] for i in sorted(ring)))


def unspent(p: Parameters, name: str, inputs: tuple[Any, ...], results: list[Any]) -> KeptValues:
    """Return what a state keeps after the finished stages.

    Charlie's keys, halves and rows are kept until the noise is selected, a party's size and noise until they are
    submitted; masks and summands are used to the end.
    """
    over = len(results)
    if name == CURATOR_NAME:
        keys, *left = until(over, results, _SELECTED)
        if over >= _SELECTED:
            left[0] = replace(left[0], b=(), choice_points=())
        return inputs, [keys, *left]
    agreed, mine = inputs
    if over >= _SUBMITTED:
        mine, results = replace(mine, n=0, eta=()), until(over, results, _SUBMITTED)
    if name == p.parties[0] and over >= _SELECTED:
        mine, results[1] = replace(mine, w=()), (results[1][0], None)
    return (agreed, mine), results


PROGRAM = Program(
    "linear",
    1,
    {PARTY: party, CURATOR: curator},
    KINDS,
    RECORDS,
    Parameters,
    participants=parties_and_curator,
    peers=peers,
    broken_commitment=broken_commitment,
    unspent=unspent,
)

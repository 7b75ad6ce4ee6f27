"""Sums of integer vectors over K parties: private even if Charlie and up to t of the parties are malicious, while up to
D parties drop out. If t is 0, nothing is claimed against Charlie together with a party. All members of a sum
except one can together compute what that one added to it: its numbers plus its noise.

In outline after Bonawitz et al., "Practical Secure Aggregation for Privacy-Preserving Machine Learning" (CCS 2017), and
Bell et al. (CCS 2020). `parameters.py` has the inequalities, `messages.py` lists the conversation, `setup.py`,
`sums.py` and `complete.py` hold it, `graph.py` and `neighbour_graph.py` put many parties in a sparse graph, `ideal.py`
says what it is worth, and `NOTES.md` has the theorem and its proof.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from protocols import curator as with_curator
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR, PARTY, Kind
from protocols.runtime.session import Greeting, KeptValues, Program
from protocols.secure_sum import complete, dealing, neighbour_graph, setup, sums
from protocols.secure_sum.messages import KINDS, STATEMENTS, MaskKeys, Shares
from protocols.secure_sum.parameters import SETUP, SHARES, Parameters, stage, widths
from protocols.secure_sum.publishing import broken_commitment, publish_sums
from protocols.secure_sum.values import RECORDS, Addends, Sums, Vault, join_addends


async def party(me: Endpoint, p: Parameters, mine: Addends, *later: Addends) -> Sums:
    """Run a party, P_j. Its inputs are numbers and noise for each sum. It may choose its inputs to a later sum when
    it knows the earlier sums. Its outputs are the sums, and the list of the parties in each.
    """
    mine = join_addends(p, mine, *later)
    around = neighbour_graph.party if p.D else neighbour_graph.closed_party
    vault = await me.stage(around if p.degree else setup.party, p, name=SETUP)
    if p.output == SHARES:
        mine = _known(me, p, vault, mine, 0)
        return Sums((await me.stage(complete.publisher, p, vault, mine, 0, name=stage(0), replaces=True),), ())
    one = sums.party if p.D else complete.party
    for r in range(p.R):
        mine = mine.unspent(r)  # a party holds the addends of no sum that is over
        mine = _known(me, p, vault, mine, r)
        vault = await me.stage(one, p, vault, mine, r, name=stage(r), replaces=True)
    return Sums(vault.values, vault.members)


def _known(me: Endpoint, p: Parameters, vault: Vault, mine: Addends, r: int) -> Addends:
    """Return what the party knows with its addends of sum r, which it asks for where it did not know them
    beforehand.
    """
    return mine if r < mine.count else join_addends(p, mine, me.ask(vault.values))


async def curator(me: Endpoint, p: Parameters) -> Sums:
    """Run Charlie, the untrusted curator. He has no input. His outputs are the sums and the parties in each."""
    around = neighbour_graph.curator if p.D else neighbour_graph.closed_curator
    state = await me.stage(around if p.degree else setup.curator, p, name=SETUP)
    one = sums.curator if p.D else complete.curator
    for r in range(p.R):
        state = await me.stage(one, p, state, r, name=stage(r), replaces=True)
    return await me.stage(publish_sums, p, state, replaces=True)


def participants(p: Parameters) -> dict[str, Kind]:
    """Return P_1 ... P_K and Charlie, who is not needed where masked inputs are published."""
    everybody = with_curator.parties_and_curator(p)
    return {name: kind for name, kind in everybody.items() if kind == PARTY or p.output != SHARES}


def peers(p: Parameters, name: str) -> tuple[str, ...]:
    """Return the participants that this one writes to: Charlie, and where shares are dealt the other parties, in a
    sparse graph through him.
    """
    if name != with_curator.CURATOR_NAME and (p.degree or not p.D):
        return () if p.output == SHARES else (with_curator.CURATOR_NAME,)
    return tuple(other for other in participants(p) if other != name)


def closed(p: Parameters, name: str, stage: str) -> tuple[str, ...]:
    """Return the parties to which the link is closed after this stage: all after set-up, or later states would open all
    shares that were ever sent, those of sums that are over included.
    """
    if p.degree or stage != SETUP or name not in p.parties:
        return ()
    return tuple(other for other in p.parties if other != name)


def unspent(p: Parameters, name: str, inputs: tuple[Any, ...], results: list[Any]) -> KeptValues:
    """Return the inputs without the addends of sums that are over; each stage's result replaces the one before."""
    over, (agreed, *given) = len(results) - 1, inputs
    before = accumulate((addends.count for addends in given), initial=0)
    return (agreed, *(addends.unspent(over - first) for addends, first in zip(given, before, strict=False))), results


PROGRAM = Program(
    "secure_sum",
    3,
    {PARTY: party, CURATOR: curator},
    KINDS,
    RECORDS,
    Parameters,
    participants=participants,
    peers=peers,
    greeting=Greeting(MaskKeys, dealing.draw_greeting_secrets, dealing.make_greeting),
    statements=STATEMENTS,
    broken_commitment=broken_commitment,
    widths=widths,
    closed=closed,
    unspent=unspent,
    doubted=(Shares,),
)

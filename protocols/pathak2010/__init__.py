"""The curator protocol of Pathak, Rane and Raj, "Multiparty Differential Privacy via Aggregation of Locally Trained
Classifiers" (NIPS 2010), section 3.2. Parties with a model each compute the sum of all weights plus the noise of the
party with the fewest rows. Charlie, the curator, is a helper without data.

One file per stage, the paper's letters and step numbers in each; `messages.py` lists the conversation, `ideal.py`
says what it is worth, and `NOTES.md` numbers each departure from the paper as [N1], [N2], ...
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from protocols.arithmetic.permutation import Permutation
from protocols.crypto import dgk, paillier
from protocols.curator import CURATOR_NAME, parties_and_curator
from protocols.pathak2010 import setup, stage1, stage2, stage3
from protocols.pathak2010.messages import KINDS
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import RECORDS, Announced, PartyInput
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import CURATOR, PARTY
from protocols.runtime.session import KeptValues, Program, until

_SELECTED, _END = 4, 5  # stages of Charlie's that are over when the noise is selected, and in the end


async def party(me: Endpoint, p: Parameters, mine: PartyInput) -> Announced:
    """Run P_j. Inputs: its size (number of rows), weights and noise. Outputs: its published share of the noisy sum,
    and all commitments.
    """
    p.check_length(mine.w, mine.eta)
    keys = await me.stage(setup.party, p)
    await me.stage(stage1.party, p, keys, mine.n)
    psi = await me.stage(stage2.party, p, keys, mine.eta)
    return await me.stage(stage3.party, p, keys, mine.w, psi)


async def curator(me: Endpoint, p: Parameters) -> Announced:
    """Run Charlie, the curator, who has no input and is not trusted with any. His outputs are his published share of
    the noisy sum and all commitments.
    """
    keys = await me.stage(setup.curator, p)
    halves = await me.stage(stage1.curator, p, keys)
    smallest = await me.stage(stage1.smallest, p, keys, halves)
    await me.stage(stage2.curator, p, keys, halves, smallest)
    return await me.stage(stage3.curator, p, keys)


def unspent(p: Parameters, name: str, inputs: tuple[Any, ...], results: list[Any]) -> KeptValues:
    """Return what a state keeps after the finished stages.

    A party's size is kept until stage 1 is over, its noise until stage 2 is, and so are Charlie's halves, his
    permutation and the place that he found; keys and weights are used to the end.
    """
    over = len(results)
    if name == CURATOR_NAME:
        return inputs, until(over, results, _END, _SELECTED, _SELECTED)
    agreed, mine = inputs
    return (agreed, replace(mine, n=0 if over > 1 else mine.n, eta=() if over > 2 else mine.eta)), results


PROGRAM = Program(
    "pathak2010",
    2,
    {PARTY: party, CURATOR: curator},
    KINDS,
    (
        *RECORDS,
        Permutation,
        paillier.PublicKey,
        paillier.PrivateKey,
        paillier.Ciphertext,
        dgk.DgkPublicKey,
        dgk.DgkPrivateKey,
    ),
    Parameters,
    participants=parties_and_curator,
    broken_commitment=stage3.broken_commitment,
    unspent=unspent,
)

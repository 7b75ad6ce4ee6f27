"""`selective-failure`: in the linear protocol a P_1 that locks some rows wrongly learns from Charlie's refusal.

P_1 follows the protocol but for the locks of some places. If the smallest party is among them no row opens, and Charlie
refuses. So P_1 has the answer to a yes-or-no question of its choice about all sizes. If the session is simply repeated,
P_1 learns the next answer.
"""

from __future__ import annotations

from dataclasses import replace

from protocols import linear
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.comparison.garbled import Extension, Tables, split_parts
from protocols.crypto import garbling
from protocols.errors import PeerError
from protocols.linear import masks, publication, selection, setup, submission
from protocols.linear import party as follows
from protocols.linear.messages import LockedRows
from protocols.linear.parameters import Parameters
from protocols.linear.values import Announced, Gathered, PartyInput
from protocols.pathak2010.noisy_sum import SIZE_BITS
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.message import PARTY
from protocols.runtime.session import Program
from smc_dp.attacks.attack import StepCode, Variant, describe_attack
from smc_dp.attacks.known_noise import make_first_largest
from smc_dp.attacks.sessions import PartySecret, draw_secrets, linear_variant, run_program

_PARTIES = 4
_SESSIONS = (_PARTIES - 1).bit_length()


def spoil_locks(k: int) -> Program:
    """Return the program whose P_1 locks wrongly every row whose place j has bit number k set."""

    async def first(me: Endpoint, p: Parameters, gathered: Gathered, w: Vector) -> Vector:
        s = p.weights.random_vector(p.dimension, me.rng)
        ranks = Permutation.random(p.K, me.rng).images
        u = (await me.receive(me.curator, Extension)).u
        made = garbling.garble(me.session_id, gathered.choice, u, gathered.a, ranks, SIZE_BITS)
        locks = tuple(
            garbling.Lock(me.rng.bytes(len(lock.tag)), lock.key) if j >> k & 1 else lock
            for j, lock in enumerate(made.locks)
        )
        rows = [
            masks.pack_row(p, epk, p.weights.add_vectors(row, s))
            for epk, row in zip(gathered.epks, gathered.rows, strict=True)
        ]
        for part in split_parts(made.tables):
            me.send(me.curator, Tables(part))
        for part in split_parts(garbling.lock(replace(made, locks=locks), rows)):
            me.send(me.curator, LockedRows(part))
        return p.weights.subtract_vectors(w, s)

    async def party(me: Endpoint, p: Parameters, mine: PartyInput) -> Announced:
        if me.index:
            return await follows(me, p, mine)
        keys = await me.stage(setup.party, p)
        left, gathered = await me.stage(submission.first, p, keys, mine)
        summand = await me.stage(first, p, gathered, mine.w, name="selection")
        return await me.stage(publication.party, p, summand, left.masks)

    return replace(linear.PROGRAM, roles={**linear.PROGRAM.roles, PARTY: party})


def join_refusals(refusals: list[bool]) -> int:
    """Return P_1's answer, from whether Charlie refused in each session."""
    return sum(refused << bit for bit, refused in enumerate(refusals))


def is_refused(program: Program, drawn: list[PartySecret], key_bits: int, rng: Stream) -> bool:
    """Return whether a session of these ends with Charlie's refusal."""
    try:
        run_program(program, drawn, key_bits, rng)
    except PeerError:
        return True
    return False


def _attacked(name: str, about: str, *, spoils: bool) -> Variant:
    def trial(rng: Stream, key_bits: int) -> bool:
        drawn = make_first_largest(draw_secrets(_PARTIES, 1, rng))
        refusals = [
            is_refused(spoil_locks(bit) if spoils else linear.PROGRAM, drawn, key_bits, rng.fork(f"session {bit}"))
            for bit in range(_SESSIONS)
        ]
        return join_refusals(refusals) == min(range(_PARTIES), key=lambda j: drawn[j].n)

    code: tuple[StepCode, ...] = (spoil_locks,) if spoils else (selection.first,)
    return linear_variant(name, about, trial, malicious=spoils, code=code)


ATTACK = describe_attack(
    "selective-failure",
    variants=(
        _attacked("spoilt locks", "P_1 locks some rows wrongly", spoils=True),
        _attacked("honest garbling", "P_1 garbles and locks what is due", spoils=False),
    ),
    chance=1 / (_PARTIES - 1),
    uses_keys=False,
    sessions=_SESSIONS,
    parties=_PARTIES,
)

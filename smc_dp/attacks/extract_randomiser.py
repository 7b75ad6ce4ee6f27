"""`extract-randomiser`: blinding by a plaintext leaves a ciphertext recognisable to all who hold its secret key.

A Paillier ciphertext (1 + m n) x^n mod n^2 reduces mod n to x^n, whatever m is; who knows phi(n) takes the n-th root.
If Charlie multiplies r in as 1 + r n, what comes back to a party has the randomiser x with which another party sent
it, and so the parties together see pi_2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import factorial
from types import MappingProxyType

from protocols import pathak2010
from protocols.arithmetic import modular
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.crypto.paillier import Ciphertext, PrivateKey, PublicKey
from protocols.pathak2010 import as_published, stage1
from protocols.pathak2010.as_published import PlainlyBlinded, PrintedSlot
from protocols.pathak2010.messages import Blinded, Slot
from protocols.pathak2010.values import Halves, PartyKeys
from protocols.runtime.claims import message_from, stage_result
from protocols.runtime.session import Program
from smc_dp.attacks.attack import AttackOutcome, StepCode, Variant, describe_attack
from smc_dp.attacks.sessions import draw_secrets, run_program

_PARTIES = 7
_CODE: Mapping[str, tuple[StepCode, ...]] = MappingProxyType(
    {
        as_published.PLAIN_BLINDING.name: (
            as_published.blind_and_permute,
            as_published.plain_stage1_curator,
            as_published.plain_product,
        ),
        pathak2010.PROGRAM.name: (stage1.curator, PublicKey.blind),
    }
)
"""What multiplies r in."""


def find_randomiser(key: PrivateKey, c: Ciphertext) -> int:
    """Return the x with c = (1 + m n) x^n mod n^2."""
    n, phi = key.public.n, (key.p - 1) * (key.q - 1)
    return modular.power(c.value % n, modular.invert(n, phi), n)


def guess_pi2(xi: PrivateKey, sent: Sequence[Ciphertext], returned: Sequence[Ciphertext], rng: Stream) -> Permutation:
    """Return the parties' answer for pi_2, from what each sent in step 1.3 and got in step 1.5, or a guess."""
    came = [find_randomiser(xi, c) for c in sent]
    back = [find_randomiser(xi, c) for c in returned]
    if sorted(came) != sorted(back):
        return Permutation.random(len(sent), rng)
    return Permutation(tuple(back.index(x) for x in came))


def _attacked(program: Program, name: str, how: str) -> Variant:
    sends: type[Slot | PrintedSlot] = Slot if program is pathak2010.PROGRAM else PrintedSlot
    returns: type[Blinded | PlainlyBlinded] = PlainlyBlinded if program is as_published.PLAIN_BLINDING else Blinded

    def trial(rng: Stream, key_bits: int) -> bool:
        finished = run_program(program, draw_secrets(_PARTIES, 1, rng), key_bits, rng)
        parties, charlie = finished.parameters.parties, finished.charlie
        xi: PrivateKey = stage_result(finished.party(0), PartyKeys).xi
        # A view has no copy of what its owner sent: what the parties sent is read where it arrived.
        sent = [message_from(charlie, name, sends).a for name in parties]
        returned = [message_from(finished.views[name], charlie.name, returns).a for name in parties]
        pi2: Permutation = stage_result(charlie, Halves).pi2
        return guess_pi2(xi, sent, returned, rng) == pi2

    outcome: AttackOutcome = "succeeds" if program is as_published.PLAIN_BLINDING else "fails"
    about = f"the protocol as published,{how}" if how else "the hardened protocol"
    return Variant(name, "curator protocol", about, outcome, trial, code=_CODE.get(program.name, ()))


ATTACK = describe_attack(
    "extract-randomiser",
    variants=(
        _attacked(as_published.PLAIN_BLINDING, "as published, r as a plaintext", " with r as a plaintext factor"),
        _attacked(as_published.PROGRAM, "as published, r encrypted", " with a fresh encryption of r"),
        _attacked(pathak2010.PROGRAM, "hardened", ""),
    ),
    chance=1 / factorial(_PARTIES),  # of naming one permutation
    parties=_PARTIES,
)

"""`recover-exponent`: a product that is not re-randomised reveals its exponent to a search.

In step 2.3 P_j raises zeta(v_j), which every party has, to the power of its noise. As published, the result is a
function of the two, and noise is a small number: baby steps and giant steps (Shanks 1971) find it in the square root of
its range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from protocols import pathak2010
from protocols.arithmetic import modular
from protocols.arithmetic.rng import Stream
from protocols.crypto.paillier import Ciphertext, PublicKey
from protocols.curator import CURATOR_NAME
from protocols.pathak2010 import as_published, stage2
from protocols.pathak2010.as_published import PrintedSelected
from protocols.pathak2010.messages import Indicator, Selected
from protocols.pathak2010.values import PartyKeys
from protocols.runtime.claims import View, message_from, stage_result
from protocols.runtime.session import Program
from smc_dp.attacks.attack import StepCode, Variant, describe_attack
from smc_dp.attacks.sessions import PartySecret, run_program, variant_names
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.pathak2010 import SmallestNoise

_SIZES = (300, 200, 100)
RING_BITS = 64
_GRID = Grid(22, RING_BITS)
RANGE_BITS = 24  # noise of the paper's scale for 100 rows exceeds 2^24 steps of this grid with probability < 2^-80
_KEY = (1 << 64) - 1  # so much of a power stands for it in the table


def recover_noise(view: View, victim: str, kind: type[PrintedSelected] | type[Selected]) -> int | None:
    """Return the noise of the victim from another party's view; None when the search ends empty."""
    keys: PartyKeys = stage_result(view, PartyKeys)
    parties = view.inputs[0].parties
    v = keys.pi1.inverse(message_from(view, CURATOR_NAME, Indicator).u)[parties.index(victim)]
    psi = message_from(view, victim, kind).psi[0]
    return search_exponent(v, psi)


def search_exponent(base: Ciphertext, power: Ciphertext) -> int | None:
    """Return the e with |e| <= 2^RANGE_BITS and base^e = power, or base^(e mod M) = power for noise in Z_M."""
    modulus = base.n**2
    babies, back = baby_steps(base.value, modulus)
    in_ring = modular.multiply(power.value, modular.power(base.value, -(1 << RING_BITS), modulus), modulus)
    for target in (power.value, in_ring):
        e = giant_steps(base.value, target, modulus, babies, back)
        if e is not None:
            return e
    return None


def baby_steps(base: int, modulus: int) -> tuple[Mapping[int, int], int]:
    """Return base^i -> i for i below 2^(RANGE_BITS/2 + 1), and the inverse of the next power: a giant step back."""
    babies, step = {}, 1  # of 2^(RANGE_BITS + 1) numbers; so about half as many giant steps remain
    for i in range(1 << (RANGE_BITS // 2 + 1)):
        babies[step & _KEY] = i
        step = step * base % modulus
    return babies, modular.invert(step, modulus)


def giant_steps(base: int, power: int, modulus: int, babies: Mapping[int, int], back: int) -> int | None:
    """Return the e with |e| <= 2^RANGE_BITS and base^e = power; None if there is none."""
    lowest = -(1 << RANGE_BITS)
    giant = power * modular.power(base, -lowest, modulus) % modulus
    for start in range(lowest, -lowest + 1, len(babies)):
        i = babies.get(giant & _KEY)
        if i is not None and modular.power(base, start + i, modulus) == power:
            return start + i
        giant = giant * back % modulus
    return None


def _noise_as_published(n: int, rng: Stream) -> Sequence[int]:
    """Draw the noise of a party of n rows in one dimension at epsilon = 1/2 and lambda = 1: noise of the mean."""
    return (
        SmallestNoise(1, 1, Fraction(1, 2), Fraction(1), "paper", "knorm", _GRID, PUBLIC_TAU)
        .distribution(n)
        .sample(rng)
    )


def _attacked(program: Program, kind: type[PrintedSelected] | type[Selected]) -> Variant:
    def trial(rng: Stream, key_bits: int) -> bool:
        secrets = [PartySecret(n, [7], _noise_as_published(n, rng)) for n in _SIZES]
        finished = run_program(program, secrets, key_bits, rng)
        return recover_noise(finished.party(0), "P3", kind) == secrets[2].eta[0]

    is_as_published = program is as_published.PROGRAM
    code: tuple[StepCode, ...] = (stage2.party, PublicKey.refresh)
    if is_as_published:
        code = (as_published.stage2_party, as_published.scale_signed)
    return Variant(*variant_names(program), "succeeds" if is_as_published else "fails", trial, code=code)


ATTACK = describe_attack(
    "recover-exponent",
    variants=(_attacked(as_published.PROGRAM, PrintedSelected), _attacked(pathak2010.PROGRAM, Selected)),
    parties=len(_SIZES),
    table_bits=RANGE_BITS // 2 + 1,
)

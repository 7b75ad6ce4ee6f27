"""`charlie-and-first`: in the linear protocol Charlie and P_1 together read every size, every noise and the exact sum.

P_1 has one half of each size and every row, Charlie the other half and the key of all rows: both follow the protocol,
and compare what they were sent. The claim of the protocol is about coalitions that lack one of the two.
"""

from __future__ import annotations

from functools import partial

from protocols import linear
from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.linear import submission
from protocols.linear.limitations import Everything, everything_of_hubs
from protocols.linear.parameters import Parameters
from protocols.runtime.claims import View
from smc_dp.attacks.attack import StepCode, Variant, describe_attack
from smc_dp.attacks.sessions import FinishedRun, PartySecret, draw_secrets, run_program, variant_names

PARTIES, DIMENSION = 5, 2
_CODE: tuple[StepCode, ...] = (submission.party, submission.curator)
"""Code that keeps the halves apart."""


def read_everything(p: Parameters, charlie: View, party: View, S: Vector) -> Everything | None:
    """Return the secrets of all parties that these two find; None where they lack halves and rows of the others."""
    try:
        return everything_of_hubs(p, charlie, party, S)
    except ValueError:  # a message that the party never had
        return None


def true_secrets(seen: FinishedRun, drawn: list[PartySecret]) -> Everything:
    """Return every size, every noise, and the sum of all weights."""
    ring = seen.ring
    w, eta = ([ring.vector(x) for x in vectors] for vectors in zip(*((s.w, s.eta) for s in drawn), strict=True))
    return Everything(tuple(s.n for s in drawn), tuple(eta), ring.add_vectors(*w))


def _trial(rng: Stream, key_bits: int, *, first: bool) -> bool:
    drawn = draw_secrets(PARTIES, DIMENSION, rng)
    seen = run_program(linear.PROGRAM, drawn, key_bits, rng)
    other = seen.party(0 if first else 1 + rng.below(PARTIES - 1))
    return read_everything(seen.parameters, seen.charlie, other, seen.released) == true_secrets(seen, drawn)


def other_party_variant(name: str, code: tuple[StepCode, ...] = ()) -> Variant:
    """Return the variant of Charlie with a party that is not P_1, which fails."""
    _, target, about = variant_names(linear.PROGRAM)
    return Variant(name, target, f"{about}, with any party but P_1", "fails", partial(_trial, first=False), code=code)


def _with_first() -> Variant:
    _, target, about = variant_names(linear.PROGRAM)
    trial = partial(_trial, first=True)
    return Variant("Charlie with P_1", target, f"{about}, with P_1", "succeeds", trial, no_fix_yet=True, code=_CODE)


ATTACK = describe_attack(
    "charlie-and-first", variants=(_with_first(), other_party_variant("Charlie with another", _CODE)), uses_keys=False
)

"""Security of the comparison: the holder learns one bit, the chooser nothing.

Theorem. Let both roles follow the protocol. The holder's view of each comparison can be made from its share and the
sign of the difference, up to 2**-(t/2) for each of l + 1 ciphertexts; the chooser's from its share alone, up to the
advantage against DGK.

Proof sketch. *Holder*: at most one c_i is zero, and delta_a decides whether one is; it is a coin that nothing else
depends on but delta, so (zero or none, delta) is a uniform pair given their exclusive or, the answer. Factors make
every other c_i uniform on Z_u^*, a permutation the place of the zero; new powers of h hide what the ciphertexts were
made of.
*Chooser*: it reads ciphertexts under a key that it does not have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

from protocols.arithmetic.ring import Ring, Vector
from protocols.arithmetic.rng import Stream
from protocols.comparison import steps
from protocols.comparison.parameters import Comparisons
from protocols.comparison.signs import CHOOSER, HOLDER
from protocols.runtime.claims import Attack, Claim, Inputs, Limitation, Model, Readings, Trials, Unknown, View

DRY_RUN_KEY_BITS = 256


def functionality(x: int, y: int, flip: int) -> int:
    """Return [x <= y] xor flip, to the holder alone."""
    return int(x <= y) ^ flip


def signs(p: Comparisons, chooser: Vector, holder: Vector) -> Vector:
    """Return the top bits of the sums of both roles' shares, to the holder alone."""
    return tuple(p.ring.add(*shares) >> p.compared_bits for shares in zip(chooser, holder, strict=True))


def simulate_holder(answer: int, compared_bits: int, rng: Stream) -> Readings:
    """Return all that the holder reads, made from the answer alone.

    Terms are uniform on Z_u^*, one of them at a uniform place is zero or none, and delta fits the answer.
    """
    zero, u = rng.bits(1), steps.plaintext_modulus(compared_bits)
    terms = [1 + rng.below(u - 1) for _ in range(compared_bits + 1)]
    if zero:
        terms[rng.below(len(terms))] = 0
    return {"Differences.c": terms, "Differences.delta": [answer ^ zero]}


def simulate_chooser() -> Readings:
    """Return the readings of the chooser, which reads no numbers."""
    return {}


def simulate_signs(p: Comparisons, holder: Vector, negative: Vector, rng: Stream) -> Readings:
    """Return all that the holder reads in all comparisons, made from its shares and the signs."""
    found: dict[str, list[int]] = {"Differences.c": [], "Differences.delta": []}
    for share, sign in zip(holder, negative, strict=True):
        _, top = steps.holder_half(p.ring, share)
        for place, values in simulate_holder(steps.is_negative(sign, top), p.compared_bits, rng).items():
            found[place] += values
    return found


def dry_run_parameters(p: Comparisons) -> Comparisons:
    """Return the same comparisons with the shortest keys."""
    return replace(p, key_bits=DRY_RUN_KEY_BITS)


def inputs(p: Comparisons, unknown: Unknown) -> dict[str, tuple[Any, ...]]:
    """Return the shares of both roles, each an unknown."""
    places = range(1, p.comparisons + 1)
    return {
        role: (p, tuple(unknown(f"D_{symbol}({i})", p.bits) for i in places))
        for role, symbol in ((CHOOSER, "p"), (HOLDER, "c"))
    }


def sample(K: int) -> Comparisons:
    """Return two comparisons of small size; there are two roles, whatever K is."""
    return Comparisons(2, 3, DRY_RUN_KEY_BITS)


def gives(p: Comparisons, given: Inputs) -> Mapping[str, Vector | None]:
    """Return the output of each role."""
    return {CHOOSER: None, HOLDER: signs(p, given[CHOOSER][1], given[HOLDER][1])}


MODEL = Model(
    dry_run_parameters, inputs, (), lambda p: (), sample, lambda p, j: {}, matrix_file="comparison/matrix.txt"
)

# Trials of the claim.

_TRIED = Comparisons(16, 4, DRY_RUN_KEY_BITS)


def claimed(p: Comparisons, names: tuple[str, ...]) -> bool:
    """Tell whether the coalition is one role alone."""
    return names in ((CHOOSER,), (HOLDER,))


def worlds(p: Comparisons) -> tuple[Inputs, Inputs]:
    """Return two worlds: differences of 1 and -1, and the largest ones of either sign.

    The holder's shares have the same top bits in both.
    """
    M = p.ring.modulus
    one = ([1, M - 1], [0, 0])
    other = ([M // 4 - 2, M // 2 - M // 8], [M // 4 + 1, M // 8])
    return _alternately(p, *one), _alternately(p, *other)


def _alternately(p: Comparisons, chosen: Sequence[int], held: Sequence[int]) -> Inputs:
    both = (tuple(shares[i % 2] for i in range(p.comparisons)) for shares in (chosen, held))
    return {role: (p, shares) for role, shares in zip((CHOOSER, HOLDER), both, strict=True)}


def simulation(p: Comparisons, rng: Stream) -> Callable[[tuple[str, ...]], Readings]:
    """Return the simulators for one execution.

    In both worlds the holder gets the same signs, under the same top bits.
    """
    world, _ = worlds(p)
    held, negative = world[HOLDER][1], gives(p, world)[HOLDER] or ()
    return lambda names: simulate_signs(p, held, negative, rng) if names == (HOLDER,) else simulate_chooser()


def condensed(p: Comparisons, found: Readings) -> Readings:
    """Return the readings with the opened terms condensed.

    Terms are replaced by the frequency of each value and of each quotient of neighbours; the number of common places of
    two comparisons; and for each comparison the place of the zero (after the last if there is none), whether there is
    one, and the answer.
    """
    if "Differences.c" not in found:
        return found
    size, u = p.compared_bits + 1, p.u
    chunks = [found["Differences.c"][i * size : (i + 1) * size] for i in range(p.comparisons)]
    quotients = [a * pow(b, -1, u) % u for chunk in chunks for a, b in pairwise(chunk) if a and b]
    zeros = [int(0 in chunk) for chunk in chunks]
    common = sum(a == b for one, other in combinations(chunks, 2) for a, b in zip(one, other, strict=True))
    return {
        **{place: values for place, values in found.items() if place != "Differences.c"},
        "values": _counts(found["Differences.c"], range(u)),
        "quotients": _counts(quotients, range(1, u)),
        "where": [chunk.index(0) if 0 in chunk else size for chunk in chunks],
        "common": [common],
        "zeros": zeros,
        "answers": [delta ^ zero for delta, zero in zip(found["Differences.delta"], zeros, strict=True)],
    }


def _counts(values: Sequence[int], cells: range) -> list[int]:
    counted = Counter(values)
    return [counted[cell] for cell in cells]


# Limitations.


def half_of_each(p: Comparisons, views: tuple[View, ...], published: Mapping[str, Any]) -> list[int]:
    """Return the start of the half of the ring with the chooser's share, as the holder finds it."""
    (view,) = views
    _, shares = view.inputs
    return _halves(p.ring, shares, view.results[-1])


def _halves(ring: Ring, shares: Vector, negative: Vector) -> list[int]:
    return [ring.subtract(sign << (ring.bits - 1), share) for share, sign in zip(shares, negative, strict=True)]


def _true_halves(p: Comparisons, given: Inputs, names: tuple[str, ...]) -> list[int]:
    held = given[HOLDER][1]
    return _halves(p.ring, held, signs(p, given[CHOOSER][1], held))


def differences_of_both(p: Comparisons, views: tuple[View, ...], published: Mapping[str, Any]) -> Vector:
    """Return the differences, from both roles' shares."""
    return p.ring.add_vectors(*(view.inputs[1] for view in views))


def _true_differences(p: Comparisons, given: Inputs, names: tuple[str, ...]) -> Vector:
    return p.ring.add_vectors(given[CHOOSER][1], given[HOLDER][1])


LIMITATIONS = (
    Limitation(
        "A malicious holder whose key or bits are not made as the protocol says may learn more of the chooser's input."
    ),
    Limitation(
        "A sign tells the holder in which half of the ring, counted from its own share, the chooser's share lies. "
        "This reveals something about a share that is not uniform, or that is compared repeatedly.",
        Attack(lambda p: ((HOLDER,),), half_of_each, _true_halves),
    ),
    Limitation(
        "Chooser and holder together know the difference, and not just its sign.",
        Attack(lambda p: ((CHOOSER, HOLDER),), differences_of_both, _true_differences),
    ),
)
CLAIM = Claim(
    simulators={"the holder": simulate_signs, "the chooser": simulate_chooser},
    limitations=LIMITATIONS,
    trials=Trials(claimed, simulation, lambda p: _TRIED, worlds, condensed, sessions=(_TRIED,)),
)

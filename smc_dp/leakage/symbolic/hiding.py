"""Parts of a coalition's view that the others' coins do not hide.

A coin that is uniform in the ring of a number, or much longer than the rest of it, hides the rest. Everything else is
given to the coalition: what then lies in the span is called a hint, and no measure of it is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

from smc_dp.leakage.symbolic.form import Form, Symbol, symbols_of
from smc_dp.leakage.symbolic.views import SymbolicView

HIDING_BITS = 40  # a coin that is longer than what it hides by this much is taken for uniform


def weaken_view(view: SymbolicView) -> SymbolicView | None:
    """Return the view with all that its coins do not hide; None where there is nothing of the kind.

    These are coins too short for what they are added to, what a coin's range or a part of a number tells, and exponents
    that can be narrowed down by trying.
    """
    added = [*view.hints, *(Form.of(s) for s in sorted(_too_short(view), key=lambda s: s.name))]
    given = [*view.given, *added]
    more = view.with_more(added) if added else view
    telling = ((s.name, s, s.about) for s in symbols_of(given) - view.known if s.about is not None)
    ranges = [about for _, s, about in sorted(telling) if more.spans(Form.of(s))]
    if not added and not ranges:
        return None
    with_ranges = more.with_more(ranges)
    # A hint on a difference is one on that of what its numbers begin with.
    carried = view.trace.carried if ranges else ()
    differences = [plain for whole, plain in carried if with_ranges.spans(whole)]
    return with_ranges.with_more(differences) if differences else with_ranges


def _too_short(view: SymbolicView) -> set[Symbol]:
    """Return the unknown coins that do not hide what they are added to.

    Number after number, a coin that hides the rest of the number is taken out of those that follow by subtracting. If
    there is one for each number, then all numbers together are uniform (nearly, where a coin is just much longer than
    the rest): from the last to the first, each has a coin of its own that those after it do not have. The rest of a
    number includes what others know of it, for an observer of all messages may still ask which one it is.
    """
    pivots: dict[Symbol, Form] = {}
    weak: set[Symbol] = set()
    for number in view.numbers:
        rest = _without(pivots, number)
        coins = [s for s in rest.terms if s not in view.known and s.kind == "coin"]
        hiding = next((s for s in sorted(coins, key=lambda s: s.high) if _hides(s, rest)), None)
        if hiding is None:
            weak.update(coins)
        else:
            pivots[hiding] = rest
    return weak


def _without(pivots: Mapping[Symbol, Form], number: Form) -> Form:
    """Subtract multiples of the numbers with pivots until no pivot is left; keep the ring if all can be reduced."""
    while (pivot := next((s for s in pivots if s in number.terms), None)) is not None:
        other = pivots[pivot]
        terms = dict(number.terms)
        factor = terms[pivot] * other.terms[pivot]  # a pivot has the coefficient 1 or -1
        for s, c in other.terms.items():
            terms[s] = terms.get(s, 0) - factor * c
        modulus = number.modulus if number.modulus and other.wrap % number.modulus == 0 else None
        kept = {s: c for s, c in terms.items() if c}
        number = Form(number.constant, kept, 0, 0, modulus, gcd(number.wrap, other.wrap))
    return number


def _hides(coin: Symbol, number: Form) -> bool:
    """Return whether the coin makes the number uniform: exactly in its ring, or by being longer by `HIDING_BITS`."""
    if abs(number.terms[coin]) != 1:
        return False  # of a number with k times a coin the remainder mod k shows
    if coin.about is not None:
        return False  # it moves with what it is about
    modulus = number.modulus
    if modulus and (coin.high + 1) % modulus == 0:
        return True
    rest = sum(abs(c) * (s.high - s.low) for s, c in number.terms.items() if s is not coin)
    return coin.high >= (min(rest, modulus) if modulus else rest) << HIDING_BITS

"""Rules of a plan: the parties to leave out, the least number of rows of another one, and the method to take.

The rules look at figures alone, so the same figures give the same recommendation; README.md has them in words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from smc_dp.core.errors import Fault, InputFault
from smc_dp.methods.expected_accuracy import ExpectedAccuracy
from smc_dp.planning.candidate import Candidate
from smc_dp.privacy.pathak2010 import LARGEST_N

MATTERS = 0.01
"""Accuracy loss below which it makes no difference whether a party is left out."""
TIED = 0.02
"""Accuracy loss by which methods may differ and are still as good as each other."""
PREFERRED = ("newton", "gd", "ofaa", "wsum", "wsum_ar", "ofpa", "prr_mean")
"""Methods in the order in which equals are preferred, by what has to be public or well guessed: for newton nothing, for
gd the number of all rows, for ofaa a polynomial in place of the loss, for the others a lambda.
"""
LARGEST_SUM = 1 << 19
"""Most numbers in one sum of a recommended method: the curvature of about 1,000 columns."""
HOPELESS = 0.3
"""Accuracy loss from which on it is better not to begin; where it is so either way, the signal decides who stays."""
LITTLE = 0.05
"""Accuracy loss for which a plan says how many rows would be needed."""
SIGNAL_OF_FEATURES = 250
"""Signal, with Fourier features among the columns, from which on these lost .01 at most beside a linear model."""
FEWEST_OFFERED, MOST_OFFERED, OFFERED_STEP = 64, 512, 32
SMALLEST, NOBODY = "the smallest party", "nobody"
"""Participant that knows all of the noise."""


def is_spoilt_by(more: ExpectedAccuracy, fewer: ExpectedAccuracy) -> bool:
    """Return whether more parties do worse than fewer: more may be lost, or where all may be, the signal falls."""
    if more.signal >= fewer.signal:
        return False
    return more.interval.high > fewer.interval.high + MATTERS or fewer.interval.high >= HOPELESS


def parties_to_leave_out(candidate: Candidate) -> tuple[int, ...]:
    """Return the places of the parties that do the others harm: as few of the smallest as it takes; at least two stay.

    Where the noise does not follow from the smallest party's rows, nobody's rows do harm.
    """
    if not candidate.spec.smallest_sets_noise:
        return ()
    sizes = candidate.circumstances.sizes
    order = sorted(range(len(sizes)), key=lambda j: sizes[j], reverse=True)
    kept = [order[:K] for K in range(len(sizes), candidate.least_parties - 1, -1)]
    found = [candidate.expected_with([sizes[j] for j in places]) for places in kept]
    best = max(found, key=lambda accuracy: accuracy.signal)
    enough = next(places for places, accuracy in zip(kept, found, strict=True) if not is_spoilt_by(accuracy, best))
    return tuple(sorted(order[len(enough) :]))


def least_rows(candidate: Candidate) -> int | None:
    """Return the least number of rows with which one more party does no harm; None where no number is enough."""
    if not candidate.spec.smallest_sets_noise:
        return 1
    sizes = candidate.circumstances.sizes
    now = candidate.expected

    def harms(n: int) -> bool:
        return is_spoilt_by(candidate.expected_with([*sizes, n]), now)

    return _first_without(harms, LARGEST_N)


def rows_needed(candidate: Candidate) -> int | None:
    """Return the number of all rows, in these proportions, that loses `LITTLE` at most; None where none does."""
    sizes = candidate.circumstances.sizes

    def times(percent: int) -> list[int]:
        return [-(-n * percent // 100) for n in sizes]

    def loses(percent: int) -> bool:
        return candidate.expected_with(times(percent)).interval.high > LITTLE

    # At the highest percentage the largest party has `LARGEST_N` rows, the most that a run takes.
    percent = _first_without(loses, 100 * LARGEST_N // max(sizes))
    return None if percent is None else sum(times(percent))


def features_to_offer(candidate: Candidate) -> int | None:
    """Return the largest number of Fourier features that leaves the signal that they need; None where few do.

    The signal falls with the root of the columns, features among them. `OFFERED_STEP` is the step of the numbers.
    """
    if not hasattr(candidate.method, "features"):
        return None
    d = candidate.circumstances.dimension
    most = int(d * (candidate.expected.signal / SIGNAL_OF_FEATURES) ** 2) - d
    found = min(MOST_OFFERED, most // OFFERED_STEP * OFFERED_STEP)
    return found if found >= FEWEST_OFFERED else None


def _first_without(refuses: Callable[[int], bool], high: int) -> int | None:
    """Return the first number up to `high` that is not refused, by bisection; None where `high` is refused."""
    low = 1
    if refuses(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if refuses(middle) else (low, middle)
    return low


def eligible(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that protect records; of these those whose noise nobody knows and that tolerate malicious
    participants; of these those without a lambda. A step that would leave none is left out.

    A lambda would have to suit rows that nobody may look at. With one that is too large little is lost to noise,
    because there is little to lose: the accuracy interval would prefer it.
    """
    found = [one for one in candidates if one.method.protects == "record" and largest_sum(one) <= LARGEST_SUM]
    found = [one for one in found if one.malicious is not None and not one.spec.smallest_sets_noise] or found
    return [one for one in found if not hasattr(one.method, "lam")] or found


def recommend(candidates: Sequence[Candidate]) -> Candidate | None:
    """Return the eligible candidate that may lose least, of equals the first of `PREFERRED`; None without any."""
    found = eligible(candidates)
    if not found:
        return None
    least = min(one.expected.interval.high for one in found)
    tied = [one for one in found if one.expected.interval.high <= least + TIED]
    return min(tied, key=lambda one: PREFERRED.index(one.method.name))


def recommendation_reason(best: Candidate | None, candidates: Sequence[Candidate]) -> Fault:
    """Return the rule by which this candidate is recommended."""
    if best is None:
        return InputFault("rule.none_protects_records")
    if best.malicious is None:
        return InputFault("rule.none_for_rule_breakers")
    others = tuple(one.method.name for one in eligible(candidates))
    deviating = describe_malicious(best.malicious) + " of the parties" * bool(best.malicious)
    fields = {"deviating": deviating, "methods": others, "best": best.method.name}
    return InputFault("rule.least_lost", {**fields, "tied": TIED})


def describe_malicious(parties: int | None) -> str:
    """Return the participants that may be malicious, in words."""
    if parties is None:
        return NOBODY
    return f"Charlie and any {parties}" if parties else "Charlie"


def largest_sum(candidate: Candidate) -> int:
    """Return the length of the largest sum; of another protocol the number of released values."""
    sums = getattr(candidate.spec, "sums", None)
    return candidate.spec.length if sums is None else max(sum(length for length, _ in blocks) for blocks in sums)

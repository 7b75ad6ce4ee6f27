"""The rules of a plan: which parties to leave out, from how many rows on one is worth having, which method to take.

They look at figures alone, so that whoever has the figures comes to the same advice; README.md says them in words.
"""

from __future__ import annotations

from collections.abc import Sequence

from smc_dp.core.errors import Fault, InputFault
from smc_dp.methods.expected_accuracy import Outlook
from smc_dp.planning.candidate import Candidate
from smc_dp.privacy.pathak2010 import LARGEST_N

MATTERS = 0.01
"""Of the accuracy that may be lost: less makes no difference to whether a party is left out."""
TIED = 0.02
"""Methods of which so much less or more may be lost are as good as each other."""
PREFERRED = ("newton", "gd", "ofaa", "wsum", "wsum_ar", "ofpa", "prr_mean")
"""Of equals the first: what takes least to be public or well guessed. newton nothing; gd the number of all rows; ofaa a
polynomial in place of the loss; the others a lambda."""
LARGEST_SUM = 1 << 19
"""In one sum, for a method that is advised: the curvature of about 1,000 columns."""
HOPELESS = 0.3
"""Where so much may be lost it is better not to begin; and where it is so either way, the signal decides whom to leave
out.
"""
LITTLE = 0.05
"""Of the accuracy that may be lost: for how many rows there would have to be for no more."""


SMALLEST, NOBODY = "the smallest party", "nobody"
"""Who knows all of the noise."""


def is_spoilt_by(more: Outlook, fewer: Outlook) -> bool:
    """Whether more parties do worse than fewer of them: more may be lost, or where all may be, less stands out."""
    if more.signal >= fewer.signal:
        return False
    return more.band.high > fewer.band.high + MATTERS or fewer.band.high >= HOPELESS


def parties_to_leave_out(prospect: Candidate) -> tuple[int, ...]:
    """The places of the parties that do the others harm: as few of the smallest as it takes; at least two stay.

    Where no noise follows from the smallest party's rows, nobody's rows do harm.
    """
    if not prospect.form.smallest_sets_noise:
        return ()
    sizes = prospect.circumstances.sizes
    order = sorted(range(len(sizes)), key=lambda j: sizes[j], reverse=True)
    kept = [order[:K] for K in range(len(sizes), prospect.fewest - 1, -1)]
    found = [prospect.with_rows([sizes[j] for j in places]) for places in kept]
    best = max(found, key=lambda ahead: ahead.signal)
    enough = next(places for places, ahead in zip(kept, found, strict=True) if not is_spoilt_by(ahead, best))
    return tuple(sorted(order[len(enough) :]))


def least_rows(prospect: Candidate) -> int | None:
    """The least number of rows with which one more party does these no harm; None where no number is enough."""
    if not prospect.form.smallest_sets_noise:
        return 1
    sizes = prospect.circumstances.sizes
    now = prospect.ahead

    def harms(n: int) -> bool:
        return is_spoilt_by(prospect.with_rows([*sizes, n]), now)

    low, high = 1, LARGEST_N
    if harms(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if harms(middle) else (low, middle)
    return low


def rows_needed(prospect: Candidate) -> int | None:
    """How many rows in all, in these proportions, would lose `LITTLE` at most; None where not even the most would."""
    sizes = prospect.circumstances.sizes

    def times(percent: int) -> list[int]:
        return [-(-n * percent // 100) for n in sizes]

    def loses(percent: int) -> bool:
        return prospect.with_rows(times(percent)).band.high > LITTLE

    low, high = 1, 100 * LARGEST_N // max(sizes)
    if loses(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if loses(middle) else (low, middle)
    return sum(times(low))


def eligible(prospects: Sequence[Candidate]) -> list[Candidate]:
    """Those that protect records; of them, if there are any, those whose noise nobody knows and in which somebody may
    break the rules; of these, if there are any, those without a lambda.

    A lambda would have to suit rows that nobody may look at. With one that is too large little is lost to noise,
    because there is little to lose: the band would prefer it.
    """
    found = [one for one in prospects if one.protects_records and largest_sum(one) <= LARGEST_SUM]
    found = [one for one in found if one.deviating is not None and not one.form.smallest_sets_noise] or found
    return [one for one in found if not hasattr(one.method, "lam")] or found


def recommend(prospects: Sequence[Candidate]) -> Candidate | None:
    """The method to take: of the candidates that in which the least may be lost, of equals the first of `PREFERRED`."""
    found = eligible(prospects)
    if not found:
        return None
    least = min(one.ahead.band.high for one in found)
    tied = [one for one in found if one.ahead.band.high <= least + TIED]
    return min(tied, key=lambda one: PREFERRED.index(one.method.name))


def recommendation_reason(best: Candidate | None, prospects: Sequence[Candidate]) -> Fault:
    """Return the rule by which this one is advised."""
    if best is None:
        return InputFault("rule.none_protects_records")
    if best.deviating is None:
        return InputFault("rule.none_for_rule_breakers")
    others = tuple(one.method.name for one in eligible(prospects))
    return InputFault(
        "rule.least_lost", {"deviating": describe_malicious(best.deviating), "methods": others, "tied": TIED}
    )


def describe_malicious(parties: int | None) -> str:
    """Return who may break the rules, in words."""
    if parties is None:
        return NOBODY
    return f"Charlie and any {parties}" if parties else "Charlie"


def largest_sum(prospect: Candidate) -> int:
    """How many numbers the largest sum has; of another protocol than a sum, how many are released."""
    sums = getattr(prospect.form, "sums", None)
    return prospect.form.length if sums is None else max(sum(length for length, _ in blocks) for blocks in sums)

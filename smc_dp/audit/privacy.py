"""What the stated parameters give, derived again: mechanism, sensitivity, scale, statement; and with views, the noise.

A release states its guarantee in words and one figure. Here both are made again, in exact rationals, from the public
parameters and the grid of the shares, and must come out the same. That the noise of a party follows the declared law
is a statistical check with stated error; whether the size in a view is the true one, no run can show.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

from scipy.stats import gamma

from protocols.pathak2010 import as_printed
from protocols.pathak2010.as_printed import PrintedInput
from protocols.pathak2010.values import PartyInput
from smc_dp import strict
from smc_dp.aggregation import AS_PRINTED, CURATOR, MIN_KEY_BITS, SEEDED, TEST_KEYS
from smc_dp.audit.check import Check, Outcome, failed, not_possible, passed
from smc_dp.audit.evidence import Evidence
from smc_dp.audit.stated import Stated, from_parameters
from smc_dp.errors import shown
from smc_dp.learning.solver import PUBLIC_TAU
from smc_dp.privacy.grid import ceil_sqrt
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.sensitivity import logistic_constants
from smc_dp.release import RELEASE
from smc_dp.simulation import REASONS, statement

TAIL = 1e-9  # two-sided, for the noise of one party and for that of all given parties together
_SIZES = tuple(10**k for k in range(8))  # up to the largest size that the calibration knows
_SLACK = Fraction(1, 10**12)  # a bound made with cosines may end in another digit on another machine


def _mechanism(evidence: Evidence, found: Stated) -> Outcome:
    """D(n) and the scale for sizes over the whole range; no ratio may exceed the epsilon that the release claims."""
    words = _derivation(found)
    if found.settings.as_printed:
        return passed(f"{words} The printed steps multiply the noise by K, so that no epsilon follows.")
    ratios = {n: found.noise(n).epsilon(found.sensitivity(n)) for n in _SIZES}
    n, worst = max(ratios.items(), key=lambda item: item[1])
    privacy = evidence.release.get("privacy")
    claimed = privacy.get("epsilon") if isinstance(privacy, dict) else None
    if isinstance(claimed, int | float) and worst > Fraction(claimed) * (1 + _SLACK):
        return failed(f"{words} For n = {n} the epsilon is {_short(worst)}, above the {claimed:g} that is claimed.")
    return passed(f"{words} D(n)/scale(n) is at most {_short(worst)} for n = 1, 10, ... 10**7.")


def _derivation(found: Stated) -> str:
    settings, d = found.settings, found.dimension
    law, D = found.noise(1), found.sensitivity(1)
    f, mu = settings.grid.fraction_bits, Fraction(settings.objective.mu)
    moved = f"2**{f} (G/n + 2 tau)/mu"
    rounding = ceil_sqrt(d) if settings.noise == "knorm" else d
    formula = f"ceil({moved})" if settings.noise == "knorm" else f"ceil(sqrt({d}) {moved})"
    scale = "D(n)/epsilon" if settings.calibration == "proven" else f"2**{f} K 2/(n epsilon lambda), as in the paper"
    if settings.as_printed:
        scale = f"2**{f} 2/(n epsilon lambda), as in the paper, for the mean"
    return (
        f"{law.name} noise on the sum of K = {found.parties} models of d = {d} weights, in steps of 2**-{f}: one of n "
        f"records moves the sum by at most D(n) = {formula} + {rounding} in {law.norm}, with mu = {_short(mu)}, "
        f"G = {_short(Fraction(logistic_constants(2 * Fraction(settings.objective.lam)).G))}, "
        f"tau = {_short(Fraction(PUBLIC_TAU))}; the scale is {scale}, epsilon = "
        f"{_short(settings.epsilon)}, lambda = {_short(settings.lam)}. D(1) = {D}, scale(1) = {_short(law.scale)}."
    )


def _short(value: Fraction) -> str:
    """The exact value when it is short, else six digits and a mark that they are rounded."""
    text = str(value)
    return text if len(text) <= 24 else f"about {float(value):.6g}"


def _statement(evidence: Evidence, found: Stated) -> Outcome:
    """The claimed statement against the one that follows, field by field."""
    marks = tuple(mark for mark in REASONS if mark in {*_due(evidence), *_recorded(evidence)})
    follows = statement(found.settings.guarantee(found.parties, found.dimension), marks).as_dict()
    claimed = strict.mapping("privacy", evidence.release.get("privacy"))
    for field in (*follows, *claimed):
        if field not in claimed or field not in follows:
            return failed(f"privacy: {shown(field)} is {'missing' if field in follows else 'unknown'}")
        got, wanted = claimed[field], follows[field]
        if field == "epsilon" and type(got) in (int, float) and wanted is not None:
            if not abs(Fraction(got) - Fraction(wanted)) <= Fraction(wanted) * _SLACK:
                word = "below" if got < wanted else "not"
                return failed(f"privacy: epsilon: the release claims {shown(got)}, {word} the {wanted:g} that follows")
        elif type(got) is not type(wanted) or got != wanted:
            return failed(f"privacy: {field}: the release claims {shown(got)}, what follows is {shown(wanted)}")
    figure = "no epsilon" if follows["epsilon"] is None else f"epsilon {follows['epsilon']:g}, delta 0"
    return passed(f"kind {follows['kind']}, {figure}, and every other field follows from the parameters and the marks")


def _due(evidence: Evidence) -> list[str]:
    """The marks that follow from the record's own parameters."""
    due = {
        TEST_KEYS: evidence.session.parameters.key_bits < MIN_KEY_BITS,
        AS_PRINTED: evidence.session.program.name == as_printed.PROGRAM.name,
    }
    return [mark for mark in due if due[mark]]


def _recorded(evidence: Evidence) -> list[str]:
    """The known marks on line 0."""
    stated_marks = evidence.head["insecure"]
    return [mark for mark in REASONS if isinstance(stated_marks, list) and mark in stated_marks]


def _marks(evidence: Evidence) -> Outcome:
    """Line 0 against what parameters and views say; the release against line 0."""
    recorded, due = _recorded(evidence), _due(evidence)
    if recorded != evidence.head["insecure"]:
        return failed("line 0: wanted a list of known marks in their order", line=0)
    for mark in (TEST_KEYS, AS_PRINTED):
        if (mark in recorded) != (mark in due):
            return failed(f"line 0: the mark {mark!r} {'is missing' if mark in due else 'does not apply'}", line=0)
    for role, view in evidence.views.items():
        if view.insecure != (SEEDED in recorded):
            came = "a seed" if view.insecure else "the system"
            return failed(f"line 0 and the view differ: there the coins came from {came}", line=0, party=role)
    reasons = [REASONS[mark] for mark in recorded]
    if evidence.release.get("insecure", []) != reasons:
        return failed(f"{RELEASE}: insecure: wanted the reasons for {', '.join(recorded) or 'no mark'}")
    return passed(f"record and release agree on {', '.join(recorded) or 'no mark: nothing makes this run insecure'}")


def _noise(evidence: Evidence, found: Stated) -> Outcome:
    """The length of each party's noise, and of all of it, within the quantiles of its exact law."""
    views = {name: view for name, view in evidence.views.items() if name != CURATOR}
    if not views:
        return not_possible("no view of a party was given, and noise is nowhere else to be seen")
    lengths, slacks = [], []
    for name, view in views.items():
        measured = _length(view.inputs, found)
        if measured is None:
            return failed("the view holds no size and noise as they could be", party=name)
        if not _plausible(*measured, found.dimension):
            return failed("the noise is shorter or longer than its declared law allows", party=name)
        lengths.append(measured[0])
        slacks.append(measured[1])
    total = found.dimension * len(views)
    if not _plausible(sum(lengths), sum(slacks), total):
        return failed("the noise of all given parties together is shorter or longer than its declared law allows")
    low, high = _limits(total)
    power = gamma.cdf(2 * low, total) + gamma.sf(2 * high, total)
    return passed(
        f"the noise of {len(views)} parties is as long as {found.noise(1).name} noise of their sizes is, each and "
        f"together; false alarms below {(len(views) + 1) * TAIL:.1g}, half the noise in all of them would be noticed "
        f"with probability {power:.2g}; whether a size is the true one, a run does not show"
    )


def _length(inputs: tuple[Any, ...], found: Stated) -> tuple[float, float] | None:
    """The noise's length over its scale, and by how much rounding may have changed it; None when it is no noise."""
    mine = inputs[1] if len(inputs) == 2 else None
    if not isinstance(mine, PartyInput | PrintedInput) or not isinstance(mine.eta, list | tuple):
        return None
    grid, bits = found.settings.grid, found.settings.grid.ring_bits
    if len(mine.eta) != found.dimension or any(type(x) is not int or x.bit_length() > bits for x in mine.eta):
        return None
    if type(mine.n) is not int or not 1 <= mine.n <= LARGEST_N:
        return None
    eta = [grid.lift(x) for x in mine.eta] if isinstance(mine, PartyInput) else mine.eta
    law = found.noise(mine.n)
    if law.name == "knorm":
        # round(Y) is within sqrt(d)/2 of Y, whose length over the scale is Gamma(d); isqrt takes less than 1.
        return float(isqrt(sum(x * x for x in eta)) / law.scale), float((ceil_sqrt(found.dimension) + 1) / law.scale)
    # P(|y| >= m) lies between q**m and q**(m-1), q = e**(-1/scale): an exponential variable but for 1 a coordinate.
    return float(sum(map(abs, eta)) / law.scale), float(found.dimension / law.scale)


def _limits(shape: int) -> tuple[float, float]:
    return float(gamma.ppf(TAIL / 2, shape)), float(gamma.isf(TAIL / 2, shape))


def _plausible(length: float, slack: float, shape: int) -> bool:
    low, high = _limits(shape)
    return low - slack <= length <= high + slack


CHECKS: tuple[Check, ...] = (
    Check(
        "privacy",
        "mechanism",
        "Which noise, which sensitivity and which scale do the parameters give?",
        from_parameters(_mechanism),
    ),
    Check("privacy", "statement", "Does the claimed statement follow?", from_parameters(_statement)),
    Check("privacy", "marks", "Does an insecure run say so, in the record and in the release?", _marks),
    Check("privacy", "noise", "Is the parties' noise as long as its law makes it?", from_parameters(_noise)),
)

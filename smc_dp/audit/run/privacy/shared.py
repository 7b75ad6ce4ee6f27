"""The checks of privacy where every party draws a share of the noise: what the parameters give, and what views show.

What is guaranteed counts the shares of H honest parties, H = K - D - t. The figures are made again here, from the
formulas of `smc_dp.privacy.distributed`, for the law to which the recorded session is bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, isqrt, lgamma, log, log2, sqrt
from typing import Any

import numpy as np
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv

from smc_dp.audit.run.check import CheckOutcome, failed, not_possible, passed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.privacy import direction
from smc_dp.audit.run.privacy.private_inputs import TAIL, counted, told
from smc_dp.audit.run.privacy.product import Product
from smc_dp.audit.run.stated import Stated
from smc_dp.errors import shown
from smc_dp.learning.solver import PUBLIC_TAU
from smc_dp.privacy.distributed import SharedNoise
from smc_dp.privacy.grid import Grid, ceil_sqrt
from smc_dp.privacy.noise import DiscreteGaussian, KNorm
from smc_dp.privacy.sensitivity import add_remove, largest_norm, logistic_constants
from smc_dp.run.terms import terms_of

LEAST_VARIANCE, SMOOTHING = 18, 9  # of a share of ddg, and what its curve loses
LEAST_SCALE, LOST, LARGEST_DELTA_BITS = 16, Fraction(1, 1 << 80), 64  # of vg


def mechanism(evidence: Evidence, found: Stated, noise: SharedNoise) -> CheckOutcome:
    """The law of a share in the recorded session against the stated target, with the honest shares alone."""
    if fault := _other_session(evidence, found):
        return failed(fault, 0)
    among, law, f = found.form.among, noise.law, noise.grid.fraction_bits
    K, D, t = among.parties, among.dropouts, among.colluders
    H, moved = K - D - t, _moved(found, f)
    if law.honest != H:
        return failed(f"the shares of {law.honest} honest parties are counted, wanted K - D - t = {H}")
    if noise.sensitivity != moved:
        return failed(f"one record is said to move the sum by {noise.sensitivity}, wanted {moved}")
    words = (
        f"{law.name} noise in shares on the sum of K = {K} models of d = {law.dimension} weights, each times at most "
        f"{found.form.most_rows} rows, in steps of 2**-{f}: one record moves the sum by at most D = {moved} in L2, and "
        f"the shares of H = K - D - t = {K} - {D} - {t} = {H} parties count."
    )
    figure, fault = _guaranteed(found, law, H, moved)
    if fault:
        return failed(f"{words} {fault}")
    bits, largest = noise.grid.ring_bits, K * (ceil(_longest(found) * (1 << f)) + 1) + law.tail(K)
    if largest >= 1 << (bits - 1):
        return failed(f"{words} A ring of {bits} bits does not hold a sum of {largest.bit_length()} bits.")
    return passed(f"{words} {figure}; no sum wraps round in a ring of {bits} bits, but for a chance of 2**-80.")


def _other_session(evidence: Evidence, found: Stated) -> str | None:
    """What the session of the record is bound to instead of what follows: the law of the noise above all."""
    said: Mapping[str, Any] = evidence.session.parameters.as_dict()
    name, parties = evidence.protocol.program.name, tuple(evidence.session.parties)
    terms = terms_of(name).from_dict(evidence.release["parameters"])
    follows = terms.program_parameters(name, found.form, parties, str(said.get("agreed"))).as_dict()
    other = next((field for field in follows if follows[field] != said.get(field)), None)
    if other is None:
        return None
    return f"{other}: the session is bound to {shown(said.get(other))}, what follows is {shown(follows[other])}"


def _moved(found: Stated, fraction_bits: int) -> int:
    """ceil(2**f Delta) + ceil(sqrt d), Delta the L2 sensitivity of the sum of models times numbers of rows."""
    mu, tau = 2 * Fraction(found.method.lam), Fraction(PUBLIC_TAU) * found.form.most_rows
    if found.form.statement.adjacency == "replace":
        delta = (Fraction(logistic_constants(mu).G) + 2 * tau) / mu
    else:
        delta = add_remove(mu, float(tau))
    return int(ceil(delta * (1 << fraction_bits)) + ceil_sqrt(found.public.dimension))


def _longest(found: Stated) -> Fraction:
    """No model times its number of rows is longer."""
    mu = 2 * Fraction(found.method.lam)
    return (Fraction(largest_norm(mu)) + Fraction(PUBLIC_TAU) / mu) * int(found.form.most_rows)


def _guaranteed(found: Stated, law: Any, H: int, moved: int) -> tuple[str, str | None]:
    """The figure that H shares of this law give, and what is wrong with it."""
    target, wanted = found.target, found.target.wanted
    if law.name == "ddg":
        total = H * law.variance
        if law.variance < LEAST_VARIANCE:
            return "", f"A share has the variance {float(law.variance):.4g}, wanted at least {LEAST_VARIANCE}."
        mu = Fraction(moved**2) / (total - SMOOTHING)
        if mu > target.mu**2:
            return "", f"They give mu = {float(mu) ** 0.5:.6g}, wanted at most {float(target.mu):.6g}."
        return f"Together they have the variance {float(total):.6g}, so mu = {float(mu) ** 0.5:.6g}", None
    epsilon = moved / law.scale + (LOST if law.name == "vg" else 0)
    if epsilon > wanted:
        return "", f"They give epsilon {float(epsilon):.6g}, wanted at most {float(wanted):.6g}."
    if law.name != "vg":
        return f"each share alone gives epsilon {float(epsilon):.6g}", None
    bits = -_log2_delta(law, H, float(epsilon))
    if law.scale < LEAST_SCALE or bits < LARGEST_DELTA_BITS - 1e-6:
        return "", f"Their delta is 2**-{bits:.1f}, wanted at most 2**-{LARGEST_DELTA_BITS}."
    return f"together they give epsilon {float(epsilon):.6g} with delta 2**-{bits:.1f}", None


def _log2_delta(law: Any, H: int, epsilon: float) -> float:
    """Of (1 + 2 e^epsilon) H (8/s^2)^a/Gamma(a+1), a = (d+1)/(2H): some V below 16 among the honest."""
    a = (law.dimension + 1) / (2 * H)
    scale = log2(law.scale.numerator) - log2(law.scale.denominator)
    grown = log2(1 + 2 * exp(epsilon)) if epsilon < 500 else 1 + epsilon / log(2)
    return float(grown + log2(H) + a * (3 - 2 * scale) - lgamma(a + 1) / log(2))


# What views show.


@dataclass(frozen=True, eq=False)
class _Share:
    """One party's share of the noise, in grid units, and what it hides: its model times a number of rows."""

    noise: tuple[int, ...]
    model: tuple[int, ...]
    rows: int


def noise(evidence: Evidence, found: Stated, law_of: SharedNoise) -> CheckOutcome:
    """Each share, and all that are given together: as long as their exact law has them, and pointing nowhere."""
    read = _shares(evidence, found)
    if isinstance(read, CheckOutcome):
        return read
    law, d = law_of.law, law_of.law.dimension
    for name, mine in read.items():
        if not _plausible(_together([mine.noise], law), law, 1):
            return told(evidence, name, "the share of the noise is shorter or longer than its declared law allows")
        if _points(mine, law, found.grid):
            return told(evidence, name, "the share of the noise points somewhere, as its declared law hardly ever does")
    if not _plausible(_together([mine.noise for mine in read.values()], law), law, len(read)):
        return failed("all given shares together are shorter or longer than their declared law allows")
    if _all_point([*read.values()], law, found.grid):
        return failed("all given shares together point somewhere, as their declared law hardly ever does")
    power = _chance_beyond(law, len(read))
    return passed(
        f"{counted('share', len(read))} of {law.name} noise of {d} numbers, alone and added up as long as the law has "
        f"it, and pointing no more than chance does; false alarms below {2 * (len(read) + 1) * TAIL:.1g}, half the "
        f"noise in all of them would be noticed with probability at least {power:.2g}; whether it was drawn at random, "
        "a run does not show"
    )


def models(evidence: Evidence, found: Stated, law_of: SharedNoise) -> CheckOutcome:
    """No model times its number of rows is longer than training on any rows makes it.

    Who enters its model with less of the noise beforehand, or another party's negated, mostly shows.
    """
    read = _shares(evidence, found)
    if isinstance(read, CheckOutcome):
        return read
    f, most = law_of.grid.fraction_bits, int(found.form.most_rows)
    longest = _longest(found) / most
    for name, mine in read.items():
        if not 1 <= mine.rows <= most:
            return told(evidence, name, f"the number of rows is {mine.rows}, wanted 1 to {most}")
        allowed = ceil(longest * mine.rows * (1 << f)) + ceil_sqrt(law_of.law.dimension)
        if sum(x * x for x in mine.model) > allowed**2:
            said = f"the model is longer than training on any rows makes it, {float(longest):.4g}"
            return told(evidence, name, said)
    return passed(
        f"{counted('model', len(read))}, none longer than {float(longest):.4g}, as training on whatever rows makes "
        "them; whether they were trained, and trained on rows alone, a run does not show"
    )


def _shares(evidence: Evidence, found: Stated) -> dict[str, _Share] | CheckOutcome:
    """What the views of parties hold, or what is to be said where they hold nothing of the kind."""
    views = {name: view for name, view in evidence.views.items() if name in evidence.session.parties}
    if not views:
        return not_possible("no view of a party was given, and what parties entered is nowhere else to be seen")
    read: dict[str, _Share] = {}
    for name, view in views.items():
        mine = _share(view.inputs, found)
        if mine is None:
            return told(evidence, name, "the view holds no numbers and noise as they could be")
        read[name] = mine
    return read


def _share(inputs: tuple[Any, ...], found: Stated) -> _Share | None:
    """A party's own input: for its one sum its numbers, and its share of the noise; None when it is none."""
    mine = inputs[1] if len(inputs) == 2 else None
    numbers, noise = (getattr(mine, name, None) for name in ("numbers", "noise"))
    if not all(isinstance(x, tuple) and len(x) == 1 and len(x[0]) == found.form.length for x in (numbers, noise)):
        return None
    entered, drawn = ([found.grid.lift(x) for x in vectors[0]] for vectors in (numbers, noise))  # type: ignore[index]
    d = found.public.dimension
    if any(drawn[d:]):
        return None
    rows = entered[d] if len(entered) > d else found.form.most_rows
    return _Share(tuple(drawn[:d]), tuple(entered[:d]), rows)


def _together(shares: Sequence[Sequence[int]], law: Any) -> int:
    """The squared length of shares: of ddg end to end, of vg that of their sum, of self that of all lengths added."""
    if law.name == "vg":
        return sum(sum(column) ** 2 for column in zip(*shares, strict=True))
    squares = [sum(x * x for x in share) for share in shares]
    return sum(squares) if law.name == "ddg" else sum(map(isqrt, squares)) ** 2


@lru_cache(maxsize=8)
def _squared(law: Any, shares: int) -> tuple[float, float]:
    """Between which values that squared length lies in units of the law, but for a chance of `TAIL`.

    Of ddg it is a chi-square number, of self the square of a Gamma number, and of vg a product of both kinds.
    """
    d = law.dimension
    if law.name == "self":
        return float(gammaincinv(d * shares, TAIL / 2)) ** 2, float(gammainccinv(d * shares, TAIL / 2)) ** 2
    if law.name == "ddg":
        return 2 * float(gammaincinv(d * shares / 2, TAIL / 2)), 2 * float(gammainccinv(d * shares / 2, TAIL / 2))
    product = _product(law, shares)
    return product.quantile(TAIL / 2, below=True), product.quantile(TAIL / 2, below=False)


def _product(law: Any, shares: int) -> Product:
    return Product(float(law.shape) * shares, law.dimension / 2)


def _unit(law: Any) -> Fraction:
    """The square of what lengths are measured in; it may be too large for a float."""
    return Fraction(law.variance if law.name == "ddg" else law.scale**2)


def _plausible(square: int, law: Any, shares: int) -> bool:
    """Whether a squared length is that of so many shares, whatever rounding to the grid has done."""
    low, high = _squared(law, shares)
    slack = sqrt(Fraction((shares * (ceil_sqrt(law.dimension) + 1)) ** 2) / _unit(law))
    return sqrt(low) - slack <= sqrt(Fraction(square) / _unit(law)) <= sqrt(high) + slack


def _chance_beyond(law: Any, shares: int) -> float:
    """At least the probability that shares of half the length are noticed for that."""
    d, (low, high) = law.dimension, _squared(law, shares)
    if law.name == "self":
        return float(gammainc(d * shares, 2 * sqrt(low)) + gammaincc(d * shares, 2 * sqrt(high)))
    if law.name == "ddg":
        return float(gammainc(d * shares / 2, 2 * low) + gammaincc(d * shares / 2, 2 * high))
    product = _product(law, shares)
    return product.chance(4 * low, below=True) + product.chance(4 * high, below=False)


def _points(mine: _Share, law: Any, grid: Grid) -> bool:
    """Whether one share points somewhere; on a grid too coarse for that nothing is looked at."""
    if _unit(law) < direction.COARSE**2 or not any(mine.noise):
        return False
    return direction.one_points(_scores(mine, law), _model(mine, grid)) < TAIL


def _all_point(shares: Sequence[_Share], law: Any, grid: Grid) -> bool:
    """Whether all of them do, of laws that say how long each is beside the others: of vg they do not."""
    if law.name == "vg" or len(shares) < 2 or _unit(law) < direction.COARSE**2:
        return False
    scores = np.array([_scores(mine, law) for mine in shares])
    return direction.all_point(scores, np.array([_model(mine, grid) for mine in shares])) < TAIL


def _scores(mine: _Share, law: Any) -> direction.Vectors:
    """Numbers that point where a share does: given its length every direction is as likely, also of vg."""
    gauss = law.name == "ddg"
    like = DiscreteGaussian(law.dimension, law.variance) if gauss else KNorm(law.dimension, law.scale)
    return direction.normal_scores(mine.noise, like)


def _model(mine: _Share, grid: Grid) -> direction.Vectors:
    return np.array([float(Fraction(x, 1 << grid.fraction_bits)) for x in mine.model])

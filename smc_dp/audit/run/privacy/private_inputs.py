"""What the views of parties show of what went into the protocol: noise and models, as long as they can be.

That the noise of a party follows the declared law is a statistical check with stated error. What a run cannot show is
said in each finding: a party draws its noise and trains its model before the protocol begins.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isqrt
from typing import Any

from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv

from smc_dp.audit.run.blame import owner
from smc_dp.audit.run.check import CheckOutcome, failed, not_possible, passed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.stated import Stated
from smc_dp.errors import InputError
from smc_dp.learning.solver import PUBLIC_TAU
from smc_dp.privacy.grid import ceil_sqrt
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.sensitivity import largest_norm
from smc_dp.run.folder import agreed

TAIL = 1e-9  # two-sided, for the noise of one party and for that of all given parties together


def noise(evidence: Evidence, found: Stated) -> CheckOutcome:
    """The length of each party's noise, and of all of it, within the quantiles of its exact law."""
    views = {name: view for name, view in evidence.views.items() if name in evidence.session.parties}
    if not views:
        return not_possible("no view of a party was given, and noise is nowhere else to be seen")
    lengths, slacks = [], []
    for name, view in views.items():
        measured = _length(view.inputs, found)
        if measured is None:
            return failed("the view holds no size and noise as they could be", party=_held(evidence, name))
        if not _plausible(*measured, found.public.dimension):
            return failed("the noise is shorter or longer than its declared law allows", party=_held(evidence, name))
        lengths.append(measured[0])
        slacks.append(measured[1])
    total = found.public.dimension * len(views)
    if not _plausible(sum(lengths), sum(slacks), total):
        return failed("the noise of all given parties together is shorter or longer than its declared law allows")
    low, high = _limits(total)
    power = gammainc(total, max(0.0, 2 * (low - sum(slacks)))) + gammaincc(total, 2 * (high + sum(slacks)))
    return passed(
        f"{_counted('noise vector', len(views))} as long as {found.noise(1).name} noise for the stated sizes is, alone "
        f"and added up; false alarms below {(len(views) + 1) * TAIL:.1g}, half the noise in all of them would be "
        f"noticed with probability {power:.2g}; its length alone is looked at: whether it was drawn at "
        "random, and whether a size is the true one, a run does not show"
    )


def models(evidence: Evidence, found: Stated) -> CheckOutcome:
    """No model is longer than training makes any: who takes its own noise off its model beforehand mostly shows.

    Training ends where the gradient is at most tau long, so within tau/mu of a minimiser; no minimiser, whatever the
    rows, is longer than W; and rounding to the grid moves a vector by at most sqrt(d)/2 steps.
    """
    views = {name: view for name, view in evidence.views.items() if name in evidence.session.parties}
    if not views:
        return not_possible("no view of a party was given, and models are nowhere else to be seen")
    mu = 2 * Fraction(found.method.lam)
    longest = Fraction(largest_norm(mu)) + Fraction(PUBLIC_TAU) / mu
    grid = found.grid
    most = ceil(longest * (1 << grid.fraction_bits)) + ceil_sqrt(found.public.dimension)
    for name, view in views.items():
        mine = _input(view.inputs)
        if mine is None or len(mine.w) != found.public.dimension or any(type(x) is not int for x in mine.w):
            return failed("the view holds no model as it could be", party=_held(evidence, name))
        if sum(grid.lift(x) ** 2 for x in mine.w) > most**2:
            said = f"the model is longer than training on any rows makes it, {float(longest):.4g}"
            return failed(said, party=_held(evidence, name))
    return passed(
        f"{_counted('model', len(views))}, none longer than {float(longest):.4g}, as training on whatever "
        "rows makes them; whether they were trained, and trained on rows alone, a run does not show"
    )


def _held(evidence: Evidence, name: str) -> str | None:
    """The owner of a view, if it had agreed on what the release states of the method: a release is anybody's word."""
    try:
        stated = agreed(evidence.release, evidence.shares).digest
    except (InputError, KeyError):
        return None
    return owner(evidence, name) if stated == evidence.session.parameters.as_dict().get("agreed") else None


def _counted(what: str, number: int) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"


def _input(inputs: tuple[Any, ...]) -> Any:
    """A party's own input, with its size n, weights w and noise eta, or None when the view holds none."""
    mine = inputs[1] if len(inputs) == 2 else None
    return mine if all(isinstance(getattr(mine, name, None), list | tuple) for name in ("w", "eta")) else None


def _length(inputs: tuple[Any, ...], found: Stated) -> tuple[float, float] | None:
    """The noise's length over its scale, and by how much rounding may have changed it; None when it is no noise."""
    mine = _input(inputs)
    if mine is None:
        return None
    grid, bits = found.grid, found.grid.ring_bits
    if len(mine.eta) != found.public.dimension or any(type(x) is not int or x.bit_length() > bits for x in mine.eta):
        return None
    n = getattr(mine, "n", None)
    if type(n) is not int or not 1 <= n <= LARGEST_N:
        return None
    eta = mine.eta if found.method.as_printed else [grid.lift(x) for x in mine.eta]  # printed noise is not in the ring
    law = found.noise(n)
    if law.name == "knorm":
        # round(Y) is within sqrt(d)/2 of Y, whose length over the scale is Gamma(d); isqrt takes less than 1.
        rounding = ceil_sqrt(found.public.dimension) + 1
        return float(isqrt(sum(x * x for x in eta)) / law.scale), float(rounding / law.scale)
    # P(|y| >= m) lies between q**m and q**(m-1), q = e**(-1/scale): an exponential variable but for 1 a coordinate.
    return float(sum(map(abs, eta)) / law.scale), float(found.public.dimension / law.scale)


def _limits(shape: int) -> tuple[float, float]:
    return float(gammaincinv(shape, TAIL / 2)), float(gammainccinv(shape, TAIL / 2))


def _plausible(length: float, slack: float, shape: int) -> bool:
    low, high = _limits(shape)
    return low - slack <= length <= high + slack

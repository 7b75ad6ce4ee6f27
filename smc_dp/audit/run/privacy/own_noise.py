"""Checks of privacy where a sum adds no noise, because each party's model has all its own before it is masked."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log1p
from typing import Any

from smc_dp.audit.run.check import CheckOutcome, failed, make_fault, not_applicable, not_possible, passed
from smc_dp.audit.run.derived_parameters import DerivedParameters, ring_fault
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.privacy.private_inputs import count_noun, fail_view, impossible_rows
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy.grid import ceil_sqrt

CURVATURE = 0.25  # of the logistic loss, for rows of the unit ball
LARGEST_WEIGHT = 1 << 22
_SIZES = tuple(10**k for k in range(8))
_SLACK = 1e-9  # this is done in floats


def check_own_mechanism(evidence: Evidence, found: DerivedParameters) -> CheckOutcome:
    """Check a party's own noise for sizes over the whole range against the target, and the ring."""
    said = evidence.session.parameters.as_dict()["sums"]
    follows = [[list(block) for block in blocks] for blocks in found.sums]
    if said != follows:
        return failed("sums.other_session", line=0, said=str(said), follows=str(follows))
    n, worst = max(((n, _epsilon(found, n)) for n in _SIZES), key=lambda item: item[1])
    words = f"Each party adds noise to its own objective and model, of {found.public.dimension + 1} weights."
    if worst > float(found.target.wanted) * (1 + _SLACK):
        return failed(
            "noise.own_epsilon_too_large", mechanism=words, n=n, worst=worst, wanted=float(found.target.wanted)
        )
    largest = found.public.parties * int(found.spec.announced.most_rows) * LARGEST_WEIGHT << found.grid.fraction_bits
    if fault := ring_fault(found.grid, largest):
        return failed(fault.within(words.rstrip(".")))
    return passed("mechanism.own_noise_holds", mechanism=words, epsilon=worst, ring_bits=found.grid.ring_bits)


def check_own_noise(evidence: Evidence, found: DerivedParameters) -> CheckOutcome:
    """Return that there is no noise beside the numbers; nobody can tell it from the model that holds it."""
    return not_applicable("noise.in_model")


def check_own_models(evidence: Evidence, found: DerivedParameters) -> CheckOutcome:
    """Check that every weight is cut off as it has to be, times a number of rows that was announced."""
    views = {name: view for name, view in evidence.views.items() if name in evidence.session.parties}
    if not views:
        return not_possible("views.no_party")
    d, most = found.public.dimension + 1, int(found.spec.announced.most_rows)
    for name, view in views.items():
        numbers = _numbers(view.inputs, found)
        if numbers is None:
            return fail_view(evidence, name, make_fault("view.no_numbers"))
        rows = numbers[d] if len(numbers) > d else most
        if not 1 <= rows <= most:
            return fail_view(evidence, name, impossible_rows(rows, most))
        if max(map(abs, numbers[:d])) > rows * LARGEST_WEIGHT << found.grid.fraction_bits:
            return fail_view(evidence, name, make_fault("view.weight_too_large", most=LARGEST_WEIGHT))
    return passed("models.own_noise_hold", models=count_noun("model", len(views)), most=LARGEST_WEIGHT)


def _numbers(inputs: tuple[Any, ...], found: DerivedParameters) -> list[int] | None:
    """Return what a party entered to the one sum; None where its view does not say, or has noise beside it."""
    mine = inputs[1] if len(inputs) == 2 else None
    numbers, noise = (getattr(mine, name, None) for name in ("numbers", "noise"))
    if not all(isinstance(x, tuple) and len(x) == 1 and len(x[0]) == found.spec.length for x in (numbers, noise)):
        return None
    entered, drawn = ([found.grid.lift(x) for x in vectors[0]] for vectors in (numbers, noise))  # type: ignore[index]
    return None if any(drawn) else entered


def _epsilon(found: DerivedParameters, n: int) -> float:
    """Return 2/scale + log(1 + c/(n (Lambda + Delta))) + D/scale' of objective perturbation with n rows."""
    d, unit = found.public.dimension + 1, 1 << found.grid.fraction_bits
    distribution = found.method.perturbation(found.target, n, d)
    total = Fraction(distribution.total)
    beta = Fraction(ceil_sqrt(d), 2 * unit)
    moved = ceil(unit * 2 * (Fraction(PUBLIC_TAU) + beta / n) / total) + ceil_sqrt(d)
    return (
        float(2 * unit / distribution.noise.scale)
        + log1p(CURVATURE / (n * float(total)))
        + float(moved / distribution.output.scale)
    )

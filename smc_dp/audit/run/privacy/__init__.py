"""Privacy: mechanism, sensitivity, scale and statement, derived again from the stated parameters.

A release states its guarantee in words and one figure. Here both are made again, in exact rationals, from the public
parameters and the grid of the shares, and must come out the same. Views are checked in `private_inputs.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from smc_dp.audit.run.check import Check, CheckOutcome, failed, passed
from smc_dp.audit.run.derived_parameters import DerivedParameters, from_parameters
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.privacy import own_noise, shared
from smc_dp.audit.run.privacy.private_inputs import check_models, check_noise
from smc_dp.core import reading
from smc_dp.core.errors import shown
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy.grid import ceil_sqrt
from smc_dp.privacy.sensitivity import logistic_constants
from smc_dp.privacy.statement import GuaranteeKind, short_delta, short_figure
from smc_dp.run.agreement import REASONS, SEEDED, whole_statement
from smc_dp.run.release_consistency import statement_fault

_SIZES = tuple(10**k for k in range(8))  # up to the largest size that the calibration knows
_SLACK = Fraction(1, 10**12)  # a bound made with cosines may end in another digit on another machine


def _mechanism(evidence: Evidence, found: DerivedParameters) -> CheckOutcome:
    """Check D(n) and the scale for sizes over the whole range: no ratio may exceed the claimed epsilon."""
    words = _derivation(found)
    if found.method.as_published:
        return passed("mechanism.as_printed", mechanism=words)
    ratios = {n: found.noise(n).epsilon(found.sensitivity(n)) for n in _SIZES}
    n, worst = max(ratios.items(), key=lambda item: item[1])
    privacy = evidence.release.get("privacy")
    claimed = privacy.get("epsilon") if isinstance(privacy, dict) else None
    if isinstance(claimed, int | float) and worst > Fraction(claimed) * (1 + _SLACK):
        return failed("noise.epsilon_too_large", mechanism=words, n=n, epsilon=_short(worst), claimed=claimed)
    return passed("mechanism.holds", mechanism=words, epsilon=_short(worst))


def _derivation(found: DerivedParameters) -> str:
    target, d, lam = found.target, found.public.dimension, Fraction(found.method.lam)
    distribution, D = found.noise(1), found.sensitivity(1)
    f, mu = found.grid.fraction_bits, 2 * lam
    moved = f"2**{f} (G/n + 2 tau)/mu"
    rounding = ceil_sqrt(d) if target.noise == "knorm" else d
    formula = f"ceil({moved})" if target.noise == "knorm" else f"ceil(sqrt({d}) {moved})"
    scale = "D(n)/epsilon"
    if target.calibration == "paper":
        scale = f"2**{f} K 2/(n epsilon lambda), as in the paper"
    if found.method.as_published:
        scale = f"2**{f} 2/(n epsilon lambda), as in the paper, for the mean"
    K = found.public.parties
    return (
        f"{_NOISES[target.noise]} is added to the sum of K = {K} models of d = {d} weights, in steps of 2**-{f}. A "
        f"record of a party with n rows moves the sum by an {distribution.norm} length of at most "
        f"D(n) = {formula} + {rounding}. "
        f"Here mu = {_short(mu)} (twice lambda, which is {_short(Fraction(repr(found.method.lam)))}), "
        f"G = {_short(Fraction(logistic_constants(mu).G))} (how far one record moves a gradient), and "
        f"tau = {_short(Fraction(PUBLIC_TAU))} (tolerance of training). "
        f"The scale of the noise is {scale}, with epsilon = {_short(target.wanted)}. "
        f"D(1) = {D}, scale(1) = {_short(distribution.scale)}."
    )


_NOISES: Mapping[str, str] = MappingProxyType(
    {
        "knorm": "K-norm noise (knorm: a vector of random direction, with a Gamma distributed length)",
        "laplace": "Discrete Laplace noise (laplace)",
        "gauss": "Discrete Gaussian noise (gauss)",
    }
)


def _short(value: Fraction) -> str:
    """Return the exact value when it is short, else six digits and a mark that they are rounded."""
    text = str(value)
    return text if len(text) <= 24 else f"about {float(value):.6g}"


_KINDS: Mapping[GuaranteeKind, str] = MappingProxyType(
    {
        "pure": "pure differential privacy",
        "approx": "approximate differential privacy",
        "zcdp": "zero-concentrated differential privacy",
        "none": "no guarantee",
    }
)


def _statement(evidence: Evidence, found: DerivedParameters) -> CheckOutcome:
    """Check the claimed statement against the one that follows, field by field."""
    protocol = evidence.protocol.program.name
    follows = whole_statement(found.spec, protocol, evidence.session.parameters, _recorded(evidence)).as_dict()
    if fault := statement_fault(reading.require_object("privacy", evidence.release.get("privacy")), follows):
        return failed(fault)
    figure = "no epsilon"
    if follows["epsilon"] is not None:
        figure = f"epsilon {short_figure(follows['epsilon'])}, delta {short_delta(follows['delta'])}"
    kind: GuaranteeKind = follows["kind"]
    return passed("statement.holds", kind=kind, called=_KINDS[kind], figure=figure)


def _recorded(evidence: Evidence) -> tuple[str, ...]:
    """Return the known insecure markers on line 0, which `session` holds against the parameters."""
    stated_marks = evidence.head["insecure"]
    return tuple(mark for mark in REASONS if isinstance(stated_marks, list) and mark in stated_marks)


def _marks(evidence: Evidence) -> CheckOutcome:
    """Check the markers of line 0 against views, and those of the release against line 0."""
    recorded = _recorded(evidence)
    for role, view in evidence.views.items():
        if view.insecure != (SEEDED in recorded):
            came = "a seed" if view.insecure else "the system"
            return failed("insecure_markers.coins", line=0, role=shown(role), came=came)
    reasons = [REASONS[mark] for mark in recorded]
    if evidence.release.get("insecure", []) != reasons:
        return failed("insecure_markers.other_reasons", marks=", ".join(recorded) or "no mark")
    if not recorded:
        return passed("insecure_markers.none")
    return passed("insecure_markers.hold", marks=", ".join(recorded))


CHECKS: tuple[Check, ...] = (
    Check(
        "privacy",
        "mechanism",
        "Which noise, sensitivity and scale follow from the parameters?",
        from_parameters(_mechanism, shared.check_shared_mechanism, own_noise.check_own_mechanism),
    ),
    Check(
        "privacy",
        "statement",
        "Does the privacy statement follow from noise, sensitivity and scale?",
        from_parameters(_statement),
    ),
    Check(
        "privacy", "insecure-markers", "Are transcript and release marked as insecure where they have to be?", _marks
    ),
    Check(
        "privacy",
        "noise",
        "Does the noise have the norm that its distribution predicts, and no preferred direction?",
        from_parameters(check_noise, shared.check_shared_noise, own_noise.check_own_noise),
        takes="views",
    ),
    Check(
        "privacy",
        "models",
        "Is the norm of each party's input within the limit that its rows allow?",
        from_parameters(check_models, shared.check_shared_models, own_noise.check_own_models),
        takes="views",
    ),
)

"""`feat_agg` and `avg_agg`: the sites' classifiers, combined on the aggregator's own rows, or averaged.

Every site i minimises (1/m_i) sum of l(y f.x) + lam |f|^2, so Lambda = 2 lam in objective perturbation, and sends f_i.
The average method takes the mean. The feature method (Algorithm 1) takes M x as features of a row x, M: (N, d) with
rows f_i, trains weights omega: (N,) of logistic regression with lam |omega|^2 on the aggregator's rows D_0, and returns
M' omega (line 8 has M omega, which has the wrong shape). With noise the f_i are private as they leave their
sites; all the rest is post-processing of them, so nobody is trusted, and each row is in one site, so the epsilons of
sites do not add up. The curves of the paper: FL and AL with noise, FN and AN for epsilon = inf.

Theorem 1 of the paper gives orders of magnitude with an unspecified constant C_N, so there is nothing of it to compute.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from typing_extensions import override

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array, into_ball
from smc_dp.core.errors import InputError, check_one_of, shown
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.functionality import EachPublishes, Trusted
from smc_dp.methods.method import (
    Method,
    Trust,
    announced_sizes,
    check_own_rows,
    check_range,
    check_rows_of_parties,
    check_target,
    release_parts,
    require_two_classes,
)
from smc_dp.methods.model import LinearModel, Release
from smc_dp.methods.neighbours import STRONG_LAMBDA, NeighbourPair, labelled_rows, own_noise_pair
from smc_dp.methods.pathak2010.models import SIZES_CAVEAT
from smc_dp.methods.training.perturbed import Huber, Logistic, Loss, minimise_perturbed, minimise_uncertified
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy import objective_perturbation
from smc_dp.privacy.objective_perturbation import ObjectivePerturbation
from smc_dp.privacy.output import NO_NOISE, no_guarantee, published_noise_caveat
from smc_dp.privacy.statement import PrivacyStatement, Unit, round_up
from smc_dp.privacy.statement import short_figure as figure
from smc_dp.privacy.target import Calibration, NoiseName, Target

LossName = Literal["huber", "logistic"]
ClassifierScale = Literal["none", "unit"]
"""Scale of the sites' classifiers as features: as they are, or each divided by its length."""

_ADVERSARY = (
    "anyone who sees everything that leaves the sites, the aggregator and the other sites included: each site adds "
    "its noise itself and trusts nobody"
)
_PUBLIC = "The aggregator's labelled rows count as public: they are not protected."
_PRIVATE = (
    "The aggregator's labelled rows are protected like those of a site, but not from the aggregator, who holds them; "
    "what was fitted to them before, such as a projection, is not covered."
)
_SOLUTION_NOISE_CAVEAT = (
    "That includes an epsilon/100 for noise on each solution, which the paper does not have: with it the proof holds "
    "for what is computed, not only for real numbers."
)

_TINY = float(np.finfo(float).tiny)
_Labels = np.ndarray[tuple[int], np.dtype[np.int64]]
_PerturbationAndStream = tuple[ObjectivePerturbation, Stream]


@dataclass(frozen=True)
class AverageMethod(Method):
    """The mean of the sites' classifiers; lam in [2^-29, 1e6], h of the Huber loss in [2^-10, 2^10].

    site_epsilons: for each site the multiple of the target's epsilon that it spends, all 1 if None.
    """

    lam: float = 1e-2
    h: float = 0.5
    loss: LossName = "huber"
    site_epsilons: tuple[float, ...] | None = None
    name: ClassVar[str] = "avg_agg"
    protects: ClassVar[Unit] = "record"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven", "paper")
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm",)
    noises_as_published: ClassVar[tuple[NoiseName, ...]] = ("knorm",)
    lambda_multiplies: ClassVar[str] = "|w|²"
    colour: ClassVar[str] = "#fc00fc"

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("h", self.h, 2.0**-10, 2.0**10)
        check_one_of("loss", self.loss, get_args(LossName))
        shares = () if self.site_epsilons is None else self.site_epsilons
        if not isinstance(shares, tuple | list):
            raise InputError("site_epsilons.no_tuple", got=shown(shares))
        for share in shares:
            check_range("site_epsilons", share, 2.0**-20, 2.0**20)

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return own_noise_pair(cls(STRONG_LAMBDA))

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        return self._stated(public, target, None, ())

    def _stated(
        self, public: Public, target: Target, own: ObjectivePerturbation | None, caveats: tuple[str, ...]
    ) -> PrivacyStatement:
        """State the worst epsilon of all who add noise; `own` is the perturbation of the aggregator."""
        if target.epsilon is None:
            return no_guarantee("record", "replace", NO_NOISE)
        each = [site.epsilon for site in site_perturbations(self, public, target) if site is not None]
        worst = round_up(max([*each, *([] if own is None else [own.epsilon])]))
        caveats = (SIZES_CAVEAT, *caveats)
        if self.site_epsilons is not None:
            listed = ", ".join(f"{public.name(j)} {figure(round_up(e))}" for j, e in enumerate(each))
            caveats += (f"For the rows of each site alone epsilon is: {listed}.",)
        if target.calibration == "paper":
            caveats += (f"{published_noise_caveat(target.epsilon, worst)}. {_SOLUTION_NOISE_CAVEAT}",)
        return PrivacyStatement("pure", worst, 0.0, "record", "replace", _ADVERSARY, caveats)

    @override
    def functionality(self, public: Public, target: Target) -> EachPublishes | Trusted:
        return EachPublishes()  # always: `Trusted` is for private rows of the aggregator, which only `feat_agg` has

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Array:
        require_two_classes(public.classes, self)
        check_own_rows(rows)
        shares = set(self.site_epsilons or (1.0,))
        if len(shares) > 1:
            raise InputError("site_epsilons.several_at_home", got=shown(self.site_epsilons))
        return self.classifier(rows, self.site_perturbation(public, target, shares.pop(), len(rows)), rng)

    @override
    def finish(self, value: Any, public: Public, target: Target) -> Release:
        return Release(_model(np.array(value).mean(axis=0)), self.statement(public, target))

    @override
    def train(self, federation: Federation) -> CheckedSites:
        # No classifier is trained here: the noise is part of the training. One class is enough.
        require_two_classes(federation.classes, self)
        check_rows_of_parties(federation)
        self.check_shares(len(federation.parties))
        return CheckedSites(self, federation)

    def check_shares(self, parties: int) -> None:
        """Raise InputError for shares of epsilon of another number of sites."""
        if self.site_epsilons is not None and len(self.site_epsilons) != parties:
            raise InputError("site_epsilons.wrong_number", wanted=parties, got=len(self.site_epsilons))

    def site_perturbation(self, public: Public, target: Target, share: float, n: int) -> ObjectivePerturbation | None:
        """Return the perturbation of a site with n rows; None for no noise."""
        c = self._loss.largest_curvature
        return _distribution(self.lam, target, Fraction(share), n, c, public.dimension)

    def classifier(self, rows: Rows, perturbation: ObjectivePerturbation | None, rng: Stream) -> Array:
        """Train the classifier of these rows as it may leave their owner: private if it is perturbed."""
        return _minimiser(self._loss, rows.X, rows.y, 2 * self.lam, _with_stream(perturbation, rng))

    @property
    def _loss(self) -> Loss:
        return Huber(self.h) if self.loss == "huber" else Logistic()


@dataclass(frozen=True)
class FeatureMethod(AverageMethod):
    """The combination of the sites' classifiers that the aggregator's labelled rows teach.

    Its settings are those of `AverageMethod` and two more. scale: `unit` divides every f_i by its length, which noise
    makes arbitrary, before it is a feature (post-processing). private_labelled: the labelled rows are private too;
    omega then comes from objective perturbation at the target's epsilon in the N dimensions of M x/|M|, which are rows
    of the unit ball because |M x| <= |M| |x| in the Frobenius norm.
    """

    scale: ClassifierScale = "none"
    private_labelled: bool = False
    name: ClassVar[str] = "feat_agg"
    colour: ClassVar[str] = "#3c54fc"

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        check_one_of("scale", self.scale, get_args(ClassifierScale))
        if not isinstance(self.private_labelled, bool):
            raise InputError("private_labelled.no_bool", got=shown(self.private_labelled))

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return own_noise_pair(cls(STRONG_LAMBDA), public=labelled_rows(1, 0))

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        own = self.aggregator_perturbation(public, target)
        return self._stated(public, target, own, (_PRIVATE if self.private_labelled else _PUBLIC,))

    @override
    def functionality(self, public: Public, target: Target) -> EachPublishes | Trusted:
        if not self.private_labelled:
            return EachPublishes()
        perturbation = self.aggregator_perturbation(public, target)
        return Trusted(lambda parts, rng: self._combination(np.array(parts), public, _with_stream(perturbation, rng)))

    @override
    def finish(self, value: Any, public: Public, target: Target) -> Release:
        if not self.private_labelled:
            value = self._combination(np.array(value), public, None)
        return Release(_model(np.asarray(value)), self.statement(public, target))

    def _combination(self, M: Array, public: Public, with_stream: _PerturbationAndStream | None) -> Array:
        """Return M' omega: (d,)."""
        if self.scale == "unit":
            M = M / np.maximum(np.linalg.norm(M, axis=1, keepdims=True), _TINY)
        if self.private_labelled:
            M = M / max(float(np.linalg.norm(M)), _TINY)
        rows = _labelled(self, public)
        features = rows.X @ M.T
        if self.private_labelled:
            features = into_ball(features, 1.0)  # where they are but for rounding
        return np.asarray(M.T @ _minimiser(Logistic(), features, rows.y, 2 * self.lam, with_stream))

    def aggregator_perturbation(self, public: Public, target: Target) -> ObjectivePerturbation | None:
        """Return the perturbation of the aggregator; None for no noise, and where its rows are public."""
        if not self.private_labelled:
            return None
        n = len(_labelled(self, public))
        return _distribution(self.lam, target, Fraction(1), n, Logistic().largest_curvature, public.parties)

    @override
    def train(self, federation: Federation) -> CheckedSites:
        checked = super().train(federation)
        _labelled(self, federation)
        return checked


@dataclass(frozen=True, eq=False, repr=False)
class CheckedSites:
    """Checked rows of all sites, secret; training happens at each release, with its noise."""

    method: AverageMethod
    federation: Federation

    def classifiers(self, target: Target, rng: Stream) -> Array:
        """Return the classifiers that the sites send: (N, d), f_i in row i; without noise for epsilon None."""
        check_target(target, self.method)
        parties = zip(
            self.federation.parties, site_perturbations(self.method, self.federation.public, target), strict=True
        )
        return np.array([self.method.classifier(rows, perturbation, rng) for rows, perturbation in parties])

    def release(self, target: Target, rng: Stream) -> Release:
        """Draw new noise at every site, then average or combine the classifiers."""
        return release_parts(self.method, list(self.classifiers(target, rng)), self.federation.public, target, rng)


def site_perturbations(method: AverageMethod, public: Public, target: Target) -> list[ObjectivePerturbation | None]:
    """Return the perturbation of each site; None for no noise."""
    method.check_shares(public.parties)
    shares = method.site_epsilons or (1.0,) * public.parties
    sizes = announced_sizes(public, method)
    return [method.site_perturbation(public, target, share, n) for share, n in zip(shares, sizes, strict=True)]


def _with_stream(perturbation: ObjectivePerturbation | None, rng: Stream) -> _PerturbationAndStream | None:
    return None if perturbation is None else (perturbation, rng)


def _labelled(method: FeatureMethod, public: Public | Federation) -> Rows:
    if public.labelled is None:
        raise InputError("labelled_rows.missing", method=method.name)
    return public.labelled


def _model(f: Array) -> LinearModel:
    return LinearModel.from_coordinates(f[np.newaxis], 2)


def _distribution(
    lam: float, target: Target, share: Fraction, n: int, c: Fraction, d: int
) -> ObjectivePerturbation | None:
    if target.epsilon is None:
        return None
    rule = (
        objective_perturbation.published_perturbation
        if target.calibration == "paper"
        else objective_perturbation.proven_perturbation
    )
    return rule(share * target.epsilon, n, 2 * lam, c, d, PUBLIC_TAU)


def _minimiser(loss: Loss, X: Array, y: _Labels, modulus: float, with_stream: _PerturbationAndStream | None) -> Array:
    """Minimise the regularised mean loss on these rows, perturbed unless `with_stream` is None: (d,)."""
    signs: Array = 2.0 * y.astype(np.float64) - 1
    if with_stream is None:
        return minimise_uncertified(loss, X, signs, modulus)
    perturbation, rng = with_stream
    return perturbation.release(minimise_perturbed(loss, X, signs, perturbation.total, perturbation.linear(rng)), rng)

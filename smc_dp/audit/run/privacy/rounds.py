"""Privacy of sums of clipped gradients, asked one after the other: what the parameters give, derived again.

A record enters a multiple of its own integer row, and where a sum has three blocks (gradient, diagonal, what lies above
it) a multiple of its square. A sum for inference has six: a gradient, two squares, and a count of what is left out.
Bounds, costs and rings are made again here from the public formulas, and compared with
the distributions to which the session is bound; no figure of `smc_dp.privacy.distributed.rounds` is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, isqrt, pi
from typing import Any

from smc_dp.audit.run.check import CheckOutcome, failed, make_fault, passed
from smc_dp.audit.run.derived_parameters import DerivedParameters, feature_count, ring_fault
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.privacy.least_squares import (
    GramSum,
    ResidualSum,
    free_coefficients,
    least_squares_sums,
    of_matrix,
)
from smc_dp.audit.run.privacy.private_inputs import LEAST_SHARE_VARIANCE, count_noun, fail_view, little_variance
from smc_dp.audit.run.privacy.view_inputs import InputBlock, InputSums, share_distributions
from smc_dp.core.errors import Fault
from smc_dp.methods.training.fourier import cosine_table
from smc_dp.privacy.statement import PrivacyStatement, short_figure
from smc_dp.privacy.target import Target

_SMOOTHING = 9  # what the curve of a share loses
ROW_NORM = 1 << 14  # largest length of a row in L2, in integers
WHOLE_ROW = 1 << 12  # weight of a row that enters a gradient whole
HEAVIEST_ROW = 1 << 11  # of a row where rows have weights of their own, by which all that they enter is multiplied
_SQUARE = ROW_NORM * ROW_NORM
_HALF_ROW = 1 << 27


@dataclass(frozen=True)
class SumBound:
    """Bound in L2 on what one record adds to one sum; `start`: nothing was asked yet, so that the weights are zero."""

    gradient: int
    curvature: int
    start: bool

    @property
    def largest(self) -> int:
        """Bound on every number that one record enters."""
        return max(self.gradient, self.curvature)

    def cost(self, gradient: Fraction, curvature: Fraction, adjacency: str) -> Fraction:
        """Return the largest sum of squares of how far two neighbours lie apart, over these variances."""
        A = self.gradient**2 / gradient
        E = self.curvature**2 / curvature if self.curvature else Fraction(0)
        if adjacency == "addremove":
            return A + E
        both = 4 * A if 2 * E <= A else (A + 2 * E) ** 2 / (2 * E)
        return both if self.start else max(4 * A + E, both)

    def cost_with(self, left: Sequence[Fraction], adjacency: str) -> Fraction:
        """Return the cost with these variances, of each block."""
        return self.cost(left[0], of_matrix(left[1:]) if self.curvature else Fraction(1), adjacency)


@dataclass(frozen=True)
class InferenceSum:
    """Bound in L2 on what one record adds to a sum for inference: nothing is clipped, and rows are at most 1 long.

    Beside the gradient its square is free with half of the weight, and the Hessian with 20, as it is a (1 - a) r^2 long
    for a gradient a r. A record that is left out enters its count alone.
    """

    gradient: int = WHOLE_ROW * ROW_NORM
    curvature: int = (WHOLE_ROW * ROW_NORM) ** 2
    count: int = 1 << 16
    largest: int = (WHOLE_ROW * ROW_NORM) ** 2

    def cost_with(self, left: Sequence[Fraction], adjacency: str) -> Fraction:
        """Return the cost with these variances: a gradient, two matrices, a count."""
        half = (len(left) - 2) // 2
        hessian, square = of_matrix(left[1 : 1 + half]), of_matrix(left[1 + half : -1])
        weights = (
            self.gradient**2 / left[0],
            self.curvature**2 / hessian / 20,
            self.curvature**2 / square * 2,
            self.count**2 / left[-1] * Fraction(5, 8),
        )
        return max(weights) * (4 if adjacency == "replace" else Fraction(8, 5))


def _inferred(found: DerivedParameters) -> tuple[int, ...]:
    """Return the lengths of the blocks of a sum for inference, of the features that are no reference level."""
    p = free_coefficients(found)
    matrix = (p, p * (p - 1) // 2) if p > 1 else (p,)
    return (p, *matrix, *matrix, 1)


def _is_inference(found: DerivedParameters) -> bool:
    """Return whether all sums have the blocks of a sum for inference."""
    wanted = _inferred(found)
    return all(tuple(length for length, _ in blocks) == wanted for blocks in found.sums)


def sum_bounds(found: DerivedParameters) -> tuple[SumBound | InferenceSum | GramSum | ResidualSum, ...]:
    """Return the bound of each sum, by its number of classes and of blocks, and by whether rows have weights."""
    if not found.public.classes and (of_outcome := least_squares_sums(found)) is not None:
        return of_outcome
    if _is_inference(found):
        return (InferenceSum(),) * len(found.sums)
    k, found_bounds = found.public.classes, list[SumBound]()
    weight = HEAVIEST_ROW if found.public.weighted else 1
    for blocks in found.sums:
        start = len(blocks) > 1
        of_start = ROW_NORM if k == 2 else isqrt(k * (k - 1) * _SQUARE - 1) + 1  # rounded up
        # Clipped at 1/2, or of k classes at sqrt(1 - 1/k)/2, which for integers is rounded down.
        clipped = WHOLE_ROW * ROW_NORM // 2
        clipped = clipped if k == 2 else isqrt(clipped**2 * (k - 1) // k)
        gradient, curvature = (of_start, _SQUARE) if start else (clipped, 0)
        found_bounds.append(SumBound(weight * gradient, weight * curvature, start))
    return tuple(found_bounds)


def check_rounds_mechanism(found: DerivedParameters) -> CheckOutcome:
    """Check what the shares of H honest parties give for all sums together, against the stated target."""
    spec, target, H = found.spec, found.target, found.honest
    every = [distribution for r in range(len(found.sums)) for distribution in share_distributions(found, r)]
    if fault := _blocks_fault(found) or features_fault(found):
        return failed(fault)
    for distribution in every:
        if distribution.honest != H:
            return failed("noise.honest_shares", honest=distribution.honest, wanted=H)
        if distribution.variance < LEAST_SHARE_VARIANCE:
            return failed(little_variance(distribution))
    words = _words(found, H)
    mu, rho = _together(found, H, _SMOOTHING), _together(found, H, 0) / 2 + _closeness(every, H)
    if mu > target.mu**2:
        return failed("noise.mu_too_large", mechanism=words, mu=float(mu) ** 0.5, most=float(target.mu))
    if _understated(spec.statement, target, mu, rho):
        return failed("statement.too_small", mechanism=words, mu=float(mu) ** 0.5, rho=float(rho))
    if fault := ring_fault(spec.grid, max(_largest(found, r) for r in range(len(found.sums)))):
        return failed(fault.within(words.rstrip(".")))
    mu_text, rho_text = short_figure(float(mu) ** 0.5), short_figure(float(rho))
    return passed("mechanism.sums_hold", mechanism=words, mu=mu_text, rho=rho_text, ring_bits=spec.grid.ring_bits)


def _understated(stated: PrivacyStatement, target: Target, mu: Fraction, rho: Fraction) -> bool:
    """Return whether the noise gives less than is stated: a curve, or the target where there is no curve."""
    if stated.kind == "approx":
        return Fraction(stated.epsilon or 0) < target.wanted or Fraction(stated.delta) < target.delta
    return stated.mu is None or stated.rho is None or Fraction(stated.mu) ** 2 < mu or Fraction(stated.rho) < rho


def _words(found: DerivedParameters, H: int) -> str:
    most, classes = sum_bounds(found), found.public.classes
    of = f"{found.public.dimension} features and {classes} classes" if classes else "least squares"
    parts = dict.fromkeys(
        f"In a sum of gradient and curvature, one record contributes at most {b.gradient} to the gradient and "
        f"{b.curvature} to the curvature."
        if b.curvature
        else f"In a sum of the gradient alone, one record contributes at most {b.gradient}."
        for b in most
    )
    return (
        f"Discrete Gaussian noise (ddg) in shares on {count_noun('sum', len(most))} of {of}. {' '.join(parts)} These "
        "are lengths of vectors (L2 norms), in steps of the grid to which numbers are rounded. Each kind of sum scales "
        f"its numbers differently. The guarantee counts the noise shares of H = {H} honest parties."
    )


def _blocks_fault(found: DerivedParameters) -> Fault | None:
    """Return the fault of blocks that are no sums of gradients, with a curvature in the first at most."""
    d, k = found.public.dimension, found.public.classes
    if _is_inference(found) or (not k and least_squares_sums(found) is not None):
        return None
    gradient = d if k == 2 else k * d
    beside = (d * (d - 1) // 2,) if d > 1 else ()
    for r, blocks in enumerate(found.sums):
        lengths = tuple(length for length, _ in blocks)
        if lengths != (gradient,) and (r or lengths != (gradient, d, *beside)):
            return make_fault("sums.other_blocks", sum=r, lengths=str(lengths), gradient=gradient)
    return None


def features_fault(found: DerivedParameters) -> Fault | None:
    """Return the fault of Fourier features that could be longer than their half of a row, whatever the row was.

    The row keeps half of the squared length; D/2 pairs of features share the other. The longest pair that the map can
    give is taken in integers.
    """
    count = feature_count(found.method)
    if count is None:
        return None
    cosines = cosine_table(count).tolist()
    quarter = len(cosines) // 4
    longest = max(c * c + cosines[i - quarter] ** 2 for i, c in enumerate(cosines))
    return None if longest * (count // 2) <= _HALF_ROW else make_fault("features.too_long", count=count)


def _together(found: DerivedParameters, H: int, smoothing: int) -> Fraction:
    """Return the costs of all sums, with this taken off the variance of each number."""
    adjacency, total = found.spec.statement.adjacency, Fraction(0)
    for r, bound in enumerate(sum_bounds(found)):
        left = [H * distribution.variance - smoothing for distribution in share_distributions(found, r)]
        total += bound.cost_with(left, adjacency)
    return total


def _closeness(every: list[Any], H: int) -> Fraction:
    """Return what rho is more because sums of shares are not discrete Gaussians (Kairouz, Liu and Steinke 2021)."""

    def tau(distribution: Any) -> float:
        return 10 * sum(exp(-2 * pi**2 * float(distribution.variance) * k / (k + 1)) for k in range(1, H))

    return Fraction(sum(distribution.dimension * tau(distribution) / 4 for distribution in every))


def _largest(found: DerivedParameters, r: int) -> int:
    """Return what no entry of sum r exceeds, but for a small probability: all rows of all parties, and all shares."""
    bound, among = sum_bounds(found)[r], found.spec.threat_model
    tail = max(distribution.tail(among.parties) for distribution in share_distributions(found, r))
    return int(among.parties * _most_rows(found) * bound.largest + tail)


def _most_rows(found: DerivedParameters) -> int:
    return int(found.spec.announced.most_rows)


def check_contributions(evidence: Evidence, found: DerivedParameters, read: Mapping[str, InputSums]) -> CheckOutcome:
    """Check that no party's input is longer than any rows make it, as many as it may have."""
    most_rows, most = _most_rows(found), sum_bounds(found)
    for name, sums in read.items():
        for r, blocks in enumerate(sums):
            for what, length, allowed in _lengths(blocks, most[r]):
                if length > (allowed * most_rows) ** 2:
                    too_long = make_fault("view.sum_too_long", what=what, sum=r, rows=most_rows)
                    return fail_view(evidence, name, too_long)
            for matrix in _matrices(blocks, most[r]):
                if fault := _no_square(matrix):
                    return fail_view(evidence, name, fault.within(f"the curvature in sum {r} is that of no rows"))
    count = sum(len(sums) for sums in read.values())
    return passed("models.contributions_hold", contributions=count_noun("contribution", count), most_rows=most_rows)


def _lengths(
    blocks: tuple[InputBlock, ...], bound: SumBound | InferenceSum | GramSum | ResidualSum
) -> Iterator[tuple[str, int, int]]:
    """Yield the name of a block, its squared length, and the length that a record gives it."""
    if isinstance(bound, GramSum | ResidualSum):
        yield from bound.lengths(blocks)
    else:
        yield "gradient", blocks[0].squared, bound.gradient
    for i, (diagonal, *beside) in enumerate(_matrices(blocks, bound)):
        # q (1 - q) is at most a quarter: the first matrix of a sum for inference is a Hessian.
        most = bound.curvature // 4 if isinstance(bound, InferenceSum) and i == 0 else bound.curvature
        yield "curvature", diagonal.squared + 2 * sum(block.squared for block in beside), most
    if isinstance(bound, InferenceSum):
        yield "count", blocks[-1].squared, bound.count


def _matrices(
    blocks: tuple[InputBlock, ...], bound: SumBound | InferenceSum | GramSum | ResidualSum
) -> Iterator[tuple[InputBlock, ...]]:
    """Yield diagonal, and what lies above it, of each matrix of a sum: none, one, or two before a count."""
    if isinstance(bound, GramSum | ResidualSum):
        yield from bound.matrices(blocks)
        return
    if len(blocks) < 4:
        yield from [blocks[1:]] if len(blocks) > 1 else []
        return
    half = (len(blocks) - 2) // 2
    yield blocks[1 : 1 + half]
    yield blocks[1 + half : -1]


def _no_square(blocks: tuple[InputBlock, ...]) -> Fault | None:
    """Return why these are not the diagonal, and what lies above it, of a sum of squares of rows."""
    diagonal, above = blocks[0].without_noise, iter(blocks[1].without_noise if len(blocks) > 1 else ())
    if min(diagonal) < 0:
        return make_fault("curvature.negative")
    for i, x in enumerate(diagonal):
        for y in diagonal[i + 1 :]:
            if next(above) ** 2 > x * y:
                return make_fault("curvature.no_square")
    return None

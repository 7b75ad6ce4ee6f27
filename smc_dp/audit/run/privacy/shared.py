"""Checks of privacy where every party draws a share of the noise: what the parameters give, and what views show.

The guarantee counts the shares of H honest parties, H = K - D - t. The figures are made again here, from the formulas
of `smc_dp.privacy.distributed`, for the distribution to which the session is bound. Sums of gradients are in `rounds`;
here is one sum of vectors that move by so much, and what holds for the noise of any sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, exp, lgamma, log, log2
from typing import Any

from smc_dp.audit.run.check import CheckOutcome, failed, make_fault, passed
from smc_dp.audit.run.derived_parameters import DerivedParameters, ring_fault
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.privacy import lengths, rounds
from smc_dp.audit.run.privacy.private_inputs import (
    LEAST_SHARE_VARIANCE,
    NOISE_FALSE_ALARM,
    count_noun,
    fail_view,
    impossible_rows,
    little_variance,
    stated_power,
)
from smc_dp.audit.run.privacy.view_inputs import InputBlock, InputSums, inputs_of_views
from smc_dp.core.errors import Fault, shown
from smc_dp.data.columns import BinnedColumn, CategoricalColumn, Column
from smc_dp.methods.training.classes import coordinate_count
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy.distributed import SharedNoise, SharedRounds
from smc_dp.privacy.grid import ceil_sqrt
from smc_dp.privacy.sensitivity import add_remove, largest_softmax_norm, logistic_constants, steepest
from smc_dp.run.agreement import describes_rows
from smc_dp.run.protocols.registry import find_terms

_SMOOTHING = 9  # what the curve of a share of ddg loses
LEAST_SCALE, LOST, LARGEST_DELTA_BITS = 16, Fraction(1, 1 << 80), 64  # of vg
_SQUARE_WEIGHT, _UNIT_BITS = Fraction(213, 128), 24  # of descriptions
_RARE_BITS = 60  # two shares that are equal by a chance below this are one share used twice


def check_shared_mechanism(
    evidence: Evidence, found: DerivedParameters, noise: SharedNoise | SharedRounds
) -> CheckOutcome:
    """Check the shares of noise in the session against the stated target, with the honest shares alone."""
    if fault := _other_session(evidence, found):
        return failed(fault, line=0)
    if isinstance(noise, SharedRounds):
        return rounds.check_rounds_mechanism(found)
    distribution, f, reach = noise.distribution, noise.grid.fraction_bits, _reach(found)
    K, H = found.spec.threat_model.parties, found.honest
    moved = reach.moved_in(f)
    if distribution.honest != H:
        return failed("noise.honest_shares", honest=distribution.honest, wanted=H)
    if noise.sensitivity != moved:
        return failed("noise.sensitivity", unit=reach.unit, sensitivity=noise.sensitivity, wanted=moved)
    words = (
        f"{distribution.name} noise in shares on the sum of K = {K} vectors of d = {distribution.dimension} numbers, "
        f"of parties with at most {reach.most_rows} rows, in steps of 2**-{f}: one {reach.unit} moves the sum by at "
        f"most D = {moved} in L2, and the guarantee counts the noise shares of H = K - D - t = {H} honest parties."
    )
    figure = _guaranteed(found, distribution, H, moved)
    if isinstance(figure, Fault):
        return failed(figure.within(words.rstrip(".")))
    if fault := ring_fault(noise.grid, K * (ceil(reach.longest * (1 << f)) + 1) + distribution.tail(K)):
        return failed(fault.within(words.rstrip(".")))
    return passed("mechanism.shared_holds", mechanism=words, figure=figure, ring_bits=noise.grid.ring_bits)


def _other_session(evidence: Evidence, found: DerivedParameters) -> Fault | None:
    """Return the fault of a session that is bound to something else than follows: the noise above all."""
    said: Mapping[str, Any] = evidence.session.parameters.as_dict()
    name, parties = evidence.protocol.program.name, tuple(evidence.session.parties)
    terms = find_terms(name).from_dict(evidence.parameters.model_dump())
    follows = terms.program_parameters(name, found.spec, parties, str(said.get("agreed"))).as_dict()
    other = next((field for field in follows if follows[field] != said.get(field)), None)
    if other is None:
        return None
    return make_fault(
        "session.other_parameter", name=other, bound=shown(said.get(other)), follows=shown(follows[other])
    )


@dataclass(frozen=True)
class _Reach:
    """Reach of one party's input with at most so many rows, in reals and L2.

    Neighbours, who differ in one `unit`, move it by `moved`, and it is at most `longest`. `exact`: its numbers stand on
    the grid as they are.
    """

    unit: str
    dimension: int
    most_rows: int
    moved: Fraction
    longest: Fraction
    exact: bool = False

    def moved_in(self, fraction_bits: int) -> int:
        """Return `moved` on a grid: rounding moves each of two neighbours by up to sqrt(d)/2 steps."""
        return ceil(self.moved * (1 << fraction_bits)) + self._rounding

    def longest_in(self, fraction_bits: int, rows: int) -> int:
        """Return `longest` on a grid, of a party with so many rows where it counts how many."""
        return ceil(self.longest * rows * (1 << fraction_bits) / self.most_rows) + self._rounding

    @property
    def _rounding(self) -> int:
        return 0 if self.exact else int(ceil_sqrt(self.dimension))


def _reach(found: DerivedParameters) -> _Reach:
    """Return the reach of a method's inputs.

    Of models times numbers of rows (a method that has a `sensitivity_to` so many rows) and of descriptions it is made
    again here; of other inputs the specification itself says it.
    """
    spec, unit, most = found.spec, found.spec.statement.unit, int(found.spec.announced.most_rows)
    if describes_rows(found.method.name):
        return _description_reach(found.spec.columns, found.method, unit, most)
    if not hasattr(found.method, "sensitivity_to"):
        said = spec.reach
        return _Reach(unit, said.dimension, most, said.sensitivity, said.longest, said.bits is not None)
    mu, tau, classes = 2 * Fraction(found.method.lam), Fraction(PUBLIC_TAU) * most, found.public.classes
    if spec.statement.adjacency == "replace":
        apart = Fraction(logistic_constants(mu).G) if classes == 2 else 2 * steepest(classes, mu)
        moved = (apart + 2 * tau) / mu
    else:
        moved = Fraction(add_remove(mu, float(tau), classes))
    longest = (Fraction(largest_softmax_norm(classes, mu)) + Fraction(PUBLIC_TAU) / mu) * most
    return _Reach(unit, coordinate_count(classes) * found.public.dimension, most, moved, longest)


def _description_reach(columns: Sequence[Column], method: Any, unit: str, most: int) -> _Reach:
    """Return the reach of counts, sums and weighted squares; w is `_SQUARE_WEIGHT`, and U = 2^24 the unit of all.

    A replaced record moves two counts by U each. Of a number z in [-U, U] it moves z and w z^2/U by 2 U at most, for
    w^2 is below 2.77; where cells may be empty, by sqrt(1 + 1 + w^2) U at most, because an empty cell has a place. With
    groups every column but `by` has its places once for each of them: two records then move z and w z^2/U of both. A
    table is a column whose levels are pairs of levels.
    """
    by, width = method.by, {column.name: column.width for column in columns}
    pairs = [] if method.tables is None else [map(str.strip, text.split("*")) for text in method.tables.split(",")]
    tables = [width[first] * width[second] for first, second in pairs]
    numbers = [column for column in columns if not isinstance(column, CategoricalColumn | BinnedColumn)]
    levels = len(columns) - len(numbers) + len(tables)
    apart = {True: 2 + _SQUARE_WEIGHT**2, False: Fraction(4)} if by is None else {}
    moved = Fraction(2 * levels) + sum(apart.get(column.width == 2, 2 + 2 * _SQUARE_WEIGHT**2) for column in numbers)
    longest = levels + (1 + _SQUARE_WEIGHT**2) * len(numbers)
    groups = width.get(by, 0)
    places = (sum(width.values()) + len(numbers) - groups) * max(1, groups) + groups + sum(tables)
    return _Reach(unit, places, most, _rooted(moved), _rooted(longest) * most, exact=True)


def _rooted(square: Fraction) -> Fraction:
    """Return the root, rounded up to the unit of a description."""
    return Fraction(ceil_sqrt(int(square * 4**_UNIT_BITS)), 2**_UNIT_BITS)


def _guaranteed(found: DerivedParameters, distribution: Any, H: int, moved: int) -> str | Fault:
    """Return the figure that H shares of this distribution give, or the fault of it."""
    target, wanted = found.target, found.target.wanted
    if distribution.name == "ddg":
        total = H * distribution.variance
        if distribution.variance < LEAST_SHARE_VARIANCE:
            return little_variance(distribution)
        mu = Fraction(moved**2) / (total - _SMOOTHING)
        if mu > target.mu**2:
            return make_fault("shares.mu_too_large", mu=float(mu) ** 0.5, most=float(target.mu))
        return f"Together they have the variance {float(total):.6g}, so mu = {float(mu) ** 0.5:.6g}"
    epsilon = moved / distribution.scale + (LOST if distribution.name == "vg" else 0)
    if epsilon > wanted:
        return make_fault("shares.epsilon_too_large", epsilon=float(epsilon), most=float(wanted))
    if distribution.name != "vg":
        return f"each share alone gives epsilon {float(epsilon):.6g}"
    bits = -_log2_delta(distribution, H, float(epsilon))
    if distribution.scale < LEAST_SCALE or bits < LARGEST_DELTA_BITS - 1e-6:
        return make_fault("shares.delta_too_large", bits=bits, least=LARGEST_DELTA_BITS)
    return f"together they give epsilon {float(epsilon):.6g} with delta 2**-{bits:.1f}"


def _log2_delta(distribution: Any, H: int, epsilon: float) -> float:
    """Return the log2 of (1 + 2 e^epsilon) H (8/s^2)^a/Gamma(a+1), a = (d+1)/(2H): some V below 16 among the honest."""
    a = (distribution.dimension + 1) / (2 * H)
    scale = log2(distribution.scale.numerator) - log2(distribution.scale.denominator)
    grown = log2(1 + 2 * exp(epsilon)) if epsilon < 500 else 1 + epsilon / log(2)
    return float(grown + log2(H) + a * (3 - 2 * scale) - lgamma(a + 1) / log(2))


# What views show.


def check_shared_noise(
    evidence: Evidence, found: DerivedParameters, shared: SharedNoise | SharedRounds
) -> CheckOutcome:
    """Check the length of each share in each block of each sum, and of all given ones, and that they point nowhere.

    No two shares of a party, nor of two parties in a sum, point the same way.
    """
    read = inputs_of_views(evidence, found)
    if isinstance(read, CheckOutcome):
        return read
    looks = _Looks()
    for name, sums in read.items():
        if fault := looks.alone(sums) or looks.again(sums):
            return fail_view(evidence, name, fault)
    if len(found.sums) > 1 and (fault := looks.all_sums([*read.values()])):
        return failed(fault)
    for r in range(len(found.sums)):
        if fault := looks.together([sums[r] for sums in read.values() if r < len(sums)]):
            return failed(fault if len(found.sums) == 1 else fault.within(f"sum {r}"))
    return looks.passed(len(found.sums))


@dataclass
class _Looks:
    """Record of the tests: the distributions of all shares, the number of tests, their power against half the noise."""

    shares: list[Any] = field(default_factory=list)
    tests: int = 0
    power: float = 0.0

    def alone(self, sums: InputSums) -> Fault | None:
        """Return the fault of a share of this party by itself."""
        for r, blocks in enumerate(sums):
            where = f" in sum {r}" if len(sums) > 1 else ""
            for block in _noisy(blocks):
                self.shares.append(block.distribution)
                self.tests += 2
                if not lengths.is_plausible_length(
                    lengths.squared_length([block.noise], block.distribution), block.distribution, 1
                ):
                    return make_fault("share.length", where=where)
                if lengths.share_has_direction(block.noise, block.without_noise, block.distribution):
                    return make_fault("share.direction", where=where)
        return self._of_sums([sums], "its shares of the noise of all sums") if len(sums) > 1 else None

    def again(self, sums: InputSums) -> Fault | None:
        """Return the fault of a party that used noise in one sum that it used in another."""
        alike: dict[Any, list[InputBlock]] = {}
        for blocks in sums:
            for block in _noisy(blocks):
                alike.setdefault(block.distribution.text, []).append(block)
        for some in alike.values():
            self.tests += len(some) > 1
            if _same(some) or lengths.shares_have_direction(*_vectors(some), some[0].distribution):
                return make_fault("share.used_again")
        return None

    def all_sums(self, given: Sequence[InputSums]) -> Fault | None:
        """Return the fault of all shares of all parties, where there are several sums."""
        self.power = lengths.power_of_all_lengths(
            sum(b.distribution.dimension for sums in given for x in sums for b in _noisy(x))
        )
        return self._of_sums(given, "all given shares of all sums")

    def _of_sums(self, given: Sequence[InputSums], what: str) -> Fault | None:
        """Return the fault of their length; their distributions are all ddg."""
        self.tests += 1
        drawn = [(block.noise, block.distribution) for sums in given for blocks in sums for block in _noisy(blocks)]
        if lengths.are_plausible_lengths(drawn):
            return None
        return make_fault("shares.length_of_all", what=what)

    def together(self, given: Sequence[tuple[InputBlock, ...]]) -> Fault | None:
        """Return the fault of all given shares of one sum."""
        for some in zip(*(_noisy(blocks) for blocks in given), strict=True):
            distribution = some[0].distribution
            self.tests += 2
            if not lengths.is_plausible_length(
                lengths.squared_length([x.noise for x in some], distribution), distribution, len(some)
            ):
                return make_fault("shares.length")
            if lengths.shares_have_direction(*_vectors(some), distribution):
                return make_fault("shares.direction")
            self.power = max(self.power, lengths.power_of_length(distribution, len(some)))
        return None

    def passed(self, sums: int) -> CheckOutcome:
        """Return that nothing was found, with the figures of the tests."""
        return passed(
            "noise.shares_hold",
            shares=count_noun("share", len(self.shares)),
            kinds=list(dict.fromkeys(distribution.name for distribution in self.shares)),
            numbers=" or ".join(str(d) for d in sorted({distribution.dimension for distribution in self.shares})),
            where="of each share, of each sum of shares and of their total"
            if sums > 1
            else "of each share and of their sum",
            false_alarms=self.tests * NOISE_FALSE_ALARM,
            power=stated_power(self.power),
        )


def _noisy(blocks: Iterable[InputBlock]) -> list[InputBlock]:
    return [block for block in blocks if block.distribution is not None]


def _vectors(some: Sequence[InputBlock]) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    return [block.noise for block in some], [block.without_noise for block in some]


def _same(some: Sequence[InputBlock]) -> bool:
    """Return whether two are equal that hardly ever are by chance."""
    rare = (
        some[0].distribution.dimension * int(lengths.squared_unit(some[0].distribution)).bit_length() / 2 > _RARE_BITS
    )
    return rare and len({block.noise for block in some}) < len(some)


def check_shared_models(
    evidence: Evidence, found: DerivedParameters, shared: SharedNoise | SharedRounds
) -> CheckOutcome:
    """Check that nobody entered more than the method lets any rows add.

    No model times its number of rows is longer than training on any rows makes it, no gradient longer than so many rows
    make it. Noise taken off beforehand, or another party's input negated, mostly shows.
    """
    read = inputs_of_views(evidence, found)
    if isinstance(read, CheckOutcome):
        return read
    if isinstance(shared, SharedRounds):
        return rounds.check_contributions(evidence, found, read)
    reach, f = _reach(found), shared.grid.fraction_bits
    is_counted = found.spec.announced.sizes == "released"  # then the input grows with the number without noise
    for name, sums in read.items():
        vector, *size = (block.without_noise for block in sums[0])
        rows = size[0][0] if size and is_counted else reach.most_rows
        if not 1 <= rows <= reach.most_rows:
            return fail_view(evidence, name, impossible_rows(rows, reach.most_rows))
        if sum(x * x for x in vector) > reach.longest_in(f, rows) ** 2:
            most = float(reach.longest * rows / reach.most_rows)
            too_long = make_fault("view.input_too_long", rows=rows, most=most)
            return fail_view(evidence, name, too_long)
    return passed("models.shared_hold", vectors=count_noun("vector", len(read)))

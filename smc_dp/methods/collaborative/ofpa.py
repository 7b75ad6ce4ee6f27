"""`ofpa`: collaborative logistic regression with a noisy objective (Algorithm 2: output function perturbation).

As published (`paper`) each party, in each round, minimises the sum of its log-likelihoods plus v.w for v of independent
Laplace numbers of scale 4/epsilon, and uploads (w, alpha). This is not differentially private for any epsilon. The bias
has no noise: d + 1 numbers are released with the randomness of d, so that two neighbours' uploads lie on two surfaces
of dimension d, and the equation for the bias holds exactly (`smc_dp.attacks.ofpa_record_recovery` makes a record of
it). Nothing bounds the Jacobian from v to w, which the proof of theorem 2 leaves out, because there is no regulariser.
For the same reason there may be no minimiser, and the data decide whether there is (a linear program tells:
`tests/smc_dp/methods/collaborative/test_ofpa.py`); there is none for certain if a feature is zero in all rows of a
party, or if indicators of all the values of a column stand beside the bias, because then the noise alone has a slope in
some direction. And noise is redrawn in each round around the same point: a convex objective has its minimiser wherever
one starts, so that downloading the average changes nothing, the rounds do not converge, and averaging a party's uploads
removes it.

The form with a proof (`proven`) is objective perturbation as `smc_dp.privacy.objective_perturbation` has it: rows
(x, 1)/sqrt 2, a regulariser, noise on all d + 1 coordinates, the Jacobian and the solver's tolerance paid for, and
epsilon/T for each of T rounds. The server's average is no secret. One round is best. By a secure sum nobody sees a
single model or number of rows: each party's model has all its noise before it leaves, as in the form where every upload
is seen. The sum adds none: it hides whose model is which, and all numbers of rows but their sum, which no noise would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import scipy
from typing_extensions import override

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.collaborative import tilted
from smc_dp.methods.collaborative.rounds import (
    AGAINST_SERVER,
    Answer,
    BiasedModel,
    RoundsRelease,
    Upload,
    append_one,
    check_round_settings,
    download,
    for_plain_rows,
    pure_statement,
    release_of_rounds,
    scale_into_ball,
)
from smc_dp.methods.functionality import Addend, EachPublishes, Rounds, SumWithShares, Vector
from smc_dp.methods.method import (
    Method,
    SumBlocks,
    TrainedParts,
    Trust,
    check_own_rows,
    check_rows_of_parties,
    check_target,
    require_two_classes,
)
from smc_dp.methods.neighbours import STRONG_LAMBDA, NeighbourPair, own_noise_pair
from smc_dp.methods.pathak2010.models import SIZES_CAVEAT, binary_weights
from smc_dp.methods.sums.noisy_sum import check_announced_rows, row_cap_caveat, unreleased_rows_caveat
from smc_dp.methods.sums.threat_model import (
    AnnouncedRows,
    RowCounts,
    ThreatModel,
)
from smc_dp.methods.training.perturbed import Logistic, minimise_perturbed
from smc_dp.methods.training.solver import PUBLIC_TAU
from smc_dp.privacy import objective_perturbation
from smc_dp.privacy.distributed import ring_bits
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.noise import DiscreteLaplace
from smc_dp.privacy.objective_perturbation import ObjectivePerturbation
from smc_dp.privacy.output import GRID, NO_NOISE, no_guarantee
from smc_dp.privacy.statement import Adjacency, PrivacyStatement, Unit
from smc_dp.privacy.target import LOWEST, Calibration, NoiseName, Target

Reading = Literal["exact", "truncated"]
_LARGEST_WEIGHT = 1 << 22

_WHY: dict[Reading, str] = {
    "exact": "The bias has no noise. Anybody who knows all records of a party but one computes the label of the last "
    "from one upload, and the whole record from as many uploads as there are features.",
    "truncated": "The bias has no noise. The uploads that one data set can lead to and those of its neighbour hardly "
    "ever coincide. The paper's argument is about minimisers, which are not reached.",
}
_UNBOUNDED = (
    "Without a regulariser the change of variables from noise to model has no bounded Jacobian. The data decide "
    "whether the noisy objective has a minimiser at all."
)


@dataclass(frozen=True)
class Ofpa(Method):
    """OFPA with T `rounds`; `paper` takes Laplace noise, `proven` K-norm noise.

    `reading` of line 9, for `paper`: `exact` minimises, and where there is no minimiser uploads what 100 bounded Newton
    steps gave; `truncated` runs `epochs` steps of gradient descent from the downloaded average. lam, for `proven`: the
    regulariser lam |theta|^2 on the mean loss, in [2^-29, 1e6].
    """

    rounds: int = 1
    reading: Reading = "exact"
    epochs: int = 40
    lam: float = 1e-3
    name: ClassVar[str] = "ofpa"
    by_protocols: ClassVar[tuple[str, ...]] = ("secure_sum",)
    secure_noises: ClassVar[tuple[NoiseName, ...]] = ("knorm",)
    binary: ClassVar[bool] = True
    needs_two_classes: ClassVar[bool] = False
    own_bias: ClassVar[bool] = True
    protects: ClassVar[Unit] = "record"
    adjacency: ClassVar[Adjacency] = "replace"
    sizes: ClassVar[RowCounts] = "released"
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven", "paper")
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm",)
    noises_as_published: ClassVar[tuple[NoiseName, ...]] = ("laplace",)
    lambda_multiplies: ClassVar[str] = "|w|²"
    colour: ClassVar[str] = "#0c00d8"

    @override
    def __post_init__(self) -> None:
        check_round_settings(self.rounds, self.epochs, self.reading)
        super().__post_init__()

    @classmethod
    @override
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        return unregularised_pair(cls()) if calibration == "paper" else own_noise_pair(cls(lam=STRONG_LAMBDA))

    def shared(
        self, public: Public, target: Target, threat_model: ThreatModel, announced: AnnouncedRows
    ) -> SharedPerturbedModels:
        """Return the average by a secure sum; InputError for more than one round."""
        if self.rounds != 1:
            raise InputError("secure_sum.other_setting", name="rounds", method=self.name, wanted="1", got=self.rounds)
        return SharedPerturbedModels(self, public, target, threat_model, announced)

    def perturbation(self, target: Target, n: int, dimension: int) -> ObjectivePerturbation:
        """Return the proven perturbation of one round for n rows (x, 1)/sqrt 2 of this width, d + 1."""
        epsilon = target.wanted / self.rounds
        if epsilon < LOWEST:
            raise InputError("rounds.too_little_epsilon", least=float(LOWEST), got=float(epsilon))
        curvature = Logistic().largest_curvature
        return objective_perturbation.proven_perturbation(epsilon, n, 2 * self.lam, curvature, dimension, PUBLIC_TAU)

    @override
    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        if target.epsilon is None:
            return no_guarantee("record", "replace", NO_NOISE)
        if target.calibration == "proven":
            epsilon = self.rounds * self.perturbation(target, 1, public.dimension + 1).epsilon
            return pure_statement(epsilon, target, AGAINST_SERVER, (SIZES_CAVEAT,))
        why = [_WHY[self.reading], _UNBOUNDED]
        if self.rounds > 1:
            why.append(f"Even if one round were private, {self.rounds} of them, each with new noise, would add up.")
        return no_guarantee("record", "replace", *why)

    @override
    def functionality(self, public: Public, target: Target) -> Rounds:
        return Rounds((EachPublishes(),) * self.rounds)

    @override
    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Answer:
        require_two_classes(public.classes, self)
        check_own_rows(rows)
        return (self.party_as_published if target.calibration == "paper" else self.proven_party)(
            rows, public, target, rng
        )

    @override
    def finish(self, value: Sequence[Sequence[Upload]], public: Public, target: Target) -> RoundsRelease:
        return release_of_rounds(value, public, self, target)

    @override
    def train(self, federation: Federation) -> TrainedParts[RoundsRelease]:
        require_two_classes(federation.classes, self)
        check_rows_of_parties(federation)
        public, each = federation.public, federation.parties

        def parts(target: Target, rng: Stream) -> list[Answer]:
            return [self.part(rows, public, target, rng) for rows in each]

        return TrainedParts(self, public, each, parts)

    def party_as_published(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Answer:
        """Return a party of the published algorithm: new noise in each round, and none for the bias."""
        X, y = append_one(rows.X), rows.y.astype(np.float64)

        def answer(history: Sequence[Sequence[Upload]]) -> Upload:
            start, v = download(history, public, self), noise_as_published(target, public.dimension, rng)
            if self.reading == "exact":
                return tilted.minimise_tilted(X, y, v, start)
            return tilted.descend_tilted(X, y, v, start, self.epochs), True

        return answer

    def proven_party(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Answer:
        """Return a party of the proven form: a regulariser, noise on all coordinates, epsilon/T a round."""
        X, y = scale_into_ball(rows.X), 2 * rows.y.astype(np.float64) - 1
        if target.epsilon is None:
            model = for_plain_rows(binary_weights(X, rows.y, self.lam))
            return lambda _: (model, True)
        noise = self.perturbation(target, len(y), X.shape[1])

        def answer(_: Sequence[Sequence[Upload]]) -> Upload:
            solution = minimise_perturbed(Logistic(), X, y, noise.total, noise.linear(rng), PUBLIC_TAU)
            return for_plain_rows(noise.release(solution, rng)), True

        return answer


@dataclass(frozen=True)
class SharedPerturbedModels:
    """The sum of models times numbers of rows, each model with noise of its own party's; see `SumSpec`.

    What a party enters is made of its perturbed model, which is epsilon-private alone (`objective_perturbation`), and
    of its number of rows, which neighbours share: post-processing, and so is every sum with what others enter. So
    nobody else's noise counts, and nobody's coalition or disappearance takes any of it away. Entries beyond 2^22 are
    cut off, so that no sum wraps round.
    """

    method: Method
    public: Public
    target: Target
    threat_model: ThreatModel
    announced: AnnouncedRows
    smallest_sets_noise: ClassVar[bool] = False
    noise: ClassVar[None] = None
    """The sum has none."""

    def __post_init__(self) -> None:
        require_two_classes(self.public.classes, self.method)
        check_target(self.target, self.method)

    @property
    def grid(self) -> Grid:
        """Grid of all releases, in a ring for the largest sum."""
        largest = self.threat_model.parties * self.announced.most_rows * _LARGEST_WEIGHT << GRID.fraction_bits
        return Grid(GRID.fraction_bits, ring_bits(largest))

    @property
    def sums(self) -> tuple[SumBlocks]:
        """Blocks of the one sum: d + 1 weights, and the number of rows where it is released; no noise on either."""
        weights = (self.public.dimension + 1, "none")
        return ((weights, (1, "none")),) if self.announced.sizes == "released" else ((weights,),)

    @property
    def knows_rows(self) -> bool:
        """True where the number of rows is released; see `HasOpenScale`."""
        return self.announced.sizes == "released"

    @property
    def length(self) -> int:
        """Number of integers in all blocks."""
        return sum(length for length, _ in self.sums[0])

    @property
    def functionality(self) -> SumWithShares:
        """The one sum."""
        return SumWithShares(self.length)

    @cached_property
    def statement(self) -> PrivacyStatement:
        """Statement with the noise of each party for itself."""
        stated = self.method.statement(self.public, self.target)
        if stated.kind == "none":
            return stated
        of_all = self.threat_model.caveats_of_own_noise()
        return replace(stated, adversary=self.threat_model.everybody_else, caveats=(*of_all, *self._of_sizes()))

    def check(self, n: int) -> None:
        """Raise InputError for more rows than were announced."""
        check_announced_rows(n, self.announced)

    def part(self, rows: Rows, rng: Stream) -> Addend:
        """Return the perturbed model times the number of rows, and that number where it is released."""
        self.check(len(rows))
        theta, _ = self.method.part(rows, self.public, self.target, rng)(())
        return self.addend(theta, len(rows))

    def addend(self, theta: Array, n: int) -> Addend:
        """Return the addend of a perturbed model (w, alpha) of n rows."""
        weights = self.grid.encode(np.clip(theta, -_LARGEST_WEIGHT, _LARGEST_WEIGHT).tolist(), factor=n)
        size = [n] if self.announced.sizes == "released" else []
        return Addend((*weights, *size), (0,) * self.length)

    def model(self, value: Vector) -> BiasedModel:
        """Return the average over the rows of those who took part, or the sum over a public constant."""
        # A malicious party may enter any number of rows, and a model is made of whatever comes.
        released = self.announced.sizes == "released"
        divisor = max(1, value[-1]) if released else self.threat_model.parties * self.announced.most_rows
        return BiasedModel(np.array(self.grid.decode(value[: self.public.dimension + 1], divisor)))

    def _of_sizes(self) -> Iterator[str]:
        yield SIZES_CAVEAT
        yield row_cap_caveat(self.announced)
        if self.announced.sizes == "hidden":
            yield unreleased_rows_caveat(self.threat_model, self.announced)
            return
        yield "The total number of rows of all who took part is released exactly."
        if (t := self.threat_model.colluders) == (K := self.threat_model.parties) - 1:
            yield f"A coalition of {t} of the {K} parties learns the last one's model and number of rows."


def unregularised_pair(method: Ofpa) -> NeighbourPair:
    """Return neighbours with enough records for a minimiser to exist, and a score for the bias, which has no noise."""
    X = np.where(np.arange(80)[:, np.newaxis] % 2, 1.0, -1.0)
    y = (np.arange(80) // 2) % 2
    flipped = np.where(np.arange(80) == 0, 1 - y, y)

    def residual(uploads: Array) -> Array:
        """Return the sum of sigmoid - y over the records of world 0, which the minimiser makes zero."""
        margins = uploads[:, :1] * X[:, 0] + uploads[:, 1:2]
        missed: Array = np.abs((scipy.special.expit(margins) - y).sum(axis=1))
        return missed

    worlds = (Federation((Rows(X, y),), 2), Federation((Rows(X, flipped),), 2))
    what = "one record of the only party, of 80, has the other label; d = 1"
    return NeighbourPair(method, worlds, what, None, (residual,))


def noise_as_published(target: Target, d: int, rng: Stream) -> Array:
    """Draw (v, 0): d Laplace numbers of scale 4/epsilon on a fine grid, none for the bias; zeros without noise."""
    if target.epsilon is None:
        return np.zeros(d + 1)
    distribution = DiscreteLaplace(d, Fraction(4 << GRID.fraction_bits) / target.epsilon)
    return np.array([*GRID.decode(distribution.sample(rng)), 0.0])

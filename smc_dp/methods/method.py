"""Common interface of all methods: a party's local part, the function of all parts, and the release.

A method states its guarantee before anybody trains (`statement`). Each party turns its rows into a part (`part`), a
functionality of all parts is computed (`smc_dp.run.protocols`), and anybody makes the release of its value (`finish`).
A method only draws noise locally, or names a distribution for the functionality to draw from.

Experiments train once and release many times: `train` returns what is known before noise, `Trained.release` one release
under a target. A target of epsilon None asks for no noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

import numpy as np
from typing_extensions import Protocol, override, runtime_checkable

from protocols.arithmetic.rng import Forks, Stream
from smc_dp.core.errors import InputError, shown
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.functionality import Functionality, RoundAnswer, ideal
from smc_dp.methods.model import Release, ReleasedModel
from smc_dp.methods.neighbours import NeighbourPair
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.output import no_guarantee
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.statement import PrivacyStatement, Unit
from smc_dp.privacy.target import Calibration, NoiseName, Target

Trust: TypeAlias = Literal["aggregator", "secure"]
"""Who computes the functionality: somebody who is trusted with all parts, or a protocol among the parties."""

R = TypeVar("R", bound=Release)
R_co = TypeVar("R_co", bound=Release, covariant=True)

AGAINST_ALL_BUT_AGGREGATOR = (
    "anyone who sees the release, but not the one who computed it: in this form a trusted aggregator holds what the "
    "parties send"
)
"""Adversary in the statements of releases by a trusted aggregator."""
FOR_ANY_CLASSES = ("newton", "wsum", "wsum_ar", "gd", "soft_ss", "avg_clip")
"""Names of the methods that a protocol computes for three or more classes as well, the recommended one first.

They are written here and not computed, because the registry imports every method, and every method imports this file.
"""
WITH_WEIGHTS = ("newton", "gd")
"""Names of the methods that use weights of classes and of rows."""
SEED_CAVEAT = "All randomness comes from a seed. Anybody who guesses it has the noise."
"""Reason why a release with a seed guarantees nothing."""


class Trained(Protocol):
    """State of a method before noise is added; secret."""

    def release(self, target: Target, rng: Stream) -> Release:
        """Draw the noise for this target; raise InputError for a target that voids the theorem."""


class Method(Protocol):
    """One method with its public settings.

    The facts that other rooms need of it stand here: the calibrations that it has, the noises of `proven` and those of
    `paper`, its own first; whose data it protects; what its lambda multiplies, empty without one; the colour of its
    curves in every figure; and two neighbours on which its epsilon is audited. What a method does not say is as here.
    """

    name: ClassVar[str]
    protects: ClassVar[Unit]
    calibrations: ClassVar[tuple[Calibration, ...]] = ("proven",)
    noises: ClassVar[tuple[NoiseName, ...]] = ("knorm", "laplace", "gauss")
    noises_as_published: ClassVar[tuple[NoiseName, ...]] = ()
    lambda_multiplies: ClassVar[str] = ""
    colour: ClassVar[str]

    def __post_init__(self) -> None:
        if self.lambda_multiplies:
            check_modulus(getattr(self, "lam", None))

    @classmethod
    def audit_pair(cls, calibration: Calibration) -> NeighbourPair:
        """Return two hand-made neighbouring data sets on which epsilon is audited.

        They move the release nearly as far as can be.
        """

    def statement(self, public: Public, target: Target, trust: Trust = "aggregator") -> PrivacyStatement:
        """State what a release under this target guarantees, whatever the rows are."""

    def functionality(self, public: Public, target: Target) -> Functionality:
        """Return the function of the parts."""

    def part(self, rows: Rows, public: Public, target: Target, rng: Stream) -> Any:
        """Compute one party's part from its own rows; raise InputError for rows that void the theorem."""

    def finish(self, value: Any, public: Public, target: Target) -> Release:
        """Make the release of the functionality's value: post-processing, which costs no privacy."""

    def train(self, federation: Federation) -> Trained:
        """Compute all that needs no noise; raise InputError for data that void the theorem, naming the party."""


class TypedMethod(Method, Protocol[R_co]):
    """A method whose releases are of this type."""

    @override
    def finish(self, value: Any, public: Public, target: Target) -> R_co: ...


class SecureMethod(Protocol):
    """Method that a protocol computes, so that nobody who computes it is trusted.

    `by_protocols` names the programs that do, the one to prefer first; a run takes them from here. `secure_noises`: the
    noises that it then has, its own first. `binary`: whether it is for two classes only. `needs_two_classes`: whether
    a run refuses a party whose table has rows of one class only, which its statement then says. Some say more:
    `own_bias`, that their models have one beside the weights, `whole_rows`, that bounds have to
    add a constant and to shorten no row, and `on_public_rows`, that all parties need the same
    public rows.
    """

    by_protocols: ClassVar[tuple[str, ...]]
    secure_noises: ClassVar[tuple[NoiseName, ...]]
    binary: ClassVar[bool]
    needs_two_classes: ClassVar[bool]


class MechanismSpec(Protocol):
    """Mechanism specification: a method as a protocol computes it, for these parties and this target.

    Nobody who computes it is trusted.

    All of it is public and known before anybody trains. `grid`: where its integers stand, and in which ring they are
    added. `smallest_sets_noise`: whether the smallest party's number of rows says how much noise there is.
    """

    smallest_sets_noise: ClassVar[bool]

    @property
    def public(self) -> Public:
        """Public facts of the federation."""

    @property
    def grid(self) -> Grid:
        """Step and ring."""

    @property
    def functionality(self) -> Functionality:
        """Function of the parts that the protocol computes."""

    @property
    def length(self) -> int:
        """Number of integers in the functionality's value."""

    @property
    def statement(self) -> PrivacyStatement:
        """Guarantee of the release, but for what the protocol assumes."""

    def check(self, n: int) -> None:
        """Raise InputError where a party cannot take part with n rows, whatever they say."""

    def part(self, rows: Rows, rng: Stream) -> Any:
        """Compute one party's part from its own rows."""

    def model(self, value: Any) -> ReleasedModel | DescribeResult:
        """Make the model, or the description, of the functionality's value."""


SumBlocks: TypeAlias = tuple[tuple[int, str], ...]
"""Parts of one sum: how many numbers each has, and the public text of the distribution of their noise, or "none"."""


@runtime_checkable
class SumSpec(MechanismSpec, Protocol):
    """Specification of sums of the parties' integers, one after the other.

    What a party enters to the first sums, or to all, does not depend on earlier ones; see `functionality.Rounds`.
    """

    @property
    def sums(self) -> tuple[SumBlocks, ...]:
        """Blocks of each sum."""


def has_own_noise(spec: MechanismSpec) -> bool:
    """Return whether the noise of each party is enough for its own rows, so that epsilon needs no secrecy."""
    return getattr(spec, "noise", spec) is None


@runtime_checkable
class AdaptiveSpec(Protocol):
    """Specification of sums whose parties are queried between sums: a party's part is a `functionality.RoundAnswer`."""

    @property
    def draws(self) -> tuple[str, ...]:
        """Label of each answer, by which its randomness is drawn."""

    def resume_part(self, rows: Rows, rng: Stream | Forks, answered: int) -> RoundAnswer:
        """Return the part of a party that begins anew after so many answers, with the same randomness."""


@runtime_checkable
class NeedsRowCounts(Protocol):
    """A method that takes the number of all rows to be public."""

    def with_row_counts(self, sizes: Sequence[int]) -> Method:
        """Return the method where each party's number of rows is known, as in a simulation."""


@runtime_checkable
class HasSignal(Protocol):
    """Specification whose signal follows from public figures."""

    def signal(self, n: int) -> float:
        """Return the signal of n rows in all; see `privacy.distributed.sums_signal`."""


@runtime_checkable
class HasOpenScale(Protocol):
    """Specification of a sum that may be over a public constant, in place of the number of rows."""

    @property
    def knows_rows(self) -> bool:
        """True where it is over the number of rows, so that the length of the weights says how sure the model is."""


def release_parts(
    method: TypedMethod[R],
    parts: Sequence[Any],
    public: Public,
    target: Target,
    rng: Stream,
    functionality: Functionality | None = None,
) -> R:
    """Make a release of these parts in the clear; it guarantees nothing where the seed of the noise can be guessed.

    `functionality`: the method's own, where what it does before it draws noise has been done already.
    """
    check_target(target, method)
    value = ideal(functionality or method.functionality(public, target), parts, rng)
    release = method.finish(value, public, target)
    if rng.insecure and release.privacy.kind != "none":
        return replace(release, privacy=no_guarantee(release.privacy.unit, release.privacy.adjacency, SEED_CAVEAT))
    return release


@dataclass(frozen=True, eq=False, repr=False)
class TrainedParts(Generic[R]):
    """A `Trained` that is released by the parts that it makes, for a target, of what is `known`, which is secret.

    `left`: what is left to compute of these parts where that is not the method's own functionality.
    """

    method: TypedMethod[R]
    public: Public
    known: Any
    parts: Callable[[Target, Stream], Sequence[Any]]
    left: Callable[[Target], Functionality] | None = None

    def release(self, target: Target, rng: Stream) -> R:
        """Make the parts for this target, and a release of them; raise InputError as `check_target` does."""
        check_target(target, self.method)
        left = None if self.left is None else self.left(target)
        return release_parts(self.method, self.parts(target, rng), self.public, target, rng, left)


def noise_names(method: Method | type[Method], calibration: Calibration) -> tuple[NoiseName, ...]:
    """Return the noises of this calibration, the method's own first; none for a calibration that it does not have."""
    if calibration not in method.calibrations:
        return ()
    return method.noises_as_published if calibration == "paper" else method.noises


def require_model(made: ReleasedModel | DescribeResult) -> ReleasedModel:
    """Return the model; raise TypeError for a description."""
    if isinstance(made, DescribeResult):
        raise TypeError("a description predicts nothing")
    return made


def check_target(target: Target, method: Method) -> None:
    """Raise InputError for a calibration or noise that the theory of this method does not give."""
    if target.epsilon is None:
        return
    if not method.calibrations:
        raise InputError("epsilon.not_private", method=method.name, got=float(target.epsilon))
    if target.calibration not in method.calibrations:
        known = " or ".join(method.calibrations)
        raise InputError("calibration.not_of_method", method=method.name, known=known, got=target.calibration)
    noises = noise_names(method, target.calibration)
    if target.noise not in noises:
        raise InputError(
            "noise.not_of_calibration",
            calibration=target.calibration,
            method=method.name,
            known=noises,
            got=target.noise,
            other=noises[0],
        )


def default_secure_noise(method: Any) -> NoiseName:
    """Return the noise of the method by a protocol unless somebody names one: `ddg` where it has that."""
    return "ddg" if "ddg" in method.secure_noises else method.secure_noises[0]


def check_secure_noise(method: Any, noise: NoiseName) -> None:
    """Raise InputError for a noise that the method does not have by a protocol."""
    if noise not in method.secure_noises:
        known, own = ", ".join(method.secure_noises), default_secure_noise(method)
        raise InputError("noise.not_of_protocol", method=method.name, known=known, got=noise, other=own)


def require_two_classes(classes: int, method: Any) -> None:
    """Raise InputError unless there are two classes; it names the methods that a protocol computes for more."""
    if classes != 2:
        others = ", ".join(FOR_ANY_CLASSES)
        raise InputError("classes.only_two", method=method.name, got=classes, others=others)


def check_rows_of_parties(federation: Federation, *, uses_weights: bool = False) -> None:
    """Raise InputError, naming the party, as `check_own_rows` does."""
    for j, rows in enumerate(federation.parties):
        try:
            check_own_rows(rows, uses_weights=uses_weights)
        except InputError as error:
            raise error.within(federation.name(j)) from None


def check_own_rows(rows: Rows, *, uses_weights: bool = False) -> None:
    """Raise InputError for more rows than the figure that solver tolerances are charged for, and for unused weights."""
    if len(rows) > LARGEST_N:
        raise too_many_rows(len(rows))
    if not uses_weights:
        check_no_weights(rows)


def check_no_weights(rows: Rows) -> None:
    """Raise InputError for rows with weights: a method that does not use them would learn something else."""
    if rows.weights is not None:
        raise weights_not_used()


def weights_not_used() -> InputError:
    """Return the refusal of weights by a method that does not use them."""
    return InputError("rows.weights_not_used", methods=WITH_WEIGHTS)


def too_many_rows(n: int) -> InputError:
    """Return the refusal of a party with n rows, which are more than the public figure."""
    return InputError("party.too_many_rows", most=LARGEST_N, got=n)


def announced_sizes(public: Public, method: Method) -> tuple[int, ...]:
    """Return the number of rows of each party; InputError, in the name of the method, where they are not public."""
    if public.sizes is None:
        raise InputError("sizes.missing", method=method.name)
    return public.sizes


def check_modulus(lam: object, name: str = "lambda") -> None:
    """Raise InputError unless this regularisation is a number for which minimisers are certified."""
    check_range(name, lam, 2.0**-29, 1e6)


def check_range(name: str, value: object, least: float, most: float) -> None:
    """Raise InputError unless a setting is a number of this range."""
    if type(value) is bool or not isinstance(value, int | float | np.floating) or not least <= value <= most:
        raise InputError("parameter.out_of_range", name=name, least=least, most=most, got=shown(value))


def check_count(name: str, value: object, most: int) -> None:
    """Raise InputError unless a setting is an int from 1 on; none of numpy, which could overflow."""
    if type(value) is not int or not 1 <= value <= most:
        raise InputError("parameter.no_count", name=name, most=most, got=shown(value))

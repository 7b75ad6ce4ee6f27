"""Calibration of the noise of Pathak, Rane and Raj (NIPS 2010), and what it truly guarantees.

Each party minimises (1/n) sum of log(1 + e^(-y w.x)) + lam w.w (their equation 2, so mu = 2 lam) up to a
gradient of norm tau. The released quantity is the *sum* over parties of the weights on the grid, plus the
noise of one party, the one with fewest records. One record moves one summand by at most D(n), and D falls
with n, so noise made for the smallest n covers every record.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from smc_dp.privacy.grid import Grid, ceil_sqrt
from smc_dp.privacy.noise import DiscreteLaplace, KNorm
from smc_dp.privacy.output import published_noise_caveat
from smc_dp.privacy.sensitivity import replace_one
from smc_dp.privacy.statement import PrivacyStatement, round_up
from smc_dp.privacy.target import Calibration as Calibration

PureNoiseName = Literal["knorm", "laplace"]

_MECHANISM: dict[str, type[KNorm] | type[DiscreteLaplace]] = {"knorm": KNorm, "laplace": DiscreteLaplace}
_ROOT_BITS = 64  # of the square root of the dimension, rounded up

_ADVERSARY = (
    "anyone who sees the published shares and the release, Charlie, and any coalition of semi-honest parties without "
    "Charlie and without the party whose noise was selected (the one with the smallest data set)"
)
_SELECTS_NONE = " A malicious Charlie removes it too: he selects none."
_REMOVED = (
    "One malicious party removes all noise: it enters no rows, or few, and no noise. The release is then the exact "
    f"sum of all models.{_SELECTS_NONE} Nothing here prevents that.",
    "The party with the smallest data set is outside this guarantee. It knows its own noise, can subtract it, and so "
    "obtains the exact sum of all models.",
)
_ONE_KEY = (
    "Charlie together with any one party is outside this guarantee, because the parties share one decryption key."
)
_LIMITS = (
    _ONE_KEY,
    "Against those who see messages of the protocol, and not only the release, the guarantee is computational "
    "(SIM-CDP). It rests on the encryption, and on semi-honest participants, who follow the protocol even if they are "
    "curious.",
    "The sizes of the data sets are not protected. The smallest one sets the scale of the noise and can be estimated "
    "from the release.",
    "The fact that a run takes place at all, or is refused because of the rows of a party (only one class, an unknown "
    "value), is not covered.",
)


_LINEAR_ADVERSARY = (
    "anyone who sees the published shares and the release, and any coalition of semi-honest participants that does "
    "not contain both Charlie and the first party, and does not contain the party whose noise was selected (the one "
    "with the smallest data set)"
)
_BOTH_HUBS = (
    "Charlie together with the first party learns every size and every noise, and so the exact sum.",
    "A malicious first party can put noise that it knows, or none, into the result. A malicious Charlie chooses whose "
    "noise it is, and together with that party learns the exact sum. Nobody notices either.",
    "Charlie together with parties learns in each session whether one of them is the smallest.",
)
_OF_TWO = (
    "Of two parties, the one with fewer records therefore obtains the other's model exactly. Nothing of it is hidden."
)
_OF_MORE = (
    "A coalition of all parties but one, with the smallest among them, therefore obtains the last one's model exactly."
)

LARGEST_N = 10**7
"""The most records that a party may have: a public figure that the true epsilon of the paper's noise depends on."""


@dataclass(frozen=True)
class SmallestNoise:
    """The noise that the smallest party draws for the sum of all parties' weights, in grid units.

    `proven`: scale D(n)/epsilon for n records, D(n) being the sensitivity on the grid in the norm of the noise.
    `paper`: the published scale 2/(n epsilon lam) of the mean, hence parties times that for the sum, whichever the
    noise. lam: exact; a solver working with float(lam) must count the difference into tau. tau: the public
    cap on the gradient norm of every party's solution. ValueError: a parameter out of range.
    """

    parties: int
    dimension: int
    epsilon: Fraction
    lam: Fraction
    calibration: Calibration
    noise: PureNoiseName
    grid: Grid
    tau: float

    def __post_init__(self) -> None:
        for name in ("parties", "epsilon", "lam"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} is positive, got {getattr(self, name)}")

    def distribution(self, n: int) -> KNorm | DiscreteLaplace:
        """Return the distribution of the noise of a party with n records; ValueError for n out of range."""
        if not 1 <= n <= LARGEST_N:
            raise ValueError(f"the number of records n is from 1 to {LARGEST_N}, got {n}")
        if self.calibration == "paper":
            return _MECHANISM[self.noise](self.dimension, self._published_scale_of_one_record / n)
        delta = replace_one(n, 2 * self.lam, self.tau)
        sensitivity = self.grid.l2_sensitivity if self.noise == "knorm" else self.grid.l1_sensitivity
        return _MECHANISM[self.noise](self.dimension, Fraction(sensitivity(delta, self.dimension)) / self.epsilon)

    def guarantee(self) -> PrivacyStatement:
        """State what the release guarantees, whatever the sizes of the data sets in [1, LARGEST_N].

        `proven`: epsilon. `paper`: a bound on D(n)/scale(n) over all n, which may be far below or above the
        nominal epsilon.
        """
        true: Fraction = self.epsilon
        caveats: tuple[str, ...] = (*_REMOVED, _OF_TWO if self.parties == 2 else _OF_MORE, *_LIMITS)
        if self.calibration == "paper":
            true = self.true_epsilon_of_paper(LARGEST_N)
            said = published_noise_caveat(self.epsilon, round_up(true))
            caveats += (f"{said}, for data sets of at most {LARGEST_N} records.",)
        return PrivacyStatement("pure", round_up(true), 0.0, "record", "replace", _ADVERSARY, caveats)

    @property
    def _published_scale_of_one_record(self) -> Fraction:
        return self.parties * 2 / (self.epsilon * self.lam) * (1 << self.grid.fraction_bits)

    def true_epsilon_of_paper(self, largest_n: int) -> Fraction:
        """Bound D(n)/scale(n) of the published scale for all n up to largest_n.

        scale(n) = scale(1)/n and D(n) < r 2^f (G/(mu n) + 2 tau/mu) + 1 + c, with (r, c) = (1, ceil sqrt d) in
        L2 and (sqrt d, d) in L1. The quotient of the right-hand side grows with n, so its value at largest_n
        bounds them all.
        """
        d = self.dimension
        if self.noise == "knorm":
            root, rounding = Fraction(1), ceil_sqrt(d)
        else:
            root, rounding = Fraction(ceil_sqrt(d << (2 * _ROOT_BITS)), 1 << _ROOT_BITS), d
        moved = root * (1 << self.grid.fraction_bits) * replace_one(largest_n, 2 * self.lam, self.tau) + 1 + rounding
        return largest_n * moved / self._published_scale_of_one_record


def by_linear_path(stated: PrivacyStatement) -> PrivacyStatement:
    """Return the statement for the linear path: against other sets of participants, with other limitations."""
    instead = {_ONE_KEY: _BOTH_HUBS, _REMOVED[0]: (_REMOVED[0].replace(_SELECTS_NONE, ""),)}
    caveats = tuple(sentence for caveat in stated.caveats for sentence in instead.get(caveat, (caveat,)))
    return replace(stated, adversary=_LINEAR_ADVERSARY, caveats=caveats)

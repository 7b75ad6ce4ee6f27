"""Calibration of the noise of Pathak, Rane and Raj (NIPS 2010), and what it truly guarantees.

Each party minimises (1/n) sum of log(1 + e^(-y w.x)) + lam w.w (their equation 2, so mu = 2 lam) up to a
gradient of norm tau. The released quantity is the *sum* over parties of the weights on the grid, plus the
noise of one party, the one with fewest records. One record moves one summand by at most D(n), and D falls
with n, so noise made for the smallest n covers every record.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Literal

from smc_dp.privacy.grid import Grid, ceil_sqrt
from smc_dp.privacy.noise import DiscreteLaplace, KNorm
from smc_dp.privacy.sensitivity import replace_one
from smc_dp.privacy.statement import PrivacyStatement, round_up, short_figure
from smc_dp.privacy.target import Calibration as Calibration

PureNoiseName = Literal["knorm", "laplace"]

_MECHANISM: dict[str, type[KNorm] | type[DiscreteLaplace]] = {"knorm": KNorm, "laplace": DiscreteLaplace}
_ROOT_BITS = 64  # of the square root of the dimension, rounded up

_ADVERSARY = (
    "anyone who sees the published shares and the release, Charlie, and any set of semi-honest parties that "
    "acts without Charlie and without the party whose noise was selected (the one with the smallest data set)"
)
_SELECTS_NONE = "; a Charlie who breaks them selects none. "
_REMOVED = (
    "One party that breaks the rules removes all noise: it enters no rows, or few, and no noise, and what is released "
    f"is the exact sum of all models{_SELECTS_NONE}Nothing here prevents that.",
    "The party with the smallest data set knows its own noise, can subtract it, and so obtains the exact sum "
    "of all models: it is outside this guarantee.",
)
_ONE_KEY = (
    "Charlie together with any one party is outside this guarantee, because the parties share one decryption key."
)
_LIMITS = (
    _ONE_KEY,
    "Inside the protocol the guarantee is computational (SIM-CDP): it rests on the encryption, and on "
    "participants who follow the protocol even if they are curious.",
    "The sizes of the data sets are not protected: the smallest one sets the scale of the noise and can be "
    "estimated from the release.",
    "That a run takes place at all, or is refused because of the rows of a party (only one class, an unknown value), "
    "is not covered.",
)


_LINEAR_ADVERSARY = (
    "anyone who sees the published shares and the release, and any set of semi-honest participants that has not both "
    "Charlie and the first party in it, and not the party whose noise was selected (the one with the smallest data set)"
)
_BOTH_HUBS = (
    "Charlie together with the first party learns every size and every noise, and so the exact sum.",
    "A first party that breaks the rules can put noise that it knows, or none, into the result; a Charlie who breaks "
    "them chooses whose noise it is, and with that party learns the exact sum. Nobody notices.",
    "Charlie with parties learns in each session whether one of them is the smallest.",
)
_OF_TWO = "Of two parties, the one with fewer records so obtains the other's model exactly: nothing of it is hidden."
_OF_MORE = (
    "All parties but one, if the smallest is among them and they pool what they know, so obtain the last one's model "
    "exactly."
)

LARGEST_N = 10**7
"""The most records that a party may have: a public figure that the true epsilon of the paper's noise depends on."""


def noise_for(
    n: int,
    *,
    parties: int,
    dimension: int,
    epsilon: Fraction,
    lam: Fraction,
    calibration: Calibration,
    noise: PureNoiseName,
    grid: Grid,
    tau: float,
) -> KNorm | DiscreteLaplace:
    """The noise of the sum of all parties' weights, in grid units, that a party with n records draws.

    `proven`: scale D(n)/epsilon, D(n) being the sensitivity on the grid in the norm of the noise. `paper`:
    the printed scale 2/(n epsilon lam) of the mean, hence parties times that for the sum, whichever the
    noise. lam: exact; a solver working with float(lam) must count the difference into tau. tau: the public
    cap on the gradient norm of every party's solution. ValueError: a parameter out of range.
    """
    _check(parties, epsilon, lam, calibration, noise)
    if not 1 <= n <= LARGEST_N:
        raise ValueError(f"the number of records n is from 1 to {LARGEST_N}, got {n}")
    if calibration == "paper":
        scale = _printed_scale_of_one_record(parties, epsilon, lam, grid) / n
    else:
        scale = _sensitivity(n, dimension, lam, noise, grid, tau) / epsilon
    return _MECHANISM[noise](dimension, scale)


def guarantee(
    *,
    parties: int,
    dimension: int,
    epsilon: Fraction,
    lam: Fraction,
    calibration: Calibration,
    noise: PureNoiseName,
    grid: Grid,
    tau: float,
    largest_n: int = LARGEST_N,
) -> PrivacyStatement:
    """The true guarantee of the release, whatever the sizes of the data sets in [1, largest_n].

    `proven`: epsilon. `paper`: a bound on D(n)/scale(n) over all n, which may be far below or above the
    nominal epsilon. ValueError: a parameter out of range.
    """
    _check(parties, epsilon, lam, calibration, noise)
    if largest_n < 1:
        raise ValueError(f"largest_n is at least 1, got {largest_n}")
    true: Fraction = epsilon
    caveats: tuple[str, ...] = (*_REMOVED, _OF_TWO if parties == 2 else _OF_MORE, *_LIMITS)
    if calibration == "paper":
        true = _true_epsilon_of_paper(parties, dimension, epsilon, lam, noise, grid, tau, largest_n)
        caveats += (
            f"The noise is the paper's: its nominal epsilon is {short_figure(float(epsilon))}, what it is proved to "
            f"give is at most {short_figure(round_up(true))}, for data sets of at most {largest_n} records.",
        )
    return PrivacyStatement("pure", round_up(true), 0.0, "record", "replace", _ADVERSARY, caveats)


def by_linear_path(stated: PrivacyStatement) -> PrivacyStatement:
    """The same guarantee where the linear path makes the sum: against other sets of participants, with other limits."""
    instead = {_ONE_KEY: _BOTH_HUBS, _REMOVED[0]: (_REMOVED[0].replace(_SELECTS_NONE, ". "),)}
    caveats = tuple(sentence for told in stated.caveats for sentence in instead.get(told, (told,)))
    return replace(stated, adversary=_LINEAR_ADVERSARY, caveats=caveats)


def _sensitivity(n: int, dimension: int, lam: Fraction, noise: str, grid: Grid, tau: float) -> Fraction:
    delta = replace_one(n, 2 * lam, tau)
    if noise == "knorm":
        return Fraction(grid.l2_sensitivity(delta, dimension))
    return Fraction(grid.l1_sensitivity(delta, dimension))


def _printed_scale_of_one_record(parties: int, epsilon: Fraction, lam: Fraction, grid: Grid) -> Fraction:
    return parties * 2 / (epsilon * lam) * (1 << grid.fraction_bits)


def _true_epsilon_of_paper(
    parties: int,
    dimension: int,
    epsilon: Fraction,
    lam: Fraction,
    noise: str,
    grid: Grid,
    tau: float,
    largest_n: int,
) -> Fraction:
    """A bound on D(n)/scale(n) for all n up to largest_n.

    scale(n) = scale(1)/n and D(n) < r 2^f (G/(mu n) + 2 tau/mu) + 1 + c, with (r, c) = (1, ceil sqrt d) in
    L2 and (sqrt d, d) in L1. The quotient of the right-hand side grows with n, so its value at largest_n
    bounds them all.
    """
    if noise == "knorm":
        root, rounding = Fraction(1), ceil_sqrt(dimension)
    else:
        root, rounding = Fraction(ceil_sqrt(dimension << (2 * _ROOT_BITS)), 1 << _ROOT_BITS), dimension
    moved = root * (1 << grid.fraction_bits) * replace_one(largest_n, 2 * lam, tau) + 1 + rounding
    return largest_n * moved / _printed_scale_of_one_record(parties, epsilon, lam, grid)


def _check(parties: int, epsilon: Fraction, lam: Fraction, calibration: str, noise: str) -> None:
    if parties < 1:
        raise ValueError(f"the number of parties is at least 1, got {parties}")
    if epsilon <= 0:
        raise ValueError(f"epsilon is positive, got {epsilon}")
    if lam <= 0:
        raise ValueError(f"lam is positive, got {lam}")
    if calibration not in ("proven", "paper"):
        raise ValueError(f"calibration is 'proven' or 'paper', got {calibration!r}")
    if noise not in _MECHANISM:
        raise ValueError(f"noise is 'knorm' or 'laplace', got {noise!r}")

"""`vote-flip`: where the others are tied, one party of M decides every label of a majority vote.

So the model trained on majority labels moves from one end to the other when one party changes its mind, and noise made
for 1/M of the votes hides nothing. Noise made for what one party can really do, and soft labels, which a party moves by
1/M only, hide it: by epsilon-DP no test tells the two apart more often than e^epsilon/(1 + e^epsilon).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from types import MappingProxyType

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.attacks.attack import AttackOutcome, StepCode, Variant, describe_attack
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.hamm2016.ensemble import Ensemble
from smc_dp.methods.hamm2016.votes import Soft, Vote
from smc_dp.methods.method import Trained
from smc_dp.methods.model import LinearModel
from smc_dp.methods.sums.soft_statistic import SoftStatistic
from smc_dp.privacy.target import Target

PARTIES, ROWS, FEATURES = 401, 300, 2  # an odd number of parties: 400 tie, and one decides
LAM = 1.0
TARGET = Target(Fraction(1, 10))  # no test of a release with this guarantee is right more than 52.5 % of the time
SIDES = (-1, 1)
VOTE_WITH_SOFT_NOISE = "vote with the noise of soft"
"""Name of majority labels with noise for 1/M of the votes, which is too little."""
_CODE: Mapping[str, tuple[StepCode, ...]] = MappingProxyType(
    {VOTE_WITH_SOFT_NOISE: (Vote.model, Soft.noise), "vote": (Vote.model, Vote.noise), "soft": (Soft.model, Soft.noise)}
)
"""What is trained, and what the noise is made for."""


def guess_side(released: LinearModel, u: Array) -> int:
    """Return an outsider's answer: on which side of u the one party voted."""
    return 1 if float((released.W[1] - released.W[0]) @ u) > 0 else -1


def _against(method: str, target: str, name: str, words: str) -> Variant:
    def trial(rng: Stream, _key_bits: int) -> bool:
        side = SIDES[rng.bits(1)]
        model = _trained(method, side).release(TARGET, rng).model
        if not isinstance(model, LinearModel):
            raise TypeError(f"{method} gives a linear model")
        return guess_side(model, _direction()) == side

    outcome: AttackOutcome = "succeeds" if method == VOTE_WITH_SOFT_NOISE else "fails"
    return Variant(name, target, words, outcome, trial, trials=1000, code=_CODE.get(method, ()))


@cache
def _trained(method: str, side: int) -> Trained:
    """Train the method on M - 1 tied parties and one that votes on this side of u."""
    parties = tied_ensemble(side)
    if method == "soft":
        return Soft(LAM).train_from(parties)
    if method == "soft_ss":
        return SoftStatistic(LAM, lam_global=LAM).train_from(parties)
    voted = Vote(LAM).train_from(parties)
    if method == "vote":
        return voted
    return replace(voted, noise=Soft(LAM).noise(voted.public))


def tied_ensemble(side: int) -> Ensemble:
    """Return classifiers u and -u of as many parties each, and one more on the given side."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, FEATURES))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * (1 + 1e-9)  # inside the unit ball in spite of rounding
    rows = Rows(X[:1], np.array([0]))
    signs = np.array([1, -1] * (PARTIES // 2) + [side])
    return Ensemble(Federation((rows,) * PARTIES, 2, unlabelled=X), signs[:, None, None] * _direction())


def _direction() -> Array:
    """Return u."""
    u: Array = np.eye(FEATURES)[0]
    return u


ATTACK = describe_attack(
    "vote-flip",
    variants=(
        _against(
            VOTE_WITH_SOFT_NOISE,
            "vote",
            "vote, noise of soft",
            "majority labels with the noise that Algorithm 2 has for soft labels",
        ),
        _against("vote", "vote", "vote, own noise", "majority labels with noise for a party that decides them all"),
        _against("soft", "soft", "soft, own noise", "soft labels, noise for 1/M of the votes"),
        _against(
            "soft_ss",
            "soft_ss",
            "soft_ss, own noise",
            "the released statistic of soft labels, noise for 1/M of the votes",
        ),
    ),
    chance=0.5,
    uses_keys=False,
    tied=PARTIES - 1,
    parties=PARTIES,
)

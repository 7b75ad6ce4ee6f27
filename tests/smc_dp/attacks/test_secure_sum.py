"""What the attacks on the curator protocol are worth against the secure sum: what is left has the noise of H shares."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.stats

from protocols.arithmetic.rng import Stream
from protocols.crypto import masking
from smc_dp.attacks.charlie_and_one import Sizes, read_sum_sizes, unmask_inputs
from smc_dp.attacks.sessions import FinishedRun, PartySecret
from smc_dp.attacks.strip_noise import subtract_noise
from smc_dp.attacks.sums import run_secure_sum, shared_weighted_sum
from smc_dp.audit.epsilon.secure_sum import dilute_shares
from smc_dp.core.arrays import Array
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.privacy.distributed.share_distributions import GammaShares, GaussianShares, ShareDistribution
from smc_dp.privacy.target import SHARED_NOISES, NoiseName

AMONG = ThreatModel(4, 1, 1)  # H = 2
DIMENSION, EPSILON = 123, Fraction(1, 2)
TOLERANCE = 0.1  # whose share was the longest is only seen afterwards, which is worth half of this to the best


def seeded(label: object) -> Stream:
    return Stream.insecure_from_seed(f"attacks on sums {label}")


# Whoever takes its own share off.


def left_by_the_best(shares: Array, threat_model: ThreatModel) -> float:
    """The noise that the best of all parties in a sum leaves when it takes its own off, as a part of that of K shares.

    shares: (draws, K, d), all of one law. D parties vanish: of the sum there are those of the others.
    """
    there = shares[:, : threat_model.parties - threat_model.dropouts]
    left = there.sum(axis=1, keepdims=True) - there
    best = np.square(left).sum(axis=2).min(axis=1)
    return float(best.sum() / np.square(shares.sum(axis=1)).sum())


def mean_square(law: ShareDistribution) -> float:
    """Of a coordinate of one share."""
    if isinstance(law, GaussianShares):
        return float(law.variance)
    scale = float(law.scale)
    return 2 * scale**2 * float(law.shape) if isinstance(law, GammaShares) else scale**2 * (law.dimension + 1)


def drawn(law: ShareDistribution, noise: object) -> Array:
    coins = seeded(noise)
    return np.array([[law.share(coins) for _ in range(AMONG.parties)] for _ in range(12)], dtype=float)


@pytest.mark.parametrize("noise", SHARED_NOISES)
def test_the_best_party_leaves_the_noise_of_h_shares(noise: NoiseName) -> None:
    """In parts of that of all shares, and of what the law of H shares has; one party leaves none of its own."""
    law, least = (
        shared_weighted_sum(AMONG, DIMENSION, EPSILON, noise=noise).noise.distribution,
        AMONG.honest / AMONG.parties,
    )
    shares = drawn(law, noise)
    assert left_by_the_best(shares, AMONG) >= least - TOLERANCE

    def counted(drawn: Array) -> float:
        """The mean square of H shares together over what the law says of them."""
        return float(np.square(drawn[:, : AMONG.honest].sum(axis=1)).mean() / (AMONG.honest * mean_square(law)))

    assert counted(shares) >= 1 - TOLERANCE
    if noise != "self":
        assert counted(drawn(dilute_shares(law, AMONG.parties), "too few")) < 0.6  # twin: H too large
    contributor = shares * (np.arange(AMONG.parties) == 0)[:, np.newaxis]  # twin: one party's noise is all
    assert left_by_the_best(contributor, AMONG) == 0


def test_in_a_run_what_is_left_is_the_shares_of_the_others_to_the_integer() -> None:
    spec, coins = shared_weighted_sum(AMONG, 3, EPSILON), seeded("run")
    entered = [PartySecret(n, [n * 7, -n, 5], spec.noise.distribution.share(coins)) for n in (3, 4, 5, 6)]
    S = run_secure_sum(spec, entered, coins).lifted
    for own in entered:
        others = [other.eta for other in entered if other is not own]
        exact = zip(*(other.w for other in entered), *others, strict=True)
        assert subtract_noise(S, own.eta) == [sum(column) for column in exact]
    alone = [entered[0], *(PartySecret(s.n, s.w, [0, 0, 0]) for s in entered[1:])]  # twin: nobody else draws any
    exact = zip(*(s.w for s in alone), strict=True)
    assert subtract_noise(run_secure_sum(spec, alone, coins).lifted, alone[0].eta) == [sum(column) for column in exact]


# Charlie and P_1.


def runs(count: int) -> list[tuple[FinishedRun, list[PartySecret]]]:
    spec, found = shared_weighted_sum(AMONG, 1, EPSILON, sizes="released"), []
    for i in range(count):
        coins = seeded(f"masks {i}")
        entered = [PartySecret(n, [77 * n, n], [*spec.noise.distribution.share(coins), 0]) for n in (9, 30, 200, 1000)]
        found.append((run_secure_sum(spec, entered, coins), entered))
    return found


def readings(found: list[tuple[FinishedRun, list[PartySecret]]]) -> tuple[list[int], int]:
    """What is left of the numbers of rows under the masks that Charlie and P1 do not know, and how many of the honest
    parties' vectors are open.
    """
    left, open_ = [], 0
    for seen, entered in found:
        ring = seen.parameters.ring
        for name, z in unmask_inputs(seen.parameters, seen.charlie, seen.party(0)).items():
            own = entered[seen.parameters.parties.index(name)]
            open_ += z == ring.add_vectors(ring.vector(own.w), ring.vector(own.eta))
            left.append(z[-1])
    return left, open_


def p_value(left: list[int], bits: int) -> float:
    """That the top three bits are uniform."""
    counts = np.bincount([x >> (bits - 3) for x in left], minlength=8)
    return float(scipy.stats.chisquare(counts).pvalue)


def test_charlie_and_the_first_party_have_no_noise_of_the_secure_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    """The masks of two honest parties are uniform to them, so of no honest party a number is left open."""
    found = runs(12)
    left, open_ = readings(found)
    bits = found[0][0].parameters.ring_bits
    assert open_ == 0
    assert p_value(left, bits) > 1e-3
    # Twin: masks of pairs that are known.
    monkeypatch.setattr(masking, "pair_mask", lambda *args: bytes(args[-2] * args[-1]))
    bare = runs(8)
    left, open_ = readings(bare)
    assert open_ == len(left) == 8 * 3
    assert p_value(left, bits) < 1e-3
    seen, entered = bare[0]
    assert read_sum_sizes(seen.parameters, seen.charlie, seen.party(0)) == sizes(entered)


def sizes(entered: list[PartySecret]) -> Sizes:
    return Sizes(tuple(s.n for s in entered), 0)


def test_with_all_parties_but_one_charlie_takes_every_mask_off() -> None:
    """The attack is not idle: beyond t colluders it succeeds, which nobody claims it would not."""
    ((seen, entered),) = runs(1)

    def stated(*parties: int) -> Any:
        return read_sum_sizes(seen.parameters, seen.charlie, *(seen.party(j) for j in parties))

    assert stated(0, 1, 2) == stated(1, 2, 3) == sizes(entered)
    assert sizes(entered) not in (stated(0), stated(3), stated(0, 1))

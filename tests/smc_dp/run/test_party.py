from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.core.errors import InputError
from smc_dp.data.bounds import Bounds, NumericColumn
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.privacy.target import Target
from smc_dp.run.agreement import Agreement
from smc_dp.run.party import LocalParty
from smc_dp.run.protocols.registry import CuratorTerms
from tests.support.refusals import refused


def rows(n: int, d: int, seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * (1 + 1e-9)
    return Rows(X, (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(np.int64))


def stream(seed: int) -> Stream:
    return Stream.insecure_from_seed(seed)


# One party's part.


def agreed(
    names: tuple[str, ...],
    d: int,
    target: Target,
    lam: float = 0.1,
    as_printed: bool = False,
    ring_bits: int = 64,
    **options: Any,
) -> Agreement:
    bounds = Bounds(tuple(NumericColumn(f"x{i}", -1.0, 1.0) for i in range(d)), ("no", "yes"), "y", bias=0.0)
    terms = CuratorTerms(ring_bits=ring_bits)
    return Agreement(PathakMean(lam, as_printed), target, parties=names, bounds=bounds, terms=terms, **options)


FIVE = ("north", "south", "east", "west", "centre")


@pytest.mark.parametrize(
    ("agreement", "ring_bits"),
    [
        (agreed(FIVE, 3, Target(Fraction(1, 10**9))), 64),
        (agreed(FIVE, 3, Target(1), 1e-9), 64),
        (agreed(FIVE, 3, Target(1), ring_bits=40), 40),
    ],
)
def test_numbers_too_large_for_the_grid_are_refused(agreement, ring_bits):
    with refused("grid.too_small", at="party north", ring_bits=ring_bits):
        LocalParty("north", rows(20, 3, seed=3), agreement, stream(0)).check()


def test_the_range_check_does_not_look_at_the_rows():
    agreement = agreed(FIVE, 3, Target(1), ring_bits=48)
    one = rows(20, 3, seed=4)
    flat = Rows(np.zeros((20, 3)), one.y)
    outcomes = set()
    for data in (one, flat):
        try:
            LocalParty("a", data, agreement, stream(0)).check()
            outcomes.add("fits")
        except InputError:
            outcomes.add("too large")
    assert len(outcomes) == 1


# Dave's part.


# All of it, against the ideal functionality.


def test_steps_as_printed_draw_the_noise_of_the_mean():
    """They multiply it by K; drawn for the sum, as in our own steps, it would come out K times too large."""
    printed, ours, public = PathakMean(0.1, as_published=True), PathakMean(0.1), Public(5, 31, 2)
    target = Target(1, "paper")
    assert printed.distribution(target, 91, public).scale * 5 == ours.distribution(target, 91, public).scale
    assert float(printed.distribution(target, 91, public).scale) == pytest.approx(2 / (91 * 1 * 0.1) * 2**40, rel=1e-12)
    assert printed.functionality(public, target).times == 5


def test_steps_as_printed_refuse_another_calibration():
    with refused("calibration.of_printed_steps"):
        agreed(FIVE, 3, Target(1), as_printed=True, protocol="pathak2010-as-printed-insecure", marks=("as printed",))


def test_a_party_beyond_the_public_cap_on_rows_is_refused():
    big = Rows(np.broadcast_to(np.zeros(1), (10**7 + 1, 1)), np.zeros(1, dtype=np.int64))
    with refused("party.too_many_rows", at="party p", most=10000000, got=10000001):
        LocalParty("p", big, agreed(("p", "q"), 1, Target(1)), stream(0)).check()

"""Where somebody is trusted with the parts: whose noise is whose, and what may become public of the number of rows."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.methods.gradients.gradient_descent import GradientDescent
from smc_dp.methods.gradients.newton import CURVATURE_FLOOR, SUMS, Newton
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.methods.training.integer_readings import Units
from smc_dp.privacy.distributed import SharedRounds
from smc_dp.privacy.target import Target

ONE = Target(Fraction(1), noise="ddg")


def federation(parties: int = 3, n: int = 12) -> Federation:
    rng = np.random.default_rng(1)
    each = (Rows(rng.uniform(-0.5, 0.5, (n, 3)), rng.integers(2, size=n)) for _ in range(parties))
    return Federation(tuple(each), 2)


def test_every_sum_and_every_release_of_one_stream_has_noise_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """And it is drawn once, whatever the number of parties; one noise for two releases would cancel."""
    drawn: list[tuple[int, ...]] = []
    share = SharedRounds.share

    def listening(noise: SharedRounds, r: int, rng: Stream) -> list[int]:
        drawn.append(tuple(share(noise, r, rng)))
        return [*drawn[-1]]

    monkeypatch.setattr(SharedRounds, "share", listening)
    trained, rng = Newton().train(federation()), Stream.insecure_from_seed("one")
    for _ in range(2):
        trained.release(ONE, rng)
    assert len({*drawn}) == len(drawn) == 2 * SUMS
    assert all(any(noise) for noise in drawn)


def test_the_true_number_of_rows_becomes_a_setting_under_replace_only() -> None:
    """A setting is published; where a row more makes a neighbour, its number is what is protected."""
    assert GradientDescent().with_row_counts((12, 30)).rows == 42
    assert GradientDescent(rows=7).with_row_counts((12, 30)).rows == 7
    assert GradientDescent("addremove").with_row_counts((12, 30)).rows is None


def test_the_floor_is_set_by_the_noise_of_all_parties_and_not_of_the_honest() -> None:
    made = Newton().shared(Public(4, 3, 2), ONE, ThreatModel(4, 1, 1), AnnouncedRows(50))
    steps: Any = made.steps
    deviation = sqrt(4 * made.noise.distributions[0][1].variance) / Units.of(2).curvature
    assert steps.floor == pytest.approx(CURVATURE_FLOOR * deviation * sqrt(2 * 3), rel=1e-12)


def test_noise_of_one_who_is_trusted_does_not_grow_with_the_number_of_parties() -> None:
    """It is drawn once, so that more parties are no trouble than a secure sum counts noise of."""
    few, many = federation(3, 67), federation(201, 1)
    assert Newton().spec(few.public, ONE).noise == Newton().spec(many.public, ONE).noise
    release = Newton().train(many).release(ONE, Stream.from_system())
    assert release.privacy.epsilon == 1.0


def test_a_form_without_noise_says_so() -> None:
    made = Newton().shared(Public(3, 3, 2), Target(None), ThreatModel(3, 1, 0), AnnouncedRows(50))
    assert made.statement.kind == "none"
    assert all(law == "none" for blocks in made.sums for _, law in blocks)

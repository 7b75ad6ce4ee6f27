"""What a report says of figures that chance moves."""

from __future__ import annotations

import pytest

from smc_dp.run.report import Comparison


@pytest.mark.parametrize(("rows", "beats"), [(None, (2, 2)), (400, (1, 1)), (1, (0, 0))])
def test_a_difference_within_two_standard_errors_counts_for_nobody(rows: int | None, beats: tuple[int, int]) -> None:
    alone = {"far below": 0.5, "below": 0.89, "above": 0.91, "far above": 0.99}
    assert Comparison(0.9, alone, 0.95, 0.6, None, None, 0.9, rows).compared_beyond_chance() == beats

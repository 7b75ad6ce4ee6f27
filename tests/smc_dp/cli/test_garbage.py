"""What a command changes of the collector of garbage is as before when it ends, however it ends."""

from __future__ import annotations

import gc

import pytest

from smc_dp.cli.screen import RARE_THRESHOLDS, rare_garbage_collection


def test_garbage_is_looked_for_seldom_inside_and_as_before_after_an_error() -> None:
    before = gc.get_threshold()
    inside = []

    def stopped() -> None:
        with rare_garbage_collection():
            inside.append(gc.get_threshold())
            raise KeyError

    with pytest.raises(KeyError):
        stopped()
    assert inside == [RARE_THRESHOLDS] != [before]
    assert gc.get_threshold() == before

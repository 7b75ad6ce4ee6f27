"""Worlds whose views are one but for the names of coins share what is computed of them, and nothing changes by that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from protocols.programs import PROTOCOLS
from smc_dp.leakage import matrix as module
from smc_dp.leakage.matrix import Row, all_coalitions, coalition_rows
from smc_dp.leakage.symbolic.world_runs import WorldRuns

PATHAK = PROTOCOLS["pathak2010"]
BOOK = WorldRuns(PATHAK, PATHAK.model.sample(2))


def rows() -> list[Row]:
    return [row for members in all_coalitions(BOOK.names) for row in coalition_rows(BOOK, frozenset(members))]


def with_shape(shape: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> list[Row]:
    monkeypatch.setattr(module, "view_up_to_names", shape)
    return rows()


def test_sharing_changes_no_cell_and_a_coarser_shape_does(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = rows()
    assert with_shape(lambda *views: object(), monkeypatch) == shared
    assert with_shape(lambda *views: len(views[0].given), monkeypatch) != shared

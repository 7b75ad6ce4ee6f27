"""Wall time of one run with two worker processes over that with one."""

from __future__ import annotations

from collections.abc import Iterator

from smc_dp.bench.apart import alone
from smc_dp.bench.goals import GoalRow, HearStep, at_most
from smc_dp.bench.whole_run import CURATOR_PROTOCOL

GROUP = "workers"
FULL, QUICK = (50, 124, 3072), (4, 4, 2048)
RUN = "smc_dp.bench.whole_run"
MOST = 0.6


def rows(quick: bool, hear: HearStep) -> Iterator[GoalRow]:
    """Of the curator protocol, whose work is arithmetic."""
    K, d, bits = QUICK if quick else FULL
    wall = {}
    for workers in (1, 2):
        hear(f"a run with {workers} worker{'s' * (workers > 1)}")
        found = alone(RUN, protocol=CURATOR_PROTOCOL, parties=K, dimension=d, key_bits=bits, workers=workers)
        wall[workers] = found["wall_seconds"]
    parts = {f"wall_seconds_{workers}": taken for workers, taken in wall.items()}
    what = f"curator protocol, wall with two workers over one, K = {K}, d = {d}, {bits} bits"
    note = "wall seconds, the only row that has them: an idle machine with two cores is wanted"
    yield GoalRow(GROUP, what, at_most(MOST), wall[2] / wall[1], parts, note, quick=quick)

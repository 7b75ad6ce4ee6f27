"""The linear protocol with very many parties: its cryptography, whole runs and their memory, on one core."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from smc_dp.bench.apart import alone
from smc_dp.bench.goals import Goal, GoalRow, HearStep, at_most
from smc_dp.bench.whole_run import LINEAR

GROUP = "scale"
FULL, QUICK = ((1000, 1000), (5000, 100)), ((30, 50), (60, 20))
KERNELS, RUN = "smc_dp.bench.linear_kernels", "smc_dp.bench.whole_run"
STRETCH = 6.0  # seconds of the whole run


def rows(quick: bool, hear: HearStep) -> Iterator[GoalRow]:
    """Each in a process of its own, so that its memory is nobody else's."""
    (K, d), (most, few) = QUICK if quick else FULL
    line, at = partial(GoalRow, GROUP, quick=quick), f"K = {K:,}, d = {d:,}, all roles"
    hear(f"the linear protocol's cryptography, {at}")
    kernels = alone(KERNELS, parties=K, dimension=d)
    yield line(f"linear, cryptography alone, {at}", at_most(0.5, "s"), kernels["seconds"], kernels)
    hear(f"a whole linear run, {at}")
    run = alone(RUN, protocol=LINEAR, parties=K, dimension=d)
    note = f"with greetings, seals and record; stretch: {STRETCH:g} s"
    yield line(f"linear, whole run, {at}", at_most(15, "s"), run["seconds"], run, note)
    yield line(f"linear, peak memory of that process, {at}", at_most(1000, "MB"), run["megabytes"] or None, run)
    hear(f"a whole linear run, K = {most:,}, d = {few:,}")
    large = alone(RUN, protocol=LINEAR, parties=most, dimension=few)
    yield line(f"linear, whole run, K = {most:,}, d = {few:,}", Goal("ends", unit="s"), large["seconds"], large)

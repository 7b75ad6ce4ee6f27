"""How a whole run grows with the parties and with the numbers of each: slopes on logarithmic scales."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from protocols.secure_sum.parameters import MOST_COMPLETE
from smc_dp.bench.apart import Measured, alone
from smc_dp.bench.clocks import exponent
from smc_dp.bench.goals import GoalRow, HearStep, at_most
from smc_dp.bench.whole_run import LINEAR, SECURE_SUM

GROUP = "growth"
QUICK_SIZES = (24, 48)
RUN = "smc_dp.bench.whole_run"
LARGEST_EXPONENT = 1.05
DEGREE = 50  # what 2,000 parties need of whom a tenth may collude and a twentieth vanish; fewer need no more


@dataclass(frozen=True)
class GrowingRun:
    """A protocol with the sizes that it is run at, and what else it is told for so many parties.

    The first size is also the other one while one grows.
    """

    label: str
    protocol: str
    sizes: tuple[int, ...]
    settings: Callable[[int], dict[str, Any]]
    note: str = ""


def _on_a_circle(K: int) -> dict[str, Any]:
    """A tenth of the parties may collude with a Charlie who keeps to the protocol, and a twentieth may vanish."""
    one_degree = {"degree": DEGREE} if K > MOST_COMPLETE else {}
    return {"colluders": K // 10, "dropouts": max(1, K // 20), **one_degree}


RUNS = (
    GrowingRun("linear", LINEAR, (200, 632, 2000), lambda K: {}),
    GrowingRun(
        "sum on its sparse graph",
        SECURE_SUM,
        (208, 645, 2000),  # up to 200 parties there is none
        _on_a_circle,
        f"the sparse graph has {DEGREE} neighbours for each at all sizes, for what they cost depends on their number",
    ),
)


def rows(quick: bool, hear: HearStep) -> Iterator[GoalRow]:
    """Two exponents of each, every size in a process of its own."""
    for one in RUNS:
        for axis in ("K", "d"):
            yield grown(one, axis, QUICK_SIZES if quick else one.sizes, quick, hear)


def grown(
    one: GrowingRun,
    axis: str,
    sizes: tuple[int, ...],
    quick: bool,
    hear: HearStep,
    run: Callable[..., Measured] = alone,
) -> GoalRow:
    """The exponent in one of the sizes."""
    fixed, seconds = sizes[0], {}
    for size in sizes:
        K, d = (size, fixed) if axis == "K" else (fixed, size)
        hear(f"{one.label}, K = {K:,}, d = {d:,}")
        seconds[size] = run(RUN, protocol=one.protocol, parties=K, dimension=d, **one.settings(K))["seconds"]
    other = f"{'d' if axis == 'K' else 'K'} = {fixed}"
    what = f"{one.label}, growth exponent in {axis} from {sizes[0]:,} to {sizes[-1]:,} at {other}"
    parts = {f"seconds_{axis}_{size}": taken for size, taken in seconds.items()}
    slope = exponent(tuple(seconds), tuple(seconds.values()))
    return GoalRow(GROUP, what, at_most(LARGEST_EXPONENT, ""), slope, parts, "" if quick else one.note, quick=quick)

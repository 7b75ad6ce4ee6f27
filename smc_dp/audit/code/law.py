"""The law of what each claimed coalition reads: fresh executions at toy size against each other and the simulators.

Executions in two very different worlds, in which the ideal functionality gives the same, are compared with each other
and with simulated ones (`two_samples`); each takes a length of keys by lot, and where somebody may vanish, somebody
does. The power is computed, and shown on broken twins: the same readings with one field one bit short. All of it is
about the protocol's code, and a check, not a proof: a law may differ by less than what shows, or in a way that no event
looks at. What a role drew itself (its coins) is not part of its readings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.runtime.claims import Readings, Trials, View, readings
from protocols.runtime.session import Program
from smc_dp.audit.code.executions import execute
from smc_dp.audit.code.two_samples import SampleComparison, compare_samples, smallest_shift

RUNS, SIMULATED = 70, 300  # executions in each world, and simulated ones
REJECT, POWER = 1e-6, 0.9
_FAIR = 0.5

Coalition = tuple[str, ...]
Samples = dict[Coalition, list[Readings]]


@dataclass(frozen=True)
class Found:
    """One comparison: whose readings, which two samples, and how it came out."""

    coalition: Coalition
    samples: str
    comparison: SampleComparison


@dataclass(frozen=True)
class LawPower:
    """By how much a fair bit must move to show, and by how much any rarer event must gain; None: no change shows."""

    fair: float | None
    rarer: float | None


@dataclass(frozen=True)
class TestedLaw:
    """What came out of `runs` executions in each world and `simulated` ones. `level` is that of each test; `missed` are
    the twins that it does not reject.

    `between`, `simulator`: what shows with probability `POWER` between the worlds, and against the simulator.
    `vanished`: who does in every execution.
    """

    found: tuple[Found, ...]
    runs: int
    simulated: int
    level: float
    twins: int
    missed: tuple[str, ...]
    between: LawPower
    simulator: LawPower
    vanished: tuple[str, ...] = ()

    @property
    def tests(self) -> int:
        """How many tests there were, twins apart."""
        return sum(f.comparison.tests for f in self.found)

    @property
    def worst(self) -> Found:
        """The comparison with the smallest p-value."""
        return min(self.found, key=lambda f: f.comparison.smallest)

    @property
    def p_value(self) -> float:
        """That of all tests together (Bonferroni)."""
        return min(1.0, self.worst.comparison.smallest * max(1, self.tests))


def coalitions(trials: Trials, p: Any, names: Sequence[str]) -> list[Coalition]:
    """Every claimed coalition among these names."""
    everybody = (c for size in range(1, len(names) + 1) for c in combinations(names, size))
    return [c for c in everybody if trials.claimed(p, c)]


def law(program: Program, trials: Trials, p: Any, rng: Stream) -> TestedLaw:
    """`RUNS` executions in each of two worlds against each other and against `SIMULATED` simulated ones."""
    who = coalitions(trials, p, tuple(trials.worlds(p)[0]))
    found = compared(
        real(program, trials, p, 0, rng.fork("one"), who, RUNS),
        real(program, trials, p, 1, rng.fork("other"), who, RUNS),
        simulated(trials, p, rng.fork("simulated"), who, SIMULATED),
    )
    return replace(found, vanished=tuple(trials.vanishing(p)))


def compared(left: Samples, right: Samples, made: Samples) -> TestedLaw:
    """The samples of two worlds against each other and against simulated ones; and the same with twins of these."""
    found = tuple(
        Found(c, between, compare_samples(a[c], b[c]))
        for c in left
        for between, a, b in (
            ("both worlds", left, right),
            ("the first world and the simulator", left, made),
            ("the second world and the simulator", right, made),
        )
    )
    level = REJECT / max(1, sum(f.comparison.tests for f in found))  # none, where nobody reads what is not public
    twins = [(c, place) for c in left for place in made[c][0]]
    missed = [f"{place} of {', '.join(c)}" for c, place in twins if not _rejected(left[c], made[c], place, level)]
    runs, others, several = (len(next(iter(samples.values()))) for samples in (left, right, made))
    between, simulator = (_power(runs, n, level) for n in (others, several))
    return TestedLaw(found, runs, several, level, len(twins), tuple(missed), between, simulator)


def _power(left: int, right: int, level: float) -> LawPower:
    shifts = [smallest_shift(left, right, level, base / 20, POWER) for base in range(10)]
    rarer = None if None in shifts else max(shift for shift in shifts if shift is not None)
    return LawPower(smallest_shift(left, right, level, _FAIR, POWER), rarer)


def real(
    program: Program, trials: Trials, p: Any, world: int, rng: Stream, who: Sequence[Coalition], runs: int
) -> Samples:
    """What each coalition reads in fresh executions in the world of this number."""
    samples: Samples = {c: [] for c in who}
    for i in range(runs):
        coins = rng.fork(str(i))
        q = by_lot(trials, p, coins)
        views = execute(program, q, trials.worlds(q)[world], coins, trials.vanishing(q)).views
        for c in who:
            samples[c].append(trials.condensed(q, readings(*_of(views, c))))
    return samples


def by_lot(trials: Trials, p: Any, rng: Stream) -> Any:
    """The session with one of its lengths of keys."""
    lengths = trials.lengths(p)
    return lengths[rng.fork("length of keys").below(len(lengths))]


def _of(views: dict[str, View], coalition: Coalition) -> list[View]:
    return [views[name] for name in coalition]


def simulated(trials: Trials, p: Any, rng: Stream, who: Sequence[Coalition], count: int) -> Samples:
    """What the simulators make for each coalition, execution by execution."""
    samples: Samples = {c: [] for c in who}
    for i in range(count):
        coins = rng.fork(str(i))
        q = by_lot(trials, p, coins)
        simulate = trials.simulated(q, coins)
        for c in who:
            samples[c].append(trials.condensed(q, simulate(c)))
    return samples


def _rejected(real: Sequence[Readings], made: Sequence[Readings], place: str, level: float) -> bool:
    """Whether the simulator with this field one bit short is told from the protocol."""
    twin = [{place: [v >> 1 for v in found[place]]} for found in made]
    return compare_samples([{place: found.get(place, [])} for found in real], twin).smallest < level

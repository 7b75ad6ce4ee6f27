"""Test of the distribution of what each claimed coalition reads: real executions against each other and simulated ones.

Executions of a small instance in very different worlds, two or more, in which the ideal functionality gives a coalition
the same output, are compared with each other and with simulated ones (`two_samples`). Each draws a length of keys, and
where drop-outs are tolerated, somebody drops out. The power is computed, and shown on mutants: the same readings with
one field one bit short. This is a check of the protocol's code, not a proof: distributions may differ by less than what
shows, or in a way that no event looks at. The coins that a role drew itself are not part of its readings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.runtime.claims import Inputs, Readings, Trials
from protocols.runtime.session import Program
from smc_dp.leakage.executions import execute
from smc_dp.leakage.two_samples import SampleComparison, compare_samples, smallest_shift

RUNS, SIMULATED = 70, 300  # executions in each of the first two worlds, and simulated ones
FURTHER_RUNS = 36  # in each of more worlds
TWO = 2
WORLD_NAMES = ("first", "second", "third", "fourth", "fifth", "sixth")
SIGNIFICANCE, POWER = 1e-6, 0.9
_FAIR = 0.5
_FORKS = ("one", "other", *WORLD_NAMES[TWO:])

Coalition = tuple[str, ...]
Samples = dict[Coalition, list[Readings]]
Outputs = Mapping[Coalition, str]
NO_OUTPUT = ""  # what the functionality tells a coalition beside the sum, where it tells no more


@dataclass(frozen=True)
class CoalitionComparison:
    """Comparison of two samples of a coalition's readings."""

    coalition: Coalition
    samples: str
    comparison: SampleComparison


@dataclass(frozen=True)
class DetectionPower:
    """Smallest detectable shift of a fair bit, and of any rarer event; None where no change is detectable."""

    fair: float | None
    rarer: float | None


@dataclass(frozen=True)
class DistributionCheck:
    """Result of comparing `runs` executions in each world and `simulated` ones; `level` is that of each test.

    `missed`: the mutants that are not rejected. `between`, `simulator`: shifts detected with probability `POWER`
    between the worlds, and against the simulator. `drop_outs`: the drop-outs of every execution.
    """

    found: tuple[CoalitionComparison, ...]
    runs: int
    simulated: int
    level: float
    mutants: int
    missed: tuple[str, ...]
    between: DetectionPower
    simulator: DetectionPower
    drop_outs: tuple[str, ...] = ()
    worlds: int = 2

    @property
    def tests(self) -> int:
        """Number of tests, mutants apart."""
        return sum(f.comparison.tests for f in self.found)

    @property
    def worst(self) -> CoalitionComparison:
        """Comparison with the smallest p-value."""
        return min(self.found, key=lambda f: f.comparison.smallest)

    @property
    def p_value(self) -> float:
        """Bonferroni p-value of all tests together."""
        return min(1.0, self.worst.comparison.smallest * max(1, self.tests))


def claimed_coalitions(trials: Trials, p: Any, names: Sequence[str]) -> list[Coalition]:
    """Return every claimed coalition among these names."""
    everybody = (c for size in range(1, len(names) + 1) for c in combinations(names, size))
    return [c for c in everybody if trials.claimed(p, c)]


def check_distributions(program: Program, trials: Trials, p: Any, rng: Stream) -> DistributionCheck:
    """Compare executions in each of the worlds with each other and with simulated ones."""
    worlds = trials.worlds(p)
    who = claimed_coalitions(trials, p, tuple(worlds[0]))
    outputs = [functionality_outputs(trials, p, world, who) for world in worlds]
    read = [
        real_readings(program, trials, p, i, rng.fork(_FORKS[i]), tuple(of), RUNS if i < TWO else FURTHER_RUNS)
        for i, of in enumerate(outputs)
    ]
    by_output: dict[str, dict[Coalition, None]] = {}  # in some world
    for of in outputs:
        for c, output in of.items():
            by_output.setdefault(output, {})[c] = None
    simulated = {
        output: simulate_readings(
            trials, p, rng.fork(f"simulated {output}".strip()), list(coalitions), SIMULATED, output
        )
        for output, coalitions in by_output.items()
    }
    found = compare_by_output(list(zip(read, outputs, strict=True)), simulated)
    return replace(found, drop_outs=tuple(trials.drop_outs(p)))


def functionality_outputs(trials: Trials, p: Any, world: Inputs, who: Sequence[Coalition]) -> dict[Coalition, str]:
    """Return the functionality's output for each coalition in this world, where it does not depend on chance."""
    if trials.leakage is None:
        return dict.fromkeys(who, NO_OUTPUT)
    every = {c: trials.leakage(p, world, c) for c in who}
    return {c: outputs[0] for c, outputs in every.items() if len(outputs) == 1}


def compare_by_output(read: Sequence[tuple[Samples, Outputs]], simulated: Mapping[str, Samples]) -> DistributionCheck:
    """Compare samples of worlds, each with the outputs of the functionality, and simulated ones by output.

    For each coalition, the worlds in which it gets the same output are compared with each other and with executions
    simulated from that output; mutants of these show the power.
    """
    cases = list(_cases(read, simulated))
    found = tuple(f for case in cases for f in _found(case, len(read)))
    level = SIGNIFICANCE / max(1, sum(f.comparison.tests for f in found))  # none, where nobody reads what is not public
    mutants = [(case, place) for case in cases for place in case.simulated[0]]
    missed = [
        f"{place} of {', '.join(case.coalition)}"
        for case, place in mutants
        if not _rejected(case.read[0][1], case.simulated, place, level)
    ]
    runs, others = (len(next(iter(samples.values()))) for samples, _ in read[:TWO])
    several = len(cases[0].simulated)
    between, simulator = (_power(runs, n, level) for n in (others, several))
    return DistributionCheck(
        found, runs, several, level, len(mutants), tuple(missed), between, simulator, worlds=len(read)
    )


@dataclass(frozen=True)
class _Case:
    """Readings of a coalition in all worlds in which it gets the same output, by name of the world, and simulated."""

    coalition: Coalition
    read: list[tuple[str, list[Readings]]]
    simulated: list[Readings]


def _cases(read: Sequence[tuple[Samples, Outputs]], simulated: Mapping[str, Samples]) -> Iterator[_Case]:
    for c, output in dict.fromkeys((c, output) for _, outputs in read for c, output in outputs.items()):
        here = [(WORLD_NAMES[i], samples[c]) for i, (samples, outputs) in enumerate(read) if outputs.get(c) == output]
        yield _Case(c, here, simulated[output][c])


def _found(case: _Case, worlds: int) -> Iterator[CoalitionComparison]:
    for (one, a), (other, b) in combinations(case.read, 2):
        between = "both worlds" if worlds == TWO else f"the {one} world and the {other}"
        yield CoalitionComparison(case.coalition, between, compare_samples(a, b))
    for name, a in case.read:
        yield CoalitionComparison(
            case.coalition, f"the {name} world and the simulator", compare_samples(a, case.simulated)
        )


def _power(left: int, right: int, level: float) -> DetectionPower:
    shifts = [smallest_shift(left, right, level, base / 20, POWER) for base in range(10)]
    rarer = None if None in shifts else max(shift for shift in shifts if shift is not None)
    return DetectionPower(smallest_shift(left, right, level, _FAIR, POWER), rarer)


def real_readings(
    program: Program, trials: Trials, p: Any, world: int, rng: Stream, who: Sequence[Coalition], runs: int
) -> Samples:
    """Return the readings of each coalition in fresh executions in the world of this number."""
    samples: Samples = {c: [] for c in who}
    for i in range(runs):
        coins = rng.fork(str(i))
        q = draw_key_length(trials, p, coins)
        views = execute(program, q, trials.worlds(q)[world], coins, trials.drop_outs(q)).views
        for c in who:
            samples[c].append(trials.condensed(q, trials.read(q, tuple(views[name] for name in c))))
    return samples


def draw_key_length(trials: Trials, p: Any, rng: Stream) -> Any:
    """Return the session with a random one of its lengths of keys."""
    lengths = trials.with_key_lengths(p)
    return lengths[rng.fork("length of keys").below(len(lengths))]


def simulate_readings(
    trials: Trials, p: Any, rng: Stream, who: Sequence[Coalition], count: int, output: str = NO_OUTPUT
) -> Samples:
    """Return the simulators' readings for each coalition that gets this output, execution by execution."""
    samples: Samples = {c: [] for c in who}
    for i in range(count):
        coins = rng.fork(str(i))
        q = draw_key_length(trials, p, coins)
        simulate = trials.simulated(q, coins)
        for c in who:
            samples[c].append(trials.condensed(q, simulate(c, output) if trials.leakage else simulate(c)))
    return samples


def _rejected(real: Sequence[Readings], simulated: Sequence[Readings], place: str, level: float) -> bool:
    """Return whether the comparison rejects a simulator with this field one bit short."""
    mutant = [{place: [v >> 1 for v in found[place]]} for found in simulated]
    return compare_samples([{place: found.get(place, [])} for found in real], mutant).smallest < level

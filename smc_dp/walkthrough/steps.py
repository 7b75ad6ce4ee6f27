"""Steps of a run: the messages of one step of the paper together, in an order in which they can have happened.

Participants are not in step with each other, so the order in which messages were handed in mixes the steps. Here a step
begins when all before it are over: the roles run with a gate that keeps the messages of all other steps back, and go on
as far as they can without them. What has left by then is a prefix of a run that is possible, for it is one: nobody ever
read a message of a later step. Which step comes next is decided in two worlds, one in which no permutation moves
anything and one in which all do, and there each is whole before the next one begins; two steps of which neither can be
whole before the other are taken for one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from protocols.errors import LocalError
from protocols.runtime.session import PUBLIC_NAME, Program
from smc_dp.leakage.symbolic.engine import Gate, SymbolicRun
from smc_dp.leakage.symbolic.trace import Sent
from smc_dp.leakage.symbolic.worlds import World


class StepKey(NamedTuple):
    """Properties that the messages of a step share: stage, number in the paper, repetition, whether public."""

    stage: str
    step: str
    place: int
    published: bool


class Gatekeeper:
    """Gate of one run that lets out the messages of the steps that have begun.

    It counts them, for a message does not know its place. `planned` are all steps that there are: a message of any
    other step leaves with the next step that begins.
    """

    def __init__(self, planned: Iterable[StepKey] = ()) -> None:
        self.begun: set[StepKey] = set()
        self._planned = frozenset(planned)
        self._counts = Counter[tuple[str, str, str]]()
        self._keys: dict[int, StepKey] = {}
        self._seen: list[Sent] = []  # so that no two have one identity

    def __call__(self, sent: Sent) -> bool:
        """Return whether this message may leave."""
        key = self.key(sent)
        return key in self.begun or (bool(self._planned) and bool(self.begun) and key not in self._planned)

    def key(self, sent: Sent) -> StepKey:
        """Return the step of a message. The first call counts the message."""
        if id(sent) not in self._keys:
            link = sent.sender, sent.to, type(sent.message).__name__
            self._counts[link] += 1
            place, published = self._counts[link], sent.to == PUBLIC_NAME and not sent.greets
            self._keys[id(sent)] = StepKey(sent.stage, sent.message.step, place, published)
            self._seen.append(sent)
        return self._keys[id(sent)]


def plan_steps(
    start: Callable[[World, Gate], SymbolicRun], whole: Mapping[World, Sequence[Sent]], program: Program
) -> tuple[tuple[StepKey, ...], ...]:
    """Return the steps of some runs, each with its keys.

    `start` begins a run with a gate, `whole` is all that each sends.
    """
    running = {world: _Counted(start, world, sent) for world, sent in whole.items()}
    places = _places(program, [s for sent in whole.values() for s in sent])
    try:
        return tuple(_steps(list(running.values()), places))
    finally:
        for run in running.values():
            run.running.close()


class _Counted:
    """Run with its gate, and the number of messages of each step."""

    def __init__(self, start: Callable[[World, Gate], SymbolicRun], world: World, whole: Sequence[Sent]) -> None:
        counting, self.gate = Gatekeeper(), Gatekeeper()
        self.totals = Counter(counting.key(sent) for sent in whole)
        self.running = start(world, self.gate)

    @property
    def withheld(self) -> Counter[StepKey]:
        return Counter(self.gate.key(sent) for sent in self.running.withheld)

    @property
    def out(self) -> Counter[StepKey]:
        return Counter(self.gate.key(sent) for sent in self.running.sent)

    def go_on(self, key: StepKey | None = None) -> None:
        """Run on with the messages of one step more."""
        self.gate.begun.update([key] if key else [])
        self.running.go_on()


def _steps(runs: Sequence[_Counted], places: Mapping[str, int]) -> Iterator[tuple[StepKey, ...]]:
    if not any(run.withheld for run in runs):
        _go_on(runs)
    while any(run.withheld for run in runs):
        step: list[StepKey] = []
        while not step or any(run.out[key] < run.totals[key] for key in step for run in runs):
            if not any(run.withheld for run in runs):
                raise LocalError("message.never_sent", step=step[0].step)
            step.append(_next(runs, places))
            _go_on(runs, step[-1])
        yield tuple(step)


def _go_on(runs: Sequence[_Counted], key: StepKey | None = None) -> None:
    for run in runs:
        run.go_on(key)


def _next(runs: Sequence[_Counted], places: Mapping[str, int]) -> StepKey:
    """Return the first step that is whole in all runs among those with withheld messages, or the first."""
    withheld = [(run.gate.key(s), s) for run in runs for s in reversed(run.running.withheld)]
    order = {key: (s.entered, places[type(s.message).__name__]) for key, s in withheld}
    whole = [key for key in order if all(run.withheld[key] == run.totals[key] for run in runs)]
    return min(whole or order, key=lambda key: (key.published, order[key], key.place))


def _places(program: Program, whole: Iterable[Sent]) -> dict[str, int]:
    """Return the place of every kind in the conversation, as the program lists it; greetings come first."""
    names = [kind.__name__ for kind in program.kinds]
    said = [type(sent.message).__name__ for sent in whole if sent.greets]
    return {name: place for place, name in enumerate([*said, *names])}

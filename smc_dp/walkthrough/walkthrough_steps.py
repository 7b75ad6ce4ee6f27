"""Messages of a session in the steps of a knowledge trace, and those that only the transcript has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from smc_dp.walkthrough.knowledge_trace import KnowledgeTrace
from smc_dp.walkthrough.observed_session import ObservedMessage, ObservedSession


@dataclass(frozen=True)
class WalkthroughStep:
    """Step of the paper in one stage, with its messages. `known`: its place in `KnowledgeTrace.knows`, None without
    one.
    """

    stage: str
    number: str
    messages: tuple[ObservedMessage, ...]
    known: int | None

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of its kinds of messages, in the order of appearance."""
        return tuple(dict.fromkeys(message.kind.__name__ for message in self.messages))


def steps_of(observed: ObservedSession, trace: KnowledgeTrace | None) -> tuple[WalkthroughStep, ...]:
    """Return the steps of the trace with their messages, then those that only the transcript has."""
    places = _Places(observed, trace) if trace else None
    found: dict[int, list[ObservedMessage]] = {}
    rest: dict[tuple[str, str], list[ObservedMessage]] = {}
    for message in observed.messages:
        at = places.of(message) if places else None
        if at is None:
            rest.setdefault((message.stage, message.kind.step), []).append(message)
        else:
            found.setdefault(at, []).append(message)
    known = [
        WalkthroughStep(step.stage, step.step, tuple(found[at]), at + 1)
        for at, step in enumerate(trace.steps if trace else ())
        if at in found
    ]
    return (*known, *(WalkthroughStep(stage, number, tuple(some), None) for (stage, number), some in rest.items()))


def leaving_steps(observed: ObservedSession, steps: Sequence[WalkthroughStep]) -> dict[str, int]:
    """Return for each dropped-out participant the first step in which others send after its last message."""
    found = {}
    for name in observed.dropped_out:
        sent = [at for at, step in enumerate(steps) if any(message.sender == name for message in step.messages)]
        found[name] = max(sent, default=-1) + 1
    return found


class _Places:
    """Places of messages in a trace: by ends, kind and number for as many participants, else by stage and kind."""

    def __init__(self, observed: ObservedSession, trace: KnowledgeTrace) -> None:
        names = observed.session.names
        self._names: Mapping[str, str] = dict(zip(names, trace.names, strict=False))
        self._exactly = len(names) == len(trace.names)
        self._by_message: dict[tuple[str, str, str, int], int] = {}
        self._kinds: dict[tuple[str, str], int] = {}
        for at, step in enumerate(trace.steps):
            for message in step.messages:
                self._by_message[message.sender, message.to, message.kind, message.place] = at
                self._kinds.setdefault((step.stage, message.kind), at)

    def of(self, message: ObservedMessage) -> int | None:
        """Return the place of the step of this message; None where the trace has none."""
        by_kind = self._kinds.get((message.stage, message.kind.__name__))
        if not self._exactly:
            return by_kind
        ends = self._names[message.sender], self._names.get(message.to, message.to)
        return self._by_message.get((*ends, message.kind.__name__, message.place), by_kind)

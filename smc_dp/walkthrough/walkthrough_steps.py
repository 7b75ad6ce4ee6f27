"""Messages of a session in the steps of the knowledge trace of its protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smc_dp.walkthrough.knowledge_trace import KnowledgeTrace
from smc_dp.walkthrough.observed_session import ObservedMessage, ObservedSession


@dataclass(frozen=True)
class WalkthroughStep:
    """Step of the paper in one stage, with its messages. `known`: its place in `KnowledgeTrace.knows`."""

    stage: str
    number: str
    messages: tuple[ObservedMessage, ...]
    known: int

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of its kinds of messages, in the order of appearance."""
        return tuple(dict.fromkeys(message.kind.__name__ for message in self.messages))


def steps_of(observed: ObservedSession, trace: KnowledgeTrace) -> tuple[WalkthroughStep, ...]:
    """Return the steps of the trace with their messages.

    Where readers follow a secret permutation, the session has other ones than the trace: then kind and stage count.
    """
    by_ends: dict[tuple[str, str, str, int], int] = {}
    by_kind: dict[tuple[str, str], int] = {}
    for at, step in enumerate(trace.steps):
        for message in step.messages:
            by_ends[message.sender, message.to, message.kind, message.place] = at
            by_kind.setdefault((step.stage, message.kind), at)
    found: dict[int, list[ObservedMessage]] = {}
    for sent in observed.messages:
        kind = sent.kind.__name__
        ends = sent.sender, sent.to, kind, sent.place
        found.setdefault(by_ends[ends] if ends in by_ends else by_kind[sent.stage, kind], []).append(sent)
    steps = ((at, step) for at, step in enumerate(trace.steps) if at in found)
    return tuple(WalkthroughStep(step.stage, step.step, tuple(found[at]), at + 1) for at, step in steps)


def leaving_steps(observed: ObservedSession, steps: Sequence[WalkthroughStep]) -> dict[str, int]:
    """Return for each dropped-out participant the first step in which others send after its last message."""
    found = {}
    for name in observed.dropped_out:
        sent = [at for at, step in enumerate(steps) if any(message.sender == name for message in step.messages)]
        found[name] = max(sent, default=-1) + 1
    return found

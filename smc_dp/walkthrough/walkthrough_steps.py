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
        return tuple(dict.fromkeys(letter.kind.__name__ for letter in self.messages))


def steps_of(watched: ObservedSession, course: KnowledgeTrace | None) -> tuple[WalkthroughStep, ...]:
    """Return the steps of the trace with their messages, then those that only the transcript has."""
    places = _Places(watched, course) if course else None
    found: dict[int, list[ObservedMessage]] = {}
    rest: dict[tuple[str, str], list[ObservedMessage]] = {}
    for letter in watched.messages:
        at = places.of(letter) if places else None
        if at is None:
            rest.setdefault((letter.stage, letter.kind.step), []).append(letter)
        else:
            found.setdefault(at, []).append(letter)
    known = [
        WalkthroughStep(step.stage, step.step, tuple(found[at]), at + 1)
        for at, step in enumerate(course.steps if course else ())
        if at in found
    ]
    return (*known, *(WalkthroughStep(stage, number, tuple(some), None) for (stage, number), some in rest.items()))


def leaving_steps(watched: ObservedSession, lesson: Sequence[WalkthroughStep]) -> dict[str, int]:
    """Return for each dropped-out participant the first step in which others send after its last message."""
    found = {}
    for name in watched.dropped_out:
        sent = [at for at, step in enumerate(lesson) if any(letter.sender == name for letter in step.messages)]
        found[name] = max(sent, default=-1) + 1
    return found


class _Places:
    """Places of messages in a trace: by ends, kind and number for as many participants, else by stage and kind."""

    def __init__(self, watched: ObservedSession, course: KnowledgeTrace) -> None:
        names = watched.session.names
        self._names: Mapping[str, str] = dict(zip(names, course.names, strict=False))
        self._exactly = len(names) == len(course.names)
        self._letters: dict[tuple[str, str, str, int], int] = {}
        self._kinds: dict[tuple[str, str], int] = {}
        for at, step in enumerate(course.steps):
            for letter in step.messages:
                self._letters[letter.sender, letter.to, letter.kind, letter.place] = at
                self._kinds.setdefault((step.stage, letter.kind), at)

    def of(self, letter: ObservedMessage) -> int | None:
        """Return the place of the step of this message; None where the trace has none."""
        by_kind = self._kinds.get((letter.stage, letter.kind.__name__))
        if not self._exactly:
            return by_kind
        ends = self._names[letter.sender], self._names.get(letter.to, letter.to)
        return self._letters.get((*ends, letter.kind.__name__, letter.place), by_kind)

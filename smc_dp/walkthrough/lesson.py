"""The letters of a session in the steps of a course: those that the engine knows, and whatever else the record has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from smc_dp.walkthrough.knowledge_trace import ProtocolCourse
from smc_dp.walkthrough.observed_session import Watched, WatchedLetter


@dataclass(frozen=True)
class LectureStep:
    """A step of the paper in one stage, with its letters. `known`: where `ProtocolCourse.knows` has what is known after
    it; None where the course has no such step.
    """

    stage: str
    number: str
    letters: tuple[WatchedLetter, ...]
    known: int | None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of its kinds of letters, in the order in which they come."""
        return tuple(dict.fromkeys(letter.kind.__name__ for letter in self.letters))


def steps_of(watched: Watched, course: ProtocolCourse | None) -> tuple[LectureStep, ...]:
    """The steps of the course with their letters, then those that only the record has, in the order of the record."""
    places = _Places(watched, course) if course else None
    found: dict[int, list[WatchedLetter]] = {}
    rest: dict[tuple[str, str], list[WatchedLetter]] = {}
    for letter in watched.letters:
        at = places.of(letter) if places else None
        if at is None:
            rest.setdefault((letter.stage, letter.kind.step), []).append(letter)
        else:
            found.setdefault(at, []).append(letter)
    known = [
        LectureStep(step.stage, step.step, tuple(found[at]), at + 1)
        for at, step in enumerate(course.steps if course else ())
        if at in found
    ]
    return (*known, *(LectureStep(stage, number, tuple(some), None) for (stage, number), some in rest.items()))


def leaving(watched: Watched, lesson: Sequence[LectureStep]) -> dict[str, int]:
    """For each of those who vanish the place of the first step in which others send after its last letter."""
    found = {}
    for name in watched.gone:
        sent = [at for at, step in enumerate(lesson) if any(letter.sender == name for letter in step.letters)]
        found[name] = max(sent, default=-1) + 1
    return found


class _Places:
    """Where letters stand in a course: each by its ends, kind and number where the course has as many participants,
    else by stage and kind.
    """

    def __init__(self, watched: Watched, course: ProtocolCourse) -> None:
        names = watched.session.names
        self._names: Mapping[str, str] = dict(zip(names, course.names, strict=False))
        self._exactly = len(names) == len(course.names)
        self._letters: dict[tuple[str, str, str, int], int] = {}
        self._kinds: dict[tuple[str, str], int] = {}
        for at, step in enumerate(course.steps):
            for letter in step.letters:
                self._letters[letter.sender, letter.to, letter.kind, letter.place] = at
                self._kinds.setdefault((step.stage, letter.kind), at)

    def of(self, letter: WatchedLetter) -> int | None:
        """The place of the step of this letter; None where the course has none."""
        by_kind = self._kinds.get((letter.stage, letter.kind.__name__))
        if not self._exactly:
            return by_kind
        ends = self._names[letter.sender], self._names.get(letter.to, letter.to)
        return self._letters.get((*ends, letter.kind.__name__, letter.place), by_kind)

"""Live and resumed actors side by side, under random deliveries, marks and saves: they do the same, and no number of
a link is used for two envelopes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest
from support import sums, votes
from support.repetitions import with_slow
from support.sessions import Setup, setup
from support.toy_sum import toy

from protocols.arithmetic.rng import Stream
from protocols.runtime import replay
from protocols.runtime.actor import Actor, actors
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.envelope import Envelope

STEPS = 5000
T = TypeVar("T")


class Interleaving:
    """One session; beside some of its actors lives a twin, which was saved and resumed at a random moment."""

    def __init__(self, made: Setup, seed: int, marks: float) -> None:
        self.made, self.coins, self.marks = made, Stream.insecure_from_seed(f"interleaving {seed}"), marks
        self.board = BulletinBoard(made.session)
        self.live = actors(*made, self.board.greetings)
        self.resumed: dict[str, Actor] = {}
        self.public: list[Envelope] = []
        self.links: dict[tuple[str, str], list[Envelope]] = {}
        self.seen: dict[tuple[str, str, int], bytes] = {}

    def run(self) -> None:
        for name in self.live:
            self.advance(name)
        for _ in range(STEPS):
            self.step(self.one_of(list(self.live)))
            if all(role.end for role in self.live.values()) and not any(self.links.values()):
                return
        raise AssertionError("it does not end")

    def chance(self) -> float:
        return self.coins.below(1000) / 1000

    def one_of(self, things: Sequence[T]) -> T:
        return things[self.coins.below(len(things))]

    def step(self, name: str) -> None:
        if self.public and self.chance() < 0.5:
            self.board.post(self.public.pop(0))
        mail = [link for (_, to), link in self.links.items() if to == name and link]
        what = self.chance()
        if what < 0.5 and mail:
            self.deliver(name, self.one_of(mail).pop(0))
        elif what < 0.75:
            self.advance(name)
        elif what < 0.75 + self.marks:
            self.miss(name)
        elif what > 0.85:
            self.twin(name)

    def deliver(self, name: str, envelope: Envelope) -> None:
        for role in self.both(name):
            role.deliver(envelope)
        if self.chance() < 0.7:
            self.advance(name)

    def advance(self, name: str) -> None:
        out, *others = [(role.advance(), role.end, role.awaited, role.marks, role.notes) for role in self.both(name)]
        assert all(other == out for other in others)
        for e in out[0]:
            assert self.seen.setdefault((e.sender, e.to, e.number), e.digest) == e.digest, "two envelopes of one number"
            if e.is_public:
                self.public.append(e)
            else:
                self.links.setdefault((e.sender, e.to), []).append(e)

    def miss(self, name: str) -> None:
        awaited = self.live[name].awaited
        if awaited and len(self.board.greetings) == len(self.live):
            sender = self.one_of(awaited)
            for role in self.both(name):
                role.miss(sender)

    def twin(self, name: str) -> None:
        """Resume a new twin, which from now on may be the only one."""
        role, session = self.live[name], self.made.session
        self.advance(name)
        state = replay.save(role)
        made = replay.resume(session, state, self.made.identities[name], role.counter, self.board.greetings)
        assert made.advance() == []
        self.resumed[name] = made
        if self.chance() < 0.5:
            role.close()
            self.live[name] = self.resumed.pop(name)

    def both(self, name: str) -> list[Actor]:
        return [self.live[name], *([self.resumed[name]] if name in self.resumed else [])]


MADE: dict[str, tuple[Callable[[int], Setup], float, int]] = {
    "patient": (lambda seed: toy(seed=seed), 0.03, 12),
    "impatient": (lambda seed: toy(patient=False, seed=seed), 0.03, 12),
    "statements": (lambda seed: votes.made(seed=seed), 0.03, 8),
    "replacing": (lambda seed: votes.made(votes.of_two(votes.stating, replaces=True), seed=seed), 0.03, 8),
    "curator": (lambda seed: setup(3, 2, seed=seed), 0.0, 1),
    "curator, marks": (lambda seed: setup(3, 2, seed=seed), 0.01, 2),
    "sums, marks": (lambda seed: sums.made(sums.parameters(3, 0, 1, (1, 1)), seed), 0.01, 3),
}


@pytest.mark.parametrize("more", [1, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", with_slow(MADE, "curator", "sums, marks"))
def test_they_do_the_same(name: str, more: int) -> None:
    made, marks, many = MADE[name]
    every(made, marks, many * more)


def every(made: Callable[[int], Setup], marks: float, many: int) -> None:
    for seed in range(many):
        Interleaving(made(seed), seed, marks).run()

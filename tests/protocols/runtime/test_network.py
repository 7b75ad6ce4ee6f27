"""What a record shows of its cost, against a count of its own, and the virtual clock against sums done by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import pytest
from support.sessions import PROGRAMS, Setup, by_link, setup

from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.errors import LocalError
from protocols.runtime import network
from protocols.runtime.envelope import HELLO, STAGE_END, Envelope
from protocols.runtime.message import PARTY
from protocols.runtime.network import LINK_MODELS, Clock, Link, Traffic, traffic
from protocols.runtime.session import PUBLIC_NAME
from protocols.runtime.simulate import Run
from tests.support.refusals import refused

Letter = tuple[str, str, int]
"""Sender, addressee, number."""


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Processor time stands still, but for what a test adds."""
    clock = [0.0]
    monkeypatch.setattr(network, "time", SimpleNamespace(process_time=lambda: clock[0]))
    return clock


def counted(run: Run, made: Setup, link: str = "none", topology: str = "mesh") -> dict[str, Traffic]:
    return traffic(run.transcript.read(), made.session, LINK_MODELS[link], topology)


def total(stages: dict[str, Traffic]) -> tuple[int, int]:
    return sum(s.messages for s in stages.values()), sum(s.bytes for s in stages.values())


def rounds(stages: dict[str, Traffic]) -> int:
    return sum(stage.rounds for stage in stages.values())


@pytest.mark.parametrize("program", PROGRAMS, ids=["hardened", "printed"])
def test_mesh_totals_are_those_of_the_record(program: Any) -> None:
    made = setup(3, 2, program=program)
    run = made.simulate()
    stages = counted(run, made)
    lines = list(run.transcript.lines())[1:]
    assert total(stages) == (len(lines), sum(line["size"] for line in lines))
    for name, stage in stages.items():
        mine = [line for line in lines if line["stage"] == name]
        assert (stage.messages, stage.bytes) == (len(mine), sum(line["size"] for line in mine))
    assert list(stages) == ["setup", "stage1", "stage2", "stage3"]


def test_star_counts_relayed_mail_twice() -> None:
    made = setup(4, 2)
    mesh, star = made.simulate(), made.simulate(topology="star")
    assert by_link(mesh.transcript.envelopes) == by_link(star.transcript.envelopes)
    lines = list(star.transcript.lines())[1:]
    assert [line.get("via") for line in lines] == [
        CURATOR_NAME if CURATOR_NAME not in (e.sender, e.to) and e.to != PUBLIC_NAME else None
        for e in star.transcript.envelopes
    ]
    relayed = [e for e in star.transcript.envelopes if CURATOR_NAME not in (e.sender, e.to) and e.to != PUBLIC_NAME]
    count, size = total(counted(mesh, made))
    assert total(counted(star, made, topology="star")) == (count + len(relayed), size + sum(e.size for e in relayed))
    assert len(relayed) > 0


def test_overhead_is_paid_by_each_message() -> None:
    made = setup(2, 1)
    run = made.simulate()
    plain, wan = total(counted(run, made)), total(counted(run, made, "wan"))
    assert wan == (plain[0], plain[1] + plain[0] * LINK_MODELS["wan"].overhead)


def test_a_star_needs_somebody_in_the_middle() -> None:
    made = setup(2, 1)
    alone = replace(made.session.program, participants=lambda p: dict.fromkeys([*p.parties, CURATOR_NAME], PARTY))
    session = replace(made.session, program=alone)
    assert session.curator is None
    with refused("network.star_without_a_curator", error=LocalError):
        network.check_topology("star", session)
    network.check_topology("mesh", session)
    network.check_topology("star", made.session)


@pytest.mark.usefixtures("frozen")
def test_slower_links_take_longer() -> None:
    made = setup(3, 2)
    runs = {link: made.simulate(link=link) for link in LINK_MODELS}
    clocks = {link: run.clock.now for link, run in runs.items()}
    star = made.simulate(link="wan", topology="star").clock.now
    for name in made.session.names:
        assert 0.0 == clocks["none"][name] < clocks["lan"][name] < clocks["wan"][name] < star[name]
    assert max(clocks["wan"].values()) >= rounds(counted(runs["wan"], made)) * LINK_MODELS["wan"].latency


@pytest.mark.usefixtures("frozen")
def test_clock_does_not_depend_on_the_schedule_without_processor_time() -> None:
    """A role's clock is set by what it waits for; only shared lines, busy in order of posting, differ a little."""
    made = setup(3, 2)
    usual = made.simulate(link="wan").clock.now
    for seed in range(3):
        schedule = Stream.insecure_from_seed(f"clock {seed}")
        other = made.simulate(link="wan", schedule=schedule).clock.now
        assert other == pytest.approx(usual, abs=LINK_MODELS["wan"].latency / 10)


class Paths:
    """Counts the longest causal path of a run, from what a role had read when it sent, and from nothing else."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.before: dict[Letter, frozenset[Letter]] = {}
        self.mine: dict[Letter, Envelope] = {}
        read: dict[str, frozenset[Letter]] = {}
        sent, consumed, started = Clock.sent, Clock.consumed, Clock.started

        def sending(clock: Clock, envelope: Envelope) -> None:
            letter = (envelope.sender, envelope.to, envelope.number)
            self.before[letter] = read.get(envelope.sender, frozenset())
            self.mine[letter] = envelope
            sent(clock, envelope)

        def reading(clock: Clock, receiver: str, sender: str, number: int) -> None:
            read[receiver] = read.get(receiver, frozenset()) | {(sender, receiver, number)}
            consumed(clock, receiver, sender, number)

        def starting(clock: Clock, name: str) -> None:
            everybody = {letter for letter, e in self.mine.items() if e.kind == HELLO}
            read[name] = read.get(name, frozenset()) | everybody
            started(clock, name)

        monkeypatch.setattr(Clock, "sent", sending)
        monkeypatch.setattr(Clock, "consumed", reading)
        monkeypatch.setattr(Clock, "started", starting)

    @cached_property
    def depths(self) -> dict[Letter, int]:
        """How many letters there are on the longest path that ends with each."""
        found: dict[Letter, int] = {}
        for letter in self.before:  # in the order of sending: whatever was read was sent before
            found[letter] = 1 + max((found[other] for other in self.before[letter]), default=0)
        return found

    @property
    def longest(self) -> int:
        """Publications and marks at the end of a stage follow the last round, and are none of their own."""
        return max(n for letter, n in self.depths.items() if PUBLIC_NAME not in letter)


def on_paper(comparison: str, K: int) -> int:
    """1 greeting, 2 and 3 keys, 4 commitment, 5 opening, 6 relay, 7 slot, 8 blinded, 9 half, 10 differences and two
    more for each further level of the search, then indicator, selected, masked, reshare and ready."""
    levels = 1 if comparison == "all-pairs" else (K - 1).bit_length()
    return 10 + 2 * (levels - 1) + 5


@pytest.mark.parametrize(
    ("program", "comparison", "K"),
    [
        *((PROGRAMS[0], comparison, K) for comparison in ("tournament", "all-pairs") for K in (2, 3, 5)),
        (PROGRAMS[1], "tournament", 3),
    ],
)
def test_rounds_are_the_longest_causal_path(
    program: Any, comparison: str, K: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message comes after all that its sender read before; greetings are read when a role begins."""
    paths, made = Paths(monkeypatch), setup(K, 1, comparison, program=program)
    run = made.simulate()
    assert rounds(counted(run, made)) == paths.longest
    assert {letter: e.round for letter, e in paths.mine.items()} == paths.depths
    if program is PROGRAMS[0]:
        assert paths.longest == on_paper(comparison, K)


def envelope(sender: str, to: str, size: int, number: int = 0, kind: str = "Kind") -> Envelope:
    """An envelope of exactly this size."""
    made = (Envelope(bytes(32), sender, to, kind, "stage", number, 1, bytes(32), bytes(n)) for n in range(size))
    return next(e for e in made if e.size == size)


def clock_of(link: Link, topology: str = "mesh") -> Clock:
    """The clock of P1, P2 and Charlie."""
    return Clock(setup(2, 1).session, link, topology)


def test_virtual_clock_by_hand(frozen: list[float]) -> None:
    """Half a second of latency, 1000 bytes a second, 100 bytes of overhead."""
    clock = clock_of(Link(0.5, 1000.0, 100))
    clock.start("P1")
    frozen[0] += 2.0  # P1 computes for two seconds
    clock.sent(envelope("P1", "P2", 900))  # one second on the line: 2 -> 3
    clock.sent(envelope("P1", CURATOR_NAME, 400))  # the line is busy until 3: 3 -> 3.5
    clock.stop()
    clock.start("P2")
    clock.consumed("P2", "P1", 0)
    frozen[0] += 1.0
    clock.sent(envelope("P2", "P1", 900))
    clock.stop()
    clock.consumed(CURATOR_NAME, "P1", 0)
    assert clock.now == {"P1": 2.0, "P2": 4.5, CURATOR_NAME: 4.0}
    clock.consumed("P1", "P2", 0)
    assert clock.now["P1"] == 4.5 + 1.0 + 0.5
    assert clock.processor_seconds == {"setup": {"P1": 2.0, "P2": 1.0}}
    assert clock.finished == {"setup": 4.5}


def test_a_role_starts_when_the_last_of_its_greetings_has_come(frozen: list[float]) -> None:
    clock = clock_of(Link(0.5, 1000.0, 100))
    for name, seconds in (("P1", 1.0), ("P2", 3.0), (CURATOR_NAME, 2.0)):
        clock.start(name)
        frozen[0] += seconds
        clock.sent(envelope(name, PUBLIC_NAME, 900, kind=HELLO))
        clock.stop()
    clock.started("P1")
    clock.started("P2")
    assert clock.now == {"P1": 3.0 + 1.0 + 0.5, "P2": 2.0 + 1.0 + 0.5, CURATOR_NAME: 2.0}


@pytest.mark.usefixtures("frozen")
def test_marks_and_publications_keep_nobody_waiting_but_the_line() -> None:
    clock = clock_of(Link(0.5, 1000.0, 100))
    clock.sent(envelope("P1", PUBLIC_NAME, 900, 1, STAGE_END))  # the line is busy for a second
    clock.sent(envelope("P1", "P2", 900))
    clock.started("P2")
    assert clock.now["P2"] == 0.0
    clock.consumed("P2", "P1", 0)
    assert clock.now["P2"] == 2.0 + 0.5


@pytest.mark.usefixtures("frozen")
def test_star_takes_two_hops() -> None:
    clock = clock_of(Link(0.5, 1000.0, 100), "star")
    clock.sent(envelope("P1", "P2", 900))
    clock.consumed("P2", "P1", 0)
    clock.sent(envelope("P1", CURATOR_NAME, 900))
    clock.consumed(CURATOR_NAME, "P1", 0)
    assert clock.now["P2"] == 2 * (1.0 + 0.5)
    assert clock.now[CURATOR_NAME] == 2.0 + 0.5  # one hop, after the line of P1 was busy for two seconds


def test_traffic_by_hand() -> None:
    """Rounds belong to the stage that is first to be so deep; marks, publications and greetings as they are said."""
    session = setup(2, 1).session

    def one(stage: str, depth: int, to: str = "P2", kind: str = "Kind") -> Envelope:
        return replace(envelope("P1", to, 900, kind=kind), stage=stage, round=depth)

    hello = one("setup", 1, PUBLIC_NAME, HELLO)
    sent = [hello, one("a", 3), one("a", 2), one("a", 9, PUBLIC_NAME, STAGE_END), one("b", 3), one("b", 5)]
    stages = traffic(sent, session, Link(0.0, 0.0, 100), "star")
    sizes = {name: sum(e.size + 100 for e in sent if e.stage == name) for name in ("setup", "a", "b")}
    assert {name: stage.rounds for name, stage in stages.items()} == {"setup": 1, "a": 2, "b": 2}
    assert {name: stage.messages for name, stage in stages.items()} == {"setup": 1, "a": 5, "b": 4}
    assert {name: stage.bytes - sizes[name] for name, stage in stages.items()} == {
        name: sum(e.size + 100 for e in sent if e.stage == name and not e.is_public) for name in sizes
    }

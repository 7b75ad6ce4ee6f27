"""The meter against the wire record, and the virtual clock against sums done by hand."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from support.sessions import PROGRAMS, by_link, setup

from protocols.arithmetic.rng import Stream
from protocols.runtime import network
from protocols.runtime.channel import Envelope
from protocols.runtime.network import LINKS, Link, Meter
from protocols.runtime.session import CURATOR_NAME, PUBLIC_NAME

NAMES = ("P1", "P2", CURATOR_NAME)


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Processor time stands still, but for what a test adds."""
    clock = [0.0]
    monkeypatch.setattr(network, "time", SimpleNamespace(process_time=lambda: clock[0]))
    return clock


def total(meter: Meter) -> tuple[int, int]:
    return sum(s.messages for s in meter.stages.values()), sum(s.bytes for s in meter.stages.values())


@pytest.mark.parametrize("program", PROGRAMS, ids=["hardened", "printed"])
def test_mesh_totals_are_those_of_the_record(program: Any) -> None:
    run = setup(3, 2, program=program).simulate()
    assert total(run.meter) == (len(run.transcript.envelopes), sum(e.size for e in run.transcript.envelopes))


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
    count, size = total(mesh.meter)
    assert total(star.meter) == (count + len(relayed), size + sum(e.size for e in relayed))
    assert len(relayed) > 0


def test_overhead_is_paid_by_each_message() -> None:
    made = setup(2, 1)
    plain, wan = total(made.simulate().meter), total(made.simulate(link="wan").meter)
    assert wan == (plain[0], plain[1] + plain[0] * LINKS["wan"].overhead)


@pytest.mark.usefixtures("frozen")
def test_slower_links_take_longer() -> None:
    made = setup(3, 2)
    clocks = {link: made.simulate(link=link).meter.clock for link in LINKS}
    star = made.simulate(link="wan", topology="star").meter.clock
    for name in made.session.names:
        assert 0.0 == clocks["none"][name] < clocks["lan"][name] < clocks["wan"][name] < star[name]
    rounds = sum(stage.rounds for stage in made.simulate().meter.stages.values())
    assert max(clocks["wan"].values()) >= rounds * LINKS["wan"].latency


@pytest.mark.usefixtures("frozen")
def test_clock_does_not_depend_on_the_schedule_without_processor_time() -> None:
    """A role's clock is set by what it waits for; only shared lines, busy in order of posting, differ a little."""
    made = setup(3, 2)
    usual = made.simulate(link="wan").meter.clock
    for seed in range(3):
        schedule = Stream.insecure_from_seed(f"clock {seed}")
        other = made.simulate(link="wan", schedule=schedule).meter.clock
        assert other == pytest.approx(usual, abs=LINKS["wan"].latency / 10)


@pytest.mark.parametrize("program", PROGRAMS, ids=["hardened", "printed"])
@pytest.mark.parametrize("comparison", ["tournament", "all-pairs"])
@pytest.mark.parametrize("K", [2, 3, 5])
def test_rounds_are_the_longest_causal_path(
    program: Any, comparison: str, K: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message comes after all that its sender read before; greetings are read when a role begins."""
    before: dict[int, frozenset[int]] = {}
    read: dict[str, frozenset[int]] = {}
    sent, consumed = Meter.sent, Meter.consumed

    def sending(meter: Meter, n: int, envelope: Envelope) -> None:
        if envelope.to != PUBLIC_NAME:
            before[n] = read.get(envelope.sender, frozenset())
        sent(meter, n, envelope)

    def reading(meter: Meter, receiver: str, n: int) -> None:
        read[receiver] = read.get(receiver, frozenset()) | {n}
        consumed(meter, receiver, n)

    monkeypatch.setattr(Meter, "sent", sending)
    monkeypatch.setattr(Meter, "consumed", reading)
    run = setup(K, 1, comparison, program=program).simulate()

    @cache
    def path(n: int) -> int:
        return 1 + max((path(m) for m in before[n]), default=0)

    longest = max(path(n) for n in before)
    assert sum(stage.rounds for stage in run.meter.stages.values()) == longest
    if program is PROGRAMS[0]:
        # Counted on paper: 1 greeting, 2 and 3 keys, 4 commitment, 5 opening, 6 relay, 7 slot, 8 blinded, 9 half,
        # 10 differences and two more for each further level of the search, then indicator, selected, masked,
        # reshare and ready.
        levels = 1 if comparison == "all-pairs" else (K - 1).bit_length()
        assert longest == 10 + 2 * (levels - 1) + 5


def test_rounds_do_not_depend_on_the_schedule() -> None:
    made = setup(3, 1)
    found = {
        sum(s.rounds for s in made.simulate(schedule=Stream.insecure_from_seed(f"r {i}")).meter.stages.values())
        for i in range(4)
    }
    assert found == {sum(s.rounds for s in made.simulate().meter.stages.values())}


def envelope(sender: str, to: str, size: int) -> Envelope:
    """An envelope of exactly this size."""
    made = (Envelope(bytes(32), sender, to, "Kind", "stage", 0, bytes(32), bytes(n)) for n in range(size))
    return next(e for e in made if e.size == size)


def test_virtual_clock_by_hand(frozen: list[float]) -> None:
    """Half a second of latency, 1000 bytes a second, 100 bytes of overhead."""
    meter = Meter(NAMES, Link(0.5, 1000.0, 100), "mesh")
    meter.start("P1")
    frozen[0] += 2.0  # P1 computes for two seconds
    meter.sent(1, envelope("P1", "P2", 900))  # one second on the line: 2 -> 3
    meter.sent(2, envelope("P1", CURATOR_NAME, 400))  # the line is busy until 3: 3 -> 3.5
    meter.stop()
    meter.start("P2")
    meter.consumed("P2", 1)
    frozen[0] += 1.0
    meter.sent(3, envelope("P2", "P1", 900))
    meter.stop()
    meter.consumed(CURATOR_NAME, 2)
    assert meter.clock == {"P1": 2.0, "P2": 4.5, CURATOR_NAME: 4.0}
    meter.consumed("P1", 3)
    assert meter.clock["P1"] == 4.5 + 1.0 + 0.5
    assert dict(meter.stages["setup"].seconds) == {"P1": 2.0, "P2": 1.0}
    assert meter.stages["setup"].finished == 4.5
    assert (meter.stages["setup"].rounds, meter.stages["setup"].messages) == (2, 3)


@pytest.mark.usefixtures("frozen")
def test_star_takes_two_hops() -> None:
    meter = Meter(NAMES, Link(0.5, 1000.0, 100), "star")
    meter.sent(1, envelope("P1", "P2", 900))
    meter.consumed("P2", 1)
    meter.sent(2, envelope("P1", CURATOR_NAME, 900))
    meter.consumed(CURATOR_NAME, 2)
    assert meter.clock["P2"] == 2 * (1.0 + 0.5)
    assert meter.clock[CURATOR_NAME] == 2.0 + 0.5  # one hop, after the line of P1 was busy for two seconds


def test_processor_time_counts_for_the_stage_and_the_role(frozen: list[float]) -> None:
    meter = Meter(NAMES, LINKS["none"], "mesh")
    meter.start("P1")
    frozen[0] += 1.0
    meter.stage("P1", "stage1")
    frozen[0] += 2.0
    meter.stop()
    frozen[0] += 7.0  # nobody's
    meter.start("P2")
    frozen[0] += 4.0
    meter.stop()
    seconds = {name: dict(stage.seconds) for name, stage in meter.stages.items()}
    assert seconds == {"setup": {"P1": 1.0, "P2": 4.0}, "stage1": {"P1": 2.0}}

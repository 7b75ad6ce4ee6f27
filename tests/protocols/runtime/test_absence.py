"""Absence is an event: a role is a function of its input, seed, mail and the set of marks, under every driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice, product
from typing import Any

import pytest
from support.sessions import Setup, by_link, setup
from support.toy_sum import BYTES, toy

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.errors import Fault, LocalError, PeerError, StoppedError
from protocols.runtime.actor import Actor
from protocols.runtime.envelope import HELLO, Envelope
from protocols.runtime.inbox import Absent
from protocols.runtime.simulate import Run
from tests.support.refusals import late, refused

NAMES = ("P1", "P2", "P3")
SENDS = 8  # a greeting, two shares, two lists, two marks at the end of a stage, one publication
EVERY = list(product(range(SENDS + 1), repeat=3))


def vanishings(every: int) -> Iterator[dict[str, int]]:
    """How many envelopes each of some participants still sends: all places and all subsets, or one in so many."""
    for counts in islice(EVERY, 0, None, every):
        yield {name: count for name, count in zip(NAMES, counts, strict=True) if count < SENDS}


def again(made: Setup, run: Run, name: str, order: Callable[[list[Any]], list[Any]]) -> Actor:
    """A participant of the run once more, alone: its mail and its marks are there before it begins, in any order."""
    sent = run.transcript.envelopes
    board = {e.sender: e for e in sent if e.kind == HELLO}
    actor = Actor(made.session, name, made.identities[name], made.seeds[name], made.inputs[name], board)
    for mark in order(sorted(run.absent[name], key=str)):
        actor.mark(mark)
    links = [[e for e in sent if (e.sender, e.to) == (sender, name)] for sender in NAMES]
    for link in order(links):
        for envelope in link:
            actor.deliver(envelope)
    return actor


def told(run: Run, name: str) -> list[Envelope]:
    return [e for e in run.transcript.envelopes if e.sender == name]


@pytest.mark.parametrize("patient", [True, False])
@pytest.mark.parametrize("every", [61, pytest.param(4, marks=pytest.mark.slow)])
def test_any_subset_may_vanish_between_any_two_sends(patient: bool, every: int) -> None:
    """The same bytes, marks and ends in every driver and schedule, and by each participant alone from its marks."""
    made = toy(patient=patient)
    coins = Stream.insecure_from_seed("orders")
    for vanish in vanishings(every):
        run = made.simulate(drop_outs=vanish)
        other = made.simulate(drop_outs=vanish, schedule=coins.fork(str(vanish)))
        wanted = by_link(run.transcript.envelopes)
        assert by_link(other.transcript.envelopes) == wanted, vanish
        assert (other.absent, other.ends, other.why) == (run.absent, run.ends, run.why), vanish
        for name in NAMES:
            check_alone(made, run, name, lambda xs: Permutation.random(len(xs), coins)(xs))


def check_alone(made: Setup, run: Run, name: str, order: Callable[[list[Any]], list[Any]]) -> None:
    actor = again(made, run, name, order)
    sent = actor.advance()
    if run.ends[name] == "gone":
        assert told(run, name) == sent[: len(told(run, name))]
        return
    assert actor.end == run.ends[name]
    published = told(run, name)[len(sent) :]
    assert [*sent, *(actor.release() if published else [])] == told(run, name)


def test_what_is_left_adds_up() -> None:
    run = toy().simulate(drop_outs={"P2": 2})  # its greeting and its share to P1
    assert run.ends == {"P1": "done", "P2": "gone", "P3": "done"}
    assert {name: total.members for name, total in run.published.items()} == {"P1": 0b111, "P3": 0b101}
    lines = [line for line in run.transcript.lines() if line["kind"] == "Absent"]
    assert {(line["from"], line["to"], line["missing"], line["stage"]) for line in lines} == {
        ("P2", "P3", "Part", "share"),
        ("P2", "P1", "Heard", "count"),
        ("P2", "P3", "Heard", "count"),
    }
    assert all("body" not in line for line in lines)


def test_those_who_need_the_absent_one_stop_and_publish_nothing() -> None:
    run = toy(patient=False).simulate(drop_outs={"P2": 1})
    assert run.ends == {"P1": "stopped", "P2": "gone", "P3": "stopped"}
    assert run.published == {}
    assert (run.why["P1"].code, run.why["P1"].fields["what"]) == ("message.will_not_come", "Part")
    unmet = toy().simulate(drop_outs={"P3": 0})
    assert unmet.ends == {"P1": "stopped", "P2": "stopped", "P3": "gone"}
    assert unmet.why["P1"] == Fault("greeting.not_there", {"name": "P1", "peer": "P3"})


@pytest.mark.parametrize("first", ["mark", "mail"])
def test_a_mark_overrides_mail_whichever_comes_first(first: str) -> None:
    """The same bytes, and a note about each letter that was dropped."""
    made = toy()
    run = made.simulate()
    mark = Absent("P2", "Part", "share")
    actor = again(made, run, "P1", list) if first == "mail" else again(made, marked(run, "P1", mark), "P1", list)
    actor.mark(mark)
    sent = actor.advance()
    assert [e.kind for e in sent].count("Heard") == 2
    assert actor.result == BYTES.add_vectors(*(shares_of(made, run)[name] for name in ("P1", "P3")))
    assert [(note.sender, note.rule) for note in actor.notes] == [("P2", late("Part", "share"))]
    assert sent == sent_with(made, run, mark)


def marked(run: Run, name: str, *marks: Absent) -> Run:
    run.absent[name] = frozenset(marks)
    return run


def sent_with(made: Setup, run: Run, *marks: Absent) -> list[Envelope]:
    return again(made, marked(run, "P1", *marks), "P1", list).advance()


def shares_of(made: Setup, run: Run) -> Mapping[str, tuple[int, ...]]:
    """What P1 keeps after the first stage of the honest run."""
    actor = again(made, run, "P1", list)
    actor.advance()
    kept: dict[str, tuple[int, ...]] = actor.progress.results[0]
    return kept


def test_who_was_absent_comes_back_in_the_next_stage() -> None:
    """P2's share is given up, its list is not: a mark is about one stage."""
    made = toy()
    run = made.simulate()
    actor = again(made, marked(run, "P1", Absent("P2", "Part", "share")), "P1", list)
    actor.advance()
    assert actor.done
    assert actor.last == {"P2": 1, "P3": 1}  # its list, the second letter, was read


def test_late_mail_is_dropped_with_a_note_after_the_end_too() -> None:
    made = toy()
    run = made.simulate()
    letters = [e for e in run.transcript.envelopes if (e.sender, e.to) == ("P2", "P1")]
    actor = again(made, marked(made.simulate(drop_outs={"P2": 1}), "P1", *both_of("P2")), "P1", list)
    actor.advance()
    assert actor.done
    for envelope in letters:
        actor.deliver(envelope)
    assert [note.rule for note in actor.notes] == [late("Part", "share"), late("Heard", "count")]
    unmarked = again(made, run_of(made), "P1", list)
    unmarked.advance()
    extra = Actor(made.session, "P2", made.identities["P2"], made.seeds["P2"], made.inputs["P2"], unmarked.board)
    extra.channel.counters.sent["P1"] = 2
    with refused("message.not_wanted", error=PeerError, kind="Part", name="P1") as caught:
        unmarked.deliver(extra.channel.seal("P1", "Part", "share", b"\x81\x81\x41\x00"))
    assert caught.value.culprit == "P2"


def both_of(sender: str) -> tuple[Absent, Absent]:
    return Absent(sender, "Part", "share"), Absent(sender, "Heard", "count")


def run_of(made: Setup) -> Run:
    return made.simulate()


def test_a_mark_comes_before_the_letter_is_read_or_not_at_all() -> None:
    made = toy()
    actor = again(made, made.simulate(), "P1", list)
    actor.advance()
    for mark in (Absent("P2", "Part", "share"), Absent("P9", "Part", "share")):
        with refused("absence.too_late", error=LocalError):
            actor.mark(mark)
    waiting = again(made, made.simulate(drop_outs={"P2": 1, "P3": 1}), "P1", list)
    with refused("absence.not_awaited", error=LocalError, name="P1"):
        waiting.miss("P2")  # it has not begun, and all have greeted


@pytest.mark.parametrize("place", range(1, 36, 9))
def test_whoever_vanishes_from_the_curator_protocol_stops_it(place: int) -> None:
    """Nobody hangs and nobody is blamed; nothing is published before everybody was ready."""
    made = setup(3, 1)
    sent = made.simulate().transcript.envelopes
    for name in ("P1", "P2", "charlie"):
        own = [e for e in sent if e.sender == name]
        ready = max(i for i, e in enumerate(own) if e.kind == "Ready")
        run = made.simulate(drop_outs={name: place})
        assert run.ends[name] == ("gone" if place < len(own) else "done")
        others = {other for other in made.session.names if other != name or place >= len(own)}
        assert run.published.keys() == (others if place > ready else set())
        assert ("stopped" in run.ends.values()) == (place <= ready)


def test_stopped_is_no_blame() -> None:
    run = toy(patient=False).simulate(drop_outs={"P2": 1})
    assert not issubclass(StoppedError, PeerError)
    assert run.notes == {}

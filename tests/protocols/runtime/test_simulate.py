"""The simulator: what a run returns, what it tells on the way, and that the published shares are the results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support import votes
from support.sessions import setup, start, with_roles

from protocols.arithmetic.rng import Stream
from protocols.errors import LocalError, PeerError
from protocols.pathak2010 import PROGRAM
from protocols.pathak2010.messages import Half, Match
from protocols.runtime.actor import Actor, Greetings, actors
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.envelope import Envelope
from protocols.runtime.observer import Observer
from protocols.runtime.role_stepper import KEY_STAGE, RoleStepper
from protocols.runtime.session import MAX_NAME, Greeting
from tests.support.refusals import refused


def test_a_share_leaves_after_it_has_been_told() -> None:
    """Nobody is told before all have finished, and each immediately before its own share leaves."""
    seen: list[tuple[str, str]] = []

    def watch(n: int, e: Envelope) -> list[tuple[str, Envelope]]:
        seen.append((e.kind, e.sender))
        return [(e.to, e)]

    setup(3, 1).simulate(tamper=watch, released=lambda name: seen.append(("told", name)))
    names = ("P1", "P2", "P3", "charlie")
    assert seen[-8:] == [(what, name) for name in names for what in ("told", "PublishedShare")]
    assert "told" not in {what for what, _ in seen[:-8]}


def test_progress_is_told_in_order() -> None:
    told: list[tuple[str, str]] = []
    setup(3, 1).simulate(progress=lambda name, stage: told.append((name, stage)))
    for name in ("P1", "P2", "P3", "charlie"):
        stages = [stage for who, stage in told if who == name and stage != KEY_STAGE]
        assert list(dict.fromkeys(stages)) == ["setup", "stage1", "stage2", "stage3"]
        assert stages == sorted(stages)
    assert {who for who, stage in told if stage == KEY_STAGE} == {"P1", "charlie"}  # those who make keys


def test_marks_and_topology_stand_in_the_record() -> None:
    head = next(setup(2, 1).simulate(marks=("seeded", "test keys"), topology="star").transcript.lines())
    assert (head["insecure"], head["topology"]) == (["seeded", "test keys"], "star")


def test_views_only_on_request() -> None:
    made = setup(2, 1)
    assert made.simulate().views == {}
    run = made.simulate(views=True)
    assert set(run.views) == set(made.session.names)
    assert run.views["charlie"].inputs == made.inputs["charlie"]
    text = run.transcript.dumps()
    assert text == made.simulate().transcript.dumps()  # a view leaves no trace in the record


async def failing(me: Endpoint, *args: object) -> None:
    """A role with a bug."""
    raise ZeroDivisionError(me.name)


async def wrong(me: Endpoint) -> None:
    """A role that takes no parameters."""


def test_a_bug_in_a_role_is_not_dressed_up() -> None:
    with pytest.raises(ZeroDivisionError, match="charlie"):
        setup(2, 1, program=with_roles(PROGRAM, curator=failing)).simulate()
    with pytest.raises(TypeError):
        setup(2, 1, program=with_roles(PROGRAM, party=wrong)).simulate()


def test_a_name_that_would_not_stand_in_a_line_is_refused() -> None:
    for name in ("", "a\nb", "x" * (MAX_NAME + 1)):
        with refused("participant.name_unusable", error=LocalError, most=MAX_NAME):
            start(PROGRAM, replace(setup(2, 1).session.parameters, parties=("P1", name)), {"P1": (), name: ()})


def test_an_actor_that_a_caller_makes_takes_the_place_of_another() -> None:
    made = setup(2, 1)
    roles: list[str] = []

    def makes(board: Greetings, observer: Observer, charge: Any, refund: Any) -> dict[str, Actor]:
        found = actors(*made, board, observer)
        roles.extend(found)
        return found

    assert made.simulate(make_actors=makes).transcript.dumps() == made.simulate().transcript.dumps()
    assert roles == ["P1", "P2", "charlie"]


@pytest.mark.parametrize("order", range(4))
def test_a_message_that_nobody_reads_is_refused_when_all_have_ended(order: int) -> None:
    """In a star Charlie may have to pass it on when he has ended himself."""

    async def last(me: Endpoint) -> None:
        if me.name == "P1":
            me.send("P2", Half(0))

    async def party(me: Endpoint, *given: Any) -> None:
        await me.stage(last, name="stage1")

    async def curator(me: Endpoint, *given: Any) -> None:
        """Nothing is sent to Charlie."""

    made = setup(2, 1, program=with_roles(PROGRAM, party=party, curator=curator))
    with refused("message.not_wanted", error=PeerError, kind="Half", name="P2"):
        made.simulate(topology="star", schedule=Stream.insecure_from_seed(order))


@pytest.mark.parametrize(
    ("action", "code", "name"),
    [(lambda me: me.curator, "role.without_a_curator", "P1"), (lambda me: me.index, "role.is_no_party", "charlie")],
)
def test_a_role_asks_for_no_place_that_it_has_not(action: Any, code: str, name: str) -> None:
    async def asking(me: Endpoint, *given: Any) -> None:
        action(me)

    made = votes.alone(action) if name == "P1" else setup(2, 1, program=with_roles(PROGRAM, curator=asking))
    with refused(code, error=LocalError, name=name):
        made.simulate()


def test_a_role_reads_no_message_that_has_no_route_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RoleStepper, "check_route", lambda *_: None)  # that of the sender

    async def asking(me: Endpoint, *given: Any) -> None:
        await me.stage(reading, name="setup")

    async def reading(me: Endpoint) -> None:
        if me.index:
            me.send("P1", Match(0, 1))
        else:
            await me.receive("P2", Match)

    with refused("message.without_a_route", error=LocalError, kind="Match", sender="P2", to="P1"):
        setup(2, 1, program=with_roles(PROGRAM, party=asking)).simulate()


def test_unknown_link_is_a_key_error_before_anything_runs() -> None:
    with pytest.raises(KeyError):
        setup(2, 1).simulate(link="pigeon")


def test_two_kinds_with_one_name_are_no_program() -> None:
    """Nor a statement, or what is said in a greeting, with the name of a message; nor two records with one name."""
    kind, record = PROGRAM.kinds[0], PROGRAM.records[0]
    said = Greeting(kind, lambda p, rng: None, lambda p, name, drawn: kind())
    doubles: tuple[dict[str, Any], ...] = ({"kinds": (kind, kind)}, {"statements": (kind,)}, {"greeting": said})
    for double in doubles:
        with refused("program.one_name_twice", error=LocalError, what="message"):
            replace(PROGRAM, **double)
    with refused("program.one_name_twice", error=LocalError, what="record"):
        replace(PROGRAM, records=(record, record))

"""The simulator: what a run returns, what it tells on the way, and that the published shares are the results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.sessions import PROGRAMS, setup, with_roles

from protocols.errors import LocalError
from protocols.pathak2010 import PROGRAM
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.envelope import HELLO, STAGE_END, Envelope
from protocols.runtime.role_stepper import KEY_STAGE
from protocols.runtime.session import PUBLIC_NAME, Greeting, Program
from tests.support.refusals import refused


@pytest.mark.parametrize("program", PROGRAMS, ids=["hardened", "printed"])
def test_published_shares_are_the_results(program: Program) -> None:
    run = setup(3, 4, program=program).simulate()
    assert {name: share.y for name, share in run.published.items()} == {n: r.y for n, r in run.results.items()}
    assert len({announced.commitments for announced in run.results.values()}) == 1
    assert list(run.results) == ["P1", "P2", "P3", "charlie"]


def test_shares_are_published_after_everybody_has_finished() -> None:
    envelopes = setup(3, 1).simulate().transcript.envelopes
    assert [e.kind for e in envelopes[-4:]] == ["PublishedShare"] * 4
    assert {e.kind for e in envelopes[:-4] if e.to == PUBLIC_NAME} == {HELLO, STAGE_END}


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


def test_unknown_link_is_a_key_error_before_anything_runs() -> None:
    with pytest.raises(KeyError):
        setup(2, 1).simulate(link="pigeon")


def test_two_kinds_with_one_name_are_no_program() -> None:
    """Nor a statement, or what is said in a greeting, with the name of a message; nor two records with one name."""
    kind, record = PROGRAM.kinds[0], PROGRAM.records[0]
    said = Greeting(kind, lambda p, name, rng: kind())
    doubles: tuple[dict[str, Any], ...] = ({"kinds": (kind, kind)}, {"statements": (kind,)}, {"greeting": said})
    for double in doubles:
        with refused("program.one_name_twice", error=LocalError, what="message"):
            replace(PROGRAM, **double)
    with refused("program.one_name_twice", error=LocalError, what="record"):
        replace(PROGRAM, records=(record, record))

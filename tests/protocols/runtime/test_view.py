"""Views: what a role can hand to an auditor, as bytes, and its messages made again from it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.sessions import PROGRAMS, Setup, setup

from protocols.errors import ReplayError
from protocols.runtime.session import Program
from protocols.runtime.simulate import Run
from protocols.runtime.view import RecordedView, recompute


def watched(program: Program, topology: str = "mesh") -> tuple[Setup, Run]:
    made = setup(3, 2, program=program)
    return made, made.simulate(views=True, topology=topology)


@pytest.mark.parametrize("topology", ["mesh", "star"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_every_message_is_made_again_from_the_view(program: Program, topology: str) -> None:
    made, run = watched(program, topology)
    record = dict(enumerate(run.transcript.envelopes, start=1))
    for name, view in run.recorded.items():
        again = recompute(made.session, RecordedView.loads(view.dumps(made.session), made.session), record)
        assert again.fault is None
        assert list(again.sent) == [e for e in record.values() if e.sender == name]
        assert again.opened == view.mail
        assert again.view.inputs == made.inputs[name]
        assert [m for _, m in again.view.mail] == [m for _, m in run.views[name].mail]


@pytest.mark.parametrize("change", ["seed", "inputs"])
def test_another_seed_or_input_makes_other_messages(change: str) -> None:
    made, run = watched(PROGRAMS[0])
    record = dict(enumerate(run.transcript.envelopes, start=1))
    view = run.recorded["P2"]
    other = setup(3, 2, seed=2, program=PROGRAMS[0]).simulate(views=True).recorded["P2"]
    again = recompute(made.session, replace(view, **{change: getattr(other, change)}), record)
    assert again.fault or list(again.sent) != [e for e in record.values() if e.sender == "P2"]


def test_what_is_no_view_of_this_session() -> None:
    made, run = watched(PROGRAMS[0])
    data = run.recorded["P1"].dumps(made.session)
    other = setup(3, 2, seed=2).session
    for wrong in (data[:-1], data + b"\0", b"", b"\x9f" * 1000, run.recorded["P1"].dumps(other)):
        with pytest.raises(ReplayError):
            RecordedView.loads(wrong, other)


def test_a_view_is_not_shown() -> None:
    _, run = watched(PROGRAMS[0])
    view = run.recorded["P1"]
    assert view.seed.hex() not in repr(view)
    assert repr(view.seed) not in repr(view)

"""Views: what a role can hand to an auditor, as bytes, and its messages made again from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.sessions import PROGRAMS, Setup, setup

from protocols.crypto import sealing
from protocols.errors import ReplayError
from protocols.runtime import state as states
from protocols.runtime.envelope import Envelope
from protocols.runtime.session import FORMAT, Program
from protocols.runtime.simulate import Run
from protocols.runtime.view import RecordedView, made_afterwards, recompute


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
        assert again.view == run.views[name]
        lines = {(e.sender, e.number): n for n, e in record.items() if e.to == name}
        assert [line for line, *_ in again.reads] == [lines[sender, number] for sender, number, *_ in view.mail]
        assert [message for *_, message in again.reads] == [m for _, m in run.views[name].mail]


@pytest.mark.parametrize("change", ["seed", "inputs"])
def test_another_seed_or_input_makes_other_messages(change: str) -> None:
    made, run = watched(PROGRAMS[0])
    record = dict(enumerate(run.transcript.envelopes, start=1))
    view = run.recorded["P2"]
    other = setup(3, 2, seed=2, program=PROGRAMS[0]).simulate(views=True).recorded["P2"]
    again = recompute(made.session, replace(view, **{change: getattr(other, change)}), record)
    assert again.fault or list(again.sent) != [e for e in record.values() if e.sender == "P2"]


def spoilt(record: dict[int, Envelope], n: int, **change: Any) -> dict[int, Envelope]:
    """The record with another line n."""
    return record | {n: replace(record[n], **change)}


def test_what_was_spoilt_on_the_way_is_found_at_its_line_and_nobody_is_named() -> None:
    made, run = watched(PROGRAMS[0])
    record = dict(enumerate(run.transcript.envelopes, start=1))
    n = next(n for n, e in record.items() if e.to == "P1" and e.kind == "Reshare")
    wrong = record[n].body[:-1] + bytes([record[n].body[-1] ^ 1])
    again = recompute(made.session, run.recorded["P1"], spoilt(record, n, body=wrong))
    assert (again.at, again.culprit) == (n, None)
    assert again.fault is not None
    assert again.fault.startswith(f"somebody on the way from {record[n].sender}: what came to P1 is not number ")
    assert again.opened == run.recorded["P1"].mail[: len(again.opened)]


def test_a_lie_is_found_at_its_line_and_its_author_is_named() -> None:
    """Sealed as it should be, and not what the role wanted."""
    made, run = watched(PROGRAMS[0])
    record = dict(enumerate(run.transcript.envelopes, start=1))
    n, old = next((n, e) for n, e in record.items() if (e.sender, e.to, e.kind) == ("P2", "P1", "Half"))
    blank = replace(old, kind="Reshare", body=b"")
    links = recompute(made.session, run.recorded["P2"], record).links
    body = sealing.seal(links.key("P2", "P1"), blank.number, blank.header, b"\x80")
    again = recompute(made.session, run.recorded["P1"], spoilt(record, n, kind="Reshare", body=body))
    assert (again.fault, again.at, again.culprit) == ("P2: sent Reshare to P1, wanted Half", n, "P2")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_a_view_can_be_made_afterwards(program: Program) -> None:
    made, run = watched(program)
    record = dict(enumerate(run.transcript.envelopes, start=1))
    for name, view in run.recorded.items():
        kept = made.identities[name], made.seeds[name], made.inputs[name]
        assert made_afterwards(made.session, name, *kept, record) == view


def test_a_view_of_another_format_is_refused() -> None:
    made, run = watched(PROGRAMS[0])
    records = (*PROGRAMS[0].records, type(made.session.parameters))
    kept = states.load(run.recorded["P1"].dumps(made.session), records)
    assert RecordedView.loads(states.dump(kept, records), made.session) == run.recorded["P1"]
    with pytest.raises(ReplayError, match="not a view of this program and version"):
        RecordedView.loads(states.dump([FORMAT - 1, *kept[1:]], records), made.session)
    for i in range(3, len(kept)):
        with pytest.raises(ReplayError):
            RecordedView.loads(states.dump([*kept[:i], None, *kept[i + 1 :]], records), made.session)
    assert made.identities["P1"].seed not in run.recorded["P1"].dumps(made.session)


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

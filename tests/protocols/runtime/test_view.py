"""Views: what a role can hand to an auditor, as bytes, and its messages made again from it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from support import sums
from support.sessions import PROGRAMS, Setup, setup

from protocols.crypto import sealing
from protocols.crypto.identity import verify
from protocols.errors import Fault, ReplayError
from protocols.pathak2010.messages import Reshare
from protocols.runtime import state as states
from protocols.runtime import view as views
from protocols.runtime.claims import message_from, stage_result
from protocols.runtime.envelope import Envelope
from protocols.runtime.session import FORMAT, Program, Session
from protocols.runtime.simulate import Run
from protocols.runtime.view import RecordedView, recompute, reconstruct_view
from tests.support.refusals import refused


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
        assert again.messages_read == view.messages
        assert again.view.inputs == made.inputs[name]
        assert again.view == run.views[name]
        lines = {(e.sender, e.number): n for n, e in record.items() if e.to == name}
        assert [line for line, *_ in again.reads] == [lines[sender, number] for sender, number, *_ in view.messages]
        assert [message for *_, message in again.reads] == [m for _, m in run.views[name].messages]


def spoilt(record: dict[int, Envelope], n: int, **change: Any) -> dict[int, Envelope]:
    """The record with another line n."""
    return record | {n: replace(record[n], **change)}


def test_what_was_spoilt_on_the_way_is_found_at_its_line_and_nobody_is_named() -> None:
    made, run = watched(PROGRAMS[0])
    record = dict(enumerate(run.transcript.envelopes, start=1))
    n = next(n for n, e in record.items() if e.to == "P1" and e.kind == "Reshare")
    wrong = record[n].body[:-1] + bytes([record[n].body[-1] ^ 1])
    again = recompute(made.session, run.recorded["P1"], spoilt(record, n, body=wrong))
    assert (again.at, again.cause) == (n, "mail")
    assert again.fault.startswith(
        str(Fault("link.not_the_next", {"name": "P1", "wanted": record[n].number, "error": ""}))
    )
    assert again.messages_read == run.recorded["P1"].messages[: len(again.messages_read)]


def test_a_lie_is_found_at_its_line() -> None:
    """Sealed as it should be, and not what the role wanted."""
    made, run = watched(PROGRAMS[0])
    record = dict(enumerate(run.transcript.envelopes, start=1))
    n, old = next((n, e) for n, e in record.items() if (e.sender, e.to, e.kind) == ("P2", "P1", "Half"))
    blank = replace(old, kind="Reshare", body=b"")
    links = recompute(made.session, run.recorded["P2"], record).links
    body = sealing.seal(links.key("P2", "P1"), blank.number, blank.header, b"\x80")
    again = recompute(made.session, run.recorded["P1"], spoilt(record, n, kind="Reshare", body=body))
    said = Fault("message.of_another_kind", {"kind": "Reshare", "name": "P1", "wanted": "Half"})
    assert (again.fault, again.at, again.cause) == (str(said), n, "mail")


def test_why_a_role_does_not_reach_its_end_on_its_view() -> None:
    """The transcript is cut, or the inputs, which come from a file, are not those of any role."""
    made, run = watched(PROGRAMS[0])
    record, view = dict(enumerate(run.transcript.envelopes, start=1)), run.recorded["P1"]
    n = next(n for n, e in record.items() if (e.to, e.kind) == ("P1", "Half"))
    cut = recompute(made.session, view, {line: e for line, e in record.items() if line < n})
    assert cut.fault is not None
    assert re.fullmatch(r"P1 still waits for Half from P2, P3 at stage1\.py line \d+", cut.fault)
    assert (cut.at, cut.cause) == (None, "waiting")
    p, mine = view.inputs
    unusable = {
        "the role cannot run on the inputs of the view: AttributeError": (p, None),
        str(Fault("vector.of_another_length", {"dimension": 2, "length": 1})): (p, replace(mine, w=(1,))),
    }
    for fault, inputs in unusable.items():
        again = recompute(made.session, replace(view, inputs=inputs), record)
        assert (again.fault, again.at, again.cause) == (fault, None, "itself")


def test_the_view_of_a_role_that_stopped_and_that_of_one_that_went_on_without_another() -> None:
    made = sums.made(sums.parameters(4, 0, 1))
    for drop, ends in (({"P2": 3}, "stopped"), ({"P2": 6}, "done")):
        run = made.simulate(views=True, drop_outs=drop)
        record = dict(enumerate(run.transcript.envelopes, start=1))
        assert run.ends == {name: "gone" if name == "P2" else ends for name in made.session.names}
        for name in ("P1", "charlie"):
            kept = made.identities[name], made.seeds[name], made.inputs[name], record, run.absent[name]
            assert (ends == "stopped") <= bool(run.absent[name])
            assert reconstruct_view(made.session, name, *kept) == run.recorded[name]
            again = recompute(made.session, run.recorded[name], record)
            assert (again.fault, again.at, again.cause) == (None, None, None)


def test_each_line_is_opened_by_itself() -> None:
    """Of another program's kind, under a key that is not there yet, or with bytes that are no message."""
    made, run = watched(PROGRAMS[0])
    record = dict(enumerate(run.transcript.envelopes, start=1))
    links = recompute(made.session, run.recorded["P2"], record).links
    assert links.public == next(e for e in record.values() if e.sender == "P2").body[:32]
    n, slot = next((n, e) for n, e in record.items() if (e.sender, e.kind) == ("P2", "Slot"))
    without_key = links.open(n, {})
    assert (without_key.message, without_key.fault, without_key.payload is None) == (None, None, False)
    faults = {"Nonsense": "not a message of pathak2010", "Half": "wanted 12 bytes, got 1"}
    for kind, fault in faults.items():
        blank = replace(slot, kind=kind, body=b"")
        record[n] = blank.holding(sealing.seal(links.key("P2", "charlie"), blank.number, blank.header, b"x"))
        opened = links.open(n, {})
        assert (opened.message, opened.payload) == (None, b"x")
        assert (opened.fault or "").startswith(fault)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_a_view_can_be_made_afterwards(program: Program) -> None:
    made, run = watched(program)
    record = dict(enumerate(run.transcript.envelopes, start=1))
    for name, view in run.recorded.items():
        kept = made.identities[name], made.seeds[name], made.inputs[name]
        assert reconstruct_view(made.session, name, *kept, record) == view


def test_nobody_signs_a_view_of_what_it_did_not_read() -> None:
    """On another record, of the same session, its own messages would not follow."""
    made, run = watched(PROGRAMS[0])
    record = dict(enumerate(run.transcript.envelopes, start=1))
    n = next(n for n, e in record.items() if e.sender == "P1" and not e.is_public)
    kept = made.identities["P1"], made.seeds["P1"], made.inputs["P1"]
    with refused("view.sends_otherwise", error=ReplayError, name="P1"):
        reconstruct_view(made.session, "P1", *kept, spoilt(record, n, body=record[n].body[::-1]))


def test_only_its_owners_signature_over_all_of_it_makes_a_view_its_owners() -> None:
    """One changed part, another owner's name, another session, another key: none of it holds."""
    made, run = watched(PROGRAMS[0])
    view = run.recorded["P1"]

    def holds(found: RecordedView, name: str = "P1", session: Session = made.session) -> bool:
        return verify(made.session.identities[name], found.to_sign(session), found.signature)

    assert all(holds(found, name) for name, found in run.recorded.items())
    assert not holds(view, "P2")
    assert not holds(view, "P1", replace(made.session, nonce=bytes(32)))
    changes = {
        **{"session": bytes(32), "role": "P2", "seed": bytes(32), "insecure": False, "inputs": view.inputs[:1]},
        **{
            "messages": view.messages[1:],
            "marks": (("P2", "Half", "stage2", 0),),
            "statements": (("a", "b", b"", b""),),
        },
        **{"greetings": view.greetings[1:], "signature": b""},
    }
    assert changes.keys() == vars(view).keys()
    for name, value in changes.items():
        other = replace(view, **{name: value})  # type: ignore[arg-type]
        assert not holds(other), name
    for unsigned in (replace(view, signature=b""), view.signed(made.session, made.identities["P2"])):
        read = RecordedView.loads(unsigned.dumps(made.session), made.session)
        assert read == unsigned
        assert not holds(read)


def test_a_view_of_another_format_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made, run = watched(PROGRAMS[0])
    records = (*PROGRAMS[0].records, type(made.session.parameters))
    kept = states.load_state(run.recorded["P1"].dumps(made.session), records)
    assert RecordedView.loads(states.dump_state(kept, records), made.session) == run.recorded["P1"]
    with refused("view.of_another_program", error=ReplayError):
        RecordedView.loads(states.dump_state([FORMAT - 1, *kept[1:]], records), made.session)
    with refused("view.malformed", error=ReplayError):
        RecordedView.loads(states.dump_state([*kept, None], records), made.session)
    others = replace(run.recorded["P1"], inputs=(replace(made.session.parameters, dimension=3),))
    with refused("view.of_other_parameters", error=ReplayError):
        RecordedView.loads(others.dumps(made.session), made.session)
    monkeypatch.setattr(views, "MAX_VIEW_BYTES", 10)
    with refused("view.too_large", error=ReplayError, most=10, got=11):
        RecordedView.loads(bytes(11), made.session)
    monkeypatch.undo()
    for i in range(3, len(kept)):
        with refused("view.malformed", error=ReplayError):
            RecordedView.loads(states.dump_state([*kept[:i], None, *kept[i + 1 :]], records), made.session)
    assert made.identities["P1"].seed not in run.recorded["P1"].dumps(made.session)


def test_what_is_no_view_of_this_session() -> None:
    made, run = watched(PROGRAMS[0])
    data = run.recorded["P1"].dumps(made.session)
    other = setup(3, 2, seed=2).session
    for wrong in (data[:-1], data + b"\0", b"", b"\x9f" * 1000, run.recorded["P1"].dumps(other)):
        with pytest.raises(ReplayError):
            RecordedView.loads(wrong, other)


def test_what_a_view_does_not_hold_is_not_found_in_it() -> None:
    _, run = watched(PROGRAMS[0])
    view = run.views["P1"]
    assert message_from(view, "P2", Reshare) in [message for sender, message in view.messages if sender == "P2"]
    for find in (lambda: message_from(view, "P1", Reshare), lambda: stage_result(view, Reshare)):
        with pytest.raises(ValueError, match="P1 has no Reshare"):
            find()

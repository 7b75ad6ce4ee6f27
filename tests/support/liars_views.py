"""Evidence from runs in which somebody lies: the record and everybody's view, whether the run came to an end or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from protocols import programs
from protocols.errors import PeerError
from protocols.runtime.actor import Actor, actors
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.envelope import Envelope
from protocols.runtime.session import Session
from protocols.runtime.transcript import Transcript
from protocols.runtime.view import Recomputed, RecordedView, recompute
from smc_dp.audit.run.check import CheckOutcome
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.hygiene import CHECKS as HYGIENE
from smc_dp.audit.run.replay import CHECKS as REPLAY
from smc_dp.run.agreement import TEST_KEYS
from smc_dp.run.transcript_lines import TranscriptLines
from support import audits
from support.sessions import Setup

Spoil = Callable[[Envelope], list[Envelope]]


def played(setup: Setup, spoil: Spoil | None = None) -> list[Envelope]:
    """All that is sent when whoever refuses a message falls silent, and everybody else goes on for as long as it can.

    Nobody publishes unless all have finished. `spoil` says what arrives in place of a letter.
    """
    board = BulletinBoard(setup.session)
    roles = actors(*setup, board.greetings)
    record: list[Envelope] = []
    silent: set[str] = set()
    moved = True
    while moved:
        moved = False
        for name, role in roles.items():
            if name not in silent:
                moved |= _turn(role, record, board, silent, spoil)
    if all(role.done for role in roles.values()):
        record += [e for role in roles.values() for e in role.release()]
    return record


def _turn(role: Actor, record: list[Envelope], board: BulletinBoard, silent: set[str], spoil: Spoil | None) -> bool:
    """Give a role the mail that it has not had yet; whether it sent anything."""
    before = len(record)

    def send() -> None:
        for envelope in role.advance():
            record.append(envelope)
            if envelope.is_public:
                board.post(envelope)

    try:
        send()
        for envelope in list(record):
            if envelope.to == role.name and envelope.number >= role.channel.counters.received.get(envelope.sender, 0):
                for arriving in spoil(envelope) if spoil else [envelope]:
                    role.deliver(arriving)
                send()
    except PeerError:
        silent.add(role.name)
    return len(record) > before


def evidence_of(setup: Setup, envelopes: list[Envelope] | None = None) -> Evidence:
    """What an auditor is given after such a run: all views, and the program that everybody had agreed on."""
    named = setup.session.program
    protocol = programs.find_protocol(named.name, named.version)
    session = replace(setup.session, program=protocol.program)
    transcript = Transcript(session, (TEST_KEYS,))
    for envelope in played(setup) if envelopes is None else envelopes:
        transcript.post(envelope)
    lines = TranscriptLines(transcript.dumps().encode())
    head, *_ = transcript.lines()
    record = dict(enumerate(transcript.envelopes, start=1))
    again = {name: recompute(session, _bare(session, setup, name), record) for name in session.names}
    views = {
        name: replace(_bare(session, setup, name), messages=made.messages_read, greetings=made.greetings).signed(
            session, setup.identities[name]
        )
        for name, made in again.items()
    }
    pinned = session.identities
    made = Evidence(Path("made-up"), {}, {}, {}, head, lines, record, {}, protocol, session, pinned, views)
    return knowing(made, again)


def _bare(session: Session, setup: Setup, name: str) -> RecordedView:
    """A view without what was read."""
    return RecordedView(session.id, name, setup.seeds[name].key, True, setup.inputs[name], (), (), ())


def knowing(evidence: Evidence, again: Mapping[str, Recomputed]) -> Evidence:
    """The evidence, and its roles computed again, which follow from seeds, inputs and the record."""
    vars(evidence)["recomputed"] = again
    return evidence


def only(evidence: Evidence, *names: str) -> Evidence:
    """The same with the views of these alone."""
    few = replace(evidence, views={name: evidence.views[name] for name in names})
    return knowing(few, {name: evidence.recomputed[name] for name in names})


def outcomes(evidence: Evidence, *names: str) -> dict[str, CheckOutcome]:
    """What the checks of hygiene and replay with these names find, or all of them, as the report has it."""
    checks = [check for check in (*HYGIENE, *REPLAY) if not names or check.name in names]
    return audits.outcomes(evidence, checks)


def statuses(evidence: Evidence) -> dict[str, str]:
    """The status of each of these checks."""
    return {name: outcome.status for name, outcome in outcomes(evidence).items()}

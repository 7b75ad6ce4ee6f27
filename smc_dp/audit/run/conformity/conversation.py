"""Conversation: a transcript holds that of its protocol, in order, by rounds and whole, with headers that tell nothing.

The conversation is learnt by running the protocol's own code, so a new protocol needs no word here.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from protocols.runtime.envelope import Envelope
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.audit.run.blame import absent_senders, malicious_sender
from smc_dp.audit.run.check import CheckOutcome, failed, make_fault, not_possible, passed
from smc_dp.audit.run.conformity.dry_run import Absences
from smc_dp.audit.run.conformity.expected_schedule import Schedule, learn_schedule, walk_transcript
from smc_dp.audit.run.evidence import Evidence
from smc_dp.core.errors import Fault, shown
from smc_dp.run.transcript_header import APPROVALS


@dataclass(frozen=True)
class ScheduledTranscript:
    """Transcript beside the schedule of its protocol; `lines`: those of each participant, in their order."""

    evidence: Evidence
    schedule: Schedule
    lines: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, evidence: Evidence, schedule: Schedule) -> ScheduledTranscript:
        """Return the transcript of this evidence beside a schedule."""
        lines: dict[str, array[int]] = defaultdict(lambda: array("Q"))
        for n, envelope in evidence.envelopes.items():
            if envelope.sender in evidence.session.names:
                lines[envelope.sender].append(n)
        return cls(evidence, schedule, lines)

    def sent(self, name: str) -> Iterator[tuple[int, Envelope]]:
        """Return what this participant sent, with its lines."""
        return ((n, self.evidence.envelopes[n]) for n in self.lines.get(name, ()))


def with_schedule(check: Callable[[ScheduledTranscript], CheckOutcome]) -> Callable[[Evidence], CheckOutcome]:
    """Return the check of evidence beside its protocol's schedule; it fails where the transcript is too short.

    The schedule is that without the absences that their signer's messages refute.
    """

    def run(evidence: Evidence) -> CheckOutcome:
        schedule = _learnt(evidence, refuted_readers(evidence))
        if isinstance(schedule, CheckOutcome):
            return schedule
        if schedule.free_kinds:
            return not_possible("toy_run.headers_differ", kinds=schedule.free_kinds)
        return check(ScheduledTranscript.of(evidence, schedule))

    return run


def refuted_readers(evidence: Evidence) -> tuple[str, ...]:
    """Return the parties whose signed absences break the schedule that the conversation keeps without them."""
    readers = [name for name in evidence.session.parties if evidence.recorded.absent_to(name)]
    if not readers or APPROVALS not in evidence.head:
        return ()
    tries: list[tuple[str, ...]] = [(), *((name,) for name in readers), tuple(readers)]
    found = next((some for some in tries if _fits(evidence, some)), ())
    for name in found if len(found) > 1 else ():  # several lied: the others told the truth
        if _fits(evidence, fewer := tuple(other for other in found if other != name)):
            found = fewer
    return found


def _fits(evidence: Evidence, refuted: Collection[str]) -> bool:
    schedule = _learnt(evidence, refuted)
    return isinstance(schedule, Schedule) and _first_disorder(ScheduledTranscript.of(evidence, schedule)) is None


def _learnt(evidence: Evidence, refuted: Collection[str]) -> Schedule | CheckOutcome:
    absences = _absences(evidence, refuted)
    found = learn_schedule(evidence.protocol, evidence.session.parameters, len(evidence.lines), absences)
    if isinstance(found, Fault):
        return failed(found.within("with those who were absent as the transcript says"))
    return failed("transcript.too_short", count=len(evidence.lines)) if found is None else found


def _absences(evidence: Evidence, refuted: Collection[str]) -> Absences:
    """Return who went on without what, by the transcript and by the messages that given views show to be doubted."""
    doubted = {(name, absent) for name, again in evidence.recomputed.items() for absent in again.doubted}
    claimed = {(reader, absent) for reader, absent in evidence.absences.values() if reader not in refuted}
    counts = Counter(e.sender for e in evidence.envelopes.values())
    marks = frozenset(claimed | doubted)
    out = frozenset(evidence.recorded.published) if marks else frozenset()
    sent = frozenset((name, counts[name]) for name in {absent.sender for _, absent in claimed})
    return Absences(marks, sent, out, evidence.took_detour)


def check_order(given: ScheduledTranscript) -> CheckOutcome:
    """Check that each participant's messages are those of its role, one after the other, as far as the transcript goes.

    Headers alone name nobody: a participant that was sent something else may be right to send something else.
    """
    if found := _first_disorder(given):
        n, disorder = found
        return failed(disorder, line=n, culprit=malicious_sender(given.evidence, n))
    return passed("order.holds", count=len(given.evidence.envelopes))


def check_causal_rounds(given: ScheduledTranscript) -> CheckOutcome:
    """Check that nothing was sent before all that its sender had to read, and that each message states its round.

    Messages of a participant that was given up may be left unread by others.
    """
    schedule, evidence = given.schedule, given.evidence
    late = {absent.sender for _, absent in schedule.awaited_absences}
    found = walk_transcript(schedule.scripts, evidence.envelopes, late)
    if found.line is not None:
        # Nobody is named: a participant that was told another round states what follows.
        return failed("rounds.not_causal", line=found.line, what=found.fault)
    if found.rounds != schedule.rounds:
        return failed("rounds.other_number", got=found.rounds, wanted=schedule.rounds)
    return passed("rounds.hold", rounds=found.rounds)


def check_completeness(given: ScheduledTranscript) -> CheckOutcome:
    """Check that no message is missing or there twice: every participant signed every stage and published once.

    Nobody goes on without a message for which its role does not wait; a participant that was given up itself may have
    been told so and not come to it.
    """
    total = 0
    if unmet := _unmet(given):
        return unmet
    for name in given.evidence.session.names:
        wanted = Counter((m.kind, m.peer, m.stage) for m in given.schedule.sends(name))
        for n, e in given.sent(name):
            total += 1
            wanted[e.kind, e.to, e.stage] -= 1
            if wanted[e.kind, e.to, e.stage] < 0:
                return failed("message.too_many", line=n, kind=shown(e.kind), sender=name, to=shown(e.to))
        if missing := next((key for key, left in wanted.items() if left), None):
            return failed("message.missing", kind=missing[0], sender=name, to=missing[1], stage=missing[2])
    marks = given.evidence.absences
    but = f" with {len(marks)} message{'s' if len(marks) > 1 else ''} given up" if marks else ""
    return passed("completeness.holds", total=total, but=but)


def _unmet(given: ScheduledTranscript) -> CheckOutcome | None:
    """Return the first absence of a message for which the reader's role did not wait."""
    silent = {PUBLIC_NAME, *absent_senders(given.evidence), *refuted_readers(given.evidence)}
    for n, (reader, absent) in given.evidence.absences.items():
        if reader not in silent and (reader, absent) not in given.schedule.awaited_absences:
            what = {name: shown(getattr(absent, name)) for name in ("kind", "sender", "stage")}
            return failed(make_fault("absence.not_asked_for", reader=shown(reader), **what), line=n)
    return None


def check_headers(evidence: Evidence) -> CheckOutcome:
    """Check that headers are the same whatever data and randomness are, in dry runs.

    That those of this transcript are the same is what `order`, `completeness` and `sizes` check.
    """
    schedule, program = _learnt(evidence, refuted_readers(evidence)), evidence.session.program
    if isinstance(schedule, CheckOutcome):
        return schedule
    if schedule.free_kinds and _absences(evidence, ()).marks:  # how far who dropped out came is not known
        return not_possible("toy_run.headers_differ", kinds=schedule.free_kinds)
    for kind in (k for k in program.kinds if k.__name__ in schedule.free_kinds):
        said = " ".join((kind.__doc__ or "").split())
        return failed("headers.differ", protocol=program.name, kind=kind.__name__, step=kind.step, described=said)
    return passed("headers.hold", runs=schedule.runs)


def _first_disorder(given: ScheduledTranscript) -> tuple[int, Fault] | None:
    return min(_disorders(given), key=lambda found: found[0], default=None)


def _disorders(given: ScheduledTranscript) -> Iterator[tuple[int, Fault]]:
    """Yield each participant's first message that is not the next one of its role."""
    for name in given.evidence.session.names:
        moves = given.schedule.sends(name)
        for i, (n, e) in enumerate(given.sent(name)):
            if i >= len(moves) or (e.kind, e.to, e.stage) != (moves[i].kind, moves[i].peer, moves[i].stage):
                wanted = (
                    "{kind} to {to} in {stage}".format_map(_fields(moves[i].kind, moves[i].peer, moves[i].stage))
                    if i < len(moves)
                    else "nothing more"
                )
                yield (
                    n,
                    make_fault("message.out_of_order", **_fields(e.kind, e.to, e.stage), name=name, wanted=wanted),
                )
                break


def _fields(kind: str, to: str, stage: str) -> dict[str, str]:
    return {"kind": shown(kind), "to": shown(to), "stage": shown(stage)}

"""Session driver of one participant: approvals, the session, the transcript, the release. `join` and `serve` run it.

Theory of operation. Everything that a participant decides follows from its store and the clock, so its program can be
started again at any point and goes on. It is in one of these states:

    approvals   it has not the approvals of all
    witnesses   a witness of its ledger has not said what it has seen; or the ledger has the charge, and too few have
                cosigned that (`ledger_heads`)
    greetings   the session is known; it has not the greetings that its role waits for
    messages    its role waits for messages
    transcript  its role is done; it waits for the transcript (a party), or for the last messages of all (the curator)
    closing     somebody else has ended the session for all; it reads what that one had sent before, and sends nothing
    over        it has the release, or there will be none. After a release the curator looks for cosignatures of the
                transcript, for one deadline (`transcript_heads`). It fails if the relay has not got the transcript

    state       event                                             next
    approvals   the last approval is here                         witnesses, or greetings at the curator
    witnesses   enough witnesses have cosigned the charge         greetings
    greetings   the last greeting is here                         messages
    messages    the role consumes a message                       messages, or transcript where the role is done
    transcript  all that the release takes is here                over
    greetings, messages, transcript
                the curator ends the session, or, where no party  closing
                may be lost, anybody: a status message says so
    closing     all is read that the sender says it had sent      over
    messages    the deadline                                      messages without the senders that are missing, or over
                                                                  where the role needs them
    witnesses   the deadline, and enough have said what they saw  witnesses without the others
    any other   the deadline                                      over; a party in `transcript` only stops, and the same
                                                                  command looks for the transcript again
    any         something breaks a rule, or the site gives the    over
                study up (`abandon`)

There is one deadline at a time. It counts from the last progress, which is stored: the start of the program for the
first time, the last approval, the start of the session here, the last greeting, and each message that the role
consumes. Nothing else is progress: no message that lies unread, no status message, no absence, no part of the
transcript, no second start. So a participant is over one deadline after the last message that its role consumed, and
after as many deadlines as its role consumes messages, and four more, whatever others send. Time for which the program
tries in vain to reach the relay does not count; time for which it does not run does, so every command that opens the
store knows whether it is over.

The deadline is the study's for greetings in approvals and greetings, half of that in witnesses, and its one for
messages in the others: the curator waits once as long, a party twice, for it may wait for the curator, who waits for
others; a program can declare another number for a message. Nobody is waited for again who owes a message that the role
went on without. A deadline passes with the first look at the relay after it of which the role consumes nothing. A
program that was away first reads what the relay has: until a look brings nothing, four in a row bring no message that
was next on its link, or a deadline begins.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from protocols.crypto.identity import Signer
from protocols.curator import CURATOR_NAME
from protocols.errors import ProtocolError
from protocols.runtime.session import PUBLIC_NAME, Session
from smc_dp.core.errors import Fault, InputError, InputFault, one_line, shown
from smc_dp.core.private_text import Hear, PrivateText
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.arrival import MOST_NOTICES, Arrivals
from smc_dp.deploy.frame import Carrier, CarrierError, Frame, Lane
from smc_dp.deploy.ledger_heads import HEAD_LANES, LedgerHeads
from smc_dp.deploy.site import (
    Site,
    abandonment,
    charge_from_facts,
    describe_frame,
    frame_fault,
    reason_facts,
    separate_conflicts,
    to_send,
)
from smc_dp.deploy.status import missed_session
from smc_dp.deploy.store import SiteStore, StoreError
from smc_dp.deploy.study import APPROVALS, WITNESSES, JointStudy
from smc_dp.deploy.transcript_heads import TranscriptHeads
from smc_dp.privacy.ledger.history import History
from smc_dp.privacy.ledger.witness import Witness
from smc_dp.run.agreement import Agreement
from smc_dp.run.budget_charge import OpenCharge
from smc_dp.run.site_process import SiteInputs, SiteRandomness
from smc_dp.run.status_message import Notice

_LOG = logging.getLogger(__name__)
_LOOKS = 5.0  # seconds for one question to the relay, at most
_LEAST_LOOK = 1.0  # also for a site that was away for long: its messages may be there
_RETRIES = (0.2, 1.0, 5.0, 15.0)  # seconds until the next attempt to reach it
_IDLE_LOOKS = 4
_AWAY = 60.0  # seconds without a look, after which the relay may have more than a look brings
_CLOCK_SLACK = 120.0  # seconds by which a clock may be set back
_BEFORE: tuple[Lane, ...] = ("approval", "envelope", *HEAD_LANES)  # what a site waits for before its role begins


@dataclass(frozen=True, repr=False)
class Member:
    """Participant of a study, with its own approval and the agreement of a run."""

    study: JointStudy
    name: str
    signer: Signer
    approval: Approval
    agreement: Agreement

    @property
    def ends_for_all(self) -> frozenset[str]:
        """Participants whose status message ends the session for all: the curator, or all if no party may drop out."""
        if self.agreement.terms.tolerates_dropouts:
            return frozenset({CURATOR_NAME})
        return frozenset(self.study.names)


class Business(Protocol):
    """Duties of a participant beside its role. Each method may be called again after a crash."""

    def begins(self, session: Session, approvals: Mapping[str, Approval], *, over: bool, resumed: bool) -> SiteInputs:
        """Return what this participant brings to the session. InputError refuses before anything was sent in it.

        `over`: the role is at its end, or the session has ended here, and nothing more will leave. `resumed`: this was
        called for this session before, on the same store.
        """
        ...

    def history(self) -> History | None:
        """Return the entries of the ledger of this party; None at the curator."""
        ...

    def is_over(self, site: Site, notices: Mapping[str, Notice], *, patient: bool) -> bool:
        """Return whether all is here that the release takes, once the role is done. `patient`: time is left.

        `ProtocolError` where what is there can be no release.
        """
        ...

    def released(self, site: Site, approvals: Mapping[str, Approval], notices: Mapping[str, Notice]) -> None:
        """Make the release and settle. The curator hands the transcript to all before.

        `ProtocolError` where there is none; InputError where it cannot be kept here, which ends nothing.
        """
        ...

    def run_folder(self) -> Path:
        """Return the folder of the release."""
        ...

    def ended(self, session_id: bytes, charge: OpenCharge) -> None:
        """Settle a session without a release. The id is empty where there was no session yet."""
        ...


class SessionDriver:
    """Driver of a study at one site; `end` is then "released", a code, or "ended" (by others)."""

    def __init__(
        self,
        member: Member,
        store: SiteStore,
        carrier: Carrier,
        business: Business,
        witness: Callable[[], Witness],
        *,
        hear: Hear = lambda text: None,
        coins: SiteRandomness | None = None,
        keeps_seed: bool = False,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.member, self._store, self._carrier, self._business = member, store, carrier, business
        self._hear, self._coins, self._keeps_seed = hear, coins, keeps_seed
        self._clock, self._sleep = clock, sleep
        self._limits = Arrivals(member.study.unapproved_session(member.agreement.auxiliary))
        self._heads = LedgerHeads(member.study, member.approval, member.signer, store, witness, hear)
        self._closed = TranscriptHeads(member.study, member.name, member.signer, store, witness, hear)
        self._charged: tuple[Session, SiteInputs] | None = None
        self._valid_approvals: dict[bytes, Approval] = {}  # by the digest of the frame: each look finds the same again
        self._known_end: str | None = None
        self._is_handed_over = False  # whether the relay has all that this program had to send at a release
        self._has_waited = False  # as long as for the approvals of all, for what its witnesses have seen
        self._last_line = ""
        self._site: Site | None = None
        self._given: Mapping[str, Approval] = {}
        self._lapsed = False
        self._last_look = clock()  # time of the last request to the relay; before that the program was away
        self._was_away = True  # since the program started, lost the relay, or was suspended
        self._began_late = False  # whether the deadline had passed before the last look
        self._idle = 0  # looks in a row that brought frames of which nothing followed
        self._lines = Counter[str]()  # by participant, shown to the owner
        self.notices: dict[str, Notice] = {}
        self._ranks: dict[str, tuple[bool, int]] = {}
        self._enders: dict[str, Notice] = {}  # first status message of each that ended the session for all

    @property
    def end(self) -> str | None:
        """End of the study here, None while it goes on."""
        if self._known_end is None:  # it stays, so a store that fails later takes no release back
            self._known_end = self._store.facts().get("end")
        return self._known_end

    def run(self) -> str:
        """Take part to the end and return how it ended; "waiting" where the transcript has not come.

        Raises `StoreError` when what is kept cannot be relied on.
        """
        self.begin()
        while self.turn():
            pass
        return self.finish()

    def begin(self) -> None:
        """Hand the own approval to the relay, or end a session that passed while the program was away."""
        if self.end is not None:  # there is nothing to ask the relay before the ledger is settled
            return
        if ended := missed_session(self.member.study.deadlines, self._store.facts(), self._clock()):
            self._store.commit(facts=ended)
            return
        if self._store.facts().get("since") is None:
            self._store.commit(facts={"since": self._clock(), "stage": APPROVALS})
        self._meet_relay()
        frame = self._own_approval()
        if frame.digest not in {sent.digest for sent in self._store.outgoing()}:
            self._store.commit(sending=[frame])

    def turn(self) -> bool:
        """Look at the relay once, and act; return whether there is anything left to look for."""
        if self.end is not None:
            return self.end == "released" and self._collect_cosignatures()
        if self._site is None:
            self._await_approvals()
        else:
            self._take_turn(self._site)
        return self.end in (None, "released") and not self._lapsed

    def finish(self) -> str:
        """Settle, and tell the others."""
        if (end := self.end) is None:
            return "waiting"
        if end != "released":
            facts = self._store.facts()
            self._business.ended(bytes.fromhex(facts.get("session", "")), charge_from_facts(facts))
        if end == "abandoned":  # perhaps without the key that tells the others
            study, member = self.member.study.digest, self.member
            self._store.commit(sending=abandonment(self._store, study, member.name, member.signer))
        try:
            self._flush()
        except (CarrierError, StoreError) as error:  # what is unsent goes when the program is started again
            if end != "released":
                raise
            if self.member.name == CURATOR_NAME and not self._is_handed_over:  # the others wait for the transcript
                raise StoreError("record.not_handed_over", why=one_line(str(error))) from None
            self._say(str(error), error.code)
        return end

    # Before the session.

    def _await_approvals(self) -> None:
        """Look at the relay once, and begin the session when all approvals are here."""
        try:
            found = self._approved()
        except InputError as error:
            self._end_before("aborted", error.fault)
            return
        self._heads.answer(found)
        what = "approvals of"
        missing: Sequence[str] = [name for name in self.member.study.names if name not in found]
        if not missing:
            what, missing = "witnesses", self._unwitnessed(found)
        if not missing:
            self._given, self._site = found, self._opened(found)
            return
        self._say(f"waiting for the {what} {', '.join(missing)}")
        patience = self.member.study.deadlines.after(self._store.facts())
        frames = self._exchange(patience)
        study, name = self.member.study, self.member.name
        known = {frame.key: frame.digest for frame in (*self._store.received(), *self._store.outgoing())}
        fresh, other = separate_conflicts(known, frames)
        fault = frame_fault(fresh, other, study.digest, study.names, name)
        if fault := fault or next(filter(None, map(self._excess, fresh)), None):
            self._store.commit(evidence=[p for p in (*fresh, *other) if len(p.body) <= self._limits.longest])
            self._end_before("aborted", fault)
            return
        refusals = [frame for frame in fresh if frame.lane == "refusal"]
        fresh = [frame for frame in fresh if frame.lane == "envelope" or self._limits.may_be_kept(frame)]
        self._note_look(frames, fruitful=self._was_away and any(p.lane in _BEFORE for p in fresh))
        if fresh or self._store.facts().get("waiting") != missing:
            self._store.commit(fresh, facts={"waiting": missing})
        if frames:
            self._reached(partial(self._carrier.taken, frames))
            self._listen(b"", refusals)
        if self._has_heard_all(frames) and self._is_late(patience):
            self._lapse_before(missing, all_approved=what == "witnesses")

    def _unwitnessed(self, approvals: Mapping[str, Approval]) -> Sequence[str]:
        """Return the witnesses of the own ledger that are waited for, once all have approved.

        InputError for a ledger that does not extend what one of them shows. It is charged when all have said what they
        have seen, and the session goes on when enough have cosigned the charge.
        """
        heads, in_session = self._heads, bool(self._store.facts().get("session"))
        if (before := self._business.history()) is None or self._store.newest() is not None:
            return ()
        if self._store.facts().get("stage") == APPROVALS:
            self._store.commit(facts={"stage": WITNESSES, "since": self._clock()})
        own = heads.own
        own.check(before)  # one that has seen more is enough, even if others are silent
        if own.silent and not in_session and not self._has_waited:
            return own.silent
        session, _ = self._charged = self._charged or self._charge(approvals)
        heads.ask(self._business.history() or before, session.id)
        cosigned = own.cosigned
        if len(cosigned) >= self.member.study.witnesses_needed:
            return ()
        return [name for name in own.witnesses if name not in cosigned]

    def _lapse_before(self, missing: Sequence[str], *, all_approved: bool) -> None:
        """End the study here at its deadline, unless enough witnesses of the ledger have said what they have seen."""
        needed, own = self.member.study.witnesses_needed, self._heads.own
        in_session = bool(self._store.facts().get("session"))
        got = len(own.cosigned) if in_session else len(own.witnesses) - len(own.silent)
        if not all_approved:
            self._end_before("deadline", InputFault("approvals.deadline", {"names": missing}))
        elif in_session or got < needed:
            self._end_before(
                "deadline", InputFault("witnesses.silent", {"needed": needed, "got": got, "names": missing})
            )
        else:
            self._has_waited = True

    def _excess(self, frame: Frame) -> Fault | None:
        """Return what is wrong with the length or number of a message that came before the session began here."""
        return self._limits.too_much(frame) if frame.lane == "envelope" else None

    def _approved(self) -> dict[str, Approval]:
        """Return the approvals that are here. InputError for one that its participant did not sign.

        Of each participant the first alone counts: another would make another session of the one that is under way.
        """
        found = {self.member.name: self.member.approval}
        for frame in self._store.received():
            if (frame.lane, frame.to, frame.number) == ("approval", PUBLIC_NAME, 0):
                if frame.digest not in self._valid_approvals:
                    self._valid_approvals[frame.digest] = self._valid_approval(frame)
                found[frame.sender] = self._valid_approvals[frame.digest]
        return found

    def _valid_approval(self, frame: Frame) -> Approval:
        approval = Approval.decode(frame.body)
        self.member.study.check_approval(approval)
        if approval.name != frame.sender:
            raise InputError("approval.other_sender", name=approval.name, sender=frame.sender)
        return approval

    def _end_before(self, code: str, fault: Fault) -> None:
        self._store.commit(facts={"end": code, **reason_facts(fault)})

    def _meet_relay(self) -> None:
        """Compare the outbox with the relay: refuse to go on from an old state, and send again what the relay lost."""
        outgoing, own = self._store.outgoing(), self._own_approval()
        have = {frame.key: frame.digest for frame in outgoing}
        have[own.key] = own.digest
        for to, lane in self._own_lanes():
            last = self._reached(partial(self._carrier.last, to, lane))
            if last is not None and have.get(last.key) != last.digest:
                raise StoreError("state.older_than_relay", frame=describe_frame(last))
            newest = -1 if last is None else last.number
            lost = [p for p in outgoing if (p.to, p.lane) == (to, lane) and p.number > newest]
            if lost:
                self._reached(partial(self._carrier.send, lost))

    def _own_lanes(self) -> Iterator[tuple[str, Lane]]:
        yield from ((PUBLIC_NAME, lane) for lane in ("approval", "notice", "transcript"))
        yield from ((to, "envelope") for to in (*self.member.study.names, PUBLIC_NAME) if to != self.member.name)
        yield from sorted({(p.to, p.lane) for p in self._store.outgoing() if p.lane in HEAD_LANES})

    def _own_approval(self) -> Frame:
        own = self.member.approval
        return Frame(own.study, own.name, PUBLIC_NAME, "approval", 0, own.encode())

    # The session.

    def _charge(self, approvals: Mapping[str, Approval]) -> tuple[Session, SiteInputs]:
        """Begin the session: charge it, and return it with what this participant brings."""
        study, name = self.member.study, self.member.name
        session = study.session(approvals, self.member.agreement.auxiliary)
        facts = self._store.facts()
        over, resumed = bool(facts.get("end") or facts.get("done")), facts.get("session") == session.id.hex()
        if not resumed:
            self._store.commit(facts={"session": session.id.hex(), "since": self._clock()})
            self._was_away = False  # a deadline begins
        _LOG.info("%s %s session %s", name, "goes on with" if resumed else "begins", session.id.hex()[:16])
        return session, self._business.begins(session, approvals, over=over, resumed=resumed)

    def _opened(self, approvals: Mapping[str, Approval]) -> Site:
        study, name = self.member.study, self.member.name
        session, brings = self._charged or self._charge(approvals)
        site = Site(
            session, study.digest, name, self.member.signer, self._store, brings, self._limits, coins=self._coins,
            keeps_seed=self._keeps_seed, clock=self._clock,
        )  # fmt: skip
        if self._keeps_seed and site.first_seed is None:
            raise InputError("views.too_late")
        self._listen(session.id, self._store.received())
        self._close_with_others(site)
        site.step()
        return site

    def _take_turn(self, site: Site) -> None:
        """Look at the relay once in the session, and act."""
        self._say_whom(site)
        frames = self._exchange(self._patience(site))
        self._listen(site.session.id, frames)
        self._close_with_others(site)
        before, delivered = (site.consumed, site.has_greetings), bool(frames) and site.step(frames)
        if any(frame.lane == "head" for frame in frames):
            self._heads.answer(self._given)
        progress = (site.consumed, site.has_greetings) != before
        if progress and not site.is_over_elsewhere:
            self._was_away = False  # the deadline begins again; if not, junk in each look would put it off
        self._note_look(frames, fruitful=progress or (self._was_away and delivered))
        if frames and site.end is None:
            self._reached(partial(self._carrier.taken, frames))
        late = self._has_heard_all(frames) and self._is_late(self._patience(site))
        if site.is_over_elsewhere:
            self._end_with_others(site, late)
        elif site.awaited and late:
            site.miss(site.awaited)
        elif site.done:
            self._look_for_the_end(site, late)
        else:
            self._give_up_leavers(site)

    def _look_for_the_end(self, site: Site, late: bool) -> None:
        """Make the release once the role is done and all that it takes is here."""
        try:
            over = self._business.is_over(site, self.notices, patient=not late)
            if over:
                self._business.released(site, self._given, self.notices)
        except ProtocolError as error:
            site.close("deadline" if late else "aborted", error.fault)
            return
        if over:
            frames = self._closed.cosign(site.session.id, self._business.run_folder())
            awaited = self._closed.awaited(self.notices)
            over_since = {"since": self._clock(), "stage": "over", "waiting": awaited}
            self._store.commit(sending=frames, facts={"end": "released", **over_since})
            self._known_end = "released"
            _LOG.info("%s has the release", self.member.name)
        elif late:
            self._lapsed = True
            fault = InputFault("record.not_here_yet")
            self._store.commit(facts=reason_facts(fault))

    def _collect_cosignatures(self) -> bool:
        """Look at the relay once for cosignatures of the transcript, after the release; return whether any is awaited.

        It is over one deadline after the release, even if sites are silent.
        """
        patience, folder = self.member.study.deadlines.messages, self._business.run_folder()
        try:
            facts = self._store.facts()
            session_id = bytes.fromhex(facts["session"])
            if not (missing := self._closed.collect(session_id, folder, facts["waiting"])):
                return False
            those = ", ".join(missing)
            self._say(f"the release is there: waiting for the cosignatures of {those} under the transcript")
            frames = self._exchange(patience)
            self._note_look(frames, fruitful=self._closed.take(frames))
            if frames:
                self._reached(partial(self._carrier.taken, frames))
            missing = self._closed.collect(session_id, folder, missing)
            late = self._has_heard_all(frames) and self._is_late(patience)
        except (CarrierError, InputError) as error:  # also of a clock that was set back: the release stands
            self._say(str(error), error.code)
            return False
        return bool(missing) and not late

    @property
    def _leavers(self) -> Sequence[Notice]:
        """Status messages of participants that do not go on."""
        return [notice for notice in self.notices.values() if notice.code != "done"]

    def _close_with_others(self, site: Site) -> None:
        """Send nothing more where others have ended the session, from before the role goes on."""
        for notice in self._leavers:
            if notice.sender in self.member.ends_for_all:
                self._enders.setdefault(notice.sender, notice)  # which nobody takes back: nothing left here since
                site.send_nothing_more()

    def _end_with_others(self, site: Site, late: bool) -> None:
        """End the session as others have, once all is read that they sent before."""
        for notice in self._enders.values():
            if site.end is None and (late or site.has_heard_out(notice)):
                site.ended_by_others(notice.sender, notice.code)

    def _give_up_leavers(self, site: Site) -> None:
        """Stop waiting at the curator for a party that says it does not go on, once its messages are read."""
        for notice in self._leavers:
            if self.member.name == CURATOR_NAME and notice.sender in site.awaited and site.has_heard_out(notice):
                site.miss([notice.sender])

    def _listen(self, session_id: bytes, frames: Sequence[Frame]) -> None:
        for frame in frames:
            if frame.lane not in ("notice", "refusal"):
                continue
            study, spoken_in = self.member.study, session_id.hex() if frame.lane == "notice" else ""
            try:
                notice = Notice.read(frame.body, study.digest, frame.sender, study.identities[frame.sender])
            except (InputError, KeyError):
                self._pass_on(frame.sender, f"ignored a malformed status message of {shown(frame.sender)}")
                continue
            if notice.session != spoken_in:
                self._pass_on(frame.sender, f"ignored a status message of {frame.sender} about another session")
                continue
            if frame.lane == "notice" and frame.number < MOST_NOTICES:
                self._note(frame.number, notice)
            self._pass_on(frame.sender, f"status of {frame.sender}: {notice.code}")

    def _pass_on(self, sender: str, line: str) -> None:
        """Show the owner a line about a status message; of each sender so many at most, or it could fill the log."""
        self._lines[sender] += 1
        if self._lines[sender] <= MOST_NOTICES:
            self._hear(PrivateText(line))

    def _note(self, number: int, notice: Notice) -> None:
        """Keep the last status message of a sender. A party that is done has published its share, and ends nothing any
        more.
        """
        rank = (notice.code == "done" and notice.sender != CURATOR_NAME, number)
        if rank >= self._ranks.get(notice.sender, (False, 0)):
            self._ranks[notice.sender] = rank
            self.notices[notice.sender] = notice

    # The relay, and time.

    def _patience(self, site: Site) -> float:
        """Return the seconds after the last progress after which this participant waits no longer."""
        if not site.has_greetings:
            return self.member.study.deadlines.greetings
        if site.waits_in_vain:  # a drop-out costs one deadline, and not one for each sum that follows
            return 0.0
        return self.member.study.deadlines.of_message(self.member.name, site.actor.deadlines)

    def _has_heard_all(self, frames: Sequence[Frame]) -> bool:
        """Return whether the relay has no more frames, or too many without effect to wait for the rest."""
        return not frames or self._idle >= _IDLE_LOOKS or (self._began_late and not self._was_away)

    def _note_look(self, frames: Sequence[Frame], *, fruitful: bool) -> None:
        """Count looks of which nothing followed. A participant that was away first reads what the relay has."""
        self._idle = 0 if fruitful or not frames else self._idle + 1
        self._was_away = self._was_away and not self._has_heard_all(frames)

    def _is_late(self, patience: float) -> bool:
        since, now = float(self._store.facts()["since"]), self._clock()
        if now < since - _CLOCK_SLACK:
            raise StoreError("clock.set_back", seconds=since - now)
        return now - since > patience

    def _exchange(self, patience: float) -> list[Frame]:
        """Send what is to be sent, and see what has come."""
        self._flush()
        left = float(self._store.facts()["since"]) + patience - self._clock() + 0.001
        self._was_away, self._began_late = self._was_away or self._clock() - self._last_look > _AWAY, left <= 0
        left = max(_LEAST_LOOK, min(_LOOKS, left))
        found: list[Frame] = list(self._reached(lambda: self._carrier.fetch(left)))
        self._log("has fetched", found)
        return found

    def _flush(self) -> None:
        if unsent := to_send(self._store):
            self._reached(lambda: self._carrier.send(unsent))
        self._is_handed_over = self.end == "released"
        if unsent:
            self._store.sent(unsent)
            self._log("has sent", unsent)

    def _log(self, what: str, frames: Sequence[Frame]) -> None:
        """Log the number of frames of each lane and their bytes, which the relay sees too."""
        if frames and _LOG.isEnabledFor(logging.DEBUG):
            lanes = Counter(frame.lane for frame in frames)
            counted = ", ".join(f"{n} of {lane}" for lane, n in sorted(lanes.items()))
            size = sum(len(frame.body) for frame in frames)
            _LOG.debug("%s %s %d frames, %d bytes: %s", self.member.name, what, len(frames), size, counted)

    def _reached(self, request: Callable[[], Any]) -> Any:
        """Return the relay's answer as soon as it can be reached. Time without the relay counts for nobody.

        CarrierError after one deadline of a message where the release is there already.
        """
        attempts, began = 0, self._clock()
        while True:
            try:
                answer = request()
            except CarrierError as error:
                tried = self._clock() - began
                if self.end == "released" and not 0 <= tried <= self.member.study.deadlines.messages:
                    raise
                self._postpone()
                self._say(str(error), error.code)
                self._sleep(_RETRIES[min(attempts, len(_RETRIES) - 1)])
                attempts += 1
                continue
            if attempts:
                self._postpone()
                self._was_away = True
            self._last_look = self._clock()
            return answer

    def _postpone(self) -> None:
        """Add the time since the last request to the relay, which it cannot reach, to the deadline.

        Each attempt does, so that no time counts for which a program tried, and all for which a killed one did not.
        """
        since, now = float(self._store.facts().get("since", self._last_look)), self._clock()
        self._store.commit(facts={"since": since + max(0.0, now - max(self._last_look, since))})
        self._last_look = now

    def _say_whom(self, site: Site) -> None:
        if site.awaited:
            self._say(f"{site.actor.stage or 'greetings'}: waiting for {', '.join(site.awaited)}")
        elif site.done and self.member.name != CURATOR_NAME:
            self._say(f"the role is at its end: waiting for the transcript of {CURATOR_NAME}")
        elif site.done:
            parties = self.member.study.parties
            silent = [name for name in parties if name not in self.notices] or parties
            self._say(f"the role is at its end: waiting for the last messages of {', '.join(silent)}")

    def _say(self, line: str, code: str | None = None) -> None:
        """Show the owner a line, once; the log gets the code if the line is that of an error."""
        if line != self._last_line:
            self._last_line = line
            _LOG.info("%s: %s", self.member.name, code or line)
            self._hear(PrivateText(line))

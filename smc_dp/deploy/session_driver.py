"""One participant's whole way through a study: approvals, the session, the record, the release. `join` and `serve`.

Everything that it decides follows from its store, so it can be begun again at any point and goes on. It waits for
others as long as the study says, counted from the last thing that was committed; a relay that cannot be reached counts
for nothing. What it tells others are letters of its role, and fixed codes.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from protocols.crypto.identity import Signer
from protocols.curator import CURATOR_NAME
from protocols.errors import ProtocolError
from protocols.runtime.observer import Observer
from protocols.runtime.session import PUBLIC_NAME, Session
from smc_dp.core.errors import Fault, InputError, InputFault, shown
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.frame import Carrier, CarrierError, Lane, Parcel
from smc_dp.deploy.site import Site, charge_in, misfit, reason, sorted_out, told
from smc_dp.deploy.status_message import Notice
from smc_dp.deploy.store import Store, StoreError
from smc_dp.deploy.study import JointStudy
from smc_dp.run.agreement import Agreement
from smc_dp.run.budget_charge import OpenCharge
from smc_dp.run.site_process import AtSite, SiteCoins

_LOG = logging.getLogger(__name__)
PARTY_PATIENCE = 2
"""How many times as long as Charlie a party waits: he may be waiting for somebody himself."""
_LOOKS = 5.0  # seconds for one question to the relay, at most
_LEAST_LOOK = 1.0  # also for who has been away for long: its mail may be there
_RETRIES = (0.2, 1.0, 5.0, 15.0)  # seconds until the next attempt to reach it
_IDLE_LOOKS = 4
_CLOCK_SLACK = 120.0  # seconds by which a clock may be set back

Hear = Callable[[str], None]


@dataclass(frozen=True, repr=False)
class Member:
    """Who takes part in a study, with its own approval of it, and what a run of the study agrees on."""

    study: JointStudy
    name: str
    signer: Signer
    approval: Approval
    agreement: Agreement

    @property
    def ends_for_all(self) -> frozenset[str]:
        """Whose word ends the session for everybody: Charlie's, where parties may vanish, and else anybody's."""
        if self.agreement.terms.can_lose_parties:
            return frozenset({CURATOR_NAME})
        return frozenset(self.study.names)


def patience(study: JointStudy, facts: Mapping[str, Any]) -> float:
    """Seconds from the last event that a site with these facts waits."""
    if facts.get("stage") in (None, "", "approvals"):
        return study.deadlines.greetings
    return study.deadlines.letters * (1 if facts.get("participant") == CURATOR_NAME else PARTY_PATIENCE)


def is_over_for(study: JointStudy, facts: Mapping[str, Any], now: float) -> bool:
    """Whether a site whose program was away has missed its session, by what stands in its store: nobody waits for it
    any longer, so that it need keep nothing. A role that is at its end misses nothing.
    """
    in_session = bool(facts.get("session")) and not facts.get("end") and not facts.get("done")
    return in_session and now - float(facts.get("event", now)) > patience(study, facts)


class Business(Protocol):
    """What a participant does beside its role; each of these may be called again after a crash."""

    def begins(self, session: Session, approvals: Mapping[str, Approval], *, over: bool, resumed: bool) -> AtSite:
        """The session is known: what this participant brings. InputError to refuse, before anything was sent in it.

        `over`: the role is at its end, or the session has ended here, and nothing more will leave. `resumed`: this was
        called for this session before, on the same store.
        """
        ...

    def is_over(self, site: Site, notices: Mapping[str, Notice], *, patient: bool) -> bool:
        """The role is at its end: whether all that it takes for the release is there. `patient`: time is left.

        `ProtocolError` where what is there can be no release.
        """
        ...

    def released(self, site: Site, approvals: Mapping[str, Approval], notices: Mapping[str, Notice]) -> None:
        """Make the release and settle; the keeper of the record hands that to all before.

        `ProtocolError` where there is none; InputError where it cannot be kept here, which ends nothing.
        """
        ...

    def ended(self, session_id: bytes, charge: OpenCharge) -> None:
        """There will be no release: settle. The id is empty where there was no session yet."""
        ...


class Participation:
    """`run` until the study is over here; `end` then says how: "released", or a code, or "ended" (by others)."""

    def __init__(
        self,
        member: Member,
        store: Store,
        carrier: Carrier,
        business: Business,
        *,
        hear: Hear = lambda line: None,
        coins: SiteCoins | None = None,
        keeps_seed: bool = False,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        observer: Observer | None = None,
    ) -> None:
        self.member, self._store, self._carrier, self._business = member, store, carrier, business
        self._hear, self._coins, self._keeps_seed = hear, coins, keeps_seed
        self._clock, self._sleep, self._observer = clock, sleep, observer
        self._told = ""
        self._site: Site | None = None
        self._given: Mapping[str, Approval] = {}
        self._lapsed = False
        self._idle = 0  # looks in a row that brought parcels of which nothing followed
        self.notices: dict[str, Notice] = {}
        self._ranks: dict[str, tuple[bool, int]] = {}

    @property
    def end(self) -> str | None:
        """How the study ended here, None while it goes on."""
        found: str | None = self._store.facts().get("end")
        return found

    def run(self) -> str:
        """Take part to the end, and how that was; "waiting" where the own part is over and the record has not come.

        Raises `StoreError` when what is kept cannot be relied on.
        """
        if self.end is None:  # else there is nothing to ask the relay before the book is settled
            self.begin()
        while self.turn():
            pass
        return self.finish()

    def begin(self) -> None:
        """Before the first look at the mail: the own approval is on its way, or the session has passed without us."""
        if is_over_for(self.member.study, self._store.facts(), self._clock()):
            self._end_before("deadline", InputFault("session.back_too_late"))
            return
        self._meet_relay()
        if self._store.facts().get("event") is None:
            self._store.commit(facts={"event": self._clock(), "stage": "approvals"})
        parcel = self._own_approval()
        if parcel.digest not in {sent.digest for sent in self._store.outgoing()}:
            self._store.commit(sending=[parcel])

    def turn(self) -> bool:
        """One look at the relay, and what follows; whether the study goes on here."""
        if self.end is None and self._site is None:
            self._await_approvals()
        elif self.end is None and self._site is not None:
            self._take_turn(self._site)
        return self.end is None and not self._lapsed

    def finish(self) -> str:
        """Settle, and let everybody know."""
        if (end := self.end) is None:
            return "waiting"
        if end != "released":
            facts = self._store.facts()
            self._business.ended(bytes.fromhex(facts.get("session", "")), charge_in(facts))
        self._flush()
        return end

    # Before the session.

    def _await_approvals(self) -> None:
        """The session begins once those of all are here; one look at what has come."""
        patience = self.member.study.deadlines.greetings
        try:
            found = self._approved()
        except InputError as error:
            self._end_before("aborted", error.fault)
            return
        missing = [name for name in self.member.study.names if name not in found]
        if not missing:
            self._given, self._site = found, self._opened(found)
            return
        self._say(f"waiting for the approvals of {', '.join(missing)}")
        parcels = self._exchange(patience)
        study, name = self.member.study, self.member.name
        known = {parcel.key: parcel.digest for parcel in (*self._store.received(), *self._store.outgoing())}
        fresh, other = sorted_out(known, parcels)
        if fault := misfit(fresh, other, study.digest, study.names, name):
            self._store.commit(evidence=[*fresh, *other])
            self._end_before("aborted", fault)
            return
        if fresh:
            moved = any(p.sender in missing and (p.lane, p.number) == ("approval", 0) for p in fresh)
            self._idle = 0 if moved else self._idle + 1
            self._store.commit(fresh, facts={**({"event": self._clock()} if moved else {}), "waiting": missing})
            self._reached(partial(self._carrier.taken, parcels))
            self._listen(b"", [parcel for parcel in fresh if parcel.lane == "refusal"])
        if self._has_heard_all(parcels) and self._is_late(patience):
            self._end_before("deadline", InputFault("approvals.deadline", {"names": missing}))

    def _approved(self) -> dict[str, Approval]:
        """The approvals that are here; InputError for one that its participant did not sign.

        Of each participant the first alone counts: another would make another session of the one that is under way.
        """
        found = {self.member.name: self.member.approval}
        for parcel in self._store.received():
            if (parcel.lane, parcel.to, parcel.number) == ("approval", PUBLIC_NAME, 0):
                approval = Approval.decode(parcel.body)
                approval.check(self.member.study)
                if approval.name != parcel.sender:
                    raise InputError("approval.other_sender", name=approval.name, sender=parcel.sender)
                found[approval.name] = approval
        return found

    def _end_before(self, code: str, fault: Fault) -> None:
        self._store.commit(facts={"end": code, **reason(fault), "event": self._clock()})

    def _meet_relay(self) -> None:
        """What the relay has of us and we do not: our state is an old one, which may not go on. What the relay lacks, a
        relay that lost it in a power cut for one, it gets again.
        """
        outgoing, own = self._store.outgoing(), self._own_approval()
        have = {parcel.key: parcel.digest for parcel in outgoing}
        have[own.key] = own.digest
        for to, lane in self._own_places():
            last = self._reached(partial(self._carrier.last, to, lane))
            if last is not None and have.get(last.key) != last.digest:
                raise StoreError("state.older_than_relay", parcel=told(last))
            newest = -1 if last is None else last.number
            lost = [p for p in outgoing if (p.to, p.lane) == (to, lane) and p.number > newest]
            if lost:
                self._reached(partial(self._carrier.send, lost))

    def _own_places(self) -> Iterator[tuple[str, Lane]]:
        yield from ((PUBLIC_NAME, lane) for lane in ("approval", "notice", "record"))
        yield from ((to, "mail") for to in (*self.member.study.names, PUBLIC_NAME) if to != self.member.name)

    def _own_approval(self) -> Parcel:
        own = self.member.approval
        return Parcel(own.study, own.name, PUBLIC_NAME, "approval", 0, own.encode())

    # The session.

    def _opened(self, approvals: Mapping[str, Approval]) -> Site:
        study, name = self.member.study, self.member.name
        session = study.session(approvals, self.member.agreement.auxiliary)
        facts = self._store.facts()
        over, resumed = bool(facts.get("end") or facts.get("done")), facts.get("session") == session.id.hex()
        if not resumed:
            self._store.commit(facts={"session": session.id.hex()})
        _LOG.info("%s %s session %s", name, "goes on with" if resumed else "begins", session.id.hex()[:16])
        brings = self._business.begins(session, approvals, over=over, resumed=resumed)
        site = Site(
            session, study.digest, name, self.member.signer, self._store, brings, coins=self._coins,
            keeps_seed=self._keeps_seed, clock=self._clock, observer=self._observer,
        )  # fmt: skip
        if self._keeps_seed and site.first_seed is None:
            raise InputError("views.too_late")
        self._listen(session.id, self._store.received())
        self._end_with_others(site)
        site.step()
        return site

    def _take_turn(self, site: Site) -> None:
        """One look at the mail, and what follows."""
        self._say_whom(site)
        parcels = self._exchange(self._patience(site))
        self._listen(site.session.id, parcels)
        self._end_with_others(site)
        if parcels:
            self._idle = 0 if site.step(parcels) else self._idle + 1
            if site.end is None:
                self._reached(partial(self._carrier.taken, parcels))
        if site.awaited and self._has_heard_all(parcels) and self._is_late(self._patience(site)):
            site.miss(site.awaited)
        self._give_up_leavers(site)
        if site.done:
            self._look_for_the_end(site)

    def _look_for_the_end(self, site: Site) -> None:
        """The own role is over: the release, if all that it takes is here."""
        late = self._is_late(self._patience(site))
        try:
            over = self._business.is_over(site, self.notices, patient=not late)
            if over:
                self._business.released(site, self._given, self.notices)
        except ProtocolError as error:
            site.close("deadline" if late else "aborted", error.fault)
            return
        if over:
            self._store.commit(facts={"end": "released", "stage": "over", "waiting": []})
            _LOG.info("%s has the release", self.member.name)
        elif late:
            self._lapsed = True
            fault = InputFault("record.not_here_yet")
            self._store.commit(facts=reason(fault))

    def _end_with_others(self, site: Site) -> None:
        """Where others have ended the session, it ends here before the role goes on: what has not left stays here."""
        for name, notice in self.notices.items():
            if notice.code != "done" and name in self.member.ends_for_all and site.end is None:
                site.ended_by_others(name, notice.code)

    def _give_up_leavers(self, site: Site) -> None:
        """Charlie need not wait for a party that says itself that it goes on no longer."""
        for name, notice in self.notices.items():
            if self.member.name == CURATOR_NAME and notice.code != "done" and name in site.awaited:
                site.miss([name])

    def _listen(self, session_id: bytes, parcels: Sequence[Parcel]) -> None:
        for parcel in parcels:
            if parcel.lane not in ("notice", "refusal"):
                continue
            study, spoken_in = self.member.study, session_id.hex() if parcel.lane == "notice" else ""
            try:
                notice = Notice.read(parcel.body, study.digest, parcel.sender, study.identities[parcel.sender])
            except (InputError, KeyError):
                self._hear(f"what came as a notice of {shown(parcel.sender)} is none, and is left out")
                continue
            if notice.session != spoken_in:
                self._hear(f"a notice of {parcel.sender} is of another session, and is left out")
                continue
            if parcel.lane == "notice":
                self._note(parcel.number, notice)
            self._hear(f"{parcel.sender} says: {notice.code}")

    def _note(self, number: int, notice: Notice) -> None:
        """The last word counts; but a party that is done has let its share go, and ends nothing any more."""
        rank = (notice.code == "done" and notice.sender != CURATOR_NAME, number)
        if rank >= self._ranks.get(notice.sender, (False, 0)):
            self._ranks[notice.sender] = rank
            self.notices[notice.sender] = notice

    # The relay, and time.

    def _patience(self, site: Site) -> float:
        """Seconds without any event after which this participant waits no longer."""
        deadlines = self.member.study.deadlines
        if any(name not in site.board.greetings for name in site.session.names):
            return deadlines.greetings
        if site.waits_in_vain:  # one who vanished costs one deadline, and not one for each sum that follows
            return 0.0
        return deadlines.letters * (1 if self.member.name == CURATOR_NAME else PARTY_PATIENCE)

    def _has_heard_all(self, parcels: Sequence[Parcel]) -> bool:
        """Whether the relay has nothing more, or too much of which nothing follows to wait for the rest."""
        return not parcels or self._idle >= _IDLE_LOOKS

    def _is_late(self, patience: float) -> bool:
        event, now = float(self._store.facts()["event"]), self._clock()
        if now < event - _CLOCK_SLACK:
            raise StoreError("clock.set_back", seconds=event - now)
        return now - event > patience

    def _exchange(self, patience: float) -> list[Parcel]:
        """Send what is to be sent, and see what has come."""
        self._flush()
        event = float(self._store.facts()["event"])
        left = max(_LEAST_LOOK, min(_LOOKS, event + patience - self._clock() + 0.001))
        found: list[Parcel] = list(self._reached(lambda: self._carrier.fetch(left)))
        self._log("has fetched", found)
        return found

    def _flush(self) -> None:
        if unsent := self._store.outgoing(unsent=True):
            self._reached(lambda: self._carrier.send(unsent))
            self._store.sent(unsent)
            self._log("has sent", unsent)

    def _log(self, what: str, parcels: Sequence[Parcel]) -> None:
        """How many parcels of each lane, and of how many bytes: what the relay sees too."""
        if parcels and _LOG.isEnabledFor(logging.DEBUG):
            lanes = Counter(parcel.lane for parcel in parcels)
            counted = ", ".join(f"{n} of {lane}" for lane, n in sorted(lanes.items()))
            size = sum(len(parcel.body) for parcel in parcels)
            _LOG.debug("%s %s %d parcels, %d bytes: %s", self.member.name, what, len(parcels), size, counted)

    def _reached(self, ask: Callable[[], Any]) -> Any:
        """What the relay answers, as soon as it can be reached.

        Nobody is late for what the relay could not bring: that it is there again is an event, from which all
        deadlines count.
        """
        attempts = 0
        while True:
            try:
                answer = ask()
                if attempts:
                    self._store.commit(facts={"event": self._clock()})
                return answer
            except CarrierError as error:
                self._say(str(error))
                self._sleep(_RETRIES[min(attempts, len(_RETRIES) - 1)])
                attempts += 1

    def _say_whom(self, site: Site) -> None:
        if site.awaited:
            self._say(f"{site.actor.stage or 'greetings'}: waiting for {', '.join(site.awaited)}")
        elif site.done and self.member.name != CURATOR_NAME:
            self._say(f"the role is at its end: waiting for the record of {CURATOR_NAME}")
        elif site.done:
            parties = self.member.study.parties
            silent = [name for name in parties if name not in self.notices] or parties
            self._say(f"the role is at its end: waiting for the last of {', '.join(silent)}")

    def _say(self, line: str) -> None:
        if line != self._told:
            self._told = line
            _LOG.info("%s: %s", self.member.name, line)
            self._hear(line)

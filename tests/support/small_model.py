"""One small session of a study, everything that one participant can lie about in it, and what everybody makes of that.

A lie is one message that its sender really makes otherwise, one notice, or one change that Charlie makes to the
transcript. Verdicts are those of the program: each site's, each consumer's, and an audit's beside given views.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple, Self
from unittest import mock

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from typing_extensions import override

from protocols.crypto import identity as crypto_identity
from protocols.curator import CURATOR_NAME
from protocols.errors import PeerError, ProtocolError, somebody_between
from protocols.programs import Protocol
from protocols.runtime import message as messages
from protocols.runtime import simulate as engine
from protocols.runtime.actor import Actor
from protocols.runtime.envelope import STAGE_END
from protocols.runtime.inbox import Absent
from protocols.runtime.message import Message
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.view import RecordedView, recompute
from protocols.secure_sum.messages import PublishedSum
from smc_dp.audit.run import derived_parameters
from smc_dp.audit.run.check import Check, CheckOutcome
from smc_dp.audit.run.conformity import expected_schedule
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.report import run_checks
from smc_dp.audit.run.time_budget import Allowance
from smc_dp.core.errors import InputError
from smc_dp.deploy.release import SessionRelease, released_from
from smc_dp.deploy.site_transcript import check_transcript
from smc_dp.run import agreement
from smc_dp.run.protocols.execution import decode_value
from smc_dp.run.release_consistency import find_contradictions, published_message
from smc_dp.run.status_message import NOTHING_SENT, Code, Notice
from smc_dp.run.verify_release import verify_release
from support.audited import Folders, hospitals, sum_agreement
from support.deployed import Deployed, deployed
from support.mutants import OF_THE_RUN

SIZES = {3: (12, 8, 20), 4: (12, 8, 20, 9)}
PLACES = (0, 1, 2, 3)
"""Which byte of a message is another: the first, one in its first or its second half, the last."""


OF_VIEWS = ("views", "recomputed", "recorded_and_viewed", "handed_over")
"""What evidence says of views."""


class Lie(NamedTuple):
    """What Charlie hands out or a liar said: who lied, in which way, and what is then in the transcript."""

    liar: str
    what: str
    made: Deployed

    @property
    def spoils_sum(self) -> bool:
        """Whether it is another input of a party, which nobody claims to notice."""
        return self.what == "Masked"


class Case(NamedTuple):
    """Sum of so many parties, one of whom may vanish."""

    parties: int
    colluders: int = 0
    verifiable: bool = False

    def honest(self) -> Deployed:
        """A session in which everybody keeps to the protocol."""
        data, options = hospitals(SIZES[self.parties], 1), {**self._asdict(), "dropouts": 1}
        del options["parties"]
        return deployed(data, sum_agreement(data, seeded=False, **options))


def count_of(made: Deployed, name: str) -> int:
    """How many messages of its own making this participant sends: ends of stages hold nothing."""
    return sum(e.sender == name and e.kind not in ("Hello", STAGE_END) for e in made.envelopes)


def with_message(case: Case, liar: str, number: int, place: int, patch: pytest.MonkeyPatch) -> Lie | None:
    """A session in which one byte of this message of the liar is another; None where the others stop, and nothing is
    released. They name the liar then, whoever carries mail, or nobody.
    """
    encoded, sent, kinds = Actor._encoded, [0], list[str]()

    def lie(self: Actor, message: Message) -> bytes:
        payload = encoded(self, message)
        if self.name != liar:
            return payload
        sent[0] += 1
        if sent[0] != number + 1:
            return payload
        kinds.append(type(message).__name__)
        bad = bytearray(payload)
        bad[(len(bad) - 1) * place // (len(PLACES) - 1)] ^= 1
        return bytes(bad)

    with patch.context() as lying:
        lying.setattr(Actor, "_encoded", lie)
        lying.setattr(engine, "check_announcements", lambda *_: None)  # separate sites find out for themselves
        try:
            made = case.honest()
        except PeerError as error:
            if error.culprit not in (liar, somebody_between(liar)):
                raise AssertionError(f"{liar} has lied in {kinds}") from error
            return None
        except ProtocolError:
            return None
    return Lie(liar, *kinds, made)


def false_notices(made: Deployed, liar: str) -> Iterator[Lie]:
    """Each absence that this participant can claim of what it has read, and whatever else it can say at its end."""
    for e in made.envelopes:
        if e.to == liar:
            mark = (liar, Absent(e.sender, e.kind, e.stage, 0))
            yield Lie(liar, f"did not get {e.kind} of {e.sender}", replace(made, marks=[*made.marks, mark]))
    codes: tuple[Code, ...] = ("refused", "aborted", "deadline")
    for code in codes:
        yield Lie(liar, f"says {code}", Saying(**vars(made)).said(liar, code))
    yield Lie(
        liar, "says that it sent more", Saying(**vars(made)).said(liar, "done", dict.fromkeys(made.session.names, 99))
    )


def false_transcripts(made: Deployed) -> Iterator[Lie]:
    """Each message taken out by Charlie with all that follows it, with and without an absence that he signs; another
    sum, another list and an absence that nobody signed.
    """
    for e in made.envelopes:
        tail = [other for other in made.envelopes if other.sender == e.sender]
        tail = tail[tail.index(e) :]
        rest = [other for other in made.envelopes if other not in tail]
        yield Lie(CURATOR_NAME, f"left out {e.kind} of {e.sender}", replace(made, envelopes=rest))
        gone, silent = Absent(e.sender, e.kind, e.stage, 0), Absent(e.sender, STAGE_END, e.stage)
        marks = [(CURATOR_NAME, gone), (PUBLIC_NAME, silent)]
        for mark in marks if e.sender != CURATOR_NAME else []:
            yield Lie(CURATOR_NAME, f"gave up {e.sender} at {e.kind}", replace(made, envelopes=rest, marks=[mark]))
    published = next(
        e for e in made.envelopes if e.sender == CURATOR_NAME and e.kind in made.session.kinds and e.is_public
    )
    said = published_message(made.session, published)
    others = {"sum": {"S": (said.S[0] ^ 1, *said.S[1:])}, "list": {"members": (said.members[0] ^ 1, *said.members[1:])}}
    for what, fields in others.items():
        payload = messages.encode(replace(said, **fields), made.session.layout, {})
        body = payload + made.identities[CURATOR_NAME].sign(published.header + payload)
        other = [replace(e, body=body) if e is published else e for e in made.envelopes]
        yield Lie(CURATOR_NAME, f"published another {what}", replace(made, envelopes=other))
    reader, sender = made.session.parties[:2]
    invented = Unsigned(**{**vars(made), "marks": [(reader, Absent(sender, "Shares", "setup"))]})
    yield Lie(CURATOR_NAME, "invented an absence", invented)


class Saying(Deployed):
    """One participant says something of its own at its end."""

    def said(self, liar: str, code: Code, sent: Mapping[str, int] = NOTHING_SENT) -> Saying:
        """This, where the liar signs such a notice."""
        study, at = hashlib.sha256(self.study).hexdigest(), self.session.id
        notice = Notice.made(study, at, liar, code, b"nothing".ljust(32), self.identities[liar], (), sent)
        vars(self)["_lie"] = notice.as_dict()
        return self

    @property
    def notices(self) -> list[dict[str, Any]] | None:
        lie = vars(self)["_lie"]
        return [lie if told["sender"] == lie["sender"] else told for told in super().notices or ()]


class Unsigned(Deployed):
    """Charlie alone signs: absences of the others are his invention."""

    @property
    def signing(self) -> list[str]:
        return [CURATOR_NAME]


@dataclass(frozen=True)
class Outcome:
    """What a site accepts: weights and members; or the code with which it refuses."""

    weights: Any = None
    members: tuple[str, ...] = ()
    code: str = ""


class VerifiedOnce:
    """Ed25519 public key that verifies no signature twice: whether one holds follows from its bytes alone."""

    known: ClassVar[dict[tuple[bytes, bytes, bytes], bool]] = {}

    def __init__(self, public: bytes) -> None:
        self._public = public

    @classmethod
    def from_public_bytes(cls, public: bytes) -> Self:
        """Return the key with these bytes."""
        return cls(public)

    def verify(self, signature: bytes, message: bytes) -> None:
        """Raise InvalidSignature unless the signature holds."""
        key = (self._public, signature, message)
        if key not in self.known:
            self.known[key] = _holds(*key)
        if not self.known[key]:
            raise InvalidSignature


def _holds(public: bytes, signature: bytes, message: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except InvalidSignature:
        return False
    return True


class Unbounded(Allowance):
    """Allowance without an end: a clock for each of very many checks costs as much as they do."""

    @override
    def spend(self, work: Callable[[], Any]) -> Any:
        return work()


UNBOUNDED = Unbounded()


@contextmanager
def derived_once() -> Iterator[None]:
    """Compute once what follows from its arguments alone: schedules, or that there is none, parameters that a release
    states, the bytes that the owner of a view signs, the types of settings, and whether a signature holds.
    """
    to_sign, signed = RecordedView.to_sign, dict[int, tuple[RecordedView, bytes]]()

    def signed_once(view: RecordedView, session: Session) -> bytes:
        if id(view) not in signed:  # the view is kept, so that its id is nobody else's
            signed[id(view)] = view, to_sign(view, session)
        return signed[id(view)][1]

    learn, learnt = expected_schedule.from_dry_runs, dict[tuple[Any, ...], Any]()

    def kept(protocol: Protocol, *said: Any) -> Any:
        key = (protocol.program.name, protocol.program.version, *said)
        if key not in learnt:
            try:
                learnt[key] = learn(protocol, *said)
            except ProtocolError as error:
                learnt[key] = error
        if isinstance(learnt[key], ProtocolError):
            raise learnt[key]
        return learnt[key]

    derive = derived_parameters.derive_parameters

    def derived(evidence: Evidence) -> Any:
        known = vars(evidence)
        if "derived" not in known:
            known["derived"] = derive(evidence)
        return known["derived"]

    with (
        mock.patch.object(expected_schedule, "from_dry_runs", kept),
        mock.patch.object(derived_parameters, "derive_parameters", derived),
        mock.patch.object(RecordedView, "to_sign", signed_once),
        mock.patch.object(crypto_identity, "Ed25519PublicKey", VerifiedOnce),
        mock.patch.object(agreement, "get_type_hints", cache(agreement.get_type_hints)),
        mock.patch.object(os, "fsync", return_value=None),  # a test need not survive a power cut
    ):
        yield
        VerifiedOnce.known.clear()


class Looking:
    """Which check looks at views; it hears the name of each."""

    def __init__(self) -> None:
        self.at_views: set[str] = set()
        self._check = ""

    def __call__(self, said: str) -> None:
        self._check = said.partition(": ")[2]

    def noted(self) -> None:
        """The check that is made looks at views."""
        self.at_views.add(self._check)


def _watched(name: str) -> property:
    def get(evidence: Watched) -> Any:
        evidence.looking.noted()
        return evidence.of_views(name)

    return property(get)


class Watched(Evidence):
    """Evidence that says who looks at its views."""

    looking: Looking
    _of_views: dict[str, Any]
    views, recomputed, recorded_and_viewed, handed_over = map(_watched, OF_VIEWS)

    @classmethod
    def made(cls, bare: Evidence, looking: Looking, **of_views: Any) -> Watched:
        """Return the evidence beside these views, and what follows from them."""
        made = cls.__new__(cls)
        vars(made).update({name: value for name, value in vars(bare).items() if name not in OF_VIEWS})
        vars(made).update(looking=looking, _of_views={"handed_over": bare.handed_over, **of_views})
        return made

    def of_views(self, name: str) -> Any:
        """Return what views say, without a note."""
        if name not in self._of_views:
            self._of_views[name] = Evidence.recorded_and_viewed.func(self)
        return self._of_views[name]


class Model:
    """What everybody in the session saw, as it was."""

    def __init__(self, made: Deployed) -> None:
        self.made = made
        record = dict(enumerate(made.record.read(), start=1))
        self.seen = {name: recompute(made.session, view, record) for name, view in made.simulated.items()}

    def at_site(self, name: str, content: bytes) -> Outcome:
        """What this site makes of a transcript that it is handed."""
        made, seen = self.made, self.seen[name]
        actor = SimpleNamespace(done=seen.result is not None, result=seen.result, heard=seen.heard)
        site: Any = SimpleNamespace(session=made.session, name=name, actor=actor)
        member: Any = SimpleNamespace(agreement=made.agreement, study=SimpleNamespace(content=made.study))
        try:
            found = check_transcript(content, made.session, made.log(name), made.approvals, made.agreement.marks)
            release: SessionRelease = released_from(found, site, member, made.approvals)
        except (InputError, ProtocolError) as error:
            return Outcome(code=error.code)
        return Outcome(release.release.weights, release.execution.members)

    def audits(self, folders: Folders, *views: str) -> dict[str, CheckOutcome]:
        """What an audit finds of a folder beside the real views of these."""
        evidence = replace(folders.evidence(views=False), views={name: self.made.simulated[name] for name in views})
        return _findings(evidence, OF_THE_RUN)

    def audits_of(self, folders: Folders, subsets: Iterable[tuple[str, ...]]) -> Iterator[dict[str, CheckOutcome]]:
        """Yield the same for each of these sets of views. What a check finds without a look at any view is the same for
        all of them, and is found once; so is what follows from a view.
        """
        bare, looking = folders.evidence(views=False), Looking()
        of_all = {name: recompute(bare.session, view, bare.envelopes) for name, view in self.made.simulated.items()}
        found: dict[str, CheckOutcome] = {}
        asked = OF_THE_RUN
        for some in subsets:
            views = {name: self.made.simulated[name] for name in some}
            again = {name: of_all[name] for name in some}
            evidence = Watched.made(bare, looking, views=views, recomputed=again)
            found |= _findings(evidence, asked, looking)
            loose = any(check.work == "lines" and not found[check.name].holds for check in OF_THE_RUN)
            asked = tuple(c for c in OF_THE_RUN if c.name in looking.at_views or (loose and c.work == "lines"))
            vars(bare).update({k: v for k, v in vars(evidence).items() if k not in ("looking", "_of_views")})
            yield dict(found)

    def in_one_way(self, folders: Folders) -> str:
        """The code with which consumers refuse a folder, "" where they use it; an audit's rules give the same."""
        evidence = folders.evidence(views=False)
        rule = next(find_contradictions(evidence.recorded, evidence.published_release, None, evidence.study), None)
        code = "" if rule is None else rule.fault.code
        assert _used(folders) == code
        return code

    @cached_property
    def true_release(self) -> tuple[Any, tuple[str, ...]]:
        """What everybody accepts of the transcript of an honest curator."""
        found = self.at_site(self.made.session.parties[0], self.made.content)
        assert not found.code
        return found.weights, found.members

    def weights_of(self, members: tuple[str, ...]) -> Any:
        """Those of the sum of what these added."""
        made = self.made
        p, inputs = made.session.parameters, [made.inputs[name][1] for name in members]
        total = p.ring.add_vectors(*(vector for x in inputs for vector in (x.numbers[0], x.noise[0])))
        listed = p.listed(map(p.parties.index, members))
        return made.agreement.result(decode_value(made.session, {CURATOR_NAME: PublishedSum((listed,), total)}))

    def is_false(self, folders: Folders) -> bool:
        """Whether the weights in a folder are not those of what the members in it added."""
        evidence, p = folders.evidence(views=False), self.made.session.parameters
        (listed,) = evidence.recorded.published_messages[CURATOR_NAME].members
        members = tuple(p.parties[i] for i in p.members(listed))
        return bool(evidence.published_release.weights != self.weights_of(members))


def _findings(
    evidence: Evidence, checks: tuple[Check, ...], progress: Looking | None = None
) -> dict[str, CheckOutcome]:
    return {found.check.name: found.outcome for found in run_checks(evidence, checks, UNBOUNDED, progress)}


def _used(folders: Folders) -> str:
    """The code with which whoever uses a folder refuses it, "" where nobody does."""
    try:
        verify_release(folders.run)
    except InputError as error:
        return error.code
    return ""


def named(found: Mapping[str, CheckOutcome]) -> set[str]:
    """Who is blamed by an audit."""
    return {outcome.culprit.name for outcome in found.values() if outcome.culprit is not None}


def failed(found: Mapping[str, CheckOutcome]) -> dict[str, str]:
    """The checks that failed, with their codes."""
    return {name: outcome.code for name, outcome in found.items() if outcome.status == "failed"}


def written(lie: Lie, folder: Path) -> Folders | None:
    """The folder that Charlie publishes; None where what is left has no release."""
    try:
        return lie.made.write(folder, views=False)
    except (InputError, ProtocolError, ValueError):
        return None


def diagonal(lies: Iterable[Any], step: int) -> list[Any]:
    """Every so many of them."""
    return list(lies)[::step]

"""One small session of a study, everything that one participant can lie about in it, and what everybody makes of that.

A lie is one message that its sender really makes otherwise, one notice, or one change that Charlie makes to the
transcript. Verdicts are those of the program: each site's, each consumer's, and an audit's beside given views.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple, Self

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from typing_extensions import override

from protocols.curator import CURATOR_NAME
from protocols.errors import PeerError, ProtocolError, somebody_between
from protocols.runtime import message as messages
from protocols.runtime import simulate as engine
from protocols.runtime.actor import Actor
from protocols.runtime.envelope import STAGE_END
from protocols.runtime.inbox import Absent
from protocols.runtime.message import Message
from protocols.runtime.session import PUBLIC_NAME
from protocols.runtime.view import recompute
from protocols.secure_sum.messages import PublishedSum
from smc_dp.audit.run.check import CheckOutcome
from smc_dp.audit.run.report import run_checks
from smc_dp.audit.run.time_budget import Allowance
from smc_dp.core.errors import InputError
from smc_dp.deploy.release import SessionRelease, released_from
from smc_dp.deploy.site_transcript import check_transcript
from smc_dp.run.protocols.execution import decode_value
from smc_dp.run.release_consistency import find_contradictions, published_message
from smc_dp.run.status_message import NOTHING_SENT, Code, Notice
from smc_dp.run.verify_release import verify_release
from support.audited import Folders, hospitals, sum_agreement
from support.audits import OF_THE_RUN
from support.deployed import Deployed, deployed

SIZES = {3: (12, 8, 20), 4: (12, 8, 20, 9)}
PLACES = (0, 1, 2, 3)
"""Which byte of a message is another: the first, one in its first or its second half, the last."""


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
        return {found.check.name: found.outcome for found in run_checks(evidence, OF_THE_RUN, UNBOUNDED)}

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


def written(lie: Lie, folder: Path) -> Folders | None:
    """The folder that Charlie publishes; None where what is left has no release."""
    try:
        return lie.made.write(folder, views=False)
    except (InputError, ProtocolError, ValueError):
        return None


def diagonal(lies: Iterable[Any], step: int) -> list[Any]:
    """Every so many of them."""
    return list(lies)[::step]

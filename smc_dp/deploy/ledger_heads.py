"""Heads of the parties' ledgers, which witnesses in a study see before anything of its session leaves a party.

Three frames go between a party and each of its witnesses, which are other participants of the study:

    seen      from a witness: the last head of the party's ledger that it cosigned. It answers the party's approval
    head      from the party: the head with the charge of the session, and the proof that it extends the last one
    cosigned  from a witness: this head, cosigned; or again the last one, where this one does not follow it

A party whose ledger does not extend a head that it signed itself is refused before it is charged: the ledger is an
older copy. Its own signature alone shows that, so no witness can refuse a ledger by a word, nor move what another one
keeps. It can be silent, and is then named. A witness signs `seen` with its identity over the party's approval, which
has 32 new random bytes, and a head names study and session: neither can be used again.

The key of cosignatures stands in a file beside the counters, in no backup, and `seen` says which it is. Of a large
study the participants that come next in its order are the witnesses, so the relay does not carry the square of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import cbor2

from protocols.crypto.identity import Signer
from protocols.curator import CURATOR_NAME
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.core.errors import InputError
from smc_dp.core.private_text import Hear, PrivateText
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.frame import Frame, Lane
from smc_dp.deploy.store import SiteStore, read_frames
from smc_dp.deploy.study import JointStudy, witnesses_of
from smc_dp.privacy.ledger.head import (
    HeadRequest,
    LedgerRecovery,
    check_extends,
    generation_of,
    is_for_study,
    origin_of,
    verify_head,
)
from smc_dp.privacy.ledger.history import History
from smc_dp.privacy.ledger.merkle import EMPTY_ROOT
from smc_dp.privacy.ledger.signed_note import COSIGNATURE, ED25519, Checkpoint, SignedNote, VerifierKey, sign_note
from smc_dp.privacy.ledger.witness import WITNESS_REFUSALS, Witness, witness_name

HEAD_LANES: tuple[Lane, ...] = ("seen", "head", "cosigned")
MOST_HEADS = 8
"""Heads of one session to one witness: another study of the same party may move the witness meanwhile."""
MOST_HEAD_BYTES = 1 << 13


def may_carry(names: Sequence[str], frame: Frame) -> bool:
    """Return whether a participant may send this frame of a head to its addressee; `names`: those of the session."""
    witness, party = (frame.to, frame.sender) if frame.lane == "head" else (frame.sender, frame.to)
    fits = frame.number < (1 if frame.lane == "seen" else MOST_HEADS) and len(frame.body) <= MOST_HEAD_BYTES
    if frame.to == PUBLIC_NAME:  # the head of the transcript
        return frame.lane == "head" and fits and frame.number == 0 and frame.sender == CURATOR_NAME
    if party == CURATOR_NAME:  # it has no ledger: a cosignature under the head of the transcript
        fits = fits and (frame.lane, frame.number) == ("cosigned", 0)
    is_known = frame.lane in HEAD_LANES and {witness, party} <= set(names)
    return is_known and fits and witness in witnesses_of(names, party)


def own_witness(counters: Path, public: bytes, clock: Callable[[], float]) -> Witness:
    """Open the witness of this identity, in the folder of counters; make it the first time."""
    path = counters / f"{public.hex()}.witness"
    if not path.exists():
        counters.mkdir(mode=0o700, parents=True, exist_ok=True)
        Witness.create(path, witness_name(public)).close()
    return Witness.open(path, clock)


@dataclass(frozen=True)
class WitnessStatement:
    """Statement of a witness: its key for cosignatures, and the last head of a party's ledger that it cosigned."""

    key: VerifierKey
    last: Checkpoint

    @classmethod
    def read(cls, body: bytes, witness: bytes, approval: Approval, owner: bytes) -> WitnessStatement:
        """Read the body of a frame `seen`; InputError unless this witness signed it for this approval of the owner."""
        try:
            said, kept = cbor2.loads(body, max_depth=2)
        except (cbor2.CBORError, ArithmeticError, LookupError, TypeError, ValueError):
            raise InputError("witnesses.no_statement") from None
        if type(said) is not bytes or type(kept) is not bytes:
            raise InputError("witnesses.no_statement")
        note, identity = SignedNote.read(said), VerifierKey(witness_name(witness), ED25519, witness)
        key = VerifierKey.read(note.text.split("\n")[1])
        is_cosigning = key.kind == COSIGNATURE and key.public not in (witness, owner)
        if note.text != _statement_text(witness, key, approval, kept) or not is_cosigning:
            raise InputError("witnesses.no_statement")
        if identity.signature_in(note) is None:
            raise InputError("witnesses.no_statement")
        return cls(key, verify_head(SignedNote.read(kept), owner) if kept else _nothing_of(owner))


def encode_seen(witness: Witness, approval: Approval, owner: bytes, signer: Signer) -> bytes:
    """Return the body of a frame `seen`, which answers this approval of the owner."""
    last = witness.last(owner)
    kept = b"" if last is None else last.encode()
    text = _statement_text(signer.public, witness.key, approval, kept)
    return cbor2.dumps([sign_note(SignedNote(text), witness_name(signer.public), signer).encode(), kept])


@dataclass(frozen=True)
class OwnHeads:
    """Heads of a party's ledger in all frames that it has sent and received in a study. `own`: its approval."""

    study: JointStudy
    own: Approval
    frames: Sequence[Frame]

    @classmethod
    def read(cls, study: JointStudy, name: str, folder: Path) -> OwnHeads:
        """Read the heads of this party from the folder of its state."""
        frames = read_frames(folder, ("approval", *HEAD_LANES))
        own = [frame.body for frame in frames if (frame.lane, frame.sender) == ("approval", name)]
        if not own:
            raise InputError("approvals.missing", name=name)
        return cls(study, Approval.decode(own[0]), frames)

    @property
    def witnesses(self) -> tuple[str, ...]:
        """Participants that witness the ledger; none of the curator."""
        return witnesses_of(self.study.names, self.own.name) if self.own.name in self.study.parties else ()

    @property
    def owner(self) -> bytes:
        """Public identity of the party."""
        return self.study.identities[self.own.name]

    @property
    def silent(self) -> list[str]:
        """Witnesses that have not said what they have seen of the own ledger."""
        return [name for name in self.witnesses if name not in self.statements]

    @property
    def cosigned(self) -> list[str]:
        """Witnesses that have cosigned the head of this session."""
        sent, came = self.sent, self.came("cosigned")
        return [name for name, said in self.statements.items() if _has_cosigned(said, sent[name], came)]

    def check(self, history: History) -> None:
        """Raise InputError unless the own ledger extends every head of it that a witness has shown."""
        for name, said in self.statements.items():
            check_extends(history, said.last, name)
        for frame in self.came("cosigned").values():
            if (head := self.head_in(frame)) is not None:
                check_extends(history, head, frame.sender)

    @cached_property
    def statements(self) -> dict[str, WitnessStatement]:
        """Valid statement of each witness. A frame that it did not sign for the own approval is none."""
        return dict(self._read_statements())

    def _read_statements(self) -> Iterator[tuple[str, WitnessStatement]]:
        for (name, _), frame in self.came("seen").items():
            try:
                yield name, WitnessStatement.read(frame.body, self.study.identities[name], self.own, self.owner)
            except InputError:
                continue

    @property
    def sent(self) -> dict[str, list[Frame]]:
        """Heads that were sent to each witness, in their order."""
        mine = [frame for frame in self.frames if (frame.lane, frame.sender) == ("head", self.own.name)]
        return {name: [frame for frame in mine if frame.to == name] for name in self.witnesses}

    def head_in(self, frame: Frame) -> Checkpoint | None:
        """Return the head in an answer if the own signature is below it."""
        try:
            return verify_head(SignedNote.read(frame.body), self.owner)
        except InputError:
            return None

    def came(self, lane: Lane) -> dict[tuple[str, int], Frame]:
        """Return what others sent to the party on a lane, by sender and number."""
        return {(p.sender, p.number): p for p in self.frames if (p.lane, p.to) == (lane, self.own.name)}


class LedgerHeads:
    """Heads at one participant: those of its own ledger, if it is a party, and those that it answers as a witness.

    What is done follows from the store, so a program that is started again goes on. `witness` opens the own witness.
    """

    def __init__(
        self,
        study: JointStudy,
        own: Approval,
        signer: Signer,
        store: SiteStore,
        witness: Callable[[], Witness],
        hear: Hear,
    ) -> None:
        self._study, self._approval, self._signer, self._store = study, own, signer, store
        self._witness, self._hear = witness, hear

    # As a witness.

    def answer(self, approvals: Mapping[str, Approval]) -> None:
        """Answer the approvals of parties and the heads that have come, and commit the answers to be sent."""
        answered = {(frame.to, frame.lane, frame.number) for frame in self._store.outgoing()}
        parties = [name for name in approvals if self._approval.name in witnesses_of(self._study.names, name)]
        new = [name for name in parties if name in self._study.parties and (name, "seen", 0) not in answered]
        came = [p for p in self.own.came("head").values() if p.sender in self._study.parties]
        heads = [p for p in came if (p.sender, "cosigned", p.number) not in answered]
        if not new and not heads:
            return
        with self._witness() as witness:
            sending = [self._frame(name, "seen", 0, self._seen(witness, approvals[name])) for name in new]
            sending += [self._frame(p.sender, "cosigned", p.number, self._cosign(witness, p)) for p in heads]
        self._store.commit(sending=sending)

    def _seen(self, witness: Witness, approval: Approval) -> bytes:
        return encode_seen(witness, approval, self._study.identities[approval.name], self._signer)

    def _cosign(self, witness: Witness, frame: Frame) -> bytes:
        """Return the body of the answer to a head: the head cosigned, or the last one, or nothing."""
        owner = self._study.identities[frame.sender]
        try:
            request = HeadRequest.read(frame.body)
            if not is_for_study(verify_head(request.note, owner), self._study.digest):
                return b""
        except InputError:
            return b""
        try:
            return witness.cosign(request, owner).encode()
        except InputError as error:
            if error.code not in WITNESS_REFUSALS:
                raise
            self._hear(PrivateText(f"did not cosign the ledger of {frame.sender}: {error}"))
            last = witness.last(owner)
            return b"" if last is None else last.encode()

    # As the owner of a ledger.

    @property
    def own(self) -> OwnHeads:
        """Heads of the own ledger by now."""
        return OwnHeads(self._study, self._approval, [*self._store.outgoing(), *self._store.received()])

    def ask(self, history: History, session_id: bytes) -> None:
        """Commit the head with the charge for each witness that has said what it has seen, and waits for one."""
        own, sending = self.own, list[Frame]()
        sent, came = own.sent, own.came("cosigned")
        for name, said in own.statements.items():
            number, last = len(sent[name]), said.last
            if number:
                answer = came.get((name, number - 1))
                shown = None if answer is None else own.head_in(answer)
                if shown is None or number == MOST_HEADS or _has_cosigned(said, sent[name], came):
                    continue
                last = shown
            study, session = self._study.digest, session_id.hex()
            old = last.size if generation_of(last) == LedgerRecovery.of(history).generation else 0
            request = HeadRequest.make(history, self._signer, old, study, session)
            sending.append(self._frame(name, "head", number, request.encode()))
        if sending:
            self._store.commit(sending=sending)

    def _frame(self, to: str, lane: Lane, number: int, body: bytes) -> Frame:
        return Frame(self._study.digest, self._approval.name, to, lane, number, body)


def _has_cosigned(said: WitnessStatement, sent: Sequence[Frame], came: Mapping[tuple[str, int], Frame]) -> bool:
    """Return whether one of the heads that were sent to a witness came back with its cosignature."""
    for frame in sent:
        try:
            answer = SignedNote.read(came[frame.to, frame.number].body)
            if answer.text == HeadRequest.read(frame.body).note.text and said.key.signature_in(answer):
                return True
        except (InputError, KeyError):
            continue
    return False


def _statement_text(witness: bytes, key: VerifierKey, approval: Approval, kept: bytes) -> str:
    digests = [hashlib.sha256(content).hexdigest() for content in (approval.encode(), kept)]
    return "".join(f"{line}\n" for line in (witness_name(witness), key.text, *digests))


def _nothing_of(owner: bytes) -> Checkpoint:
    return Checkpoint(origin_of(owner), 0, EMPTY_ROOT)

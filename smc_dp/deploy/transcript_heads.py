"""Head of a transcript at one participant: the curator signs it, parties cosign it, and it lies beside the transcript.

    head      from the curator to all, with the transcript: the signed head
    cosigned  from a party to the curator: this head, cosigned, and the statement of the key (`cosigned_transcript`)

A party cosigns when it has compared the transcript with its own messages and has made its release, and leaves. The
curator waits one deadline for the cosignatures of the parties that were done. No release depends on a cosignature. Of a
large study the participants that come next after the curator cosign. All of it follows from the store and the files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from protocols.crypto.identity import Signer
from protocols.curator import CURATOR_NAME
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.core.errors import InputError
from smc_dp.core.private_text import Hear, PrivateText
from smc_dp.core.writing import replace_file
from smc_dp.deploy.frame import Frame
from smc_dp.deploy.ledger_heads import may_carry
from smc_dp.deploy.site import separate_conflicts
from smc_dp.deploy.store import SiteStore
from smc_dp.deploy.study import JointStudy, witnesses_of
from smc_dp.privacy.ledger.witness import Witness
from smc_dp.run.cosigned_transcript import CosignedTranscript, head_of_transcript, transcript_key
from smc_dp.run.folder import read_content
from smc_dp.run.release import COSIGNED, TRANSCRIPT
from smc_dp.run.status_message import Notice


def sign_transcript(study: str, session_id: bytes, content: bytes, curator: Signer) -> Frame:
    """Return the frame with the signed head of a transcript. It goes before the transcript."""
    made = CosignedTranscript.sign(session_id, content, curator)
    return Frame(study, CURATOR_NAME, PUBLIC_NAME, "head", 0, made.encode())


class TranscriptHeads:
    """Head of the transcript of a session at one participant. `witness` opens the own witness."""

    def __init__(
        self, study: JointStudy, name: str, signer: Signer, store: SiteStore, witness: Callable[[], Witness], hear: Hear
    ) -> None:
        self._study, self._name, self._signer, self._store = study, name, signer, store
        self._witness, self._hear = witness, hear

    def awaited(self, notices: Mapping[str, Notice]) -> list[str]:
        """Return the parties whose cosignatures the curator waits for, by their last status messages."""
        names = witnesses_of(self._study.names, CURATOR_NAME) if self._name == CURATOR_NAME else ()
        return [name for name in names if name in notices and notices[name].code == "done"]

    def cosign(self, session_id: bytes, folder: Path) -> list[Frame]:
        """Return the frame with the head of the transcript in this run folder, cosigned; write the file beside it.

        None at the curator, and where the curator did not sign this head.
        """
        signed = next((p for p in self._store.received() if (p.lane, p.to) == ("head", PUBLIC_NAME)), None)
        if self._name not in witnesses_of(self._study.names, CURATOR_NAME) or signed is None:
            return []
        curator = self._study.identities[CURATOR_NAME]
        try:
            head = head_of_transcript(session_id, read_content(folder, TRANSCRIPT))
            found = CosignedTranscript.read(signed.body)
            found.check_signed(session_id, curator, head)
            with self._witness() as witness:
                note = witness.cosign_closed(found.head, transcript_key(session_id, curator))
                made = CosignedTranscript(note).stating(session_id, witness.key, self._signer)
            _write(folder, made)
        except (InputError, OSError) as error:  # the release is there, and stands without a cosignature
            self._hear(PrivateText(f"did not cosign the transcript: {error}"))
            return []
        return [Frame(self._study.digest, self._name, CURATOR_NAME, "cosigned", 0, made.encode())]

    @cached_property
    def _signed(self) -> bytes | None:
        """Body of the head that the curator has signed. It is read once: the transcript lies beside it."""
        return next((frame.body for frame in self._store.outgoing() if frame.lane == "head"), None)

    @cached_property
    def _cosigned(self) -> list[Frame]:
        """Frames that came to the curator with cosignatures. All messages of the session lie beside them."""
        return [frame for frame in self._store.received() if self._is_cosignature(frame)]

    def _is_cosignature(self, frame: Frame) -> bool:
        its = (frame.study, frame.to, frame.lane, frame.number)
        return its == (self._study.digest, CURATOR_NAME, "cosigned", 0) and may_carry(self._study.names, frame)

    def take(self, frames: Sequence[Frame]) -> bool:
        """Keep the cosignatures in these frames that have come to the curator; return whether there was a new one."""
        known = {frame.key: frame.digest for frame in self._cosigned}
        fresh, _ = separate_conflicts(known, [frame for frame in frames if self._is_cosignature(frame)])
        if fresh:
            self._store.commit(fresh)
            self._cosigned.extend(fresh)
        return bool(fresh)

    def collect(self, session_id: bytes, folder: Path, awaited: list[str]) -> list[str]:
        """Write the head with all cosignatures that have come to the curator; return the parties without one."""
        if self._name != CURATOR_NAME or self._signed is None:
            return []
        found, missing = CosignedTranscript.read(self._signed), set(awaited)
        for frame in sorted(self._cosigned, key=lambda p: self._study.names.index(p.sender)):
            identity = self._study.identities[frame.sender]
            try:
                said = CosignedTranscript.read(frame.body)
                both = replace(said, head=replace(found.head, signatures=said.head.signatures))
                witnessed = both.witnessed_by(session_id, frame.sender, identity)
            except InputError:
                continue
            if witnessed is not None:
                statement, line = witnessed
                found = CosignedTranscript(found.head.signed(line), (*found.statements, statement))
                missing.discard(frame.sender)
        try:
            _write(folder, found)
        except (InputError, OSError) as error:
            self._hear(PrivateText(f"cosignatures of the transcript are not kept: {error}"))
        return [name for name in awaited if name in missing]


def _write(folder: Path, found: CosignedTranscript) -> None:
    content, path = found.encode(), folder / COSIGNED
    if folder.is_dir() and not (path.is_file() and path.read_bytes() == content):
        replace_file(path, content, f"cosigned head {path}")

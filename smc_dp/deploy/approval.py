"""An approval: one participant's signature of one study, with 32 random bytes that make the session a new one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from protocols.crypto.identity import Signer
from smc_dp.core import reading
from smc_dp.core.documents import Document, canonical_line, validate_document
from smc_dp.core.errors import InputError
from smc_dp.core.kinds import DigestText
from smc_dp.deploy.fields import SignatureText, SiteName
from smc_dp.run.approvals import approval_text, joint_nonce

MOST_APPROVAL_BYTES = 4096  # ten times the longest approval


class Approval(Document):
    """Signature of one participant for one run of the study with this digest. Values are hexadecimal texts."""

    study: DigestText
    name: SiteName
    random: DigestText
    signature: SignatureText

    @classmethod
    def made(cls, study: str, name: str, signer: Signer, random: bytes) -> Approval:
        """Sign an approval of the study with this digest."""
        signature = signer.sign(approval_text(study, name, random.hex()))
        return cls(study=study, name=name, random=random.hex(), signature=signature.hex())

    @classmethod
    def read(cls, path: Path) -> Approval:
        """Read an approval from its file. InputError for any other file."""
        where = f"approval {path}"
        return cls.decode(reading.read_file(path, MOST_APPROVAL_BYTES, where=where), where)

    @classmethod
    def decode(cls, content: bytes, where: str = "approval") -> Approval:
        """Decode an approval. InputError for bytes that are not exactly one."""
        if len(content) > MOST_APPROVAL_BYTES:
            raise InputError("approval.too_large", where=where, most_bytes=MOST_APPROVAL_BYTES)
        found = validate_document(cls, reading.parse_object(content, where), where)
        # The nonce of the session is a hash of these bytes, so an approval has one encoding.
        if found.encode() != content:
            raise InputError("approval.not_canonical", where=where)
        return found

    def encode(self) -> bytes:
        """Encode the approval as one line of canonical JSON."""
        return canonical_line(self.model_dump())


def nonce(approvals: Sequence[Approval]) -> bytes:
    """Return the nonce of the session that these approvals make. No participant alone chooses it."""
    return joint_nonce(approval.encode() for approval in approvals)

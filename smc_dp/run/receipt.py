"""An auditor's receipt: signed, about exactly these files of a run folder, that an audit of them passed, and how far
it went.

Who uses a release and pins an auditor asks for one (`check`). An audit that passed proves nothing of what the run
claims; a receipt says that this auditor made the audit, of these files, and found no fault.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Self, TypeAlias

import cbor2
from pydantic import AfterValidator, Field

from protocols.crypto.identity import Signer, verify
from smc_dp.errors import InputError, shown
from smc_dp.files import reading
from smc_dp.files.documents import Document, validated
from smc_dp.files.kinds import DigestText, OneOf
from smc_dp.run.documents import DayText
from smc_dp.run.folder import FILES, content_of, read_document
from smc_dp.run.identities import pinned_auditor
from smc_dp.run.key_texts import PublicKeyText, SignatureText
from smc_dp.run.line_zero import read_head
from smc_dp.run.release import RELEASE, SHARES, TRANSCRIPT

LEVELS = ("none of three levels", "the record is whole", "it is authentic", "every message was replayed")
"""The levels of assurance by number, each with all below it; 0 where none was reached."""
_LABEL = b"smc-dp receipt"
_MOST_BYTES = 1 << 14
_LONGEST_VERSION = 64


def _version(value: str) -> str:
    if not value.isprintable() or not 0 < len(value) <= _LONGEST_VERSION:
        raise InputError(f"wanted a version of 1 to {_LONGEST_VERSION} printable characters, got {shown(value)}")
    return value


RunFile: TypeAlias = Annotated[str, OneOf(FILES)]
VersionText: TypeAlias = Annotated[
    str, AfterValidator(_version), Field(json_schema_extra={"minLength": 1, "maxLength": _LONGEST_VERSION})
]


class Receipt(Document):
    """What an auditor signs. `session` is the id of the run's session, `files` the SHA-256 of each file that was
    audited, `level` how many of the three levels of assurance the audit reached, `date` its day (UTC), `version` that
    of the program that made it, `auditor` the public key that signed.
    """

    session: DigestText
    files: dict[RunFile, DigestText]
    passed: bool
    level: Annotated[int, Field(ge=0, le=len(LEVELS) - 1)]
    date: DayText
    version: VersionText
    auditor: PublicKeyText
    signature: SignatureText

    @classmethod
    def made(cls, signer: Signer, **said: Any) -> Self:
        """A receipt that says this, signed."""
        unsigned = {**said, "auditor": signer.public.hex()}
        return validated(cls, {**unsigned, "signature": signer.sign(to_sign(unsigned)).hex()}, "receipt")

    @classmethod
    def read(cls, path: Path) -> Self:
        """The receipt in a file; InputError for anything else. Whether it is signed, and fits, `check` says."""
        where = f"receipt {path}"
        found = reading.parse_object(reading.read_file(path, _MOST_BYTES, where=where, links=True), where)
        return validated(cls, found, where)

    def encode(self) -> bytes:
        """The bytes of a file."""
        return (json.dumps(self.model_dump(), indent=2) + "\n").encode()

    @property
    def words(self) -> str:
        """Who audited when, and how far: a line."""
        level = f"level {self.level} of {len(LEVELS) - 1}, " if self.level else ""
        return f"by {self.auditor} on {self.date}, with version {self.version}: {level}{LEVELS[self.level]}"

    @property
    def is_signed(self) -> bool:
        """Whether the key that it states signed all the rest of it."""
        return verify(
            bytes.fromhex(self.auditor),
            to_sign(self.model_dump(exclude={"signature"})),
            bytes.fromhex(self.signature),
        )


def to_sign(said: Mapping[str, Any]) -> bytes:
    """The bytes that are signed: an array of two, a label and all that the receipt says.

    The header of an envelope is an array of eight, a notice one of seven, a statement one of five, a view one of four;
    an approval begins with a text.
    """
    return cbor2.dumps([_LABEL, dict(said)], canonical=True)


def wanted(folder: Path, receipt: str | PathLike[str] | None, auditor: str | PathLike[str] | None) -> Receipt | None:
    """The receipt that somebody wants to see before a release is used, checked; None where neither was given.

    `auditor`: a public key, or the file of it that the auditor handed over. InputError for one without the other, so
    that whoever always names an auditor uses no release without its receipt; and as `check` raises it.
    """
    if receipt is None and auditor is None:
        return None
    if receipt is None:
        raise InputError("receipt: wanted a receipt of the auditor, got none")
    if auditor is None:
        raise InputError("auditor: wanted the public key of the auditor whose receipt it is to be, got none")
    found = Receipt.read(Path(receipt))
    check(folder, found, pinned_auditor(os.fspath(auditor)))
    return found


def check(folder: Path, receipt: Receipt, auditor: bytes) -> None:
    """Raises InputError unless this auditor signed that an audit of exactly the files in this run folder passed.

    release.json, and shares.json where the release states one, have to be there as they were audited; of the other
    files of a run those that are there.
    """
    if receipt.auditor != auditor.hex():
        raise InputError(f"receipt: is that of the auditor {receipt.auditor}, wanted that of {auditor.hex()}")
    if not receipt.is_signed:
        raise InputError(f"receipt: is not signed by the auditor {receipt.auditor} as it stands")
    if not receipt.passed:
        raise InputError("receipt: says that the audit did not pass, wanted that of one that did")
    if fault := _fault(folder, receipt):
        raise InputError(f"receipt: is not about run folder {folder}: {fault}")


def _fault(folder: Path, receipt: Receipt) -> str | None:
    """What of this folder is not what was audited. What the receipt does not list, the audited release may state."""
    stated = read_document(folder).digests.named
    needed = {RELEASE, SHARES} & {RELEASE, *stated}
    for name in FILES:
        if name not in needed and not os.path.lexists(folder / name):
            continue
        content = content_of(folder, name)
        if hashlib.sha256(content).hexdigest() != receipt.files.get(name, stated.get(name)):
            return f"{name} is not the file that was audited"
        if name == TRANSCRIPT and _session(content) != receipt.session:
            return f"{name} is the record of another session than the receipt states"
    return None


def _session(transcript: bytes) -> object:
    return read_head(transcript.partition(b"\n")[0], TRANSCRIPT).get("session")

"""Approvals of a study: what each participant signs, and the nonce of the session that follows from all of them.

A study names every participant under an identity. Each participant signs its digest with 32 random bytes of its own;
the digest of all approvals, in the order of the session, is the nonce of the session. So nobody chose the nonce alone,
and a transcript shows who agreed to what. The rules here are for sites and for audits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from protocols.crypto.identity import SIGNATURE_BYTES, verify
from protocols.curator import CURATOR_NAME
from protocols.errors import LocalError
from protocols.runtime.session import Session
from smc_dp.core import reading
from smc_dp.core.documents import canonical_line
from smc_dp.core.errors import Fault, InputError, InputFault, shown
from smc_dp.run.agreement import Agreement, SettledRun
from smc_dp.run.release import STUDY
from smc_dp.run.transcript_header import APPROVALS

RANDOM_BYTES = STUDY_DIGEST_BYTES = 32
_SIGNED, _JOINT = b"smc-dp approval 1", b"smc-dp approvals 1"
_KEYS = {"study", "name", "random", "signature"}
_OPTIONAL = {"threshold", "witnesses_needed"}
_STUDY = {"title", "purpose", "relay", "insecure_test_keys", "auxiliary", "deadlines", "format"}
_AGREED = {"method", "target", "protocol", "parties", "curator", "bounds"}


def approval_text(study: str, name: str, random: str) -> bytes:
    """Return the text that a participant signs: digest of the study, own name, random bytes, in hexadecimal."""
    return b"\n".join([_SIGNED, study.encode(), name.encode(), random.encode()])


def joint_nonce(approvals: Iterable[bytes]) -> bytes:
    """Return the nonce of a session that follows from the texts of all approvals, in the order of the session."""
    digest = hashlib.sha256(_JOINT)
    for approval in approvals:
        digest.update(hashlib.sha256(approval).digest())
    return digest.digest()


def approval_fault(
    study: bytes | None, agreement: Agreement, head: Mapping[str, Any], session: Session
) -> Fault | None:
    """Return the fault of the approvals on line 0 and the study beside a release; None also where there is neither."""
    if APPROVALS not in head:
        if study is None:
            return None
        return InputFault("study.without_approvals")
    if study is None:
        return InputFault("study.missing")
    return _study_fault(study, approved_study(head, session), agreement, session)


def approved_study(head: Mapping[str, Any], session: Session) -> str:
    """Return the digest of the study of which everybody in this session approved, as line 0 states it.

    Raises InputError unless there is one approval of each participant in their order, all of one study, each signed by
    the identity that is pinned for it, and the session's nonce follows from them.
    """
    approvals = [_read(approval) for approval in reading.require_list(APPROVALS, head.get(APPROVALS))]
    names = [approval["name"] for approval in approvals]
    if names != list(session.names):
        raise InputError("approvals.other_names", names=session.names, got=shown(names))
    study = approvals[0]["study"]
    for found in approvals:
        name = found["name"]
        if found["study"] != study:
            raise InputError("approvals.another_study", name=name, names=names[0])
        signed = approval_text(study, name, found["random"])
        if not verify(session.identities[name], signed, bytes.fromhex(found["signature"])):
            raise InputError("approvals.not_signed", name=name)
    if joint_nonce(map(canonical_line, approvals)) != session.nonce:
        raise InputError("approvals.other_nonce")
    return study


def _read(approval: object) -> dict[str, str]:
    found = reading.require_object("approvals", approval)
    reading.require_keys("approvals", found, _KEYS)
    reading.require_text("approvals: name", found["name"])
    for field, length in (("study", STUDY_DIGEST_BYTES), ("random", RANDOM_BYTES), ("signature", SIGNATURE_BYTES)):
        reading.require_hex(f"approvals: {field}", found[field], length)
    return found


def _study_fault(content: bytes, digest: str, agreement: Agreement, session: Session) -> Fault | None:
    """Return the fault of a study that not everybody approved, or that differs from the agreement or the session."""
    if hashlib.sha256(content).hexdigest() != digest:
        return InputFault("study.not_approved")
    stated = reading.parse_object(content, STUDY)
    reading.require_keys(STUDY, stated, _STUDY | _AGREED, _OPTIONAL)
    if _identities(stated) != [(name, session.identities[name].hex()) for name in session.names]:
        return InputFault("study.other_participants")
    if stated["bounds"] != json.loads(json.dumps(agreement.bounds.as_dict())):
        return InputFault("study.other_bounds")
    if stated["auxiliary"] != (agreement.auxiliary.digest if agreement.auxiliary else None):
        return InputFault("study.other_public_rows")
    if _agreement(stated, agreement).digest == agreement.digest:
        return None
    return InputFault("study.other_parameters")


def _identities(stated: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return names and keys in the order of the session: parties first, then the curator if there is one."""
    parties = [reading.require_object("parties", party) for party in reading.require_list("parties", stated["parties"])]
    found = [(party.get("name"), party.get("key")) for party in parties]
    if stated["curator"] is not None:
        found.append((CURATOR_NAME, reading.require_object("curator", stated["curator"]).get("key")))
    return [(reading.require_text("parties", name), reading.require_text("parties", key)) for name, key in found]


def _agreement(stated: Mapping[str, Any], released: Agreement) -> Agreement:
    """Return the agreement of a study with the bounds and public rows of this release; InputError for none."""
    sections = {name: reading.require_object(name, stated[name]) for name in ("method", "target", "protocol")}
    try:
        settled = SettledRun.from_sections(sections)
        return settled.with_parties(released.parties, released.bounds, released.auxiliary)
    except LocalError as error:
        raise InputError(error.fault.within(STUDY)) from None

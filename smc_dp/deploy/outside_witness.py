"""Outside witness of a ledger over HTTP, as C2SP tlog-witness has it: a head is posted, and comes back cosigned.

The answer to a head that does not begin with what the witness has seen is the number of entries that it has seen, and
the head is posted again with the proof from there. Nothing in an answer counts but a cosignature by the key that the
site has configured. So whoever sits between can keep a cosignature away, and make none. A number is a word of the
witness alone: it can refuse a ledger by a false one, so a site names witnesses that it trusts with that.
"""

from __future__ import annotations

from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from protocols.crypto.identity import Signer
from smc_dp.core.errors import InputError, one_line
from smc_dp.privacy.ledger.head import HeadRequest
from smc_dp.privacy.ledger.history import History
from smc_dp.privacy.ledger.signed_note import SignedNote, VerifierKey, read_size

NOT_COSIGNED = ("outside.unreachable", "outside.refused", "outside.no_cosignature")
"""Codes of a witness that says nothing about the ledger."""
_SECONDS, _MOST_ANSWER_BYTES, _ATTEMPTS = 30.0, 1 << 13, 3
_OTHER_SIZE, _NOT_EXTENDED, _COSIGNED = 409, 422, 200


def check_address(url: str) -> str:
    """Return the submission prefix of a witness; InputError for a text that is none."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise InputError("outside.no_address", got=url)
    return url.rstrip("/")


def ask_witness(url: str, key: VerifierKey, history: History, signer: Signer, study: str) -> SignedNote:
    """Return the head of a ledger for a study, cosigned by the witness at this address.

    InputError for a ledger that the witness has seen further (`head.fewer_entries`) or with other entries
    (`outside.not_extended`), and with a code of `NOT_COSIGNED` for any other answer.
    """
    old = 0
    for _ in range(_ATTEMPTS):
        request = HeadRequest.make(history, signer, old, study)
        status, body = _post(url, request.encode())
        if status == _OTHER_SIZE and (seen := _size(url, body)) != old:
            old = seen  # the next request has the proof from there, or the ledger has fewer entries
        elif status in (_OTHER_SIZE, _NOT_EXTENDED):
            raise InputError("outside.not_extended", name=key.name, seen=old)
        elif status == _COSIGNED:
            return _cosigned(url, key, request.note, body)
        else:
            raise InputError("outside.refused", url=url, status=status)
    raise InputError("outside.refused", url=url, status=_OTHER_SIZE)


def _post(url: str, content: bytes) -> tuple[int, bytes]:
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    try:
        with closing(kind(parts.hostname or "", parts.port, timeout=_SECONDS)) as line:
            line.request("POST", f"{parts.path}/add-checkpoint", content)
            answer = line.getresponse()
            return answer.status, answer.read(_MOST_ANSWER_BYTES)
    except (OSError, ValueError, HTTPException) as error:
        raise InputError("outside.unreachable", url=url, why=one_line(str(error))) from None


def _size(url: str, body: bytes) -> int:
    try:
        return read_size(body.decode("ascii", "replace").removesuffix("\n"))
    except InputError:
        raise InputError("outside.refused", url=url, status=_OTHER_SIZE) from None


def _cosigned(url: str, key: VerifierKey, note: SignedNote, lines: bytes) -> SignedNote:
    """Return a head with the cosignature of the witness, and no other line of its answer."""
    try:
        found = key.signature_in(SignedNote.read(note.encode() + lines))
    except InputError:
        found = None
    if found is None:
        raise InputError("outside.no_cosignature", url=url, name=key.name)
    return note.signed(found)

"""Outside witness of a ledger over HTTP, as C2SP tlog-witness has it: a head is posted, and comes back cosigned.

The answer to a head that does not begin with what the witness has seen is the number of entries that it has seen, and
the head is posted again with the proof from there. Nothing in an answer counts but a cosignature by the key that the
site has configured. So an attacker on the way can keep a cosignature away, and make none. A number is a word of the
witness alone: it can refuse a ledger by a false one, so a site names witnesses that it trusts with that. Of later
numbers only larger ones count, or the one of all entries that the ledger has.
"""

from __future__ import annotations

import re
import socket
import threading
import time
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from protocols.crypto.identity import Signer
from smc_dp.core.errors import InputError, one_line, shown
from smc_dp.privacy.ledger.head import HeadRequest
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.privacy.ledger.signed_note import SignedNote, VerifierKey, read_size

NOT_COSIGNED = ("outside.unreachable", "outside.refused", "outside.no_cosignature")
"""Codes of a witness that says nothing about the ledger."""
_SECONDS, _MOST_ANSWER_BYTES, _ATTEMPTS = 30.0, 1 << 13, 3
_OTHER_SIZE, _NOT_EXTENDED, _COSIGNED = 409, 422, 200
_ADDRESS = re.compile(r"https?://[!-~]+")


def check_address(url: str) -> str:
    """Return the submission prefix of a witness; InputError for a text that is none.

    Only a witness on this machine may have an address without encryption.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:  # a port that is no number, half of an IPv6 address
        host, port = None, None
    if not host or port == 0 or not _ADDRESS.fullmatch(url) or re.search("[?#@]", url):
        raise InputError("outside.no_address", got=shown(url))
    if parts.scheme == "http" and not _is_loopback(host):
        raise InputError("outside.not_encrypted", got=shown(url))
    return url.rstrip("/")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def ask_witness(
    url: str, key: VerifierKey, ledger: Path, signer: Signer, study: str, seconds: float = _SECONDS
) -> SignedNote:
    """Return the head of a ledger for a study, cosigned by the witness at this address.

    The ledger is read for each request, as another study may charge it meanwhile. seconds: deadline of each connection,
    and of each exchange over one.

    InputError for a ledger that the witness has seen further (`head.fewer_entries`) or with other entries
    (`outside.not_extended`), and with a code of `NOT_COSIGNED` for any other answer.
    """
    old, place = 0, f"ledger {ledger}: witness {key.name} at {url}"
    for _ in range(_ATTEMPTS):
        with Ledger.open(ledger) as opened:
            history = opened.history()
        try:
            request = HeadRequest.make(history, signer, old, study)
        except InputError as error:
            raise error.within(place) from None
        status, body = _post(url, request.encode(), seconds)
        seen = _size(url, body) if status == _OTHER_SIZE else old
        if seen > old:
            old = seen  # the next request has the proof from there, or the ledger has fewer entries
        elif status == _COSIGNED:
            return _cosigned(url, key, request.note, body)
        elif (status == _NOT_EXTENDED and old) or (status == _OTHER_SIZE and seen == old == request.head.size):
            raise InputError("outside.not_extended", seen=old).within(place)
        else:
            break
    raise InputError("outside.refused", url=url, status=status)


def _post(url: str, content: bytes, seconds: float) -> tuple[int, bytes]:
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    try:
        with closing(kind(parts.hostname or "", parts.port, timeout=seconds)) as line:
            line.connect()
            return _exchange(line, f"{parts.path}/add-checkpoint", content, seconds)
    except (OSError, ValueError, HTTPException) as error:
        raise InputError("outside.unreachable", url=url, why=one_line(str(error))) from None


def _exchange(line: HTTPConnection, path: str, content: bytes, seconds: float) -> tuple[int, bytes]:
    """Return status and content of the answer to a request; an OSError or HTTPException where it is not whole in time.

    The timeout of a connection is for each read. A server that sends byte by byte never comes to it.
    """
    deadline = time.monotonic() + seconds
    timer = threading.Timer(seconds, _end, [line.sock])
    timer.start()
    try:
        line.request("POST", path, content)
        with closing(line.getresponse()) as answer:  # it holds the socket, too
            found = answer.status, answer.read(_MOST_ANSWER_BYTES)
    finally:
        timer.cancel()
    if time.monotonic() >= deadline:  # the answer may have been cut
        raise TimeoutError(f"no whole answer in {seconds:g} seconds")
    return found


def _end(line: socket.socket) -> None:
    with suppress(OSError):  # closed by now
        socket.socket.shutdown(line, socket.SHUT_RDWR)  # that of TLS would change what another thread is reading


def _size(url: str, body: bytes) -> int:
    try:
        return read_size(body.decode("ascii", "replace").removesuffix("\n"))
    except InputError:
        raise InputError("outside.refused", url=url, status=_OTHER_SIZE) from None


def _cosigned(url: str, key: VerifierKey, note: SignedNote, lines: bytes) -> SignedNote:
    """Return a head with the cosignature of the witness, and no other line of its answer."""
    try:
        answer = SignedNote.read(note.encode() + lines)
        found = key.signature_in(answer) if answer.text == note.text else None  # an empty line would end another text
    except InputError:
        found = None
    if found is None:
        raise InputError("outside.no_cosignature", url=url, name=key.name)
    return note.signed(found)

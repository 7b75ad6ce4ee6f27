"""What an audit looks at, read with suspicion: a run folder, pinned identities, views. Data of strangers, not code.

Every file is bounded in size and must be a plain file inside its folder; every value is looked at before it is used.
What cannot be read at all raises InputError; what can be read and is wrong is kept as it is, for a check to find.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from protocols import programs
from protocols.crypto.identity import PUBLIC_BYTES
from protocols.errors import LocalError, ReplayError
from protocols.programs import Protocol
from protocols.runtime.channel import Envelope
from protocols.runtime.limits import Limits
from protocols.runtime.session import SESSION_BYTES, Session
from protocols.runtime.transcript import Line, read_envelope
from protocols.runtime.view import MAX_VIEW_BYTES, RecordedView, recompute
from protocols.runtime.view import Recomputed as Recomputed
from smc_dp.errors import InputError, shown
from smc_dp.files import reading
from smc_dp.run.folder import RELEASE, SHARES, TRANSCRIPT
from smc_dp.run.identities import read_identities

# What an audit looks at must fit into 2 GB of memory, whatever stands in it.
MAX_BYTES = 1 << 28  # of the record
MAX_JSON_BYTES = 1 << 25  # of any other file but a view
_MAX_LINES, _MAX_LINE_VALUES, _MAX_VALUES = 1 << 16, 64, 1 << 22
_MAX_VIEWS_BYTES = 1 << 27
_SHOWN = 300  # characters of what the protocol says of its parameters
_HEXADECIMAL = re.compile("[0-9a-f]*")
_HEAD = {
    *("n", "from", "to", "kind", "size", "prev", "digest"),
    *("protocol", "version", "session", "parameters", "identities", "nonce", "topology", "insecure"),
}


@dataclass(frozen=True, repr=False)
class Evidence:
    """All that an audit was given.

    `files`: the raw bytes of the run folder by name. `release`, `shares`: the JSON objects in two of them. `text`: the
    wire record, `head` its line 0, `envelopes` the messages on those of its other lines that can be read, by line.
    `session` is what line 0 describes (whether its id is the stated one is for a check). `pinned`: identities known
    from elsewhere, or None. `views`: by role.
    """

    folder: Path
    files: Mapping[str, bytes]
    release: Mapping[str, Any]
    shares: Mapping[str, Any]
    text: str
    head: Line
    lines: tuple[Any, ...]
    envelopes: Mapping[int, Envelope]
    protocol: Protocol
    session: Session
    pinned: Mapping[str, bytes] | None
    views: Mapping[str, RecordedView]

    @cached_property
    def recomputed(self) -> Mapping[str, Recomputed]:
        """What follows from each view and the record: made once, because it costs as much as the role did."""
        return {name: recompute(self.session, view, self.envelopes) for name, view in self.views.items()}


def load(folder: Path, identities: Path | None = None, views: Path | None = None) -> Evidence:
    """Read it all; raises InputError for what cannot be read, naming the file."""
    limits = {RELEASE: MAX_JSON_BYTES, SHARES: MAX_JSON_BYTES, TRANSCRIPT: MAX_BYTES}
    files = {name: reading.read_file(folder / name, limit) for name, limit in limits.items()}
    release, shares = (reading.parse_object(files[name], str(folder / name)) for name in (RELEASE, SHARES))
    where = str(folder / TRANSCRIPT)
    try:
        text = files[TRANSCRIPT].decode("ascii")
    except UnicodeDecodeError:
        raise InputError(f"{where}: wanted ASCII text") from None
    if text.count("\n") > _MAX_LINES or _values(text) > _MAX_VALUES:
        raise InputError(f"{where}: has more than {_MAX_LINES} lines or {_MAX_VALUES} values")
    first, *rest = text.removesuffix("\n").split("\n")
    head = reading.parse_object(first.encode(), f"{where} line 0")
    protocol, session = _session(head, f"{where} line 0")
    lines = tuple(_json(line) for line in rest)
    envelopes = {n: e for n, line in enumerate(lines, start=1) if (e := _envelope(session, line)) is not None}
    pinned = None if identities is None else read_identities(identities)
    return Evidence(
        folder, files, release, shares, text, head, lines, envelopes, protocol, session, pinned,
        {} if views is None else _views(views, session, protocol.limits),
    )  # fmt: skip


def _session(head: dict[str, Any], where: str) -> tuple[Protocol, Session]:
    reading.keys(where, head, _HEAD)
    parameters = reading.mapping(f"{where}: parameters", head["parameters"])
    protocol = _protocol(where, head["protocol"], head["version"])
    _refuse_beyond(where, parameters, protocol.limits)
    stated = reading.mapping(f"{where}: identities", head["identities"])
    identities = {name: _bytes(f"{where}: {shown(name)}", key, PUBLIC_BYTES) for name, key in stated.items()}
    try:
        made = _made(protocol, parameters)
        nonce = _bytes(f"{where}: nonce", head["nonce"], SESSION_BYTES)
        json.dumps(parameters, ensure_ascii=False).encode()  # not every text of JSON can be, and the id is a hash
        return protocol, Session(protocol.program, made, identities, nonce)
    except LocalError as error:
        raise InputError(f"{where}: {str(error)[:_SHOWN]}") from None
    except UnicodeEncodeError:
        raise InputError(f"{where}: holds a text that is no text of characters") from None


def _protocol(where: str, name: object, version: object) -> Protocol:
    if not isinstance(name, str) or type(version) is not int:
        raise InputError(f"{where}: wanted a protocol's name and version, got {shown(name)} and {shown(version)}")
    try:
        return programs.find(name, version)
    except LocalError as error:
        raise InputError(f"{where}: {str(error)[:_SHOWN]}") from None


def _made(protocol: Protocol, parameters: Mapping[str, Any]) -> Any:
    """The parameters as this protocol has them; raises `LocalError` for others."""
    if protocol.program.parameters is None:
        raise LocalError(f"{protocol.program.name} has no parameters that could be read back")
    return protocol.program.parameters.from_dict(parameters)


def _refuse_beyond(where: str, parameters: Mapping[str, Any], limits: Limits) -> None:
    """Figures so large that working with them would take all day are no run of anybody's."""
    for name, most in limits.largest.items():
        if type(parameters.get(name)) is not int or not 1 <= parameters[name] <= most:
            raise InputError(f"{where}: {name}: wanted 1 to {most}, got {shown(parameters.get(name))}")
    if len(reading.texts(f"{where}: parties", parameters.get("parties"))) > limits.parties:
        raise InputError(f"{where}: wanted at most {limits.parties} parties")


def _bytes(where: str, value: object, length: int) -> bytes:
    if isinstance(value, str) and len(value) == 2 * length and _HEXADECIMAL.fullmatch(value):
        return bytes.fromhex(value)
    raise InputError(f"{where}: wanted {2 * length} hexadecimal digits, got {shown(value)}")


def _json(line: str) -> Any:
    """The value on a line, or None: a check will find that the line is not what it should be."""
    if _values(line) > _MAX_LINE_VALUES:
        return None
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _values(text: str) -> int:
    """A bound on the values in a JSON text."""
    return sum(text.count(mark) for mark in (",", "[", "{"))


def _envelope(session: Session, line: Any) -> Envelope | None:
    try:
        envelope = read_envelope(session.id, line)
        envelope.encode()
    except (ArithmeticError, ValueError):  # an integer or a text that CBOR cannot hold
        return None
    return envelope


def _views(folder: Path, session: Session, limits: Limits) -> dict[str, RecordedView]:
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(".view"))
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}") from None
    most, keys = limits.parties + 1, limits.keys
    if not names or len(names) > most:
        raise InputError(f"{folder}: wanted 1 to {most} files that end in .view, got {len(names)}")
    if keys is not None and keys.bits(session.parameters) > keys.replayed:
        raise InputError(f"{folder}: views are replayed up to {keys.replayed} {keys.parameter} only")
    views: dict[str, RecordedView] = {}
    left = _MAX_VIEWS_BYTES
    for name in names:
        content = reading.read_file(folder / name, min(MAX_VIEW_BYTES, left))
        left -= len(content)
        try:
            view = RecordedView.loads(content, session)
        except ReplayError as error:
            raise InputError(f"{folder / name}: {error}") from None
        if view.role in views:
            raise InputError(f"{folder / name}: there is a view of {view.role} already")
        views[view.role] = view
    return views

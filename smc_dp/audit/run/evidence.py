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
from protocols.runtime.envelope import Envelope
from protocols.runtime.limits import Limits
from protocols.runtime.session import FORMAT, SESSION_BYTES, Session
from protocols.runtime.transcript import Line
from protocols.runtime.view import MAX_VIEW_BYTES, RecordedView, recompute
from protocols.runtime.view import Recomputed as Recomputed
from smc_dp.audit.run.record import Absence, Lines, parsed
from smc_dp.errors import InputError, shown
from smc_dp.files import reading
from smc_dp.run.folder import RELEASE, SHARES, TRANSCRIPT
from smc_dp.run.identities import read_identities

# What an audit looks at must fit into 2 GB of memory, whatever stands in it.
MAX_BYTES = 1 << 28  # of the record
MAX_JSON_BYTES = 1 << 25  # of any other file but a view
_MAX_REPLAYED = 1 << 18  # lines of a record beside which views are read: what views open stays in memory
_MAX_VIEWS_BYTES = 1 << 27
_SHOWN = 300  # characters of what the protocol says of its parameters
_HEXADECIMAL = re.compile("[0-9a-f]*")
_HEAD = {
    *("n", "from", "to", "kind", "size", "prev", "digest", "format"),
    *("protocol", "version", "session", "parameters", "identities", "nonce", "topology", "insecure"),
}


@dataclass(frozen=True, repr=False)
class Evidence:
    """All that an audit was given.

    `files`: the raw bytes of the run folder by name. `release`, `shares`: the JSON objects in two of them. `head` is
    line 0 of the wire record, `lines` are the others; `envelopes` and `absences` hold, by line, the messages on those
    that can be read and who went on without a letter. `session` is what line 0 describes (whether its id is the stated
    one is for a check). `pinned`: identities known from elsewhere, or None. `views`: by role.
    """

    folder: Path
    files: Mapping[str, bytes]
    release: Mapping[str, Any]
    shares: Mapping[str, Any]
    head: Line
    lines: Lines
    envelopes: Mapping[int, Envelope]
    absences: Mapping[int, Absence]
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
    lines, head = _read(files[TRANSCRIPT], where)
    protocol, session = _session(head, f"{where} line 0")
    envelopes, absences = parsed(session, lines)
    pinned = None if identities is None else read_identities(identities)
    if views is not None and len(lines) > _MAX_REPLAYED:
        raise InputError(f"{views}: views are replayed beside records of up to {_MAX_REPLAYED} lines only")
    return Evidence(
        folder, files, release, shares, head, lines, envelopes, absences, protocol, session, pinned,
        {} if views is None else _views(views, session, protocol.limits),
    )  # fmt: skip


def _read(content: bytes, where: str) -> tuple[Lines, dict[str, Any]]:
    """The lines of a record, and its line 0, which is of this program's format."""
    if not content.isascii():
        raise InputError(f"{where}: wanted ASCII text")
    try:
        lines = Lines(content)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    head = reading.parse_object(lines.text(0), f"{where} line 0")
    if "format" not in head:
        raise InputError(f"{where}: states no wire format, this program reads {FORMAT}")
    if type(head["format"]) is not int or head["format"] != FORMAT:
        raise InputError(f"{where}: has wire format {shown(head['format'])}, this program reads {FORMAT}")
    return lines, head


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

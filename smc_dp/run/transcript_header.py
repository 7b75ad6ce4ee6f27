"""Header (line 0) of a transcript, read with suspicion: its protocol and the session that it describes.

Every signature in the transcript is over the id of that session, which is a hash of all that stands there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from protocols import programs
from protocols.crypto.identity import PUBLIC_BYTES
from protocols.errors import LocalError
from protocols.programs import Protocol
from protocols.runtime.protocol import Limits
from protocols.runtime.session import FORMAT, SESSION_BYTES, Session
from smc_dp.core import reading
from smc_dp.core.errors import FieldValue, InputError, InputFault, shown

APPROVALS = "approvals"
"""Key of line 0 with the participants' approvals of a study."""
NOTICES = "notices"
"""Key of line 0 with the participants' last status messages, which state their absences."""
_SHOWN = 300  # characters of what the protocol says of its parameters
_KEYS = {
    *("n", "from", "to", "kind", "size", "prev", "digest", "format"),
    *("protocol", "version", "session", "parameters", "identities", "nonce", "topology", "insecure"),
}


def read_head(text: bytes, where: str) -> dict[str, Any]:
    """Return the JSON object on line 0 of a transcript; raise an InputError for another wire format."""
    head = reading.parse_object(text, f"{where} line 0")
    if "format" not in head:
        raise _refused(where, "transcript.no_format", wanted=FORMAT)
    if type(head["format"]) is not int or head["format"] not in (FORMAT, programs.LAST_FORMAT):
        raise _refused(where, "transcript.other_format", got=shown(head["format"]), wanted=FORMAT)
    if head["format"] == programs.LAST_FORMAT:
        raise _refused(
            where, "transcript.earlier_format", wanted=FORMAT, got=head["format"], reads=programs.LAST_RELEASE
        )
    return head


def read_session(head: Mapping[str, Any], where: str) -> tuple[Protocol, Session]:
    """Return the protocol and the session that line 0 describes; raise an InputError for what is no session.

    The id that line 0 states is not compared.
    """
    reading.require_keys(where, head, _KEYS, {APPROVALS, NOTICES})
    parameters = reading.require_object(f"{where}: parameters", head["parameters"])
    protocol = _protocol(where, head["protocol"], head["version"])
    refuse_beyond(where, parameters, protocol.limits)
    stated = reading.require_object(f"{where}: identities", head["identities"])
    identities = {
        name: reading.require_hex(f"{where}: {shown(name)}", key, PUBLIC_BYTES) for name, key in stated.items()
    }
    try:
        made = _made(protocol, parameters)
        nonce = reading.require_hex(f"{where}: nonce", head["nonce"], SESSION_BYTES)
        json.dumps(parameters, ensure_ascii=False).encode()  # not every text of JSON can be, and the id is a hash
        return protocol, Session(protocol.program, made, identities, nonce)
    except LocalError as error:
        raise InputError("transcript.no_session", where=where, why=str(error)[:_SHOWN]) from None
    except UnicodeEncodeError:
        raise _refused(where, "transcript.no_characters") from None


def _refused(where: str, code: str, **fields: FieldValue) -> InputError:
    return InputError(InputFault(code, fields, f"{where}: "))


def _protocol(where: str, name: object, version: object) -> Protocol:
    if not isinstance(name, str) or type(version) is not int:
        raise _refused(where, "transcript.no_protocol", got=shown(name), version=shown(version))
    try:
        return programs.find_protocol(name, version)
    except LocalError as error:
        raise InputError("transcript.unknown_protocol", where=where, why=str(error)[:_SHOWN]) from None


def _made(protocol: Protocol, parameters: Mapping[str, Any]) -> Any:
    """Return the parameters as this protocol has them; raise a `LocalError` for others."""
    if protocol.program.parameters is None:
        raise LocalError("protocol.parameters_unreadable", name=protocol.program.name)
    return protocol.program.parameters.from_dict(parameters)


def refuse_beyond(where: str, parameters: Mapping[str, Any], limits: Limits) -> None:
    """Raise an InputError for parameters beyond the limits of a protocol, with which work would take too long."""
    for name, most in limits.largest.items():
        if name in limits.may_be_absent and name not in parameters:
            continue
        least = 0 if name in limits.may_be_zero else 1
        if type(parameters.get(name)) is not int or not least <= parameters[name] <= most:
            raise _refused(
                where, "parameters.out_of_range", name=name, least=least, most=most, got=shown(parameters.get(name))
            )
    if len(reading.require_texts(f"{where}: parties", parameters.get("parties"))) > limits.parties:
        raise _refused(where, "parameters.too_many_parties", most=limits.parties)

"""What the documents of a deployment have in common: read with suspicion, every fault said at once, in plain words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from smc_dp.errors import InputError, shown
from smc_dp.files import reading
from smc_dp.files.toml import parse_toml

_MOST_BYTES = 1 << 22
_MOST_FAULTS = 50
_WANTED = MappingProxyType(
    {
        "string_type": "a text",
        "int_type": "a whole number",
        "bool_type": "true or false",
        "list_type": "a list",
        "tuple_type": "a list",
        "dict_type": "a section",
        "model_type": "a section",
        "mapping_type": "a section",
    }
)
"""What a field should have been, by what the validation calls the fault."""


class UnfitError(InputError):
    """Everything that does not fit: `faults`, each a plain sentence; the message has all of them."""

    def __init__(self, where: str, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        count = "" if len(self.faults) == 1 else f"{len(self.faults)} things do not fit: "
        super().__init__(f"{where}: {count}{'; '.join(self.faults)}")


class Document(BaseModel):
    """A typed document, never changed after it was read, with nothing in it that its schema does not name."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)


Read = TypeVar("Read", bound=Document)


def read_document(kind: type[Read], path: Path, what: str) -> Read:
    """The document in a TOML file; `UnfitError` with every fault, an InputError for a file that cannot be read."""
    where = f"{what} {path}"
    content = reading.read_file(path, _MOST_BYTES, where=where)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{where}: is not UTF-8 text") from None
    return parsed(kind, text, where)


def parsed(kind: type[Read], text: str, where: str) -> Read:
    """The document in a text of TOML; `UnfitError` with every fault, an InputError for what is no TOML."""
    try:
        found = parse_toml(text)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return validated(kind, found, where)


def validated(kind: type[Read], found: Mapping[str, Any], where: str) -> Read:
    """The document in these values; `UnfitError` with every fault."""
    try:
        return kind.model_validate(found)
    except ValidationError as error:
        faults = list(_faults(error))
        more = [f"and {len(faults) - _MOST_FAULTS:,} more"] if len(faults) > _MOST_FAULTS else []
        raise UnfitError(where, faults[:_MOST_FAULTS] + more) from None


def canonical_text(document: object) -> bytes:
    """The one JSON text of these values."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _faults(error: ValidationError) -> Iterator[str]:
    for found in error.errors(include_url=False):
        cause = found.get("ctx", {}).get("error")
        place = _place(found["loc"])
        if isinstance(cause, UnfitError):
            yield from (f"{place}{fault}" for fault in cause.faults)
        elif isinstance(cause, InputError):
            yield f"{place}{cause}"
        elif found["type"] == "missing":
            yield f"{place}is missing"
        elif found["type"] == "extra_forbidden":
            yield f"{_place(found['loc'][:-1])}unknown key {shown(found['loc'][-1])}"
        elif found["type"] == "literal_error":
            yield f"{place}wanted {found['ctx']['expected']}, got {shown(found.get('input'))}"
        else:
            wanted = _WANTED.get(found["type"], f"something else ({found['type']})")
            yield f"{place}wanted {wanted}, got {shown(found.get('input'))}"


def _place(path: Iterable[int | str]) -> str:
    """`parties 2: key: ` for the key of the second party."""
    words: list[str] = []
    for step in path:
        if isinstance(step, int) and words:
            words[-1] += f" {step + 1}"
        else:
            words.append(str(step)[:40])
    return "".join(f"{word}: " for word in words)

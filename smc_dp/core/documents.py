"""Typed documents of unknown origin: every fault is reported at once, in plain words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator

from smc_dp.core import kinds, reading
from smc_dp.core.errors import Fault, InputError, InputFault, UnfitError, shown
from smc_dp.core.toml import parse_toml

_MOST_BYTES = 1 << 22
_MOST_FAULTS = 50
_MOST_LOOKED_AT = 100_000
_MOST_KEYS = 1000  # of an object with named fields: an unknown key is a fault, which takes as much memory as a page
_SHOWN = 40  # characters of a key
PathStep: TypeAlias = int | str  # of the way to a value: the number of an item, or a key
CHOICE = "\0"
"""First character of the name of a choice between types, which says nothing of where a fault stands."""
_WANTED = MappingProxyType(  # what a field should have been, by what the validation calls the fault
    {
        "string_type": "a text",
        "string_unicode": "a text of characters",
        "int_type": "a whole number",
        "float_type": "a number",
        "finite_number": "a finite number",
        "bool_type": "true or false",
        "list_type": "a list",
        "tuple_type": "a list",
        "dict_type": "a section",
        "model_type": "a section",
        "mapping_type": "a section",
    }
)
_LIMITS = MappingProxyType({"greater_than_equal": ("least", "ge"), "less_than_equal": ("most", "le")})
_COUNTED = MappingProxyType({"too_short": ("least", "min_length"), "too_long": ("most", "max_length")})


class Document(BaseModel):
    """A typed document, never changed after it was read, with nothing in it that its schema does not name."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _has_few_keys(cls, found: object) -> object:
        return kinds.refuse_many_keys(found, _MOST_KEYS)

    @classmethod
    def place(cls, path: tuple[PathStep, ...]) -> str:
        """Return the place of a value for a message: `parties 2: key: ` for the key of the second party."""
        words: list[str] = []
        for step in path:
            if str(step).startswith(CHOICE):
                continue
            if isinstance(step, int) and words:
                words[-1] += f" {step + 1}"
            else:
                words.append(str(step)[:_SHOWN])
        return "".join(f"{word}: " for word in words)


Read = TypeVar("Read", bound=Document)


def read_document(kind: type[Read], path: Path, what: str) -> Read:
    """Read a document from a TOML file; `UnfitError` with every fault, an InputError for a file that is unreadable."""
    where = f"{what} {path}"
    content = reading.read_file(path, _MOST_BYTES, where=where)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("file.not_utf8").within(where) from None
    return parse_document(kind, text, where)


def parse_document(kind: type[Read], text: str, where: str) -> Read:
    """Read a document from a text of TOML; `UnfitError` with every fault, an InputError for what is no TOML."""
    try:
        found = parse_toml(text)
    except InputError as error:
        raise error.within(where) from None
    return validate_document(kind, found, where)


def validate_document(kind: type[Read], found: object, where: str) -> Read:
    """Return the document of these values; `UnfitError` with every fault."""
    try:
        return kind.model_validate(found)
    except ValidationError as error:
        faults = list(faults_in(kind, error))
        left = len(faults) - _MOST_FAULTS
        more: list[Fault] = [InputFault("document.more", {"left": left})] if left > 0 else []
        raise UnfitError(where, faults[:_MOST_FAULTS] + more) from None


def canonical_text(document: object) -> bytes:
    """Return the one JSON text of these values."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def canonical_line(document: object) -> bytes:
    """Return the one JSON text of these values as a line."""
    return canonical_text(document) + b"\n"


def readable(kind: type[Read], found: Mapping[str, Any]) -> tuple[Read, dict[str, Any]]:
    """Return a document of the fields that can be read, for the faults that show where some are read together.

    It lacks the attributes of all others: its `__dict__` says which it has. What is said in a section, or in each of a
    list of sections, that cannot be read whole comes beside it by the name of the field, with None for what of it
    cannot be read.
    """
    read, parts = dict[str, Any](), dict[str, Any]()
    for name, field in kind.model_fields.items():
        value, wanted = found.get(field.alias or name, field.default), cast(Any, field.annotation)
        for more in field.metadata:
            wanted = Annotated[wanted, more]
        try:
            read[name] = TypeAdapter(wanted).validate_python(value, strict=True)
        except ValidationError:
            parts[name] = _part(field.annotation, value)
    made = kind.model_construct()
    made.__dict__.clear()
    made.__dict__.update(read)
    return made, {name: part for name, part in parts.items() if part}


def _part(wanted: Any, value: object) -> Any:
    """Return what is said in a section, see `readable`; of a list that of each item."""
    if get_origin(wanted) is list and isinstance(value, list):
        return [_part(get_args(wanted)[0], item) for item in value[:_MOST_KEYS]]
    is_section = isinstance(wanted, type) and issubclass(wanted, Document)
    if not is_section or not isinstance(value, dict) or len(value) > _MOST_KEYS:
        return {}
    names = {field.alias or name: name for name, field in wanted.model_fields.items()}
    found = readable(wanted, value)[0].__dict__
    return {key: found.get(names[key]) if key in names else said for key, said in value.items()}


def faults_in(kind: type[Document], error: ValidationError) -> Iterator[Fault]:
    """Yield every fault that the validation found, or only that there are too many to look at."""
    if error.error_count() > _MOST_LOOKED_AT:
        yield InputFault("document.too_many", {"n": error.error_count()})
        return
    for found in error.errors(include_url=False):
        cause = found.get("ctx", {}).get("error")
        place = kind.place(found["loc"])
        if isinstance(cause, InputError):
            yield from (fault.within(place) for fault in cause.faults)
        elif found["type"] == "missing":
            needed = _keys_at(kind, found["loc"], required=True)
            wanted = f", wanted a section with at least {', '.join(needed)}" if needed else ""
            yield InputFault("document.missing", {"wanted": wanted}, place)
        elif found["type"] == "extra_forbidden":
            *path, key = found["loc"]
            known = _keys_at(kind, path)
            wanted = f", wanted one of {', '.join(map(shown, known))}" if known else ""
            yield InputFault("document.unknown_key", {"key": shown(key), "wanted": wanted}, kind.place(tuple(path)))
        else:
            fields = {"wanted": _wanted(found["type"], found.get("ctx", {})), "got": _got(found)}
            yield InputFault("document.wrong_value", fields, place)


def _keys_at(kind: type[Document], path: Iterable[PathStep], *, required: bool = False) -> tuple[str, ...]:
    """Return the keys of the section at this path; none where the schema does not name one section.

    `required`: those that a section needs which is missing; none where it is a list of sections that is missing.
    """
    wanted: Any = kind
    for step in path:
        if isinstance(step, str):
            fields = {field.alias or name: field.annotation for name, field in wanted.model_fields.items()}
            wanted = fields.get(step)
        sections = [one for one in (wanted, *get_args(wanted)) if isinstance(one, type) and issubclass(one, Document)]
        if len(sections) != 1 or (required and get_origin(wanted) is list):
            return ()
        wanted = sections[0]
    return tuple(
        field.alias or name for name, field in wanted.model_fields.items() if field.is_required() or not required
    )


def _wanted(kind: str, about: Mapping[str, Any]) -> str:
    """Describe the value that should have been there, by the name of the fault and what the validation says of it."""
    if kind == "literal_error":
        return str(about["expected"])
    if kind == "string_pattern_mismatch":
        return kinds.PATTERN_MEANINGS[about["pattern"]]
    if kind in _COUNTED:
        word, limit = _COUNTED[kind]
        return f"at {word} {about[limit]} value{'' if about[limit] == 1 else 's'}"
    if kind in _LIMITS:
        word, limit = _LIMITS[kind]
        return f"a number of at {word} {about[limit]:g}"
    return _WANTED.get(kind, f"something else ({kind})")


def _got(found: Mapping[str, Any]) -> str:
    return str(found["ctx"]["actual_length"]) if found["type"] in _COUNTED else shown(found.get("input"))

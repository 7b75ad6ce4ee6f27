"""Open lines of a drafted file of bounds: places where a person still has to say what no dictionary and no header says.

A place is open where "?" stands for a value. Among other texts "?" is a level like any other, as in files that write it
for an unknown occupation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from smc_dp.core.errors import Fault, InputFault
from smc_dp.core.toml import toml_key

OPEN = "?"
"""Text that stands for a value that a person has to fill in."""
_SHOWN = 40  # characters of a name
_CODES = MappingProxyType(
    {"column": "bounds.open_label", "classes": "bounds.open_classes", "range": "bounds.open_range"}
)


def open_lines(document: object) -> Iterator[Fault]:
    """Yield a fault for each open place of a parsed file of bounds, in the order of the file."""
    if not isinstance(document, Mapping):
        return
    for section, lines in document.items():
        if section in ("label", "columns") and isinstance(lines, Mapping):
            yield from (_fault(section, str(name)) for name, value in lines.items() if _is_open(section, value))


def _is_open(section: str, value: Any) -> bool:
    if isinstance(value, Mapping):
        value = value.get("bins")
    if not isinstance(value, list):
        return bool(value == OPEN)
    others = [item for item in value if item != OPEN]
    is_partly_said = section == "label" or not any(isinstance(item, str | bool) for item in others)
    return len(others) < len(value) and is_partly_said


def _fault(section: str, name: str) -> Fault:
    code = _CODES.get(name, "bounds.open_column") if section == "label" else "bounds.open_column"
    return InputFault(code, {"column": toml_key(name)}).within(f"[{section}] {name[:_SHOWN]}")

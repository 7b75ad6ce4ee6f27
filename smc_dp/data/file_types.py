"""Files of other programs, recognised by their first bytes or their ending, with a command that converts each."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from smc_dp.core.errors import Fault, InputFault

_TABLE = tomllib.loads(files("smc_dp.data").joinpath("file_types.toml").read_text(encoding="utf-8"))
_BY_ENDING = MappingProxyType({ending: one for one in _TABLE["type"] for ending in one["endings"]})
LONGEST_START = 8
"""Bytes of a file by which it is known."""
_LONGEST_NAME = 60


def of_another_program(path: Path, start: bytes) -> Fault | None:
    """Return the fault of a file that no table is read from, with what to do; None for any other file."""
    by_start = next((kind for mark, kind in _TABLE["starts"].items() if start.startswith(bytes.fromhex(mark))), "")
    if known := _BY_ENDING.get(path.suffix.lower()) or _BY_ENDING.get(by_start):
        return InputFault("file.other_program", {"what": known["what"], "how": _command(known, path)})
    for mark, name in _TABLE["packed"].items():
        if start.startswith(bytes.fromhex(mark)):
            return InputFault("file.packed", {"program": name})
    return None


def _command(known: Mapping[str, str], path: Path) -> str:
    """Return the command for this file, or for FILE where the name is long, as a shell takes it."""
    name = path.name if len(path.name) <= _LONGEST_NAME else f"FILE{path.suffix[:_LONGEST_NAME]}"
    stem = Path(name).stem
    quoted = {
        key: json.dumps(text) for key, text in (("name", name), ("csv", f"{stem}.csv"), ("parquet", f"{stem}.parquet"))
    }
    if code := known.get("python"):
        run = shlex.quote(code.format(**quoted))
        return f"`python -c {run}` (needs `pip install {known['needs']}`)"
    if code := known.get("r"):
        return f"`Rscript -e {shlex.quote(code.format(**quoted))}`"
    return known["how"].format(**quoted)

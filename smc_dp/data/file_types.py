"""Files of other programs, recognised by their first bytes or their ending: no table is read from them."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

from smc_dp.core.errors import Fault, InputFault

LONGEST_START = 8
"""Bytes of a file by which it is known."""
_BY_ENDING = MappingProxyType(
    {
        **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls"), "an Excel workbook"),
        **dict.fromkeys((".ods", ".fods"), "an OpenDocument workbook"),
        **dict.fromkeys((".feather", ".arrow", ".ipc"), "a Feather file"),
        **dict.fromkeys((".sas7bdat", ".xpt"), "a SAS file"),
        ".dta": "a Stata file",
        **dict.fromkeys((".sav", ".zsav"), "an SPSS file"),
        **dict.fromkeys((".rds", ".rdata", ".rda"), "an R file"),
        **dict.fromkeys((".json", ".ndjson", ".jsonl"), "a JSON file"),
    }
)
_BY_START = MappingProxyType(
    {
        b"PK\x03\x04": "a zip archive or an Excel workbook",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an Excel workbook",
        b"ARROW1": "a Feather file",
        b"FEA1": "a Feather file",
        b"BZh": "packed by bzip2",
        b"\xfd7zXZ\0": "packed by xz",
        b"(\xb5/\xfd": "packed by zstd",
        b"7z\xbc\xaf'\x1c": "packed by 7z",
    }
)


def of_another_program(path: Path, start: bytes) -> Fault | None:
    """Return the fault of a file that no table is read from; None for any other file."""
    by_start = (what for mark, what in _BY_START.items() if start.startswith(mark))
    what = _BY_ENDING.get(path.suffix.lower()) or next(by_start, None)
    return None if what is None else InputFault("file.other_program", {"what": what})

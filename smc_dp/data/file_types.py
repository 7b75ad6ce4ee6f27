"""Files of other programs, recognised by their first bytes or their ending, with a command that converts each."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

from smc_dp.core.errors import Fault, InputFault

_WORKBOOK = "pandas.read_excel({name!r}).to_csv({csv!r}, index=False)"
_TO_PARQUET = ".to_parquet({parquet!r})"
_BY_ENDING = MappingProxyType(
    {
        **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls"), ("an Excel workbook", _WORKBOOK)),
        **dict.fromkeys((".ods", ".fods"), ("an OpenDocument workbook", _WORKBOOK)),
        **dict.fromkeys(
            (".feather", ".arrow", ".ipc"), ("a Feather file", "pandas.read_feather({name!r})" + _TO_PARQUET)
        ),
        ".sas7bdat": ("a SAS file", "pandas.read_sas({name!r}, encoding='infer')" + _TO_PARQUET),
        ".xpt": ("a SAS file", "pandas.read_sas({name!r}, encoding='infer')" + _TO_PARQUET),
        ".dta": ("a Stata file", "pandas.read_stata({name!r}, convert_categoricals=False)" + _TO_PARQUET),
        **dict.fromkeys(
            (".sav", ".zsav"), ("an SPSS file", "pandas.read_spss({name!r}, convert_categoricals=False)" + _TO_PARQUET)
        ),
        ".rds": ("an R file", "write.csv(readRDS({name!r}), {csv!r}, row.names = FALSE) in R"),
        **dict.fromkeys((".rdata", ".rda"), ("an R file", "load({name!r}) and write.csv in R")),
        **dict.fromkeys((".json", ".ndjson", ".jsonl"), ("a JSON file", "pandas.read_json({name!r})" + _TO_PARQUET)),
    }
)
_BY_START = MappingProxyType(
    {b"PK\x03\x04": ".xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": ".xls", b"ARROW1": ".feather", b"FEA1": ".feather"}
)
_PACKED = MappingProxyType(
    {b"BZh": "bzip2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"7z\xbc\xaf\x27\x1c": "7z"}
)
LONGEST_START = 8
"""Bytes of a file by which it is known."""
_LONGEST_NAME = 60


def of_another_program(path: Path, start: bytes) -> Fault | None:
    """Return the fault of a file that no table is read from, with what to do; None for any other file."""
    ending = path.suffix.lower()
    by_start = next((kind for mark, kind in _BY_START.items() if start.startswith(mark)), None)
    if known := _BY_ENDING.get(ending) or _BY_ENDING.get(by_start or ""):
        what, how = known
        if by_start == ".xlsx" and ending not in _BY_ENDING:
            what, how = "a zip archive or an Excel workbook", f"unpack it, or {_WORKBOOK}"
        return InputFault("file.other_program", {"what": what, "how": _filled(how, path)})
    for mark, name in _PACKED.items():
        if start.startswith(mark):
            return InputFault("file.packed", {"program": name})
    return None


def _filled(how: str, path: Path) -> str:
    """Return the command for this file, or for FILE where the name is long."""
    name = path.name if len(path.name) <= _LONGEST_NAME else f"FILE{path.suffix[:_LONGEST_NAME]}"
    stem = Path(name).stem
    return how.format(name=name, csv=f"{stem}.csv", parquet=f"{stem}.parquet")

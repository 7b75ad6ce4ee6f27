"""Which kind of code book a file is, told by what it begins with; a file of rows is none, and is not read."""

from __future__ import annotations

from pathlib import Path

from smc_dp.core import reading
from smc_dp.core.errors import InputError
from smc_dp.data.dictionaries.data_dictionary import CodeBook
from smc_dp.data.dictionaries.parquet_schema import parquet_book
from smc_dp.data.dictionaries.redcap import redcap_book, separator_of_dictionary

_MOST_BYTES = 1 << 24  # of a code book, which is text
_FIRST = 1 << 16  # bytes that the first line of a dictionary fits into
_PARQUET = b"PAR1"
_MARK = b"\xef\xbb\xbf"  # the byte order mark of UTF-8
_WANTED = "wanted a REDCap data dictionary (CSV) or a Parquet file for its schema; else write the bounds by hand"


def read_codebook(path: Path) -> CodeBook:
    """The code book in a file; raises InputError, without a look beyond the first line where it is none."""
    source = f"code book {path}"
    with reading.plain_file(path, source) as file:
        first = file.read(_FIRST)
        if first.startswith(_PARQUET):
            return parquet_book(file, str(path.name))
    first = first.removeprefix(_MARK).lstrip()
    if first.startswith(b"{"):
        raise InputError("codebook.json", wanted=_WANTED).within(source)
    separator = separator_of_dictionary(first.splitlines()[0].decode("latin-1")) if first else None
    if separator is None:
        raise InputError("codebook.unknown", wanted=_WANTED).within(source)
    try:
        return redcap_book(_whole(path, source).decode("utf-8"), separator, path.name)
    except UnicodeDecodeError:
        raise InputError("codebook.not_utf8").within(source) from None


def _whole(path: Path, source: str) -> bytes:
    return reading.read_file(path, _MOST_BYTES, where=source, links=True).removeprefix(_MARK)

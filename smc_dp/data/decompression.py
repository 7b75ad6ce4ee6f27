"""What gzip packed, unpacked piece by piece: a thousandth of a gigabyte can stand for a gigabyte of nothing."""

from __future__ import annotations

import gzip
import zlib
from types import TracebackType
from typing import IO

from smc_dp.core.errors import InputError
from smc_dp.data.limits import TableLimits


class Unpacked:
    """The bytes that gzip packed into a file, as long as they are no more than a table's text may be."""

    def __init__(self, file: IO[bytes], source: str, limits: TableLimits) -> None:
        self._file, self._source, self._limits = gzip.GzipFile(fileobj=file, mode="rb"), source, limits

    def __enter__(self) -> Unpacked:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()  # the file itself stays open

    def read(self, size: int) -> bytes:
        """The next bytes, at most so many; InputError for what is no gzip, or too much."""
        try:
            found = self._file.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{self._source}: is packed by gzip and cannot be unpacked: {error}") from None
        self._limits.check_text(self._source, self._file.tell())
        return found

    def seek(self, position: int) -> int:
        """Go back to this byte."""
        return self._file.seek(position)

"""Files and JSON of unknown origin: functions return checked values, or raise InputError at the place `where`."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

from smc_dp.core.errors import InputError, shown

MAX_JSON_BYTES = 1 << 25  # of a file of JSON that is read whole
_MAX_BYTES = 1 << 30
_MAX_VALUES = 1 << 21  # of a JSON text: each becomes an object of some eighty bytes
_HEXADECIMAL = re.compile("[0-9a-f]*")


@contextmanager
def open_plain_file(path: Path, where: str, limit: int = _MAX_BYTES, *, links: bool = True) -> Iterator[BufferedReader]:
    """Open a plain file of at most `limit` bytes: no device, no pipe, nothing that could wait for ever.

    `links`: whether it may be a link to one. Raises InputError also for a failure to read inside the block.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | (0 if links else getattr(os, "O_NOFOLLOW", 0))
    try:
        handle = os.open(path, flags)
    except OSError as error:
        is_link = not links and error.errno == errno.ELOOP  # which is all that the system says of it
        why = "it is a link, wanted a plain file" if is_link else error.strerror
        raise InputError("file.unreadable", why=why).within(where) from None
    except ValueError:  # a zero in the name
        raise InputError("file.no_name").within(where) from None
    try:
        found = os.fstat(handle)
        if stat.S_ISDIR(found.st_mode):
            raise InputError("file.is_folder", why=os.strerror(errno.EISDIR)).within(where)
        if not stat.S_ISREG(found.st_mode):
            raise InputError("file.not_plain", kind=_what(found.st_mode)).within(where)
        if found.st_size > limit:
            raise InputError("file.too_large", most=limit).within(where)
        with os.fdopen(handle, "rb", closefd=False) as file:
            yield file
    except OSError as error:
        raise InputError("file.unreadable", why=error.strerror).within(where) from None
    finally:
        os.close(handle)


def _what(mode: int) -> str:
    kinds = {stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}
    return next((name for is_one, name in kinds.items() if is_one(mode)), "a device")


def read_file(path: Path, limit: int = _MAX_BYTES, *, where: str | None = None, links: bool = False) -> bytes:
    """Read a plain file of at most `limit` bytes; a file that belongs to a folder must be no link out of it."""
    where = str(path) if where is None else where
    with open_plain_file(path, where, limit, links=links) as file:
        content = file.read(limit + 1)
    if len(content) > limit:  # it may have grown
        raise InputError("file.too_large", most=limit).within(where)
    return content


def parse_object(content: bytes, where: str) -> dict[str, Any]:
    """Parse a JSON object: UTF-8, no key twice, no NaN or Infinity, at most two million values."""
    if sum(content.count(mark) for mark in (b",", b"[", b"{")) > _MAX_VALUES:
        raise InputError("json.too_many_values", most=_MAX_VALUES).within(where)
    try:
        value = json.loads(content.decode("utf-8"), object_pairs_hook=_no_repeats, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InputError("json.unreadable", why=str(error)).within(where) from error
    return require_object(where, value)


def require_keys(
    where: str, got: Mapping[str, Any], wanted: AbstractSet[str], optional: AbstractSet[str] = frozenset()
) -> None:
    """Require all wanted keys, and no others but optional ones."""
    for key in sorted(wanted - got.keys()):
        raise InputError("json.missing_key", key=shown(key)).within(where)
    for key in got:
        if key not in wanted | optional:
            raise InputError("json.unknown_key", key=shown(key)).within(where)


def require_object(where: str, value: object) -> dict[str, Any]:
    """Return the value as an object."""
    if not isinstance(value, dict):
        raise InputError("json.not_an_object", got=shown(value)).within(where)
    return value


def require_list(where: str, value: object) -> list[Any]:
    """Return the value as a list."""
    if not isinstance(value, list):
        raise InputError("json.not_a_list", got=shown(value)).within(where)
    return value


def require_texts(where: str, value: object) -> list[str]:
    """Return the value as a list of texts."""
    for item in (found := require_list(where, value)):
        if not isinstance(item, str):
            raise InputError("json.not_texts", got=shown(item)).within(where)
    return found


def require_text(where: str, value: object) -> str:
    """Return the value as a text."""
    if not isinstance(value, str):
        raise InputError("json.not_a_text", got=shown(value)).within(where)
    return value


def require_hex(where: str, value: object, length: int) -> bytes:
    """Return the bytes, `length` of them, that small hexadecimal digits denote."""
    if isinstance(value, str) and len(value) == 2 * length and _HEXADECIMAL.fullmatch(value):
        return bytes.fromhex(value)
    raise InputError("json.not_hexadecimal", digits=2 * length, got=shown(value)).within(where)


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")

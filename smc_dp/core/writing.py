"""Files and folders that are written whole or not at all, and are still there after a power cut."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from smc_dp.core.errors import InputError


def fresh_folder() -> Path:
    """Return the path of a new folder in runs/ that no other run takes."""
    return Path("runs") / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def refuse_existing(folder: Path) -> None:
    """Raise InputError when `folder` exists, or could not be made where it is wanted."""
    if os.path.lexists(folder):
        raise InputError("folder.exists").within(str(folder))
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise InputError("folder.not_writable", above=str(above)).within(str(folder))


def write_folder(
    folder: Path, contents: Mapping[str, Iterable[bytes]], mode: int, *, in_place_of_empty: bool = False
) -> None:
    """Write the files under a temporary name beside the folder, then rename it: it is there whole or not at all.

    Raises InputError when the folder exists by now (an empty one may, `in_place_of_empty`) or cannot be written.
    """
    partial = folder.parent / f".{folder.name}.{secrets.token_hex(4)}.partial"
    try:
        partial.parent.mkdir(parents=True, exist_ok=True)
        partial.mkdir(mode)
        try:
            for name, content in contents.items():
                _write(partial / name, content, mode & 0o666)
            sync_folder(partial)
            if in_place_of_empty and is_empty_folder(folder):
                folder.rmdir()
            refuse_existing(folder)  # an empty folder made since then would be replaced silently
            partial.rename(folder)
            sync_folder(folder.parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise InputError("folder.not_written", why=error.strerror).within(str(folder)) from error


def is_empty_folder(folder: Path) -> bool:
    """Return whether the path is a folder, and no link to one, with nothing in it."""
    return folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir())


def write_file(path: Path, content: bytes, mode: int) -> None:
    """Write a new file with these rights, on the disk before this returns; OSError if there is one already."""
    _write(path, [content], mode)


def write_new(path: Path, content: bytes, where: str, mode: int = 0o644) -> None:
    """Write a new file, which anybody may read by its `mode`; InputError at `where` if there is one already."""
    try:
        _write(path, [content], mode)
    except FileExistsError:
        raise InputError("file.exists").within(where) from None
    except OSError as error:
        raise InputError("file.not_written", why=error.strerror).within(where) from None


def replace_file(path: Path, content: bytes, where: str, mode: int = 0o644) -> None:
    """Write a file whole, in place of an earlier one; InputError at `where` if that cannot be done."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        write_file(partial, content, mode)
        partial.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise InputError("file.not_written", why=error.strerror).within(where) from None
    finally:
        partial.unlink(missing_ok=True)


def open_scratch(folder: Path) -> IO[bytes]:
    """Open a file without a name where `folder` is to be made, for data too long for memory; closing it deletes it."""
    above = next(parent for parent in folder.absolute().parents if parent.is_dir())
    try:
        return tempfile.TemporaryFile(dir=above)
    except OSError as error:
        place = str(folder)
        raise InputError("folder.no_scratch_file", above=str(above), why=error.strerror).within(place) from None


def _write(path: Path, content: Iterable[bytes], mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:  # a full disk, or Ctrl-C: half a file is none
        path.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Write a new name in this folder to the disk, so that it survives a power cut."""
    if os.name == "nt":  # folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

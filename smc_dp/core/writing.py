"""Files and folders that are there whole or not at all, and still there after a power cut."""

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
    """A folder in runs/ that no other run takes; it is not made yet."""
    return Path("runs") / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def refuse_existing(folder: Path) -> None:
    """Raises InputError when `folder` exists, or when it could not be made where it is wanted."""
    if os.path.lexists(folder):
        raise InputError("folder.exists").within(f"run folder {folder}")
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise InputError("folder.not_writable", above=str(above)).within(f"run folder {folder}")


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
            sync(partial)
            if in_place_of_empty and is_empty(folder):
                folder.rmdir()
            refuse_existing(folder)  # an empty folder made since then would be replaced silently
            partial.rename(folder)
            sync(folder.parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise InputError("folder.not_written", why=error.strerror).within(f"run folder {folder}") from error


def is_empty(folder: Path) -> bool:
    """Whether it is a folder, and no link to one, with nothing in it."""
    return folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir())


def write_file(path: Path, content: bytes, mode: int) -> None:
    """A new file with these bytes and rights, on the disk before this returns; OSError if there is one already."""
    _write(path, [content], mode)


def write_new(path: Path, content: bytes, where: str, mode: int = 0o644) -> None:
    """A new file, which anybody may read by its `mode`; InputError, beginning with `where`, if there is one already."""
    try:
        _write(path, [content], mode)
    except FileExistsError:
        raise InputError("file.exists").within(where) from None
    except OSError as error:
        raise InputError("file.not_written", why=error.strerror).within(where) from None


def open_scratch(folder: Path) -> IO[bytes]:
    """A file without a name where `folder` is to be made, for what is too long for memory; gone when it is closed."""
    above = next(parent for parent in folder.absolute().parents if parent.is_dir())
    try:
        return tempfile.TemporaryFile(dir=above)
    except OSError as error:
        raise InputError("folder.no_scratch_file", above=str(above), why=error.strerror).within(
            f"run folder {folder}"
        ) from None


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


def sync(folder: Path) -> None:
    """Make sure that a new name in this folder survives a power cut."""
    if os.name == "nt":  # folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""What earlier audits found out about a protocol's code, kept in the user's cache folder, for it takes many seconds.

An entry goes by the digest of the code and by the versions, the protocol and the parameters that it was made with: it
says nothing of any run. Whoever can write to the folder as this user could change the program as well, so an entry is
believed when it is this user's own and whole; any other is passed over, and made again.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from protocols.programs import Protocol
from smc_dp.errors import InputError
from smc_dp.files import reading

_FORMAT = 1
_LIBRARIES = ("cbor2", "cryptography", "gmpy2", "numpy", "scipy")
_CODE = (("protocols", "."), ("smc_dp", "audit"))
_MAX_BYTES = 1 << 20
_STATUS = ("passed", "failed")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class KeptOutcome:
    """What came out of a check of the code, word for word, the day on which it did, and with which versions."""

    status: str
    detail: str
    date: str

    @property
    def origin(self) -> str:
        """What a report says of where it comes from."""
        made = ", ".join(f"{name} {number}" for name, number in versions().items())
        return f"computed on {self.date} with {made}, from the cache; `fresh` computes it again"


@dataclass(frozen=True)
class Kept:
    """The cache; with `fresh`, or without a folder, nothing is read from it."""

    folder: Path | None
    fresh: bool = False

    def find(self, what: str, protocol: Protocol, p: Any) -> KeptOutcome | None:
        """What was found out by this code; None if that is not known, or its entry is damaged or somebody else's."""
        if self.folder is None or self.fresh or not is_own(protocol):
            return None
        key = _key(what, protocol, p)
        try:
            _refuse_foreign(self.folder)
            _refuse_foreign(self.folder / _name(key))
            content = reading.read_file(self.folder / _name(key), _MAX_BYTES)
            return _read(reading.parse_object(content, _name(key)), key)
        except (InputError, OSError):
            return None

    def keep(self, what: str, protocol: Protocol, p: Any, status: str, detail: str) -> None:
        """Keep this from now on; what cannot be written is not kept, for it can be made again."""
        if self.folder is None or not is_own(protocol) or status not in _STATUS:
            return
        key = _key(what, protocol, p)
        said = {"key": key, "status": status, "detail": detail, "date": f"{datetime.now(UTC):%Y-%m-%d}"}
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _refuse_foreign(self.folder)
            _write(self.folder / _name(key), json.dumps({**said, "digest": _digest(said)}).encode())
        except (InputError, OSError):
            return


def cache_folder() -> Path | None:
    """Where the user's caches are, as the XDG Base Directory Specification has it; None for a user without a home."""
    stated = os.environ.get("XDG_CACHE_HOME", "")
    try:
        base = Path(stated) if Path(stated).is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return base / "smc-dp" / "audit"


def is_own(protocol: Protocol) -> bool:
    """Whether roles and trials are code of this program, so that the digest of the code is a digest of them."""
    trials = protocol.claim.trials if protocol.claim else None
    made = [*protocol.program.roles.values(), *_made_of(trials)]
    return all(getattr(one, "__module__", "").partition(".")[0] == "protocols" for one in made)


def _made_of(trials: Any) -> Iterator[Any]:
    """The functions in a declaration, and in those that it holds; one that it leaves out is nobody's."""
    for value in vars(trials).values() if trials is not None else ():
        if is_dataclass(value):
            yield from _made_of(value)
        elif value is not None:
            yield value


@cache
def versions() -> Mapping[str, str]:
    """What the code runs on."""
    return {"Python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}}


@cache
def _digest_of_code() -> str:
    """The digest of every file that decides what a check of the code finds."""
    digest = hashlib.sha256()
    for package, part in _CODE:
        root = Path(str(files(package)))
        for path in sorted((root / part).rglob("*.py")):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{package} {path.relative_to(root).as_posix()} {content}\n".encode())
    return digest.hexdigest()


def _key(what: str, protocol: Protocol, p: Any) -> dict[str, Any]:
    program = protocol.program
    return {
        **{"format": _FORMAT, "check": what, "protocol": program.name, "version": program.version},
        **{"parameters": p.as_dict(), "versions": dict(versions()), "code": _digest_of_code()},
    }


def entry_name(what: str, protocol: Protocol, p: Any) -> str:
    """The name of the file in which this is kept."""
    return _name(_key(what, protocol, p))


def _name(key: Mapping[str, Any]) -> str:
    return f"{key['check']}-{_digest(key)[:32]}.json"


def _digest(said: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _read(entry: dict[str, Any], key: Mapping[str, Any]) -> KeptOutcome:
    """The entry under this key; raises InputError for anything else."""
    reading.keys("entry", entry, {"key", "status", "detail", "date", "digest"})
    said = {name: value for name, value in entry.items() if name != "digest"}
    status, detail, date = (reading.text(name, entry[name]) for name in ("status", "detail", "date"))
    if entry["digest"] != _digest(said) or entry["key"] != key or status not in _STATUS or not _DATE.fullmatch(date):
        raise InputError("is not an entry of this code")
    return KeptOutcome(status, detail, date)


def _refuse_foreign(path: Path) -> None:
    """Raises InputError for what is another user's, or what other users may write to."""
    found = path.lstat()
    own: Callable[[], int] | None = getattr(os, "geteuid", None)
    if own is not None and (found.st_uid != own() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        raise InputError(f"{path}: belongs to somebody else")


def _write(path: Path, content: bytes) -> None:
    """The file with these bytes, which nobody else may read, in place of any that was there: whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

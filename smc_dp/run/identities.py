"""Long-term identities in a folder: `identities.json` is public and what others pin, each `*.key` is one secret.

With them a transcript is signed by somebody: a person who got the public file from elsewhere knows whose run it was. In
a deployment each participant keeps its own key; this folder has all of them, as a simulation needs.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, WithJsonSchema

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import PUBLIC_BYTES, SEED_BYTES, SIGNATURE_BYTES, Identity, has_small_order
from protocols.curator import CURATOR_NAME
from smc_dp.core import reading
from smc_dp.core.errors import InputError, plain_name, shown
from smc_dp.core.writing import write_file
from smc_dp.data.partition import check_name, check_names

PUBLIC_FILE = "identities.json"
_ENDING, _PUBLIC_ENDING = ".key", ".pub"
_LONGEST_PUBLIC = 256


def create_identities(folder: Path, parties: Sequence[str], rng: Stream) -> dict[str, bytes]:
    """Write identities of these parties and of the curator into a new folder, and return the public keys.

    Each has the files that `create_identity` writes. Raises InputError for names that no run could have, and for a
    folder that exists. The public file comes last: a folder without it was not finished.
    """
    check_names(parties)
    made = {name: Identity.generate(rng.fork(f"identity {name}")) for name in (*parties, CURATOR_NAME)}
    public = {name: identity.public for name, identity in made.items()}
    try:
        folder.mkdir(mode=0o700, parents=True)
        for name, identity in made.items():
            write_file(folder / f"{name}{_ENDING}", _secret(identity), 0o600)
            write_file(folder / f"{name}{_PUBLIC_ENDING}", _handed_over(name, identity), 0o644)
        document = json.dumps({name: key.hex() for name, key in public.items()}, indent=2)
        write_file(folder / PUBLIC_FILE, f"{document}\n".encode(), 0o644)
    except FileExistsError:
        raise InputError("identities.folder_exists", folder=str(folder)) from None
    except OSError as error:
        raise InputError("identities.not_made", folder=str(folder), strerror=error.strerror) from None
    return public


def create_identity(folder: Path, name: str, rng: Stream) -> tuple[Path, Path, bytes]:
    """Write a participant's identity, `NAME.key` (secret) and `NAME.pub` (to hand over); return paths and public key.

    Raises InputError for a name that no run could have, and for a file that exists.
    """
    check_name(name)
    identity = Identity.generate(rng)
    key, public = folder / f"{name}{_ENDING}", folder / f"{name}{_PUBLIC_ENDING}"
    for path in (key, public):
        if os.path.lexists(path):
            raise InputError("identities.file_exists", path=str(path))
    try:
        write_file(key, _secret(identity), 0o600)
        write_file(public, _handed_over(name, identity), 0o644)
    except FileExistsError as error:
        raise InputError("identities.file_exists", path=error.filename) from None
    except OSError as error:
        raise InputError("identities.not_made", folder=str(key), strerror=error.strerror) from None
    return key, public, identity.public


def read_public_identities(folder: Path) -> dict[str, bytes]:
    """Return the public keys in a folder by name; raise an InputError where they cannot be read."""
    if not os.path.lexists(folder / PUBLIC_FILE):
        raise InputError("identities.no_public_keys", folder=str(folder))
    return read_identities(folder / PUBLIC_FILE)


def read_identities(path: Path) -> dict[str, bytes]:
    """Return the pinned identities in a file: a JSON object of names and public keys of 64 hexadecimal digits."""
    return parse_identities(reading.read_file(path, reading.MAX_JSON_BYTES), str(path))


def parse_identities(content: bytes, where: str) -> dict[str, bytes]:
    """Return the identities in the bytes of such a file; an InputError for other bytes shows no secret."""
    if re.fullmatch(rb"[0-9a-f]{%d}\n?" % (2 * SEED_BYTES), content):
        raise InputError("identities.secret_instead", path=where)
    if not content.lstrip().startswith(b"{"):
        raise InputError("identities.no_public_file", path=where)
    document = reading.parse_object(content, where)
    return {name: reading.require_hex(f"{where}: {shown(name)}", key, PUBLIC_BYTES) for name, key in document.items()}


def read_identity(path: Path) -> Identity:
    """Return the identity in a `NAME.key`; raise an InputError, which never shows the secret, for anything else."""
    content = reading.read_file(path)  # any length, so that another file is refused for what it is
    try:
        seed = bytes.fromhex(content.decode("ascii").removesuffix("\n"))
    except ValueError:
        seed = b""
    if len(seed) != SEED_BYTES or content.removesuffix(b"\n") != seed.hex().encode():
        raise InputError("identities.no_secret_key", path=str(path), value=2 * SEED_BYTES)
    return Identity(seed)


def read_public_key(path: Path) -> tuple[str, bytes]:
    """Return name and public key in a `NAME.pub`, the line that its owner handed over."""
    content = reading.read_file(path, _LONGEST_PUBLIC, links=True)
    name, space, key = content.decode("ascii", errors="replace").removesuffix("\n").partition(" ")
    if not space:
        if path.suffix == ".key":
            raise InputError("identities.secret_instead", path=str(path))
        raise InputError("identities.no_public_key", path=str(path))
    check_name(name)
    return name, reading.require_hex(f"{path}: {name}", key, PUBLIC_BYTES)


def parse_pinned(text: str, where: str = "party") -> tuple[str, bytes]:
    """Return a name and its public key, from NAME=KEY or from the file that its owner handed over."""
    name, equals, key = text.partition("=")
    if not equals:
        return read_public_key(Path(text))
    check_name(name)
    return name, reading.require_hex(f"{where}: {name}", key, PUBLIC_BYTES)


def parse_pinned_curator(text: str) -> dict[str, bytes]:
    """Return Charlie's name and public key, from the key or from the file that he handed over."""
    is_key = len(text) == 2 * PUBLIC_BYTES and not Path(text).exists()
    name, key = parse_pinned(f"{CURATOR_NAME}={text}" if is_key else text, "curator")
    if name != CURATOR_NAME:
        raise InputError("identities.not_the_curator", curator_name=CURATOR_NAME, name=name)
    return {name: key}


def load_identities(folder: Path) -> dict[str, Identity]:
    """Return all identities in a folder by name, in the order of the public file.

    Raises InputError, which never shows a secret, for a key that is malformed, of nobody, or missing.
    """
    public = read_public_identities(folder)
    names = {key: name for name, key in public.items()}
    found: dict[str, Identity] = {}
    for path in list_key_files(folder):
        identity = read_identity(path)
        if identity.public not in names:
            raise InputError("identities.of_nobody", path=str(path), public_file=PUBLIC_FILE)
        found[names[identity.public]] = identity
    if missing := [name for name in public if name not in found]:
        raise InputError("identities.no_own_key", folder=str(folder), name=plain_name(missing[0]))
    return found


def load_run_identities(folder: Path, participants: Sequence[str]) -> dict[str, Identity]:
    """Return the identities of a run; InputError unless they are those of its participants, with or without Charlie."""
    found = load_identities(folder)
    for name in participants:
        if name not in found:
            raise InputError("identities.no_key", folder=str(folder), name=plain_name(name))
    for name in found:
        if name not in (*participants, CURATOR_NAME):
            raise InputError("identities.not_taking_part", folder=str(folder), name=plain_name(name))
    return found


def find_exposed(keys: Iterable[Path]) -> list[Path]:
    """Return the key files that are there and that others than their owner may read or write."""
    if os.name == "nt":  # rights are no bits there
        return []
    return [path for path in keys if path.is_file() and stat.S_IMODE(path.lstat().st_mode) & 0o077]


def list_key_files(folder: Path) -> list[Path]:
    """Return the files with secrets; raise an InputError where the folder cannot be read."""
    try:
        return sorted(folder / entry.name for entry in os.scandir(folder) if entry.name.endswith(_ENDING))
    except OSError as error:
        raise InputError("identities.unreadable", folder=str(folder), strerror=error.strerror) from None


def _secret(identity: Identity) -> bytes:
    return f"{identity.seed.hex()}\n".encode()


def _handed_over(name: str, identity: Identity) -> bytes:
    return f"{name} {identity.public.hex()}\n".encode()


def _public_key(value: object) -> str:
    key = reading.require_hex("a public key", value, PUBLIC_BYTES)
    if has_small_order(key):
        raise InputError("identities.small_order", got=shown(value))
    return key.hex()


def _signature(value: object) -> str:
    return reading.require_hex("a signature", value, SIGNATURE_BYTES).hex()


PublicKeyText: TypeAlias = Annotated[
    str, BeforeValidator(_public_key), WithJsonSchema({"type": "string", "pattern": "^[0-9a-f]{64}$"})
]
SignatureText: TypeAlias = Annotated[
    str, BeforeValidator(_signature), WithJsonSchema({"type": "string", "pattern": "^[0-9a-f]{128}$"})
]

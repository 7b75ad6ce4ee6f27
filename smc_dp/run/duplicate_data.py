"""The same rows under another name: a folder of ledgers finds the one that was charged for them.

Each ledger calls a table by a digest of all that stands in its file, before any bounds, under a secret key that the
folder has: so no ledger is a fingerprint that others could compare with a guess. Neither another name of a party nor
other bounds make another digest, and so a new budget. A single cell, row or column that is changed, added or left out
does: this guards against accidents, and not against intent. The column by which a table is divided among parties does
not enter, for its cells are their names: renaming them makes no new budget either. Until it was left out it did enter,
so that a part of such a table is also looked for by the digest that it had then, under the name of each other ledger.
Reservations made before a key was lost have digests that no table meets again.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

from smc_dp.core import reading
from smc_dp.core.errors import InputError, plain_name
from smc_dp.core.writing import sync_folder, write_file
from smc_dp.data.federation import Rows
from smc_dp.data.fingerprint import fingerprint_data, former_fingerprint
from smc_dp.data.table import Table
from smc_dp.privacy.ledger.ledger import Ledger

KEY_FILE = "rows.key"
ENDING = ".ledger"
RowsAsRead: TypeAlias = Table | Rows
_KEY_BYTES = 32


def read_rows_key(folder: Path) -> bytes | None:
    """The key of a folder, None where it has none yet; InputError for a file that is no key."""
    path = folder / KEY_FILE
    if not os.path.lexists(path):
        return None
    key = reading.read_file(path, _KEY_BYTES)
    if len(key) != _KEY_BYTES:
        raise InputError("ledger.bad_key", path=str(path), key_bytes=_KEY_BYTES, got=len(key))
    return key


def make_rows_key(folder: Path) -> bytes:
    """The key of a folder that is there, made now if it has none."""
    path = folder / KEY_FILE
    partial = folder / f".{KEY_FILE}.{secrets.token_hex(4)}.partial"
    try:
        if not os.path.lexists(path):
            write_file(partial, secrets.token_bytes(_KEY_BYTES), 0o600)
            os.link(partial, path)  # whole or not at all, and never over another
            sync_folder(folder)
    except FileExistsError:  # another process was faster
        pass
    except OSError as error:
        raise InputError("ledger.key_not_made", path=str(path), strerror=error.strerror) from None
    finally:
        partial.unlink(missing_ok=True)
    found = read_rows_key(folder)
    if found is None:
        raise InputError("ledger.key_gone", path=str(path))
    return found


def refuse_duplicates(folder: Path, key: bytes, own: Mapping[str, Path], parties: Mapping[str, RowsAsRead]) -> None:
    """InputError when another ledger of the folder than a party's own is charged for its rows.

    `key`: of the folder; `own`: where each party's ledger lies, or is to lie.
    """
    charged = dict(_charged(folder))
    for party, held in parties.items():
        name = fingerprint_data(key, held)
        for path, data_sets in charged.items():
            if path.name == own[party].name or not data_sets:
                continue
            other = unquote(path.name.removesuffix(ENDING))
            if not data_sets.isdisjoint({name, former_fingerprint(key, held, other)}):
                raise InputError("ledger.same_rows", party=plain_name(party), path=str(path), other=plain_name(other))


def has_charges(folder: Path) -> bool:
    """Whether any ledger of the folder is charged for anything."""
    return any(data_sets for _, data_sets in _charged(folder))


def _charged(folder: Path) -> Iterator[tuple[Path, frozenset[str]]]:
    """Every ledger of the folder, and what its charges are for."""
    try:
        files = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(ENDING))
    except OSError as error:
        raise InputError("ledger.folder_unreadable", folder=str(folder), strerror=error.strerror) from None
    for name in files:
        with Ledger.open(folder / name) as ledger:
            yield folder / name, ledger.history().data_sets

"""Duplicate data: finds, in a folder of ledgers, another ledger that was charged for the same rows.

Each ledger names a table by a keyed digest of all that its file holds, before any bounds; the key is a secret of the
folder, so nobody can compare a ledger with a guess. Another name of the party or other bounds do not change the digest,
and give no new budget. A single changed, added or missing cell, row or column does: this guards against accidents, not
against intent. The column by which a table is divided among parties does not enter, because its cells are their names.
In earlier versions it did; so a part of such a table is also looked up by its former digest, under the name of each
other ledger. After the loss of a key no table matches the earlier reservations.
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
from smc_dp.data.fingerprint import former_fingerprint
from smc_dp.data.table import Table
from smc_dp.privacy.ledger.ledger import Ledger

KEY_FILE = "rows.key"
ENDING = ".ledger"
RowsAsRead: TypeAlias = Table | Rows
_KEY_BYTES = 32


def read_rows_key(folder: Path) -> bytes | None:
    """Return the key of a folder, None where it has none yet; raise an InputError for a file that is no key."""
    path = folder / KEY_FILE
    if not os.path.lexists(path):
        return None
    key = reading.read_file(path, _KEY_BYTES)
    if len(key) != _KEY_BYTES:
        raise InputError("ledger.bad_key", path=str(path), key_bytes=_KEY_BYTES, got=len(key))
    return key


def make_rows_key(folder: Path) -> bytes:
    """Return the key of an existing folder, made now if it has none."""
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


def refuse_duplicates(
    folder: Path, key: bytes, own: Mapping[str, Path], parties: Mapping[str, RowsAsRead], names: Mapping[str, str]
) -> None:
    """Raise an InputError where another ledger of the folder than the party's own is charged for its rows.

    `key`: of the folder; `own`: path of each party's ledger; `names`: fingerprint of each party's rows under the key.
    """
    charged = dict(_charged(folder))
    for party, held in parties.items():
        for path, data_sets in charged.items():
            if path.name == own[party].name or not data_sets:
                continue
            other = unquote(path.name.removesuffix(ENDING))
            if not data_sets.isdisjoint({names[party], former_fingerprint(key, held, other)}):
                raise InputError("ledger.same_rows", party=plain_name(party), path=str(path), other=plain_name(other))


def has_charges(folder: Path) -> bool:
    """Return whether any ledger of the folder is charged for anything."""
    return any(data_sets for _, data_sets in _charged(folder))


def _charged(folder: Path) -> Iterator[tuple[Path, frozenset[str]]]:
    """Yield every ledger of the folder, and the tables for which it is charged."""
    try:
        files = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(ENDING))
    except OSError as error:
        raise InputError("ledger.folder_unreadable", folder=str(folder), strerror=error.strerror) from None
    for name in files:
        with Ledger.open(folder / name) as ledger:
            yield folder / name, ledger.history().data_sets

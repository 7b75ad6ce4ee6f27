"""Export of a ledger: everything but the key, to be checked by anybody (JSON) or read in a table (CSV)."""

from __future__ import annotations

import json
import re
from pathlib import Path

from smc_dp.core import reading
from smc_dp.core.errors import InputError, shown
from smc_dp.core.spreadsheet import format_csv
from smc_dp.privacy.ledger.entry import ENTRY_COLUMNS
from smc_dp.privacy.ledger.history import History
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.privacy.ledger.storage import MOST_LEDGER_BYTES

_FORMATS = ("smc-dp ledger 5", "smc-dp ledger 2")  # what is written, and what 0.1.0 wrote


def to_json(history: History) -> str:
    """Return one JSON object; `from_json` checks it as the ledger itself is checked."""
    entries = [entry.values() for entry in history.entries]
    return json.dumps({"format": _FORMATS[0], "start": history.start, "entries": entries}, allow_nan=False)


def history_to_csv(history: History) -> str:
    """Return a table with a header, for people; an export that is checked again is JSON."""
    return format_csv([ENTRY_COLUMNS, *(tuple(entry.values().values()) for entry in history.entries)])


def from_json(content: bytes, where: str) -> History:
    """Read an exported history; InputError for anything else, BrokenLedgerError when its entries do not link."""
    document = reading.parse_object(content, where)
    reading.require_keys(where, document, {"format", "start", "entries"})
    start = document["start"]
    if document["format"] not in _FORMATS or not isinstance(start, str) or not re.fullmatch("[0-9a-f]{64}", start):
        raise InputError("ledger.no_export", where=where, wanted=_FORMATS[0], got=shown(document["format"]))
    rows = reading.require_list(f"{where}: entries", document["entries"])
    try:
        return History.read(start, (reading.require_object("an entry", row) for row in rows))
    except InputError as error:
        raise error.within(where) from None


def read_history(path: Path) -> History:
    """Read the history in a ledger, or in a JSON export of one."""
    content = reading.read_file(path, MOST_LEDGER_BYTES)
    if content.lstrip()[:1] == b"{":  # a ledger is an SQLite file, which begins with that name
        return from_json(content, f"{path}, read as a JSON export of a ledger")
    with Ledger.open(path) as ledger:
        return ledger.history()

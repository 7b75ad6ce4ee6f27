"""Keyed fingerprint of the data behind a release, which tells nothing about the data without the key."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from smc_dp.data.federation import Rows
from smc_dp.data.file_format import DEFAULT_FORMAT, FileFormat
from smc_dp.data.table import Cells, DictionaryColumn, Table
from smc_dp.data.text_column import TextColumn

_BLOCK = 8192  # rows at a time
_SMALLEST, _LARGEST = 1e-3, 1e9


def fingerprint_rows(key: bytes, rows: Rows) -> str:
    """Return HMAC-SHA256 of the rows in any order; without the key nobody can test a guess of them.

    Rows are taken as they enter the training, features and label (+1 or -1), without weights: the same rows with other
    weights are the same rows. One row more, or other public bounds, give
    another fingerprint: it tells which releases used the same numbers, and not which are about the same people.
    """
    table = np.ascontiguousarray(np.column_stack([rows.X, 2.0 * rows.y - 1]) + 0.0, dtype="<f8")  # -0.0 is 0.0
    code = hmac.new(key, b"smc-dp data set 1", hashlib.sha256)
    code.update(f"\n{table.shape[0]} {table.shape[1]}\n".encode())
    for row in sorted(row.tobytes() for row in table):
        code.update(row)
    return code.hexdigest()


def fingerprint_data(key: bytes, held: Table | Rows) -> str:
    """Return HMAC-SHA256 of all cells of a table, whatever the order of rows and columns, or of given rows.

    No bounds enter: neither the columns used nor the kind of file makes a difference (1, 1.0 and a 1 in Parquet are one
    cell; .1 in 32 bits is another number than .1, and NaN another cell than an empty one). One cell, row or column that
    is changed, added or left out gives another fingerprint. With a decimal comma 3,5 is the cell 3.5, also in a column
    of texts. The column that divided a table among parties does not enter: its cells are the parties' names.
    """
    if isinstance(held, Rows):
        return fingerprint_rows(key, held)
    return _of_columns(key, held, held.columns.keys() - {held.partition_column})


def count_cells(held: Table, name: str) -> Counter[str]:
    """Return how often each cell stands in a column, whatever the order of rows; equal where fingerprints are equal."""
    (cells, codes), form = held.different(name), held.form.of_column(name)
    found = Counter[str]()
    for cell, count in zip(cells, np.bincount(codes, minlength=len(cells)).tolist(), strict=True):
        found[_plain(cell, form)] += count
    return found


def former_fingerprint(key: bytes, held: Table | Rows, called: str) -> str | None:
    """Return the former fingerprint of a part of a divided table, in which the dividing column held `called`.

    None for an undivided table, whose fingerprint has not changed.
    """
    if isinstance(held, Rows) or held.partition_column is None:
        return None
    column = DictionaryColumn(np.zeros(held.rows, dtype=np.int64), (called,))
    return _of_columns(key, replace(held, columns={**held.columns, held.partition_column: column}), held.columns)


def _of_columns(key: bytes, held: Table, columns: Iterable[str]) -> str:
    names = sorted(columns)
    total = 0  # of a keyed digest for each row: their sum does not tell in which order they came
    forms = [held.form.of_column(name) for name in names]
    stored = [_stored(held.columns[name], form) for name, form in zip(names, forms, strict=True)]
    for start in range(0, held.rows, _BLOCK):
        stop = min(start + _BLOCK, held.rows)
        texts = [_texts(cells, start, stop, form) for cells, form in zip(stored, forms, strict=True)]
        for row in _rows(texts, stop - start):
            total += int.from_bytes(hmac.digest(key, b"row" + row.encode(), "sha256"))
    said = json.dumps([names, held.rows, total % (1 << 256)]).encode()
    return hmac.new(key, b"smc-dp table 1" + said, hashlib.sha256).hexdigest()


def _rows(columns: Sequence[Any], rows: int) -> Iterator[str]:
    """Yield each row as `json.dumps` writes a list of its cells, whose texts come without quotes."""
    from pyarrow import compute

    if not columns:
        yield from itertools.repeat("[]", rows)
        return
    for row in compute.binary_join_element_wise(*columns, '", "').to_pylist():
        yield f'["{row}"]'


def _stored(cells: Cells, form: FileFormat) -> Cells:
    """Return a column with each stored cell as its text in JSON where different cells are stored once."""
    if not isinstance(cells, DictionaryColumn) or isinstance(cells, TextColumn):
        return cells
    return DictionaryColumn(cells.codes, tuple(_in_json(cell, form) for cell in cells.values))


def _texts(cells: Cells, start: int, stop: int, form: FileFormat) -> Any:
    """Return an array of pyarrow with the canonical texts of some cells, as they stand between quotes in JSON."""
    import pyarrow as pa

    if isinstance(cells, TextColumn):
        part = cells.between(start, stop)
        # With marks between thousands a text may be another number than the one that Python reads.
        if form.thousands is None and (numbers := part.plain_numbers()) is not None:
            return _number_texts(numbers)
        texts = pa.array([_in_json(cell, form) for cell in part.values], pa.string())
        return texts.take(pa.array(part.codes))
    if isinstance(cells, DictionaryColumn):
        stored = cast("tuple[str, ...]", cells.values)
        return pa.array([stored[code] for code in cells.codes[start:stop].tolist()], pa.string())
    block = cells[start:stop]
    if isinstance(block, np.ndarray) and np.isfinite(block).all():
        return _number_texts(block)
    return pa.array([_in_json(cell, form) for cell in block], pa.string())


def _number_texts(numbers: NDArray[np.float64]) -> Any:
    """Return an array of pyarrow with the `repr` of each number, and no text for NaN."""
    import pyarrow as pa
    from pyarrow import compute

    numbers, size = numbers + 0.0, np.abs(numbers)  # -0.0 is 0.0
    texts = pa.array(numbers, from_pandas=True).cast(pa.string()).fill_null("")
    whole = pa.array(numbers == np.trunc(numbers))
    texts = compute.replace_with_mask(texts, whole, compute.binary_join_element_wise(texts.filter(whole), ".0", ""))
    # Outside of these pyarrow writes other exponents than Python; inside both write the shortest digits without one.
    others = ((size < _SMALLEST) & (size > 0)) | (size >= _LARGEST)
    return compute.replace_with_mask(
        texts, pa.array(others), pa.array(map(repr, numbers[others].tolist()), pa.string())
    )


def _in_json(cell: object, form: FileFormat) -> str:
    """Return the canonical text of a cell as it stands between quotes in JSON."""
    return json.dumps(_plain(cell, form))[1:-1]


def _plain(cell: object, form: FileFormat) -> str:
    """Return one text for all cells that mean the same in a CSV file of any format and in a Parquet file."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    text = str(cell).strip()
    ways = [text, form.pointed(text)] if form.thousands is None else [form.pointed(text), text]
    number = next((number for way in ways if (number := _plain_number(way)) is not None), None)
    if number is None and form.dates != DEFAULT_FORMAT.dates:
        with suppress(ValueError):
            return form.day(text).isoformat()
    return text if number is None else number


def _plain_number(text: str) -> str | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return repr(number + 0.0) if math.isfinite(number) and "_" not in text else None  # -0.0 is 0.0

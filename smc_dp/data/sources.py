"""Sources of the parties' rows: own files, one table grouped by a column, or a data set dealt to parties."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smc_dp.core.arrays import Array
from smc_dp.core.errors import FaultCollector, InputError, shown
from smc_dp.data import tabular_datasets
from smc_dp.data.bounds import Bounds, read_bounds
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.fingerprint import count_cells, fingerprint_data
from smc_dp.data.frames import FileOrFrame, read_file_or_frame
from smc_dp.data.partition import (
    check_names,
    even_shares,
    group_rows,
    name_of_file,
    parse_split,
    split_ordered,
    split_rows,
)
from smc_dp.data.preprocess import encode_labelled_rows, encode_rows
from smc_dp.data.refused_file import complete_refusal
from smc_dp.data.table import Table
from smc_dp.data.usual_clip import longest_norm

PARTITION_SEED = 2010  # deals the rows of a simulation; nothing secret depends on it
HELD_OUT = Fraction(20)  # percent of a data set without a test set of its own
DEFAULT_PARTIES = 5
_MAX_PARTIES = 10_000


@dataclass(frozen=True, eq=False)
class PreparedData:
    """Rows of all named parties, test rows if any, and the public bounds; `bounds.label` is set where there is one.

    `tables`: each party's table before any bounds; empty where rows of the ball were given. Rows that the bounds leave
    out are not in the federation: the guarantee must then allow the number of rows to change. `threshold`: the public
    probability above which test rows are taken for the second of two classes; None is that of the release, 1/2.
    """

    federation: Federation
    test: Rows | None
    bounds: Bounds
    tables: Mapping[str, Table] = field(default_factory=dict, repr=False)
    threshold: float | None = None

    @property
    def as_read(self) -> Mapping[str, Table | Rows]:
        """Data of each party by its name, before any processing."""
        return self.tables or self.federation.by_name


def read_own_files(
    parties: Sequence[str | tuple[str, FileOrFrame]],
    bounds: str | PathLike[str] | Bounds,
    *,
    label: str | None = None,
    test: FileOrFrame | None = None,
    parties_by: str | None = None,
    auxiliary: FileOrFrame | None = None,
    strict: bool = False,
    whole: bool = False,
) -> PreparedData:
    """Read the rows of all parties from files.

    `parties` are paths, name=path or pairs of a name and a path or a data frame, or one table that the column
    `parties_by` groups. `auxiliary`: a file or a frame of public rows, whose labels are not looked at. `whole`: take
    `Bounds.whole`.

    Raises InputError naming the party or file and the field; every row of every party has then been checked.
    """
    public = bounds if isinstance(bounds, Bounds) else read_bounds(Path(bounds))
    try:
        public = replace(public, label=label or public.label)
    except InputError as error:
        raise error.within(f"bounds file {bounds}, with `label` {shown(label)}") from error
    if not whole:
        public.require_label()
    column = public.label
    if column is None and public.has_label:
        raise InputError("bounds.no_label_column").within(f"bounds file {bounds}")
    if whole:
        public = public.whole
    wrong, data = FaultCollector(), dict[str, Rows]()
    held_out, rows = None, None
    tables = _read_each(parties, public, wrong) if parties_by is None else _grouped(parties, parties_by, public)
    for name, table in tables.items():
        with wrong.step():
            data[name] = encode_labelled_rows(table, public, column, strict=strict, warn=True)
    with wrong.step():
        if test is not None:
            unweighted = replace(public, weights=None)
            held_out = encode_labelled_rows(_read(test, "test file", "test rows", public), unweighted, column)
    with wrong.step():
        if auxiliary is not None:
            rows = encode_rows(_read(auxiliary, "file", "auxiliary rows", public), public, strict=strict)
    wrong.require()
    if parties_by is None:
        _check_together(tables)
    return _prepared(data, held_out, public, tables, rows)


def dataset(
    name: str,
    folder: Path | None = None,
    *,
    parties: int | None = None,
    split: str | None = None,
    auxiliary: int | None = None,
    strict: bool = False,
    seed: int = PARTITION_SEED,
    whole: bool = False,
    whole_rows: bool = False,
) -> PreparedData:
    """Deal a data set to parties: by a column of its own, else by a public seed, evenly or in percentages (`split`).

    A data set that names a column is dealt in its order, so that parties differ, unless `parties` or `split` is given.

    A data set without a test set of its own has 20 % held out first. `auxiliary`: this many training rows become public
    before the others are dealt, and lose their labels. `whole`: take `Bounds.whole`, and no test set. `whole_rows`: no
    row is shortened, and each has a constant.

    Raises InputError as `read_own_files` does.
    """
    shares = _shares(parties, split)
    source = tabular_datasets.load_tabular(name, folder)
    bounds, label = source.bounds.whole if whole else source.bounds, source.bounds.label
    if label is None:
        raise ValueError(f"data set {name}: its bounds name no label column")
    train, test = source.train, source.test
    if whole_rows:
        bounds = replace(bounds, clip=longest_norm(len(bounds.columns)), bias=bounds.bias or 1.0)
    if test is None:
        kept, held_out = split_rows(train.rows, [100 - HELD_OUT, HELD_OUT], seed)
        train, test = train.take(kept, name), train.take(held_out, f"held-out rows of {name}")
    rows = None
    if auxiliary is not None:
        public, train = _made_public(train, auxiliary, name, seed + 2)
        rows = encode_rows(public, bounds, strict=strict)
    names = [f"{source.holder}-{j}" for j in range(1, len(shares) + 1)]
    if source.ordered_by is not None and parties is None and split is None:
        dealt = split_ordered(np.asarray(train.columns[source.ordered_by]), len(shares))
    else:
        dealt = split_rows(train.rows, shares, seed + 1)
    tables = _dealt(train, dict(zip(names, dealt, strict=True)))
    data = {party: encode_labelled_rows(table, bounds, label, strict=strict) for party, table in tables.items()}
    return _prepared(data, None if whole else encode_labelled_rows(test, bounds, label), bounds, tables, rows)


def _prepared(
    parties: dict[str, Rows], test: Rows | None, bounds: Bounds, tables: dict[str, Table], public: Array | None
) -> PreparedData:
    federation = Federation(tuple(parties.values()), bounds.class_count, public, names=tuple(parties))
    return PreparedData(federation, test, bounds, tables)


def _made_public(train: Table, count: int, name: str, seed: int) -> tuple[Table, Table]:
    """Return `count` random rows, and the others; raise InputError where none would be left."""
    if not 1 <= count < train.rows:
        raise InputError("auxiliary.wrong_number", name=name, rows=train.rows, last=train.rows - 1, got=count)
    order = np.random.default_rng(seed).permutation(train.rows).astype(np.int64)
    return train.take(np.sort(order[:count]), f"public rows of {name}"), train.take(
        np.sort(order[count:]), train.source
    )


def _shares(parties: int | None, split: str | None) -> list[Fraction]:
    shares = parse_split(split) if split is not None else None
    count = parties if parties is not None else len(shares) if shares else DEFAULT_PARTIES
    if not 2 <= count <= _MAX_PARTIES:
        raise InputError("parties.wrong_number", most=_MAX_PARTIES, got=count)
    if shares is not None and len(shares) != count:
        raise InputError("split.wrong_number", wanted=count, got=len(shares))
    return shares or even_shares(count)


def read_file_of_each(parties: Sequence[str | tuple[str, FileOrFrame]]) -> dict[str, Table]:
    """Read the file of each party; files are paths, name=path, or pairs of a name and a path or a data frame."""
    wrong = FaultCollector()
    tables = _read_each(parties, None, wrong)
    wrong.require()
    _check_together(tables)
    return tables


def _read_each(
    parties: Sequence[str | tuple[str, FileOrFrame]], bounds: Bounds | None, wrong: FaultCollector
) -> dict[str, Table]:
    """Return the tables of all files that can be read, and add the faults of the others to `wrong`.

    bounds: what the cells are examined with where a file is refused, so that the refusal has all that it needs.
    """
    named = [name_and_path(text) for text in parties]
    check_names([name for name, _ in named])
    tables = dict[str, Table]()
    for name, given in named:
        with wrong.step():
            source = f"party {name}" + (f" ({given})" if isinstance(given, Path) else "")
            tables[name] = _read_completing(given, source, bounds)
    return tables


def _check_together(tables: Mapping[str, Table]) -> None:
    """Warn of ignored columns; raise InputError where two parties have the same rows: each counts once."""
    for table in tables.values():
        table.warn_of_ignored()
    known: dict[str, str] = {}
    for name in _alike_by_columns(tables):
        other = known.setdefault(fingerprint_data(b"", tables[name]), name)
        if other != name:
            raise InputError("party.same_rows", other=other).within(f"party {name}")


def _alike_by_columns(tables: Mapping[str, Table]) -> list[str]:
    """Return the tables of which another one has the same cells in each column: fingerprints of rows take longer."""
    found = {name: hash((table.rows, *sorted(table.columns))) for name, table in tables.items() if table.rows}
    for column in sorted({column for table in tables.values() for column in table.columns}):
        uses = Counter(found.values())
        found = {name: before for name, before in found.items() if uses[before] > 1}
        for name, before in found.items():
            if column in tables[name].columns:
                found[name] = hash((before, frozenset(count_cells(tables[name], column).items())))
    uses = Counter(found.values())
    return [name for name, number in found.items() if uses[number] > 1]


def _read(given: FileOrFrame, file: str, frame: str, bounds: Bounds) -> Table:
    """Return a table, which messages call after its file, or if it is a data frame by this name."""
    return _read_completing(given, f"{file} {given}" if isinstance(given, Path) else frame, bounds)


def _read_completing(given: FileOrFrame, source: str, bounds: Bounds | None) -> Table:
    try:
        return read_file_or_frame(given, source)
    except InputError as error:
        if bounds is None or not isinstance(given, Path):
            raise
        raise complete_refusal(error, given, source, bounds) from None


def name_and_path(text: str | tuple[str, FileOrFrame]) -> tuple[str, FileOrFrame]:
    """Return the name and the file of a party from a path, name=path, or a pair of them."""
    if isinstance(text, tuple):
        return text
    name, equals, path = text.partition("=")
    if not equals and Path(text).stem:
        return name_of_file(Path(text)), Path(text)
    if not path:
        raise InputError("party.no_file", got=shown(text))
    return name, Path(path)


def _grouped(parties: Sequence[str | tuple[str, FileOrFrame]], column: str, bounds: Bounds) -> dict[str, Table]:
    if len(parties) != 1:
        raise InputError("parties_by.several_tables", got=len(parties))
    table = _read(name_and_path(parties[0])[1], "table", "table", bounds)
    table.warn_of_ignored()
    groups = group_rows(table, column)
    check_names(list(groups))
    return _dealt(replace(table, partition_column=column), groups)


def _dealt(table: Table, rows: dict[str, NDArray[np.int64]]) -> dict[str, Table]:
    return {name: table.take(part, f"party {name} ({table.source})") for name, part in rows.items()}

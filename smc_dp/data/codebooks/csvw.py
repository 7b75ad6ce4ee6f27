"""CSV on the Web: the metadata of a table as JSON, of which this takes what bounds are made of.

https://www.w3.org/TR/tabular-metadata/. Whatever else stands there (labels in languages, links, transformations) is
read over; what it means for a file and cannot be followed here is refused or left out with the reason.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from smc_dp.data.codebooks.book import (
    BookEntry,
    CodeBook,
    ColumnSaid,
    DateSaid,
    LeftOut,
    LevelSaid,
    LevelsSaid,
    NumberSaid,
    date_in,
    number_in,
)
from smc_dp.data.file_form import MOST_WORDS
from smc_dp.errors import InputError, shown
from smc_dp.files.documents import Document, validated

KIND = "CSV on the Web metadata"
_WHOLE = frozenset(
    (
        *("integer", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger"),
        *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte", "negativeInteger"),
    )
)
_NUMBERS = _WHOLE | {"number", "decimal", "double", "float", "gYear"}
_TEXTS = frozenset(("string", "normalizedString", "token", "Name", "NMTOKEN", "any", "anyAtomicType"))
_LOWEST = {"nonNegativeInteger": 0.0, "positiveInteger": 1.0, "unsignedByte": 0.0, "unsignedShort": 0.0} | {
    name: 0.0 for name in ("unsignedInt", "unsignedLong")
}
_DATES = {
    "yyyy-MM-dd": "yyyy-mm-dd",
    "dd.MM.yyyy": "dd.mm.yyyy",
    "MM/dd/yyyy": "mm/dd/yyyy",
    "dd/MM/yyyy": "dd/mm/yyyy",
}
_PATTERNS = ("%d.%m.%Y",)  # of a bound that is written as the file writes dates: the one that can be read one way only
_LISTED = re.compile(r"[\w +\-%:,/&'<>=]+(\|[\w +\-%:,/&'<>=]+)+")  # a pattern that is a list of texts
_NAMED = 4  # columns in a note
_ENCODINGS = {"utf-8": "utf-8", "utf-16": "utf-16", "iso8859-1": "latin-1", "cp1252": "cp1252"}


class _Part(Document):
    """What is not named is read over: others may add to such a document what they like."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel)


class CsvwDatatype(_Part):
    """What a cell is."""

    base: str = "string"
    format: str | Mapping[str, Any] | None = None
    minimum: str | int | float | None = None
    maximum: str | int | float | None = None
    min_inclusive: str | int | float | None = None
    max_inclusive: str | int | float | None = None
    min_exclusive: str | int | float | None = None
    max_exclusive: str | int | float | None = None

    @property
    def ends(self) -> tuple[object, object]:
        """The least and the greatest value, as they are written."""
        low = next((end for end in (self.minimum, self.min_inclusive, self.min_exclusive) if end is not None), None)
        high = next((end for end in (self.maximum, self.max_inclusive, self.max_exclusive) if end is not None), None)
        return low, high


class _Inherited(_Part):
    """What a column takes from the table where it does not say it itself."""

    null: str | list[str] | None = None
    required: bool | None = None
    separator: str | None = None
    datatype: str | CsvwDatatype | None = None


class CsvwColumn(_Inherited):
    """A column."""

    name: str | None = None
    titles: str | list[str] | Mapping[str, str | list[str]] | None = None
    virtual: bool = False
    suppress_output: bool = False

    @property
    def heading(self) -> str:
        """What the header of the file calls it: the first title, without one the name."""
        titles = self.titles
        if isinstance(titles, Mapping):
            titles = next(iter(titles.values()), None)
        if isinstance(titles, list):
            titles = next(iter(titles), None)
        return titles or self.name or ""


class CsvwSchema(_Inherited):
    """The columns."""

    columns: list[CsvwColumn]
    primary_key: str | list[str] | None = None


class CsvwDialect(_Part):
    """How the file is written."""

    delimiter: str = ","
    encoding: str = "utf-8"
    header: bool = True
    header_row_count: int = 1


class CsvwTable(_Inherited):
    """A table."""

    table_schema: CsvwSchema
    dialect: CsvwDialect | None = None


_Chain: TypeAlias = tuple[_Inherited, ...]


def is_csvw(document: Mapping[str, Any]) -> bool:
    """Whether an object describes columns at all."""
    return "tableSchema" in document or "tables" in document


def csvw_book(document: Mapping[str, Any], source: str) -> CodeBook:
    """The code book in such an object; raises InputError."""
    group: dict[str, Any] = {}
    if "tables" in document:
        tables = document["tables"]
        if not isinstance(tables, list) or len(tables) != 1 or not isinstance(tables[0], dict):
            raise InputError(
                f"{source}: tables: wanted one table; of several, the description of one in a file of its own"
            )
        group, document = dict(document), tables[0]
    around = validated(_Inherited, group, source)
    table = validated(CsvwTable, {**_of(group, "tableSchema", "dialect"), **document}, source)
    schema = table.table_schema
    if table.dialect is not None and not (table.dialect.header and table.dialect.header_row_count):
        raise InputError(f"{source}: dialect: says that the file has no header, wanted one with the columns' names")
    chain = (schema, table, around)
    form: dict[str, str | list[str]] = dict(_form(table.dialect))
    entries = []
    for column in schema.columns:
        if not column.virtual:
            entries.append(_entry(column, chain, _keys(schema)))
            _add_form(form, column, chain)
    read = [column for column in schema.columns if not column.virtual]
    everywhere, notes = _nothing([(_null(column, chain), entry) for column, entry in zip(read, entries, strict=True)])
    if everywhere:
        form["missing"] = everywhere
    return CodeBook(source, KIND, tuple(entries), form, notes)


def _of(document: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: document[name] for name in names if name in document}


def _keys(schema: CsvwSchema) -> frozenset[str]:
    key = schema.primary_key
    return frozenset(() if key is None else (key,) if isinstance(key, str) else key)


def _said_first(name: str, *chain: _Inherited) -> Any:
    return next((value for part in chain if (value := getattr(part, name)) is not None), None)


def _entry(column: CsvwColumn, chain: _Chain, keys: frozenset[str]) -> BookEntry:
    required = _said_first("required", column, *chain)
    if keys == {column.name} or (column.suppress_output and column.name in keys):
        said: ColumnSaid = LeftOut("it is the key that tells rows apart")
    elif column.suppress_output:
        said = LeftOut("the code book says that it is not to be given out")
    elif _said_first("separator", column, *chain) is not None:
        said = LeftOut("a cell holds several values")
    else:
        said = _said(_datatype(column, chain))
    return BookEntry(column.heading, said, may_be_empty=not required)


def _datatype(column: CsvwColumn, chain: _Chain) -> CsvwDatatype:
    found = _said_first("datatype", column, *chain)
    return found if isinstance(found, CsvwDatatype) else CsvwDatatype(base=found or "string")


def _said(kind: CsvwDatatype) -> ColumnSaid:
    low, high = kind.ends
    if kind.base in _NUMBERS:
        least = number_in(low)
        lowest = _LOWEST.get(kind.base) if least is None else least
        return NumberSaid(lowest, number_in(high), whole=kind.base in _WHOLE)
    if kind.base == "boolean":
        return LevelsSaid(_truth(kind.format))
    if kind.base == "date":
        return DateSaid(date_in(low, *_PATTERNS), date_in(high, *_PATTERNS))
    if kind.base in _TEXTS:
        return LevelsSaid(tuple(LevelSaid(text) for text in _listed(kind.format)))
    return LeftOut(f"its datatype is {shown(kind.base)}")


def _truth(written: object) -> tuple[LevelSaid, LevelSaid]:
    """False and true, with the texts of a format such as Y|N, of which the first is true."""
    true, bar, false = written.partition("|") if isinstance(written, str) else ("1", "|", "0")
    return (LevelSaid("false", (false,) if bar else ()), LevelSaid("true", (true,) if bar else ()))


def _listed(written: object) -> tuple[str, ...]:
    """The texts of a format such as yes|no; none where it is any other regular expression."""
    if not isinstance(written, str):
        return ()
    text = written.removeprefix("^").removesuffix("$")
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1].removeprefix("?:")
    return tuple(dict.fromkeys(text.split("|"))) if _LISTED.fullmatch(text) else ()


def _form(dialect: CsvwDialect | None) -> Iterator[tuple[str, str]]:
    if dialect is None:
        return
    if dialect.delimiter != ",":
        yield "separator", dialect.delimiter
    try:
        encoding = _ENCODINGS.get(codecs.lookup(dialect.encoding).name)
    except LookupError:
        return
    if encoding not in (None, "utf-8"):
        yield "encoding", str(encoding)


def _add_form(form: dict[str, str | list[str]], column: CsvwColumn, chain: _Chain) -> None:
    """What a column says of how the file is written: a decimal comma, the order of day and month."""
    kind = _datatype(column, chain)
    if kind.base in _NUMBERS and isinstance(kind.format, Mapping) and kind.format.get("decimalChar") == ",":
        form["decimal"] = ","
    if kind.base == "date" and (order := _DATES.get(str(kind.format))) not in (None, "yyyy-mm-dd"):
        form["dates"] = str(order)


def _null(column: CsvwColumn, chain: _Chain) -> list[str]:
    """The words that stand for nothing in a column."""
    null = _said_first("null", column, *chain)
    return [word for word in ([null] if isinstance(null, str) else null or []) if word.strip()]


def _nothing(columns: list[tuple[list[str], BookEntry]]) -> tuple[list[str], tuple[str, ...]]:
    """The words that may stand for nothing in the whole file, and a note of each that is a value in another column."""
    everywhere, notes = [], []
    for word in [*dict.fromkeys(word for words, _ in columns for word in words)][:MOST_WORDS]:
        values = [entry.name for words, entry in columns if word not in words and _may_be(word, entry.said)]
        if not values:
            everywhere.append(word)
        else:
            own = ", ".join([shown(entry.name) for words, entry in columns if word in words][:_NAMED])
            notes.append(
                f"{shown(word)} stands for nothing in {own}, and may be a value of {shown(values[0])}: [file] has one "
                "list for all columns, so make these cells empty in the file"
            )
    return everywhere, tuple(notes)


def _may_be(word: str, said: ColumnSaid) -> bool:
    """Whether a word may be a value of such a column."""
    if isinstance(said, LevelsSaid):
        return any(word in (level.name, *level.others) for level in said.levels)
    number = number_in(word)
    if not isinstance(said, NumberSaid) or number is None:
        return False
    return (said.low is None or said.low <= number) and (said.high is None or number <= said.high)

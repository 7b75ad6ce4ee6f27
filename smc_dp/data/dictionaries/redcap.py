"""REDCap data dictionary: a CSV file with a row for each field, as REDCap or its API writes it."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from smc_dp.core.errors import InputError, InputFault, shown
from smc_dp.data.dictionaries.data_dictionary import (
    ColumnEntry,
    DataDictionary,
    DateEntry,
    DescribedColumn,
    ExcludedEntry,
    LevelEntry,
    LevelsEntry,
    NumberEntry,
    bound_date,
    bound_number,
)

_KIND = "a REDCap data dictionary"
_SEPARATORS = (",", ";", "\t")
# Heading of the file, heading of the API. The first two are what a dictionary is recognised by.
_NAME, _TYPE = ("variable / field name", "field_name"), ("field type", "field_type")
_CHOICES = ("choices, calculations, or slider labels", "select_choices_or_calculations")
_VALIDATION = ("text validation type or show slider number", "text_validation_type_or_show_slider_number")
_LOW, _HIGH = ("text validation min", "text_validation_min"), ("text validation max", "text_validation_max")
_IDENTIFIER, _REQUIRED = ("identifier?", "identifier"), ("required field?", "required_field")
_BRANCHING = ("branching logic (show field only if...)", "branching_logic")
_TAG = re.compile(r"<[^<>]*>")
_SLIDER = (0.0, 100.0)
_DATES = MappingProxyType({"date_ymd": (), "date_dmy": ("%d-%m-%Y", "%d/%m/%Y"), "date_mdy": ("%m-%d-%Y", "%m/%d/%Y")})
_IDENTIFYING = ("email", "phone", "zipcode", "postalcode", "postcode", "ssn", "mrn", "vmrn", "nhs", "aadhaar")

_Field = Mapping[str, str]


def separator_of_dictionary(line: str) -> str | None:
    """Return the separator of a dictionary that begins with this line; None for any other file."""
    for separator in _SEPARATORS:
        heads = {cell.strip().lower() for cell in next(csv.reader([line], delimiter=separator), [])}
        if heads & set(_NAME) and heads & set(_TYPE):
            return separator
    return None


def redcap_dictionary(text: str, separator: str, source: str) -> DataDictionary:
    """Parse the text of a REDCap dictionary; raise InputError."""
    try:
        reader = csv.reader(text.splitlines(keepends=True), delimiter=separator, strict=True)
        (_, header), *rows = [(line, row) for line, row in enumerate(reader, 1) if row]
    except csv.Error as error:
        raise InputError("codebook.not_csv", why=str(error)).within(source) from None
    heads = [cell.strip().lower() for cell in header]
    entries: list[DescribedColumn] = []
    kinds: set[str] = set()
    for line, row in rows:
        if len(row) > len(heads):
            raise InputError("codebook.ragged_row", line=line, got=len(row), wanted=len(heads)).within(source)
        field = dict(zip(heads, (cell.strip() for cell in row), strict=False))
        entries += _entries(field, first=line == rows[0][0])
        kinds.add(_cell(field, _VALIDATION).lower())
    return DataDictionary(source, _KIND, tuple(entries), _form(kinds))


def _form(validations: Collection[str]) -> dict[str, str]:
    """Return the decimal comma, where all fields with decimals have it."""
    numbers = [kind for kind in validations if kind.startswith("number")]
    return {"decimal": ","} if numbers and all("comma" in kind for kind in numbers) else {}


def _cell(row: _Field, heads: tuple[str, str]) -> str:
    return next((row[head] for head in heads if head in row), "")


def _entries(row: _Field, *, first: bool) -> Iterator[DescribedColumn]:
    """Yield the columns of a field in an export: none, one, or of a checkbox one for each choice."""
    name, kind = _cell(row, _NAME), _cell(row, _TYPE).lower()
    if kind == "descriptive":  # a text on the form
        return
    hidden = _hidden(row, first=first)
    if kind == "checkbox" and hidden is None:
        for choice in _choices(_cell(row, _CHOICES)):
            code = re.sub(r"[^0-9a-z_]", "_", choice.name.lower())
            ticked = (LevelEntry("false", ("0", "Unchecked")), LevelEntry("true", ("1", "Checked")))
            yield DescribedColumn(f"{name}___{code}", LevelsEntry(ticked), may_be_empty=bool(_cell(row, _BRANCHING)))
        return
    required = _cell(row, _REQUIRED).lower() == "y" and not _cell(row, _BRANCHING)
    said = (
        _KINDS[kind](row) if kind in _KINDS else ExcludedEntry(InputFault("excluded.field_type", {"kind": shown(kind)}))
    )
    yield DescribedColumn(name, hidden or said, may_be_empty=not required)


def _hidden(row: _Field, *, first: bool) -> ExcludedEntry | None:
    """Return the reason why a field must not be learned from; None where it may be."""
    if first:
        return ExcludedEntry(InputFault("excluded.record_name"))
    if _cell(row, _IDENTIFIER).strip().lower() not in ("", "n"):  # REDCap writes "y"; people write other words
        return ExcludedEntry(InputFault("excluded.identifier"))
    return None


def _text(row: _Field) -> ColumnEntry:
    validation = _cell(row, _VALIDATION).lower()
    low, high = _cell(row, _LOW), _cell(row, _HIGH)
    if validation == "integer" or validation.startswith("number"):
        if "comma" in validation:
            low, high = low.replace(",", "."), high.replace(",", ".")
        return NumberEntry(bound_number(low), bound_number(high), whole=validation == "integer")
    if validation in _DATES:
        return DateEntry(*(bound_date(end, *_DATES[validation]) for end in (low, high)))
    if validation.startswith("date"):
        return ExcludedEntry(InputFault("excluded.time_of_day"))
    if validation.startswith(_IDENTIFYING):
        return ExcludedEntry(InputFault("excluded.identifying", {"validation": validation}))
    return (
        ExcludedEntry(InputFault("excluded.kind_of_text", {"kind": shown(validation)}))
        if validation
        else ExcludedEntry(InputFault("excluded.free_text"))
    )


def _slider(row: _Field) -> ColumnEntry:
    low, high = (bound_number(_cell(row, end)) for end in (_LOW, _HIGH))
    return NumberEntry(_SLIDER[0] if low is None else low, _SLIDER[1] if high is None else high, whole=True)


def _chosen(row: _Field) -> ColumnEntry:
    """Return levels by their labels with the codes beside them; by code alone where labels are ambiguous."""
    choices = _choices(_cell(row, _CHOICES))
    codes, labels = [choice.name for choice in choices], [choice.others[0] for choice in choices]
    plain = [label.casefold() for label in labels]
    overlap = any(label in codes and label != code for label, code in zip(labels, codes, strict=True))
    if len(set(plain)) < len(plain) or overlap or not all(label.isprintable() and label for label in labels):
        return LevelsEntry(tuple(LevelEntry(code) for code in codes))
    return LevelsEntry(tuple(LevelEntry(label, (code,)) for code, label in zip(codes, labels, strict=True)))


def _choices(text: str) -> Sequence[LevelEntry]:
    """Parse `1, Yes | 0, No` into codes, each with its label."""
    found = [part.partition(",") for part in text.split("|") if part.strip()]
    return [LevelEntry(code.strip(), (" ".join(_TAG.sub(" ", label).split()),)) for code, _, label in found]


_KINDS: Mapping[str, Callable[[_Field], ColumnEntry]] = MappingProxyType(
    {
        "text": _text,
        "notes": lambda row: ExcludedEntry(InputFault("excluded.free_text")),
        "file": lambda row: ExcludedEntry(InputFault("excluded.file")),
        "calc": lambda row: NumberEntry(),
        "slider": _slider,
        "radio": _chosen,
        "dropdown": _chosen,
        "select": _chosen,
        "sql": lambda row: LevelsEntry(),
        "yesno": lambda row: LevelsEntry((LevelEntry("No", ("0",)), LevelEntry("Yes", ("1",)))),
        "truefalse": lambda row: LevelsEntry((LevelEntry("false", ("0",)), LevelEntry("true", ("1",)))),
    }
)

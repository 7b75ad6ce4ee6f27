"""Draft of a bounds.toml from a data dictionary or a header; a person fills in the lines that it leaves open.

An open line has "?" in place of a value. Every reader of bounds refuses the file until somebody has filled in all of
them, with a list of those that are open (`smc_dp.data.open_lines`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import tomlkit

from smc_dp.core.errors import InputError, one_line, shown
from smc_dp.data.bounds import canonical_level
from smc_dp.data.dictionaries.data_dictionary import (
    ColumnEntry,
    DataDictionary,
    DateEntry,
    DescribedColumn,
    ExcludedEntry,
    LevelEntry,
    LevelsEntry,
    NumberEntry,
    UnknownEntry,
)
from smc_dp.data.federation import MOST_CLASSES
from smc_dp.data.open_lines import OPEN

_NO, _YES = ("false", "no"), ("true", "yes")
_BEFORE = frozenset({*_NO, "0", "n", "f", "off", "unchecked", "none", "negative", "absent"})
"""Of two levels the one that says so comes first, so that the other is the class +1."""


def order_levels(levels: Sequence[LevelEntry]) -> tuple[LevelEntry, ...]:
    """Return the levels in their order; of two, no before yes."""
    first, last = (levels[0], levels[-1]) if len(levels) == 2 else (None, None)
    if first is None or last is None or not _denies(last) or _denies(first):
        return tuple(levels)
    return (last, first)


def _denies(level: LevelEntry) -> bool:
    return level.name.casefold() in _BEFORE


# A spelling is only what can mean one level alone: what two levels could have is nobody's.
def find_aliases(levels: Sequence[LevelEntry]) -> list[tuple[str, tuple[str, ...]]]:
    """Return each level with every other text that means it alone."""
    truth = _truth(levels)
    found = [(level.name, [*_cases(level.name, *level.others, *truth.get(level.name, ()))]) for level in levels]
    names = {canonical_level(name) for name, _ in found}
    claimed = Counter(form for _, texts in found for form in {canonical_level(text) for text in texts})
    return [(name, tuple(_alone(texts, names, claimed))) for name, texts in found]


def _truth(levels: Sequence[LevelEntry]) -> dict[str, tuple[str, ...]]:
    """Return the texts false and true for a pair of levels such as no and yes; else nothing."""
    if len(levels) != 2:
        return {}
    no, yes = (level.name for level in levels)
    return {no: _NO, yes: _YES} if no.casefold() in _NO and yes.casefold() in _YES else {}


def _cases(*texts: str) -> Iterator[str]:
    for text in texts:
        yield from (text, text.lower(), text.upper(), text.capitalize())


def _alone(texts: Sequence[str], names: set[str], claimed: Counter[str]) -> Iterator[str]:
    seen = set(names)
    for text in texts:
        form = canonical_level(text)
        if form not in seen and form and claimed[form] == 1:
            seen.add(form)
            yield text.strip()


_TRUTH = ("false", "true")
_LONGEST = 90  # characters of aliases on a line
_NAMED = 20  # columns that a refusal names
_EMPTY_CELLS = (
    "Empty cells: fill in a value, add a feature for them, or leave the row out. Without a line an empty cell is",
    'refused. The usual guarantee is for a replaced record, and with it "leave out" is refused. Set `adjacency` to',
    "addremove for it (in newton, gd, logistic, linear), or take a method that protects whole parties.",
)
_OF_NAMES = (
    'Say what each column is, from a form or an instrument, never from the rows: [0, 120] for a number, ["f", "m"] for',
    "levels, [2010-01-01, 2025-12-31] for dates, {bins = [0, 18, 65, 120]} for ranges of a number.",
    "Delete the line of a name, a record id, free text, or any other column that should not be learned from.",
)
_QUOTED = f'"{OPEN}"'
_CLASSES = f"classes = [{_QUOTED}, {_QUOTED}]"


@dataclass(frozen=True)
class BoundsDraft:
    """Text of a drafted file, and the lines of it that a person has to fill in."""

    text: str
    waiting: tuple[str, ...]


@dataclass(frozen=True)
class _Line:
    text: str
    waits: bool = False


def draft_bounds(dictionary: DataDictionary, label: str | None = None) -> BoundsDraft:
    """Draft the bounds that a dictionary gives; raise InputError for a label that it lacks, or that is a date."""
    entries = tuple(replace(entry, said=_settled(entry.said)) for entry in dictionary.entries)
    of_classes = None if label is None else _labelled(dictionary.source, entries, label)
    features = [entry for entry in entries if entry.name != label]
    lines = [*_label(of_classes), *_columns(features)]
    lines += [*_aliases([*([] if of_classes is None else [of_classes]), *features]), *_missing(features)]
    waiting = tuple(line.text for line in lines if line.waits)
    text = "\n".join(line.text for line in (*_top(dictionary, is_open=bool(waiting)), *lines)) + "\n"
    return BoundsDraft(text, waiting)


def _settled(said: ColumnEntry) -> ColumnEntry:
    """Return a description with its levels in the order of the draft, and without a range that is empty."""
    if isinstance(said, LevelsEntry):
        return replace(said, levels=order_levels(said.levels))
    if isinstance(said, NumberEntry) and said.low is not None and said.high is not None and said.low >= said.high:
        return replace(said, low=None, high=None)
    if isinstance(said, DateEntry) and said.first is not None and said.last is not None and said.first >= said.last:
        return DateEntry()
    return said


def _labelled(source: str, entries: Sequence[DescribedColumn], label: str) -> DescribedColumn:
    """Return the entry of the column of classes, or of the number that is predicted."""
    entry = next((entry for entry in entries if entry.name == label), None)
    if entry is None:
        have = ", ".join([shown(entry.name) for entry in entries[:_NAMED]] + ["..."] * (len(entries) > _NAMED))
        raise InputError("codebook.no_label", label=shown(label), have=have).within(source)
    said = entry.said
    if isinstance(said, NumberEntry):
        return replace(entry, said=said.as_levels() or said)
    if isinstance(said, UnknownEntry):
        return replace(entry, said=LevelsEntry())
    if isinstance(said, LevelsEntry):
        if len(said.levels) == 1 or len(said.levels) > MOST_CLASSES:
            came = f"{len(said.levels):,} levels"
            raise InputError("codebook.wrong_classes", label=shown(label), came=came, most=MOST_CLASSES).within(source)
        return replace(entry, said=said)
    came = f"is left out: {said.why}" if isinstance(said, ExcludedEntry) else "is a date"
    raise InputError("codebook.no_classes", label=shown(label), came=came).within(source)


def _top(dictionary: DataDictionary, *, is_open: bool) -> Iterator[_Line]:
    yield _comment(f"Drafted from {dictionary.source}, {dictionary.kind}. Nothing comes from rows.")
    if is_open:
        yield _comment(
            f"Replace each {_QUOTED}. Until then every command refuses this file, with a list of open lines."
        )
    if dictionary.form:
        yield _Line("#")
        yield _comment("The dictionary also states the format of the data file. Its owner copies these lines into")
        yield _comment(
            "[file] of own.toml, or beside the data into a file of its whole name and .toml (rows.csv.toml):"
        )
        yield _comment("[file]")
        yield from (_comment(f"{name} = {_value(value)}") for name, value in dictionary.form.items())
    yield _Line("")


def _label(entry: DescribedColumn | None) -> Iterator[_Line]:
    yield _Line("[label]")
    if entry is not None and isinstance(entry.said, NumberEntry):
        value, lacks = _bounds(entry.said)
        yield _Line(f"column = {_value(entry.name)}")
        note = lacks or "a number to predict, by the method linear; for classes write them in its place"
        yield _Line(f"range = {value}  # {note}", waits=bool(lacks))
    elif entry is None or not isinstance(entry.said, LevelsEntry):
        yield _Line(
            f"column = {_QUOTED}  # name the column of classes, and delete the line of that column below", waits=True
        )
        yield _Line(
            f"{_CLASSES}  # if there are two classes, a score of the model above 0 means the second", waits=True
        )
    else:
        yield _Line(f"column = {_value(entry.name)}")
        if entry.said.levels:
            of_two = "  # a score of the model above 0 means the second" if len(entry.said.levels) == 2 else ""
            yield _Line(f"classes = {_levels(entry.said)}{of_two}")
        else:
            yield _Line(
                f"{_CLASSES}  # not stated; if there are two classes, a score of the model above 0 means the second",
                waits=True,
            )
            yield _comment("to predict a number, write range = [LOW, HIGH] in place of that line")
    yield _Line("")


def _columns(entries: Sequence[DescribedColumn]) -> Iterator[_Line]:
    yield _Line("[columns]")
    if any(isinstance(entry.said, UnknownEntry) for entry in entries):
        yield from map(_comment, _OF_NAMES)
    for entry in entries:
        if isinstance(entry.said, ExcludedEntry):
            yield _comment(f"left out: {_key(entry.name)} ({entry.said.why})")
        elif isinstance(entry.said, UnknownEntry):
            yield _Line(f"{_key(entry.name)} = {_QUOTED}", waits=True)
        else:
            value, lacks = _bounds(entry.said)
            yield _Line(f"{_key(entry.name)} = {value}" + (f"  # {lacks}" if lacks else ""), waits=bool(lacks))
    yield _Line("")


def _bounds(said: NumberEntry | DateEntry | LevelsEntry) -> tuple[str, str]:
    """Return the value of a line in [columns], and a note on what the dictionary does not say of it."""
    if isinstance(said, LevelsEntry):
        return (_levels(said), "") if said.levels else (f"[{_QUOTED}]", str(said.lacks))
    if isinstance(said, DateEntry):
        days = (said.first, said.last)
        value = ", ".join(_QUOTED if day is None else day.isoformat() for day in days)
        return f"[{value}]", _lacks(*days, "no first and last day", "no first day", "no last day")
    ends = (said.low, said.high)
    value = ", ".join(_QUOTED if end is None else _number(end) for end in ends)
    return f"[{value}]", _lacks(*ends, "no range", "no lowest value", "no highest value")


def _lacks(low: object, high: object, both: str, lowest: str, highest: str) -> str:
    if low is not None and high is not None:
        return ""
    return f"the dictionary gives {both if low is high else lowest if low is None else highest}"


def _aliases(entries: Iterable[DescribedColumn]) -> Iterator[_Line]:
    """Yield a section of aliases for each column that has some."""
    for entry in entries:
        if not isinstance(entry.said, LevelsEntry):
            continue
        named = [(name, others) for name, others in find_aliases(entry.said.levels) if others]
        if named:
            yield _Line(f"[aliases.{_key(entry.name)}]")
            yield from (_Line(f"{_key(name)} = {_wrapped(others)}") for name, others in named)
            yield _Line("")


def _wrapped(texts: Sequence[str]) -> str:
    whole = _value(list(texts))
    return whole if len(whole) <= _LONGEST else "[\n" + "".join(f"    {_value(text)},\n" for text in texts) + "]"


def _missing(entries: Iterable[DescribedColumn]) -> Iterator[_Line]:
    """Yield suggested rules for empty cells, as comments."""
    found = [entry for entry in entries if entry.may_be_empty and not isinstance(entry.said, ExcludedEntry)]
    if found:
        yield from (_comment(line) for line in _EMPTY_CELLS)
        yield _Line("[missing]")
        if any(isinstance(entry.said, UnknownEntry) for entry in found):
            yield _comment('COLUMN = "indicator"  # a column of numbers or dates')
            yield _comment('COLUMN = "category"  # a column of levels')
            yield _comment('COLUMN = "leave out"  # any column: rows with an empty cell are left out')
            yield _comment("COLUMN = VALUE  # any column: an empty cell counts as this value of the column")
        for entry in (entry for entry in found if not isinstance(entry.said, UnknownEntry)):
            first = "category" if isinstance(entry.said, LevelsEntry) else "indicator"
            value = {"category": "a level", "indicator": "a number"}[first]
            if isinstance(entry.said, DateEntry):
                value = "a date as text"
            yield _comment(f'{_key(entry.name)} = "{first}"  # or "leave out", or {value}')


def _levels(said: LevelsEntry) -> str:
    names = [level.name for level in said.levels]
    return "[false, true]" if tuple(names) == _TRUTH else _value(names)


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _value(value: str | list[str]) -> str:
    return _escaped(str(tomlkit.item(value).as_string()))


def _key(name: str) -> str:
    return _escaped(tomlkit.key(name).as_string())


def _escaped(text: str) -> str:
    """Return quoted text without control characters for a terminal; TOML allows more to stand there."""
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in text)


def _comment(text: str) -> _Line:
    return _Line(f"# {one_line(text)}")

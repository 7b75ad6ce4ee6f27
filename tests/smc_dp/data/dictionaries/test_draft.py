"""A drafted file of bounds: read as it is where nothing is lacking, refused with the line where something is."""

from __future__ import annotations

import datetime
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc_dp.core.errors import InputFault
from smc_dp.data.bounds import canonical_level, parse_bounds, read_bounds
from smc_dp.data.columns import CategoricalColumn, DateColumn, NumericColumn
from smc_dp.data.dictionaries.data_dictionary import (
    ColumnEntry,
    DataDictionary,
    DateEntry,
    DescribedColumn,
    ExcludedEntry,
    LevelEntry,
    LevelsEntry,
    NumberEntry,
)
from smc_dp.data.dictionaries.draft import draft_bounds, find_aliases
from tests.support.refusals import refused

DAYS = (datetime.date(2015, 1, 31), datetime.date(2024, 12, 31))
NO_YES = LevelsEntry((LevelEntry("No", ("0",)), LevelEntry("Yes", ("1",))))


def book(**columns: ColumnEntry) -> DataDictionary:
    entries = tuple(DescribedColumn(name, said) for name, said in columns.items())
    return DataDictionary("trial.csv", "a data dictionary", entries)


def of(*levels: str) -> LevelsEntry:
    return LevelsEntry(tuple(map(LevelEntry, levels)))


WHOLE = book(
    **{
        "name": ExcludedEntry(InputFault("excluded.record_name")),
        "age": NumberEntry(18.0, 110.5),
        "came": DateEntry(*DAYS),
    },
    **{"on": of("true", "false"), "ward": LevelsEntry((LevelEntry("Köln", ("k",)), LevelEntry("a b"))), "out": NO_YES},
)


def test_what_the_code_book_says_is_in_the_bounds() -> None:
    found = draft_bounds(WHOLE, "out")
    assert found.waiting == ()
    bounds = parse_bounds(found.text)
    assert bounds.columns == (
        NumericColumn("age", 18.0, 110.5),
        DateColumn("came", *DAYS),
        CategoricalColumn(
            *("on", ("false", "true"), None),
            (("false", ("FALSE", "False", "no", "NO", "No")), ("true", ("TRUE", "True", "yes", "YES", "Yes"))),
        ),
        CategoricalColumn(
            *("ward", ("Köln", "a b"), None), (("Köln", ("köln", "KÖLN", "k", "K")), ("a b", ("A B", "A b")))
        ),
    )
    assert (bounds.label, bounds.classes) == ("out", ("No", "Yes"))
    assert dict(bounds.aliases)["Yes"] == ("yes", "YES", "1", "true", "TRUE", "True")
    assert "# left out: name (an identifier of the record)" in found.text


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (NumberEntry(), 'x = ["?", "?"]  # the dictionary gives no range'),
        (NumberEntry(low=0.0), 'x = [0, "?"]  # the dictionary gives no highest value'),
        (NumberEntry(high=0.5), 'x = ["?", 0.5]  # the dictionary gives no lowest value'),
        (NumberEntry(5.0, 5.0), 'x = ["?", "?"]  # the dictionary gives no range'),
        (DateEntry(last=DAYS[1]), 'x = ["?", 2024-12-31]  # the dictionary gives no first day'),
        (DateEntry(*reversed(DAYS)), 'x = ["?", "?"]  # the dictionary gives no first and last day'),
        (LevelsEntry(), 'x = ["?"]  # the dictionary lists no levels; delete the line if this is free text'),
        (LevelsEntry(lacks="a dictionary, not read"), 'x = ["?"]  # a dictionary, not read'),
    ],
)
def test_what_it_does_not_say_is_refused_with_the_line_until_a_person_says_it(
    said: ColumnEntry, line: str, tmp_path: Path
) -> None:
    found = draft_bounds(book(x=said, out=NO_YES), "out")
    assert found.waiting == (line,)
    path = tmp_path / "bounds.toml"
    path.write_text(found.text)
    with refused("bounds.open_column", column="x"):
        read_bounds(path)
    value = {DateEntry: "[2000-01-01, 2001-01-01]", LevelsEntry: '["a"]', NumberEntry: "[0, 1]"}[type(said)]
    path.write_text(found.text.replace(line, f"x = {value}"))
    assert read_bounds(path).columns[0].name == "x"


def test_without_a_label_the_draft_asks_which_column_has_the_classes() -> None:
    found = draft_bounds(WHOLE)
    assert [line.partition(" ")[0] for line in found.waiting] == ["column", "classes"]
    assert '["?", "?"]' in found.waiting[1]
    assert found.text.count("\nout = ") == 1


@pytest.mark.parametrize(
    ("said", "classes"),
    [
        (NO_YES, ("No", "Yes")),
        (of("yes", "no"), ("no", "yes")),
        (of("Y", "N"), ("N", "Y")),
        (of("alive", "dead"), ("alive", "dead")),
        (of("true", "false"), ("false", "true")),
        (NumberEntry(0.0, 2.0, whole=True), ("0", "1", "2")),
    ],
)
def test_of_two_classes_the_one_that_denies_comes_first(said: ColumnEntry, classes: tuple[str, ...]) -> None:
    assert parse_bounds(draft_bounds(book(a=NumberEntry(0.0, 1.0), out=said), "out").text).classes == classes


def test_a_label_that_is_a_number_has_its_range() -> None:
    found = draft_bounds(book(a=NumberEntry(0.0, 1.0), out=NumberEntry(0.0, 120.0)), "out")
    assert parse_bounds(found.text).outcome == (0.0, 120.0)
    waiting = draft_bounds(book(a=NumberEntry(0.0, 1.0), out=NumberEntry(0.0)), "out")
    assert [line.partition(" ")[0] for line in waiting.waiting] == ["range"]
    with refused("bounds.open_range"):
        parse_bounds(waiting.text)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (DateEntry(), "codebook.no_classes"),
        (ExcludedEntry(InputFault("excluded.identifier")), "codebook.no_classes"),
        (of("one"), "codebook.wrong_classes"),
    ],
)
def test_a_label_that_is_no_class_is_refused(said: ColumnEntry, code: str) -> None:
    with refused(code):
        draft_bounds(book(a=NumberEntry(0.0, 1.0), out=said), "out")
    with refused("codebook.no_label", label="'gone'"):
        draft_bounds(book(out=said), "gone")


def test_rules_for_empty_cells_are_suggested_and_not_taken() -> None:
    found = draft_bounds(WHOLE, "out").text
    assert parse_bounds(found).columns[0].missing is None
    chosen = parse_bounds(found.replace('# age = "', 'age = "').replace('# ward = "', 'ward = "'))
    assert [column.missing for column in chosen.columns] == ["indicator", None, None, "category"]
    filled = DataDictionary("b", "k", (DescribedColumn("a", NumberEntry(0.0, 1.0), may_be_empty=False),))
    assert "[missing]" not in draft_bounds(filled).text


def test_how_the_file_is_written_is_no_part_of_what_is_public() -> None:
    form = {"separator": "\t", "decimal": ","}
    found = draft_bounds(DataDictionary("b", "k", WHOLE.entries, form), "out")
    assert parse_bounds(found.text) == parse_bounds(draft_bounds(WHOLE, "out").text)
    said = [line.removeprefix("# ") for line in found.text.splitlines()]
    section = said[said.index("[file]") :][:3]
    assert tomllib.loads("\n".join(section))["file"] == form


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
TEXTS = st.sampled_from(["yes", "no", "Yes", "NO", "0", "1", "01", "true", "a", "A", "b", "ß", "SS", " b ", "\x85"])


@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=3)), min_size=1, max_size=4))
def test_a_spelling_stands_for_one_level_or_for_none(levels: list[tuple[str, list[str]]]) -> None:
    said = [
        LevelEntry(name, tuple(others)) for name, others in {canonical_level(n): (n, o) for n, o in levels}.values()
    ]
    found = find_aliases(said)
    assert [name for name, _ in found] == [level.name for level in said]
    every = [canonical_level(text) for name, others in found for text in (name, *others)]
    assert len(set(every)) == len(every)


@given(st.lists(NAMES.filter(str.strip), min_size=1, max_size=4, unique=True), st.data())
def test_whatever_columns_and_levels_are_called_comes_back(names: list[str], data: st.DataObject) -> None:
    levels = data.draw(st.lists(NAMES.filter(str.strip), min_size=2, max_size=3, unique_by=canonical_level))
    found = draft_bounds(
        DataDictionary("b", "k", tuple(DescribedColumn(name, of(*levels)) for name in names)), names[0]
    )
    assert all(line.isprintable() for line in found.text.splitlines()), "a terminal may be shown it"
    document = tomllib.loads(found.text)
    assert document["label"]["column"] == names[0]
    assert list(document.get("columns", {})) == names[1:]
    for value in (document["label"]["classes"], *document["columns"].values()):
        assert {str(level).lower() if isinstance(level, bool) else level for level in value} == set(levels)


def test_a_refusal_of_toml_shows_its_line_and_no_more_of_it_than_fits() -> None:
    for line, shown in (("b = [?]", "b = [?]"), ("b = ?" + "x" * 500, "b = ?" + "x" * 92 + "..."), ("b =", "b =")):
        with refused("toml.unreadable") as caught:
            parse_bounds(f"a = 1\n{line}\n")
        assert caught.value.fault.fields["line"] == f": {shown}"

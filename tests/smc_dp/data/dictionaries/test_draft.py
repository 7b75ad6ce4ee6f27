"""A drafted file of bounds: read as it is where nothing is lacking, refused with the line where something is."""

from __future__ import annotations

import datetime
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc_dp.data.bounds import canonical, parse_bounds, read_bounds
from smc_dp.data.columns import CategoricalColumn, DateColumn, NumericColumn
from smc_dp.data.dictionaries.data_dictionary import (
    BookEntry,
    CodeBook,
    ColumnSaid,
    DateSaid,
    LeftOut,
    LevelSaid,
    LevelsSaid,
    NumberSaid,
)
from smc_dp.data.dictionaries.draft import drafted, spelled
from tests.support.refusals import refused

DAYS = (datetime.date(2015, 1, 31), datetime.date(2024, 12, 31))
NO_YES = LevelsSaid((LevelSaid("No", ("0",)), LevelSaid("Yes", ("1",))))


def book(**columns: ColumnSaid) -> CodeBook:
    entries = tuple(BookEntry(name, said) for name, said in columns.items())
    return CodeBook("trial.csv", "a code book", entries)


def of(*levels: str) -> LevelsSaid:
    return LevelsSaid(tuple(map(LevelSaid, levels)))


WHOLE = book(
    **{"name": LeftOut("the record's own name"), "age": NumberSaid(18.0, 110.5), "came": DateSaid(*DAYS)},
    **{"on": of("true", "false"), "ward": LevelsSaid((LevelSaid("Köln", ("k",)), LevelSaid("a b"))), "out": NO_YES},
)


def test_what_the_code_book_says_is_in_the_bounds() -> None:
    found = drafted(WHOLE, "out")
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
    assert "# left out: name (the record's own name)" in found.text


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (NumberSaid(), "x = [?, ?]  # the code book gives no range"),
        (NumberSaid(low=0.0), "x = [0, ?]  # the code book gives no highest value"),
        (NumberSaid(high=0.5), "x = [?, 0.5]  # the code book gives no lowest value"),
        (NumberSaid(5.0, 5.0), "x = [?, ?]  # the code book gives no range"),
        (DateSaid(last=DAYS[1]), "x = [?, 2024-12-31]  # the code book gives no first day"),
        (DateSaid(*reversed(DAYS)), "x = [?, ?]  # the code book gives no first and last day"),
        (LevelsSaid(), "x = [?]  # the code book lists no levels; of free text, the line goes"),
        (LevelsSaid(lacks="a dictionary, not read"), "x = [?]  # a dictionary, not read"),
    ],
)
def test_what_it_does_not_say_is_refused_with_the_line_until_a_person_says_it(
    said: ColumnSaid, line: str, tmp_path: Path
) -> None:
    found = drafted(book(x=said, out=NO_YES), "out")
    assert found.waiting == (line,)
    path = tmp_path / "bounds.toml"
    path.write_text(found.text)
    with refused("toml.unreadable") as caught:
        read_bounds(path)
    assert " ".join(line.split()) in str(caught.value)
    value = {DateSaid: "[2000-01-01, 2001-01-01]", LevelsSaid: '["a"]', NumberSaid: "[0, 1]"}[type(said)]
    path.write_text(found.text.replace(line, f"x = {value}"))
    assert read_bounds(path).columns[0].name == "x"


def test_without_a_label_the_draft_asks_which_column_has_the_classes() -> None:
    found = drafted(WHOLE)
    assert [line.partition(" ")[0] for line in found.waiting] == ["column", "classes"]
    assert "[?, ?]" in found.waiting[1]
    assert found.text.count("\nout = ") == 1


@pytest.mark.parametrize(
    ("said", "classes"),
    [
        (NO_YES, ("No", "Yes")),
        (of("yes", "no"), ("no", "yes")),
        (of("Y", "N"), ("N", "Y")),
        (of("alive", "dead"), ("alive", "dead")),
        (of("true", "false"), ("false", "true")),
        (NumberSaid(0.0, 2.0, whole=True), ("0", "1", "2")),
    ],
)
def test_of_two_classes_the_one_that_denies_comes_first(said: ColumnSaid, classes: tuple[str, ...]) -> None:
    assert parse_bounds(drafted(book(a=NumberSaid(0.0, 1.0), out=said), "out").text).classes == classes


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (NumberSaid(0.0, 120.0, whole=True), "codebook.no_classes"),
        (DateSaid(), "codebook.no_classes"),
        (LeftOut("marked as an identifier"), "codebook.no_classes"),
        (of("one"), "codebook.wrong_classes"),
    ],
)
def test_a_label_that_is_no_class_is_refused(said: ColumnSaid, code: str) -> None:
    with refused(code):
        drafted(book(a=NumberSaid(0.0, 1.0), out=said), "out")
    with refused("codebook.no_label", label="'gone'"):
        drafted(book(out=said), "gone")


def test_rules_for_empty_cells_are_suggested_and_not_taken() -> None:
    found = drafted(WHOLE, "out").text
    assert parse_bounds(found).columns[0].missing is None
    chosen = parse_bounds(found.replace('# age = "', 'age = "').replace('# ward = "', 'ward = "'))
    assert [column.missing for column in chosen.columns] == ["indicator", None, None, "category"]
    filled = CodeBook("b", "k", (BookEntry("a", NumberSaid(0.0, 1.0), may_be_empty=False),))
    assert "[missing]" not in drafted(filled).text


def test_how_the_file_is_written_is_no_part_of_what_is_public() -> None:
    form = {"separator": "\t", "decimal": ","}
    found = drafted(CodeBook("b", "k", WHOLE.entries, form), "out")
    assert parse_bounds(found.text) == parse_bounds(drafted(WHOLE, "out").text)
    said = [line.removeprefix("# ") for line in found.text.splitlines()]
    section = said[said.index("[file]") :][:3]
    assert tomllib.loads("\n".join(section))["file"] == form


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
TEXTS = st.sampled_from(["yes", "no", "Yes", "NO", "0", "1", "01", "true", "a", "A", "b", "ß", "SS", " b ", "\x85"])


@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=3)), min_size=1, max_size=4))
def test_a_spelling_stands_for_one_level_or_for_none(levels: list[tuple[str, list[str]]]) -> None:
    said = [LevelSaid(name, tuple(others)) for name, others in {canonical(n): (n, o) for n, o in levels}.values()]
    found = spelled(said)
    assert [name for name, _ in found] == [level.name for level in said]
    every = [canonical(text) for name, others in found for text in (name, *others)]
    assert len(set(every)) == len(every)


@given(st.lists(NAMES.filter(str.strip), min_size=1, max_size=4, unique=True), st.data())
def test_whatever_columns_and_levels_are_called_comes_back(names: list[str], data: st.DataObject) -> None:
    levels = data.draw(st.lists(NAMES.filter(str.strip), min_size=2, max_size=3, unique_by=canonical))
    found = drafted(CodeBook("b", "k", tuple(BookEntry(name, of(*levels)) for name in names)), names[0])
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
        assert str(caught.value).endswith(f": {shown}")

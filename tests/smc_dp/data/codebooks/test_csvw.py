"""CSV on the Web metadata: what each way of describing a column comes to, and what is refused."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from smc_dp.data.codebooks.book import CodeBook, ColumnSaid, DateSaid, LeftOut, LevelSaid, LevelsSaid, NumberSaid
from smc_dp.data.codebooks.csvw import csvw_book
from smc_dp.data.codebooks.draft import drafted
from smc_dp.errors import InputError


def book(*columns: dict[str, Any], schema: dict[str, Any] | None = None, **table: Any) -> CodeBook:
    return csvw_book({"tableSchema": {"columns": list(columns), **(schema or {})}, **table}, "book.json")


def said(datatype: object, **column: Any) -> ColumnSaid:
    return book({"name": "x", "datatype": datatype, **column}).entries[0].said


def levels(*names: str) -> LevelsSaid:
    return LevelsSaid(tuple(map(LevelSaid, names)))


TRUTH = LevelsSaid((LevelSaid("false", ("0",)), LevelSaid("true", ("1",))))


@pytest.mark.parametrize(
    ("datatype", "wanted"),
    [
        ("integer", NumberSaid(whole=True)),
        ("nonNegativeInteger", NumberSaid(0.0, whole=True)),
        ({"base": "integer", "minimum": 18, "maximum": "110"}, NumberSaid(18.0, 110.0, whole=True)),
        ({"base": "decimal", "minInclusive": "0.5", "maxExclusive": 9}, NumberSaid(0.5, 9.0)),
        ({"base": "double", "minimum": "NaN", "maximum": "1e999"}, NumberSaid()),
        ("boolean", TRUTH),
        ({"base": "boolean", "format": "Y|N"}, LevelsSaid((LevelSaid("false", ("N",)), LevelSaid("true", ("Y",))))),
        ("date", DateSaid()),
        (
            {"base": "date", "format": "dd.MM.yyyy", "minimum": "31.01.2015", "maximum": "2024-12-31"},
            DateSaid(datetime.date(2015, 1, 31), datetime.date(2024, 12, 31)),
        ),
        ({"base": "date", "format": "MM/dd/yyyy", "minimum": "01/02/2015"}, DateSaid()),  # of two meanings
        ({"base": "string", "format": "yes|no"}, levels("yes", "no")),
        ({"format": "^(?:a b|c-d|e+)$"}, levels("a b", "c-d", "e+")),
        ({"base": "string", "format": "[A-Z]{2}|x"}, LevelsSaid()),
        ("string", LevelsSaid()),
        ("dateTime", LeftOut("its datatype is 'dateTime'")),
    ],
)
def test_a_datatype_says(datatype: object, wanted: ColumnSaid) -> None:
    assert said(datatype) == wanted


def test_what_the_table_says_its_columns_inherit_unless_they_say_otherwise() -> None:
    found = book(
        {"name": "a"}, {"name": "b", "datatype": "integer", "required": False}, datatype="boolean", required=True
    )
    assert [(entry.said, entry.may_be_empty) for entry in found.entries] == [
        (TRUTH, False), (NumberSaid(whole=True), True),
    ]  # fmt: skip
    of_group = csvw_book({"datatype": "boolean", "tables": [{"tableSchema": {"columns": [{"name": "a"}]}}]}, "book")
    assert of_group.entries[0].said == TRUTH


def test_columns_are_called_as_the_header_calls_them() -> None:
    titles: list[object] = ["Age", ["Sex", "Gender"], {"en": "Ward", "de": "Station"}, {"en": ["Unit"]}]
    found = book(*({"name": f"c{i}", "titles": title} for i, title in enumerate(titles)), {"name": "plain"})
    assert [entry.name for entry in found.entries] == ["Age", "Sex", "Ward", "Unit", "plain"]


def test_names_of_rows_and_what_is_not_to_be_given_out_are_left_out() -> None:
    found = book(
        {"name": "id"}, {"name": "secret", "suppressOutput": True}, {"name": "many", "separator": ";"},
        {"name": "made", "virtual": True}, {"name": "age", "datatype": "integer"}, schema={"primaryKey": "id"},
    )  # fmt: skip
    assert [(entry.name, type(entry.said)) for entry in found.entries] == [
        ("id", LeftOut), ("secret", LeftOut), ("many", LeftOut), ("age", NumberSaid),
    ]  # fmt: skip
    of_two = book({"name": "ward"}, {"name": "bed"}, schema={"primaryKey": ["ward", "bed"]})
    assert {type(entry.said) for entry in of_two.entries} == {LevelsSaid}  # neither alone tells rows apart


def test_how_the_file_is_written_is_kept_apart() -> None:
    comma = {"base": "decimal", "format": {"decimalChar": ",", "groupChar": "."}}
    found = book(
        {"name": "a", "datatype": comma, "null": ["", "NA"]}, {"name": "b", "null": "k. A."},
        {"name": "c", "datatype": {"base": "date", "format": "MM/dd/yyyy"}},
        dialect={"delimiter": ";", "encoding": "ISO-8859-1"},
    )  # fmt: skip
    assert found.form == {
        **{"separator": ";", "encoding": "latin-1", "decimal": ","},
        **{"missing": ["NA", "k. A."], "dates": "mm/dd/yyyy"},
    }
    assert book({"name": "a"}, dialect={"encoding": "utf-8"}).form == {}
    assert (found.notes, book({"name": "a", "null": ["9"]}, {"name": "b"}).form) == ((), {"missing": ["9"]})
    assert book({"name": "a", "datatype": {"base": "string", "format": "MM/dd/yyyy"}}).form == {}


@pytest.mark.parametrize(
    "datatype",
    [
        {"base": "integer", "minimum": 0, "maximum": 120},
        "number",
        {"format": "9|8"},
        {"base": "boolean", "format": "1|9"},
    ],
)
def test_a_word_that_is_a_value_of_another_column_stands_for_nothing_in_the_whole_file(datatype: object) -> None:
    pain = {"name": "pain", "null": ["9", "-99", "NA"], "datatype": {"base": "integer", "minimum": 0, "maximum": 8}}
    found = book(pain, {"name": "other", "null": ["-99"], "datatype": datatype}, {"name": "note"})
    assert found.form == {"missing": ["-99", "NA"]}
    (note,) = found.notes
    assert note.startswith("'9' stands for nothing in 'pain', and may be a value of 'other': ")
    assert f"# {note}\n" in drafted(found).text
    both = book(pain, {"name": "other", "null": ["9"], "datatype": datatype})
    assert "9" in both.form["missing"]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"tables": []}, "wanted one table"),
        ({"tables": [{}, {}]}, "wanted one table"),
        ({"tableSchema": "schema.json"}, "tableSchema: wanted a section"),
        ({"tableSchema": {"columns": []}}, "describes no column"),
        ({"tableSchema": {"columns": [{"datatype": "string"}]}}, "without a name"),
        ({"tableSchema": {"columns": [{"name": "a"}, {"titles": "a"}]}}, "'a' occurs twice"),
        ({"tableSchema": {"columns": [{"name": "\ud800"}]}}, "the name is no text"),
        ({"tableSchema": {"columns": [{"name": 3}]}}, "columns 1: name: wanted a text, got 3"),
        ({"dialect": {"header": False}, "tableSchema": {"columns": [{"name": "a"}]}}, "no header"),
        ({"dialect": {"headerRowCount": 0}, "tableSchema": {"columns": [{"name": "a"}]}}, "no header"),
    ],
)
def test_a_description_that_says_nothing_is_refused(document: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        csvw_book(document, "book.json")
    assert str(caught.value).startswith("book.json: ")

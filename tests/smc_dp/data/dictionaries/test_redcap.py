"""A REDCap data dictionary: what each type of field comes to, in the words of its file and of its API."""

from __future__ import annotations

import csv
import datetime
import io

import pytest

from smc_dp.core.errors import InputFault
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
from smc_dp.data.dictionaries.redcap import redcap_dictionary, separator_of_dictionary
from tests.support.refusals import refused

HEADINGS = (
    *("Variable / Field Name", "Field Type", "Choices, Calculations, OR Slider Labels"),
    *("Text Validation Type OR Show Slider Number", "Text Validation Min", "Text Validation Max", "Identifier?"),
    *("Required Field?", "Branching Logic (Show field only if...)"),
)
OF_THE_API = (
    *("field_name", "field_type", "select_choices_or_calculations", "text_validation_type_or_show_slider_number"),
    *("text_validation_min", "text_validation_max", "identifier", "required_field", "branching_logic"),
)
RECORD = ("record_id", "text")


def dictionary(*fields: tuple[str, ...], headings: tuple[str, ...] = HEADINGS, separator: str = ",") -> DataDictionary:
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows([headings, RECORD, *fields])
    first = text.getvalue().splitlines()[0]
    assert separator_of_dictionary(first) == separator
    return redcap_dictionary(text.getvalue(), separator, "dictionary.csv")


def said(*field: str) -> ColumnEntry:
    (entry,) = dictionary(("x", *field)).entries[1:]
    return entry.said


def levels(*pairs: tuple[str, ...]) -> LevelsEntry:
    return LevelsEntry(tuple(LevelEntry(name, others) for name, *rest in pairs for others in (tuple(rest),)))


@pytest.mark.parametrize(
    ("field", "wanted"),
    [
        (("text", "", "integer", "18", "110"), NumberEntry(18.0, 110.0, whole=True)),
        (("text", "", "number_1dp_comma_decimal", "0,5", "9,5"), NumberEntry(0.5, 9.5)),
        (("text", "", "number", "[age]", ""), NumberEntry()),
        (
            ("text", "", "date_dmy", "2015-01-31", "31/12/2024"),
            DateEntry(datetime.date(2015, 1, 31), datetime.date(2024, 12, 31)),
        ),
        (
            ("text", "", "date_mdy", "01-02-2015", "12/31/2024"),
            DateEntry(datetime.date(2015, 1, 2), datetime.date(2024, 12, 31)),
        ),
        (("text", "", "date_ymd", "2015-01-31", "today"), DateEntry(datetime.date(2015, 1, 31))),
        (("calc", "round([a]/[b], 1)"), NumberEntry()),
        (("slider", "none | some | worst", "number"), NumberEntry(0.0, 100.0, whole=True)),
        (("slider", "", "", "1", "10"), NumberEntry(1.0, 10.0, whole=True)),
        (("radio", "1, Female | 2, Male, or other"), levels(("Female", "1"), ("Male, or other", "2"))),
        (("dropdown", "a, <b>Low</b>|b,High"), levels(("Low", "a"), ("High", "b"))),
        (("radio", "0, 1 | 1, 2"), levels(("0",), ("1",))),  # a 1 could be either: codes alone
        (("radio", "1, Other | 2, other"), levels(("1",), ("2",))),
        (("radio", "1, | 2, b"), levels(("1",), ("2",))),
        (("radio", ""), LevelsEntry()),
        (("sql", "select 1"), LevelsEntry()),
        (("yesno",), levels(("No", "0"), ("Yes", "1"))),
        (("truefalse",), levels(("false", "0"), ("true", "1"))),
        (("text",), ExcludedEntry(InputFault("excluded.free_text"))),
        (("notes",), ExcludedEntry(InputFault("excluded.free_text"))),
        (("file",), ExcludedEntry(InputFault("excluded.file"))),
        (("text", "", "email"), ExcludedEntry(InputFault("excluded.identifying", {"validation": "email"}))),
        (("text", "", "datetime_dmy"), ExcludedEntry(InputFault("excluded.time_of_day"))),
        (("hologram",), ExcludedEntry(InputFault("excluded.field_type", {"kind": "'hologram'"}))),
    ],
)
def test_a_field_says(field: tuple[str, ...], wanted: ColumnEntry) -> None:
    assert said(*field) == wanted


def test_a_checkbox_is_a_column_for_each_choice_as_exports_call_it() -> None:
    found = dictionary(("s", "checkbox", "1, Cough | -9, None | B, Both"), ("t", "descriptive"))
    ticked = levels(("false", "0", "Unchecked"), ("true", "1", "Checked"))
    names = ("s___1", "s____9", "s___b")
    assert found.entries[1:] == tuple(DescribedColumn(name, ticked, may_be_empty=False) for name in names)


def test_the_record_and_identifiers_are_left_out_whatever_they_are() -> None:
    found = dictionary(("born", "text", "", "date_dmy", "", "", "y"), ("sex", "radio", "1, f | 2, m", "", "", "", "Y"))
    assert [type(entry.said) for entry in found.entries] == [ExcludedEntry] * 3
    numbered = redcap_dictionary("field_name,field_type\nrecord_id,slider\npain,slider\n", ",", "dictionary.csv")
    assert [type(entry.said) for entry in numbered.entries] == [ExcludedEntry, NumberEntry]


@pytest.mark.parametrize("said", ["y", "Y", "yes", "1", "true", "x", "no", "0"])
def test_anything_but_nothing_and_n_marks_an_identifier(said: str) -> None:
    assert dictionary(("born", "yesno", *[""] * 4, said)).entries[1].said == ExcludedEntry(
        InputFault("excluded.identifier")
    )


@pytest.mark.parametrize("said", ["", " ", "n", "N"])
def test_nothing_and_n_mark_none(said: str) -> None:
    assert not isinstance(dictionary(("born", "yesno", *[""] * 4, said)).entries[1].said, ExcludedEntry)


def test_a_required_field_is_never_empty_unless_it_is_asked_only_sometimes() -> None:
    entries = dictionary(("a", "yesno", *[""] * 5, "y"), ("b", "yesno", *[""] * 5, "y", "[a]='1'"), ("c", "yesno"))
    assert [entry.may_be_empty for entry in entries.entries[1:]] == [False, True, True]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("headings", [HEADINGS, OF_THE_API], ids=["file", "api"])
def test_the_file_and_the_api_say_the_same(headings: tuple[str, ...], separator: str) -> None:
    fields = (("age", "text", "", "integer", "0", "120", "", "y"), ("sex", "radio", "1, f | 2, m"))
    assert dictionary(*fields, headings=headings, separator=separator) == dictionary(*fields)


def test_a_decimal_comma_is_said_where_all_numbers_have_one() -> None:
    whole, comma, point = (("a", "text", "", "integer"), ("b", "text", "", "number_1dp_comma_decimal"),
                           ("c", "text", "", "number"))  # fmt: skip
    assert dictionary(whole, comma).form == {"decimal": ","}
    assert dictionary(whole).form == dictionary(whole, comma, point).form == {}


def test_rows_are_no_dictionary() -> None:
    assert separator_of_dictionary("age,sex,outcome") is None
    assert separator_of_dictionary("Field Type,age") is None


@pytest.mark.parametrize(
    ("field", "code"),
    [
        (("a", "yesno", *[""] * 8), "codebook.ragged_row"),
        (("record_id", "yesno"), "codebook.same_name"),
        (("", "yesno"), "codebook.no_name"),
    ],
)
def test_a_broken_dictionary_is_refused(field: tuple[str, ...], code: str) -> None:
    with refused(code):
        dictionary(field)
    with refused("codebook.not_csv"):
        redcap_dictionary(f'{",".join(HEADINGS[:2])}\n"a,b', ",", "dictionary.csv")

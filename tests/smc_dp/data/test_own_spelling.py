"""Each site states its own texts for levels and truth values, and the bounds of all stay as they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from smc_dp.data.bounds import parse_bounds
from smc_dp.data.file_format import DEFAULT_FORMAT, FileFormat
from smc_dp.data.fingerprint import fingerprint_data
from smc_dp.data.preprocess import encode_labelled_rows
from smc_dp.data.sources import read_own_files
from smc_dp.data.table import Table
from smc_dp.data.table_reader import read_table
from smc_dp.data.validate_file import validate_file
from smc_dp.deploy.site_policy import SitePolicy
from tests.support.refusals import refused, to_copy
from tests.support.tables import numbers

BOUNDS = parse_bounds(
    """
[label]
classes = ["no", "yes"]
column = "back"
[columns]
sex = ["f", "m"]
smoker = [false, true]
bmi = [0, 100]
[aliases.sex]
m = ["male"]
"""
)
PLAIN = "sex,smoker,bmi,back\nf,true,20,no\nm,false,30,yes\n"
HOSPITALS = {
    "as the bounds": (PLAIN, ""),
    "in capitals": (
        "sex,smoker,bmi,back\nF,TRUE,20,NO\nM,FALSE,30,YES\n",
        'file = {true = ["TRUE"], false = ["FALSE"]}\n'
        'aliases = {sex = {f = ["F"], m = ["M"]}, back = {no = ["NO"], yes = ["YES"]}}',
    ),
    "in codes": (
        "sex,smoker,bmi,back\n1,1,20,0\n02,0,30,1\n",
        'aliases = {sex = {f = ["1"], male = ["2"]}, smoker = {true = ["1"], false = ["0"]}, '
        'back = {no = ["0"], yes = ["1"]}, ward = {a = ["1"]}}',
    ),
}


@pytest.mark.parametrize("hospital", HOSPITALS)
def test_hospitals_with_other_texts_have_the_same_rows_under_the_same_bounds(hospital: str, tmp_path: Path) -> None:
    content, own = HOSPITALS[hospital]
    path = tmp_path / "north.csv"
    (tmp_path / "plain.csv").write_text(PLAIN)
    plain = encode_labelled_rows(read_table(tmp_path / "plain.csv", "plain"), BOUNDS, "back")
    path.write_text(content)
    assert validate_file(path, BOUNDS, "north").fits == (own == "")
    unsaid = fingerprint_data(b"key", read_table(path, "north"))
    (tmp_path / "north.csv.toml").write_text(own)
    table = read_table(path, "north")
    found = encode_labelled_rows(table, BOUNDS, "back")
    assert (found.X.tobytes(), found.y.tolist()) == (plain.X.tobytes(), plain.y.tolist())
    assert fingerprint_data(b"key", table) == unsaid  # who adds a text for a level has no new budget
    # The same in own.toml, where sections of the policy stand beside it.
    (tmp_path / "own.toml").write_text(f"{own}\n[limits]\nmax_epsilon = 1\nmax_delta = 0\n")
    (tmp_path / "north.csv.toml").unlink()
    policy = SitePolicy.read(tmp_path / "own.toml")
    assert validate_file(path, BOUNDS, "north", form=policy.form).fits


def of_sex(texts: list[str], form: FileFormat, bounds: str = 'sex = ["f", "m"]') -> list[int]:
    table = Table("t", {"sex": texts, "y": ["0"] * len(texts)}, range(1, len(texts) + 1), form)
    parsed = parse_bounds(f"[columns]\n{bounds}\n[label]\nclasses = [0, 1]\n")
    rows = encode_labelled_rows(table, parsed, "y").X
    return [int(row.argmax()) for row in rows[:, :-1]]


def spelled(**levels: tuple[str, ...]) -> FileFormat:
    return replace(DEFAULT_FORMAT, aliases=(("sex", tuple(levels.items())),))


def test_the_site_s_own_meaning_of_a_text_comes_first() -> None:
    swapped = spelled(**{"1": ("2",), "2": ("1",)})
    assert of_sex(["1", "2"], DEFAULT_FORMAT, 'sex = ["1", "2"]') == [0, 1]
    assert of_sex(["1", "2"], swapped, 'sex = ["1", "2"]') == [1, 0]


def test_one_own_toml_serves_studies_with_other_names_of_levels() -> None:
    form = spelled(f=("1",), female=("1",), m=("2",), male=("2",))
    assert of_sex(["2", "1"], form) == [1, 0]
    assert of_sex(["2", "1"], form, 'sex = ["female", "male"]') == [1, 0]


def test_a_text_for_two_levels_is_refused() -> None:
    with refused("aliases.two_levels", at="[aliases.sex] of own.toml"):
        of_sex(["1"], spelled(f=("1",), m=("01",)))


def test_words_for_truth_values_are_read_in_columns_of_truth_values_and_of_numbers_and_nowhere_else() -> None:
    form = FileFormat(true=("T", "oui"), false=("F", "non"))
    assert of_sex(["oui", "F"], form, "sex = [false, true]") == [1, 0]
    assert of_sex(["T", "F"], form, 'sex = ["F", "T"]') == [1, 0]  # own levels come before words
    with refused("cell.unknown_level", got="'oui'"):
        of_sex(["oui"], form)
    table = Table("t", {"n": ["oui", "non", "7"]}, range(1, 4), form)
    assert numbers(table, "n").tolist() == [1.0, 0.0, 7.0]


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_file_of_another_separator_is_refused_once_with_all_that_it_needs(quote: str, tmp_path: Path) -> None:
    header = ";".join(f"{quote}{name}{quote}" for name in ("sex", "smoker", "bmi", "seen", "back"))
    path = tmp_path / "north.csv"
    path.write_bytes(f"{header}\nF;TRUE;1.234,5;31.01.2020;nö\nm;FALSE;2,5;01.02.2020;yes\n;;;;\n".encode("cp1252"))
    bounds = parse_bounds(
        """
[label]
classes = ["nö", "yes", "perhaps"]
column = "back"
[columns]
sex = ["f", "m"]
smoker = [false, true]
bmi = [0, 9000]
seen = [2020-01-01, 2020-12-31]
gone = [0, 1]
"""
    )
    refusal, *others = validate_file(path, bounds, "north").faults
    assert [(fault.code, fault.column, fault.fixed_by) for fault in others] == [
        ("table.no_column", "gone", ("site", "author"))
    ]
    assert refusal.fixed_by == ("site",)
    with refused(*[refusal.code, "table.no_column"] * 2) as caught:  # of both parties
        read_own_files([f"a={path}", f"b={path}"], bounds)
    (tmp_path / "north.csv.toml").write_text(to_copy(caught.value))
    fitting = replace(bounds, columns=bounds.columns[:-1])
    found = validate_file(path, fitting, "north")
    assert (found.fits, found.rows) == (True, 2)


def test_a_text_that_may_mean_any_level_is_left_to_a_person(tmp_path: Path) -> None:
    path = tmp_path / "north.csv"
    path.write_text("sex,smoker,bmi,back\n1,TRUE,20,no\n2,FALSE,30,yes\n")
    found = validate_file(path, BOUNDS, "north")
    assert {(fault.example, fault.fixed_by) for fault in found.faults} == {
        ("1", ("site", "author")),
        ("2", ("site", "author")),
        ("TRUE", ("site",)),
        ("FALSE", ("site",)),
    }
    *sure, header, one, two = found.lines_for_site.lines
    assert sure == ["[file]", 'true = ["TRUE"]', 'false = ["FALSE"]']
    assert (header, one[:15], two[:15]) == ("[aliases.sex]", '# LEVEL = ["1"]', '# LEVEL = ["2"]')

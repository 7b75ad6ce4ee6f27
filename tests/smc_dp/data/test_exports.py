"""An export in codes, with bounds from its data dictionary, is the same rows as a plain file under bounds by hand."""

from __future__ import annotations

from pathlib import Path

from smc_dp.data.bounds import parse_bounds
from smc_dp.data.dictionaries.draft import draft_bounds
from smc_dp.data.dictionaries.read_dictionary import read_data_dictionary
from smc_dp.data.preprocess import encode_labelled_rows
from smc_dp.data.table_reader import parse_csv, read_table
from smc_dp.data.validate_file import validate_file

DICTIONARY = """\
"Variable / Field Name","Field Type","Choices, Calculations, OR Slider Labels",\
"Text Validation Type OR Show Slider Number","Text Validation Min","Text Validation Max"
patient,text,,,,
weight,text,,number_1dp,30,250
ward,dropdown,"1, Köln | 2, Bern",,,
smoker,yesno,,,,
admitted,text,,date_dmy,2015-01-01,2024-12-31
back,yesno,,,,
"""
EXPORT = "patient;weight;ward;smoker;admitted;back\nP1;70,5;1;0;31.01.2020;0\nP2;;2;;01.02.2021;1\n"
BY_HAND = """
[columns]
weight = [30, 250]
ward = ["Köln", "Bern"]
smoker = ["No", "Yes"]
admitted = [2015-01-01, 2024-12-31]
[label]
column = "back"
classes = ["no", "yes"]
[missing]
weight = "indicator"
smoker = "category"
"""
PLAIN = "weight,ward,smoker,admitted,back\n70.5,Köln,No,2020-01-31,no\n,Bern,,2021-02-01,yes\n"


def test_the_same_rows_are_the_same_features(tmp_path: Path) -> None:
    (tmp_path / "dictionary.csv").write_text(DICTIONARY, encoding="utf-8")
    text = draft_bounds(read_data_dictionary(tmp_path / "dictionary.csv"), "back").text
    for rule in ('weight = "indicator"', 'smoker = "category"'):  # what a person has to say
        assert f"# {rule}" in text
        text = text.replace(f"# {rule}", rule)
    path = tmp_path / "north.csv"
    path.write_text(EXPORT)
    Path(f"{path}.toml").write_text('[file]\nseparator = ";"\ndecimal = ","\ndates = "dd.mm.yyyy"\n')
    bounds = parse_bounds(text)
    assert validate_file(path, bounds, "north").fits
    found = encode_labelled_rows(read_table(path, "north"), bounds, "back")
    plain = encode_labelled_rows(parse_csv(PLAIN.encode(), "plain"), parse_bounds(BY_HAND), "back")
    assert (found.X.tobytes(), found.y.tolist()) == (plain.X.tobytes(), plain.y.tolist())

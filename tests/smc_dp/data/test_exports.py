"""Eight awkward exports of the same rows, with bounds from their data dictionaries: the same features and models."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from support.exports import EXPORTS, LABEL, Patient, Spelling, patients

from smc_dp.cli.main import main
from smc_dp.data.bounds import Bounds, parse_bounds, read_bounds
from smc_dp.data.columns import Aliases
from smc_dp.data.federation import Rows
from smc_dp.data.preprocess import encode_labelled_rows
from smc_dp.data.table_reader import parse_csv, read_table
from smc_dp.data.validate_file import validate_file
from tests.support.refusals import refused

ROWS = patients(60)
PLAIN = """
[label]
column = "readmitted"
classes = ["no", "yes"]
[columns]
age = [18, 110]
weight = [30, 250]
sex = ["female", "male"]
ward = ["Köln", "Zürich", "Bern"]
smoker = ["no", "yes"]
admitted = [2015-01-01, 2024-12-31]
[missing]
weight = "indicator"
smoker = "category"
"""


def plain(rows: Sequence[Patient]) -> Rows:
    """The rows as a file has them of which nobody need say anything, by bounds that a person wrote."""
    return encode_labelled_rows(parse_csv(Spelling().text(rows).encode(), "plain"), parse_bounds(PLAIN), LABEL)


def early(rows: Sequence[Patient]) -> list[Patient]:
    """With days of a month that could be taken for months."""
    return [replace(row, admitted=row.admitted.replace(day=1 + row.admitted.day % 12)) for row in rows]


def read(path: Path, bounds: Bounds) -> Rows:
    return encode_labelled_rows(read_table(path, "rows"), bounds, LABEL)


def alike(left: Rows, right: Rows) -> bool:
    """Whether they are the same to the last bit."""
    return left.X.shape == right.X.shape and left.X.tobytes() == right.X.tobytes() and bool((left.y == right.y).all())


@pytest.mark.parametrize("form", EXPORTS)
def test_the_same_rows_are_the_same_features_in_every_form(form: str, tmp_path: Path) -> None:
    path = EXPORTS[form].save(ROWS, tmp_path, "north")
    bounds = read_bounds(EXPORTS[form].bounds(tmp_path))
    assert alike(read(path, bounds), plain(ROWS))
    assert validate_file(path, bounds, "north").fits


def test_the_forms_are_really_different_and_the_rows_have_gaps(tmp_path: Path) -> None:
    contents = {export.save(ROWS, tmp_path, export.name).read_bytes() for export in EXPORTS.values()}
    assert len(contents) == len(EXPORTS) == 8
    assert {row.weight is None for row in ROWS} == {row.smoker is None for row in ROWS} == {True, False}
    assert {name for row in ROWS for name in (row.sex, row.ward)} == {"female", "male", "Köln", "Zürich", "Bern"}


# What reads a form wrongly gives other rows, or none.


def test_a_form_of_which_nothing_is_said_is_refused(tmp_path: Path) -> None:
    for form, codes in (
        ("semicolon", ["text.unreadable_byte"]),
        ("gaps", ["cell.not_a_number", "cell.unknown_level"]),
        ("american", ["cell.not_a_date"]),
    ):
        path = EXPORTS[form].save(ROWS, tmp_path, form)
        path.with_name(f"{path.name}.toml").unlink()
        with refused(*codes):
            read(path, read_bounds(EXPORTS[form].bounds(tmp_path)))


def test_a_decimal_comma_that_is_not_said_is_refused(tmp_path: Path) -> None:
    path = EXPORTS["semicolon"].save(ROWS, tmp_path, "north")
    said = path.with_name(f"{path.name}.toml")
    said.write_text(said.read_text().replace('decimal = ","', ""))
    with refused("cell.not_a_number", recognised="decimal comma"):
        read(path, read_bounds(EXPORTS["semicolon"].bounds(tmp_path)))


def test_a_day_that_is_taken_for_a_month_makes_other_rows(tmp_path: Path) -> None:
    rows = early(ROWS)
    path = EXPORTS["american"].save(rows, tmp_path, "north")
    bounds = read_bounds(EXPORTS["american"].bounds(tmp_path))
    assert alike(read(path, bounds), plain(rows))
    said = path.with_name(f"{path.name}.toml")
    said.write_text(said.read_text().replace("mm/dd/yyyy", "dd/mm/yyyy"))
    assert not alike(read(path, bounds), plain(rows))


def with_aliases_of_sex(bounds: Bounds, aliases: Aliases) -> Bounds:
    columns = [replace(c, aliases=aliases) if c.name == "sex" else c for c in bounds.columns]  # type: ignore[call-arg]
    return replace(bounds, columns=tuple(columns))


def test_without_aliases_a_form_is_refused_and_with_others_it_is_another_table(tmp_path: Path) -> None:
    path = EXPORTS["tab"].save(ROWS, tmp_path, "north")
    bounds = read_bounds(EXPORTS["tab"].bounds(tmp_path))
    with refused(*["cell.unknown_level"] * 2, at="column 'readmitted', line 2"):
        read(path, replace(bounds, aliases=()))
    with refused(*["cell.unknown_level"] * 2, at="column 'sex', line 2"):
        read(path, with_aliases_of_sex(bounds, ()))
    exchanged = with_aliases_of_sex(bounds, (("Female", ("2",)), ("Male", ("1",))))
    assert not alike(read(path, exchanged), plain(ROWS))


# The command line.


PARTIES = {"north": early(patients(80, 1)), "south": early(patients(70, 2)), "west": early(patients(60, 3))}
METHODS = {"wsum": (), "newton": (), "prr_mean": ("--insecure-test-keys", "--key-bits", "1024")}


def model(folder: Path, files: Mapping[str, Path], bounds: Path, method: str) -> list[float]:
    """The weights that a run of these parties releases at one seed."""
    out = folder / f"{bounds.stem}-{method}-{len(list(folder.iterdir()))}"
    parties = [word for name, path in files.items() for word in ("--party", f"{name}={path}")]
    settings = ["--bounds", str(bounds), "--method", method, *METHODS[method], "--insecure-seed", "7"]
    assert main(["run", *parties, *settings, "--out", str(out), "--json"]) == 0
    weights: list[float] = json.loads((out / "release.json").read_text())["weights"]
    return weights


def plain_model(folder: Path, method: str, parties: Mapping[str, Sequence[Patient]] = PARTIES) -> list[float]:
    files = {name: folder / f"{name}-plain.csv" for name in parties}
    for name, path in files.items():
        path.write_text(Spelling().text(parties[name]))
    (folder / "plain.toml").write_text(PLAIN)
    return model(folder, files, folder / "plain.toml", method)


def test_parties_with_eight_different_exports_release_what_plain_files_would(tmp_path: Path) -> None:
    parties = {form: patients(30, seed) for seed, form in enumerate(EXPORTS, 1)}
    files = {form: EXPORTS[form].save(rows, tmp_path, form) for form, rows in parties.items()}
    bounds = EXPORTS["quoted"].bounds(tmp_path)  # a dictionary with codes and labels, which fits all of them
    assert model(tmp_path, files, bounds, "wsum") == plain_model(tmp_path, "wsum", parties)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_export_releases_the_same_model_at_one_seed(method: str, tmp_path: Path) -> None:
    wanted = plain_model(tmp_path, method)
    for form, export in EXPORTS.items():
        files = {name: export.save(rows, tmp_path, f"{form}-{name}") for name, rows in PARTIES.items()}
        bounds = export.bounds(tmp_path)
        assert model(tmp_path, files, bounds, method) == wanted, form
        if form == "american":
            for path in files.values():
                path.with_name(f"{path.name}.toml").write_text('[file]\ndates = "dd/mm/yyyy"\n')
            assert model(tmp_path, files, bounds.rename(tmp_path / "swapped.toml"), method) != wanted

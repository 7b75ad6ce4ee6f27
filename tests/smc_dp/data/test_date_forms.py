"""Dates of several forms in one file: read as the site says, or refused with the line that reads them, pasted here."""

from __future__ import annotations

import datetime
import tomllib
from pathlib import Path

import pytest

from smc_dp.core.errors import InputError
from smc_dp.data.bounds import parse_bounds
from smc_dp.data.file_format import AmbiguousDateError, FileFormat
from smc_dp.data.fingerprint import fingerprint_data
from smc_dp.data.format_sections import FileFormatDocument
from smc_dp.data.preprocess import encode_rows
from smc_dp.data.table_reader import read_table
from smc_dp.data.validate_file import FileValidation, validate_file
from smc_dp.deploy.site_policy import SitePolicy
from tests.support.refusals import refused

BOUNDS = parse_bounds(
    "[columns]\nseen = [2000-01-01, 2029-12-31]\nborn = [1900-01-01, 2029-12-31]\n"
    '[label]\ncolumn = "out"\nclasses = ["no", "yes"]\n'
)
KEY = bytes(range(32))
PLAIN = [("2024-03-01", "1980-12-25", "no"), ("2024-03-25", "1980-03-02", "yes")]
ISO, US, EU, DE = "yyyy-mm-dd", "mm/dd/yyyy", "dd/mm/yyyy", "dd.mm.yyyy"


def file_of(folder: Path, rows: list[tuple[str, str, str]], name: str = "north.csv") -> Path:
    path = folder / name
    path.write_text("".join(f"{','.join(row)}\n" for row in [("seen", "born", "out"), *rows]))
    return path


def checked(path: Path) -> FileValidation:
    return validate_file(path, BOUNDS, "north")


def paste(path: Path, lines: list[str]) -> None:
    """Write lines as the whole content of FILE.toml, and look at the same lines in a site's own.toml."""
    text = "\n".join(lines)
    Path(f"{path}.toml").write_text(text)
    limits = '[limits]\nmax_epsilon = "1"\nmax_delta = "0"\n'
    policy = SitePolicy.model_validate(tomllib.loads(f"{text}\n{limits}"))
    assert policy.form == FileFormatDocument.model_validate(tomllib.loads(text)).form


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([("2024-03-01", "1980-12-25", "no"), ("25/03/2024", "1980-03-02", "yes")], [f'dates = ["{ISO}", "{EU}"]']),
        ([("2024-03-01", "25.12.1980", "no"), ("2024-03-25", "02.03.1980", "yes")], [f'dates = ["{DE}", "{ISO}"]']),
        ([("2024-03-01", "12/25/1980", "no"), ("03/25/2024", "3/2/1980", "yes")], [f'dates = ["{ISO}", "{US}"]']),
        (
            [("01/03/2024", "12/25/1980", "no"), ("25/03/2024", "3/2/1980", "yes")],
            [f'dates = ["{EU}", "{US}"]', "[dates]", f'born = "{US}"', f'seen = "{EU}"'],
        ),
        (
            [("01/03/2024", "12/25/1980", "no"), ("25/03/2024", "1980-03-02", "yes")],
            [f'dates = ["{EU}", "{ISO}", "{US}"]', "[dates]", f'seen = "{EU}"'],
        ),
    ],
    ids=["one column", "two columns", "both", "days and months first", "three forms"],
)
def test_the_lines_of_a_refusal_read_all_dates(
    rows: list[tuple[str, str, str]], lines: list[str], tmp_path: Path
) -> None:
    path, plain = file_of(tmp_path, rows), file_of(tmp_path, PLAIN, "plain.csv")
    found = checked(path)
    assert {fault.code for fault in found.faults} <= {"cell.not_a_date", "cell.ambiguous_date"}
    paste(path, found.lines_for_site.lines)
    assert [*found.lines_for_site.lines[1:]] == lines
    assert checked(path).fits
    table, same = read_table(path, "north"), read_table(plain, "north")
    assert encode_rows(table, BOUNDS).tolist() == encode_rows(same, BOUNDS).tolist()
    assert fingerprint_data(KEY, table) == fingerprint_data(KEY, same)


def test_a_date_of_two_forms_is_refused_with_both_or_with_that_of_its_column(tmp_path: Path) -> None:
    form = FileFormat(dates=(ISO, US, EU))
    assert form.day(" 5/5/2024 ") == datetime.date(2024, 5, 5)  # the same date in both
    assert form.day("25/3/2024") == datetime.date(2024, 3, 25)
    with pytest.raises(AmbiguousDateError) as caught:
        form.day("1/3/2024")
    assert caught.value.days == (datetime.date(2024, 1, 3), datetime.date(2024, 3, 1))
    own = FileFormat(dates=(ISO, US, EU), column_dates=(("born", (EU,)),))
    assert own.of_column("born").day("1/3/2024") == datetime.date(2024, 3, 1)
    assert own.of_column("seen") is own
    path = file_of(tmp_path, [("01/03/2024", "1980-12-25", "no"), ("2024-03-01", "1980-12-25", "yes")])
    paste(path, ["[file]", f'dates = ["{ISO}", "{US}", "{EU}"]'])
    (fault,) = checked(path).faults
    fields = {name: fault.fault.fields[name] for name in ("first", "other", "recognised")}
    assert fault.code == "cell.ambiguous_date"
    assert fields == {"first": "2024-01-03", "other": "2024-03-01", "recognised": "ambiguous date"}
    assert fault.settings == {}  # a person chooses
    for chosen in (US, EU):
        paste(path, ["[file]", f'dates = ["{ISO}", "{US}", "{EU}"]', "[dates]", f'seen = ["{ISO}", "{chosen}"]'])
        assert checked(path).fits


def test_a_column_in_which_nobody_can_tell_days_from_months_has_no_line(tmp_path: Path) -> None:
    rows = [(day, "1980-12-25", "no") for day in ("25/03/2024", "03/25/2024", "02/03/2024")]
    (fault,) = checked(file_of(tmp_path, rows)).faults
    assert (fault.code, fault.settings, fault.fault.fields["recognised"]) == ("cell.not_a_date", {}, "mixed dates")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[file]\ndates = []", "form.no_dates"),
        ('[file]\ndates = ["yyyy-mm-dd", "d.m.y"]', "form.unknown"),
        ('[dates]\nborn = "d.m.y"', "form.unknown"),
        ("[dates]\nborn = []", "form.no_dates"),
    ],
)
def test_unknown_forms_are_refused_where_they_stand(text: str, code: str, tmp_path: Path) -> None:
    path = file_of(tmp_path, PLAIN)
    Path(f"{path}.toml").write_text(text)
    with refused(code):
        read_table(path, "north")
    Path(f"{path}.toml").write_text("[file]\ndates = 5")
    with pytest.raises(InputError):
        read_table(path, "north")

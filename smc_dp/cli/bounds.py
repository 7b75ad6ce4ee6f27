"""Commands of public bounds: a first draft from a data dictionary or a header, and a check of one's own file."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, MostCells, cells_allowed, deferred, refuse_options
from smc_dp.core.errors import InputError, one_line

if TYPE_CHECKING:
    from smc_dp.data.bounds import Bounds
    from smc_dp.data.dictionaries.data_dictionary import DataDictionary
    from smc_dp.data.file_format import FileFormat

bounds_group = typer.Typer(rich_markup_mode=None)


def _describe_group() -> None:
    """Draft public bounds (ranges, levels, classes) from a data dictionary or from names of columns. Check a table."""


def print_draft(
    dictionary: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DICTIONARY]",
            help="A REDCap data dictionary (CSV), or a Parquet file for its schema.",
        ),
    ] = None,
    header: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Without a dictionary: a party's CSV or Parquet file, for its names alone."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="New file for the draft [default: the screen].")
    ] = None,
    label: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of classes.")] = None,
    policy: Annotated[
        Path | None, typer.Option(metavar="own.toml", help="With --header: site policy whose [file] states its format.")
    ] = None,
) -> None:
    """Draft bounds from a data dictionary or from names of columns. No row is read.

    A Parquet file is read for its schema alone, a CSV file (--header) for its first line alone. Names of columns become
    public with the bounds: delete those that must stay secret.

    "?" in a line stands for a value that nobody has stated. Every command refuses the file until a person has filled it
    in. Names of rows, free text and identifying columns are left out, each with the reason. If the
    dictionary states how the data file is written, the draft has lines for a section [file].

    \b
    Examples:
      smc-dp bounds draft dictionary.csv --label readmitted --out bounds.toml
      smc-dp bounds draft north.parquet --label outcome
      smc-dp bounds draft --header north.csv --label outcome --out bounds.toml
    """
    from smc_dp.core.writing import write_new
    from smc_dp.data.dictionaries.draft import draft_bounds

    found = draft_bounds(_described(dictionary, header, policy), label)
    if out is None:
        print(found.text, end="")
    else:
        write_new(out, found.text.encode(), f"bounds {out}")
        then = "" if header is None else f' Fill in each "?", and then run `{_check_command(header, out)}`.'
        print(f"Written: {out}.{then}")
    for line in found.waiting:
        print(f"to fill in: {one_line(line)}", file=sys.stderr)


def _check_command(file: Path, bounds: Path) -> str:
    """Return the command that checks a file against a draft, to be copied."""
    return shlex.join(["smc-dp", "bounds", "check", str(file), "--bounds", str(bounds)])


def _described(dictionary: Path | None, header: Path | None, policy: Path | None) -> DataDictionary:
    """Return the description of columns in one of the two files."""
    from smc_dp.data.dictionaries.header import read_header
    from smc_dp.data.dictionaries.read_dictionary import read_data_dictionary

    if (dictionary is None) == (header is None):
        raise InputError("options.dictionary_or_header")
    if header is not None:
        return read_header(header, _form(policy))
    refuse_options({"--policy": policy}, "option.without_header")
    return read_data_dictionary(dictionary or Path())


def check_bounds(
    bounds: Annotated[Path, typer.Option(metavar="FILE", help="TOML file of public bounds.")],
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A party's CSV or Parquet file [default: the bounds alone].")
    ] = None,
    party: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose file it is [default: as the file is called].")
    ] = None,
    label: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of classes.")] = None,
    policy: Annotated[
        Path | None, typer.Option(metavar="own.toml", help="Site policy whose [file] states the format of the file.")
    ] = None,
    most_cells: MostCells = None,
    as_json: AsJson = False,
) -> int:
    """Check a party's file against bounds. List the problems, with lines that would fix some of them.

    While drafted bounds have a "?", the command lists each one, with what to write in its place.

    The command also counts the numbers outside of their bounds and the rows that are shortened. Nothing is sent or
    written. The output quotes cells, so it is private to the party. Exit code 2: there are problems.

    \b
    Examples:
      smc-dp bounds check --bounds bounds.toml
      smc-dp bounds check north.csv --bounds bounds.toml
      smc-dp bounds check rows.csv --bounds bounds.toml --party east --policy own.toml
      smc-dp bounds check south.parquet --bounds bounds.toml --party south --label outcome --json
    """
    from smc_dp.data import report
    from smc_dp.data.bounds import read_bounds
    from smc_dp.data.file_format import OWN_SETTINGS_FILE
    from smc_dp.data.partition import name_of_file
    from smc_dp.data.validate_file import validate_file

    public = read_bounds(bounds)
    if file is None:
        return _print_complete(bounds, public, as_json=as_json)
    party = name_of_file(file) if party is None else party
    with cells_allowed(most_cells):
        found = validate_file(file, public, party, label, _form(policy))
    if as_json:
        print(json.dumps({"party": party, "file": str(file), **found.as_dict()}, allow_nan=False))
    else:
        screen.print_blocks(report.blocks(found))
        own = file.parent / OWN_SETTINGS_FILE
        if not found.fits and policy is None and own.exists() and not Path(f"{file}.toml").exists():
            print(one_line(f"{own} was not read. If it says how {file} is written, add --policy {own}."))
    return 0 if found.fits else 2


def _print_complete(path: Path, bounds: Bounds, *, as_json: bool) -> int:
    """Print what complete bounds say of a row."""
    sizes = {"columns": len(bounds.columns), "features": bounds.dimension, "classes": bounds.classes}
    if bounds.outcome is not None:
        sizes |= {"outcome": bounds.outcome}
    if as_json:
        print(json.dumps({"bounds": str(path), **sizes, "clip": bounds.clip}))
    else:
        label = bounds.label_range and f"the label {bounds.label_range}"
        if bounds.classes:
            label = f"classes {', '.join(map(one_line, bounds.classes))}"
        made_of = f"{len(bounds.columns)} columns, {bounds.dimension} features, {label or 'no label'}"
        print(f"{path}: complete. {made_of}. Rows are clipped to the norm {bounds.clip:g}.")
    return 0


def _form(policy: Path | None) -> FileFormat | None:
    """Return the file format that the site policy states, if there is one."""
    if policy is None:
        return None
    from smc_dp.deploy.site_policy import read_own_format

    return read_own_format(policy)


bounds_group.callback()(_describe_group)
bounds_group.command("draft")(deferred(print_draft))
bounds_group.command("check")(deferred(check_bounds))

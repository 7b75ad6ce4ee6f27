"""Commands of public bounds: a first draft from a data dictionary, and a check of one's own file before its use."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, deferred
from smc_dp.core.errors import one_line

if TYPE_CHECKING:
    from smc_dp.data.file_format import FileFormat

bounds_group = typer.Typer(rich_markup_mode=None)


def _describe_group() -> None:
    """Draft public bounds (ranges, levels, classes) from a data dictionary, never from rows. Check a table."""


def print_draft(
    dictionary: Annotated[
        Path,
        typer.Argument(
            metavar="DICTIONARY",
            help="A REDCap data dictionary (CSV), or a Parquet file for its schema.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="New file for the draft [default: the screen].")
    ] = None,
    label: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of classes.")] = None,
) -> None:
    """Draft a file of bounds from a data dictionary. No row is read; of a Parquet file only its schema is.

    A line with a ? stands for a value that the dictionary does not state. Every command refuses the file until a person
    has filled that line in. Names of rows, free text and identifying columns are left out, each with the reason. If the
    dictionary states how the data file is written, the draft has lines for a section [file].

    \b
    Examples:
      smc-dp bounds draft dictionary.csv --label readmitted --out bounds.toml
      smc-dp bounds draft north.parquet --label outcome
    """
    from smc_dp.core.writing import write_new
    from smc_dp.data.dictionaries.draft import draft_bounds
    from smc_dp.data.dictionaries.read_dictionary import read_data_dictionary

    found = draft_bounds(read_data_dictionary(dictionary), label)
    if out is None:
        print(found.text, end="")
    else:
        write_new(out, found.text.encode(), f"bounds {out}")
        print(f"Written: {out}.")
    for line in found.waiting:
        print(f"to fill in: {one_line(line)}", file=sys.stderr)


def check_bounds(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A party's CSV or Parquet file.")],
    bounds: Annotated[Path, typer.Option(metavar="FILE", help="TOML file of public bounds.")],
    party: Annotated[str, typer.Option(metavar="NAME", help="Whose file it is.")],
    label: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of classes.")] = None,
    policy: Annotated[
        Path | None, typer.Option(metavar="own.toml", help="Site policy whose [file] states the format of the file.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Check a party's file against bounds: list all problems, with the lines that would fix them.

    The command also counts the numbers outside of their bounds and the rows that are shortened. Nothing is sent or
    written. The output quotes cells, so it is private to the party. Exit code 2: there are problems.

    \b
    Examples:
      smc-dp bounds check north.csv --bounds bounds.toml --party north
      smc-dp bounds check rows.csv --bounds bounds.toml --party east --policy own.toml
      smc-dp bounds check south.parquet --bounds bounds.toml --party south --label outcome --json
    """
    from smc_dp.data import report
    from smc_dp.data.bounds import read_bounds
    from smc_dp.data.validate_file import validate_file

    found = validate_file(file, read_bounds(bounds), party, label, _form(policy))
    if as_json:
        print(json.dumps({"party": party, "file": str(file), **found.as_dict()}, allow_nan=False))
    else:
        screen.print_blocks(report.blocks(found))
    return 0 if found.fits else 2


def _form(policy: Path | None) -> FileFormat | None:
    """Return the file format that the site policy states, if there is one."""
    if policy is None:
        return None
    from smc_dp.deploy.site_policy import SitePolicy

    return SitePolicy.read(policy).form


bounds_group.callback()(_describe_group)
bounds_group.command("draft")(deferred(print_draft))
bounds_group.command("check")(deferred(check_bounds))

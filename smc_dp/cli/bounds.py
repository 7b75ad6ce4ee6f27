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
    """Draft or check the public facts of a table: ranges, levels and classes, never from private rows."""


def print_draft(
    codebook: Annotated[
        Path,
        typer.Argument(
            metavar="CODEBOOK",
            help="A REDCap data dictionary (CSV), or a Parquet file for its schema.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A new file for the draft [default: the screen].")
    ] = None,
    label: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of classes.")] = None,
) -> None:
    """Draft a file of bounds from a data dictionary; no row is ever read, and of a Parquet file nothing but the schema.

    What the data dictionary does not say stands in the draft as a line with a ?, and every command refuses the file,
    with that line, until a person has filled it in. Names of rows, free text and what a data dictionary marks as
    identifying are left out, with the reason. What it says of how the file is written is there as lines for a section
    [file].

    \b
    Examples:
      smc-dp bounds draft dictionary.csv --label readmitted --out bounds.toml
      smc-dp bounds draft north.parquet --label outcome
    """
    from smc_dp.core.writing import write_new
    from smc_dp.data.dictionaries.draft import draft_bounds
    from smc_dp.data.dictionaries.read_dictionary import read_data_dictionary

    found = draft_bounds(read_data_dictionary(codebook), label)
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
    terms: Annotated[
        Path | None, typer.Option(metavar="own.toml", help="The site's own terms, whose [file] says how it is written.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Hold a party's own file against bounds: everything that does not fit at once, with the lines that would mend it.

    Also what is no fault but should be known: how many numbers lie outside their bounds, how many rows are shortened.
    Nothing is sent and nothing is written. The output quotes cells: it is private, for the machine of the party
    that has the file, and for nobody else. Exit code 2 where something does not fit, else 0.

    \b
    Examples:
      smc-dp bounds check north.csv --bounds bounds.toml --party north
      smc-dp bounds check rows.csv --bounds bounds.toml --party east --terms own.toml
      smc-dp bounds check south.parquet --bounds bounds.toml --party south --label outcome --json
    """
    from smc_dp.data import report
    from smc_dp.data.bounds import read_bounds
    from smc_dp.data.validate_file import validate_file

    found = validate_file(file, read_bounds(bounds), party, label, _form(terms))
    if as_json:
        print(json.dumps({"party": party, "file": str(file), **found.as_dict()}, allow_nan=False))
    else:
        screen.print_blocks(report.blocks(found))
    return 0 if found.fits else 2


def _form(terms: Path | None) -> FileFormat | None:
    """Return the file format that the site policy states, if there is one."""
    if terms is None:
        return None
    from smc_dp.deploy.terms import OwnTerms

    return OwnTerms.read(terms).form


bounds_group.callback()(_describe_group)
bounds_group.command("draft")(deferred(print_draft))
bounds_group.command("check")(deferred(check_bounds))

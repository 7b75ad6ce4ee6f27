"""Commands `show` and `publish`: the release of a run as text, as a page, and as a folder for everybody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import check_beside, read_by_column


def show_run(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page for a browser instead: a new file outside of RUN.")
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the figures of a description, or coefficients with intervals, as CSV instead: a new file "
            "outside of RUN.",
        ),
    ] = None,
    per: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=UNITS",
            help="For this column state the coefficient and its interval per so many units, as in age=10. Repeat the "
            "option for other columns.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures of --csv as one JSON object.")] = False,
    details: Annotated[bool, typer.Option("--details", help="Print the privacy statement in full, too.")] = False,
) -> None:
    """Print the release of a run, its guarantee and limits, the parties, the settings and the files.

    The release is verified first. The page of --html always has the privacy statement in full. Text and page are made
    from the published files alone: no row, no accuracy and no duration.

    \b
    Examples:
      smc-dp show runs/first
      smc-dp show runs/first --details
      smc-dp show runs/first --html first.html
      smc-dp show runs/table --csv table.csv
      smc-dp show runs/odds --per age=10 --csv odds.csv
      smc-dp show runs/odds --json
    """
    from smc_dp.core.writing import write_new
    from smc_dp.pages import text
    from smc_dp.pages.html import write_page
    from smc_dp.run.figures import read_figures
    from smc_dp.run.preparation import refuse_beside
    from smc_dp.run.release_report import run_page

    check_beside(run_folder, "--html", html)
    check_beside(run_folder, "--csv", csv)
    units = read_by_column("--per", per)
    if csv is not None or as_json:
        refuse_beside(
            {"html": html, "details": details, "csv": csv if as_json else None}, "as_json" if as_json else "csv"
        )
        figures = read_figures(run_folder, units)
        screen.warn_of_release(figures.source.missing_files_text, figures.source.release.insecure)
        if csv is None:
            print(json.dumps(figures.as_dict(), allow_nan=False))
        else:
            write_new(csv, figures.as_csv().encode(), f"--csv: {csv}")
            print(f"Written to {csv}.")
        return
    page = run_page(run_folder, units)
    if html is None:
        screen.print_lines(text.page_lines(page, screen.paragraph_width(), details=details))
        if not details:
            print(screen.fold(f"The privacy statement in full: {screen.full_statement(run_folder)}"))
    else:
        write_page(html, page, f"--html: {html}")
        print(f"Written to {html}.")


def copy_published(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    to: Annotated[Path, typer.Option(metavar="DIR", help="The folder to make, or an empty one.")],
) -> None:
    """Copy what may be published of a run: the release, the shares if there are any, and the transcript.

    timings.json is not copied, because durations depend on secrets. No other file is copied. The release is first
    compared with the transcript. If they differ, nothing is copied.

    \b
    Examples:
      smc-dp publish runs/first --to published/first
      smc-dp audit published/first
      smc-dp predict published/first --data new.csv
    """
    from smc_dp.run import publication

    print(f"Written to {to}: {', '.join(publication.publish_run(run_folder, to))}")

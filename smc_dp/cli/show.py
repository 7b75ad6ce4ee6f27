"""Commands `show` and `publish`: the release of a run as text, as a page, and as a folder for everybody."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import check_beside


def show_run(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page for a browser instead: a new file outside of RUN.")
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the figures of a description as CSV instead: a new file outside of RUN."
        ),
    ] = None,
    details: Annotated[bool, typer.Option("--details", help="Print the privacy statement in full, too.")] = False,
) -> None:
    """Print the release of a run, its guarantee and limits, the parties, the settings and the files.

    The release is verified first. The page always has the privacy statement in full. Text and page are made from the
    published files alone: no row, no accuracy and no duration.

    \b
    Examples:
      smc-dp show runs/first
      smc-dp show runs/first --details
      smc-dp show runs/first --html first.html
      smc-dp show runs/table --csv table.csv
    """
    from smc_dp.core.writing import write_new
    from smc_dp.pages import text
    from smc_dp.pages.html import write_page
    from smc_dp.run.description_table import verified_figures
    from smc_dp.run.preparation import refuse_beside
    from smc_dp.run.release_report import run_page

    check_beside(run_folder, "--html", html)
    check_beside(run_folder, "--csv", csv)
    if csv is not None:
        refuse_beside({"html": html, "details": details}, "csv")
        figures, found = verified_figures(run_folder)
        write_new(csv, figures.encode(), f"--csv: {csv}")
        screen.warn_of_release(found.missing_files_text, found.release.insecure)
        print(f"Written to {csv}.")
        return
    page = run_page(run_folder)
    if html is None:
        screen.print_lines(text.page_lines(page, screen.paragraph_width(), details=details))
        if not details:
            print(screen.fold(f"The privacy statement in full: {screen.full_statement(run_folder)}"))
    else:
        write_page(html, page, f"--html: {html}")
        print(f"Written to {html}.")


def copy_published(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    to: Annotated[Path, typer.Option(metavar="DIR", help="The folder to make; it may be there if it is empty.")],
) -> None:
    """Copy what may be published of a run: the release, the shares if there are any, and the transcript.

    timings.json stays behind, for seconds depend on secrets, and so does whatever else lies in the folder. The
    release is held against the transcript first, as `smc-dp predict` does; where they differ nothing is copied.

    \b
    Examples:
      smc-dp publish runs/first --to published/first
      smc-dp audit published/first
      smc-dp predict published/first --data new.csv
    """
    from smc_dp.run import publication

    print(f"Written to {to}: {', '.join(publication.publish_run(run_folder, to))}")

"""The command `publish`: the part of a run folder that may be shown to everybody."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def publish(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    to: Annotated[Path, typer.Option(metavar="DIR", help="The folder to make; it may be there if it is empty.")],
) -> None:
    """Copy what may be published of a run: the release, the shares if there are any, and the record.

    timings.json stays behind, for seconds depend on secrets, and so does whatever else lies in the folder. The
    release is held against the record first, as `smc-dp predict` does; where they differ nothing is copied.

    \b
    Examples:
      smc-dp publish runs/first --to published/first
      smc-dp audit published/first
      smc-dp predict published/first --data new.csv
    """
    from smc_dp.run import publication

    print(f"Written to {to}: {', '.join(publication.publish(run_folder, to))}")

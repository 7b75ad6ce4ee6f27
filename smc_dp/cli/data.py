"""Command that lists the data sets."""

from __future__ import annotations

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import DataDir, deferred

data_group = typer.Typer(help="List the papers' data sets.", rich_markup_mode=None)


def list_data(data_dir: DataDir = None) -> None:
    """List every data set, and whether it is at hand."""
    from smc_dp.data import report

    screen.print_blocks([report.dataset_table(data_dir)])


data_group.command("list")(deferred(list_data))

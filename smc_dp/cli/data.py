"""Commands of the data sets: list and verify."""

from __future__ import annotations

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import DataDir, deferred
from smc_dp.core.errors import InputError

data_group = typer.Typer(help="List and verify the papers' data sets.", rich_markup_mode=None)


def list_data(data_dir: DataDir = None) -> None:
    """List every data set, and whether it is at hand."""
    from smc_dp.data import report

    screen.print_blocks([report.dataset_table(data_dir)])


def verify_data(data_dir: DataDir = None) -> None:
    """Compare every file of the papers' data with its recorded SHA-256."""
    from smc_dp.data import known_files, report

    if data_dir is None or not data_dir.is_dir():
        raise InputError("options.no_data_dir")
    found = known_files.verify_files(data_dir)
    screen.print_blocks([report.file_check(name, fault) for name, fault in found.items()])
    if wrong := [name for name, fault in found.items() if fault]:
        raise InputError("datasets.not_as_recorded", data_dir=str(data_dir), count=len(wrong), wrong=wrong)


data_group.command("list")(deferred(list_data))
data_group.command("verify")(deferred(verify_data))

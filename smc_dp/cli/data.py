"""Commands of the data sets: list and verify."""

from __future__ import annotations

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import DataDir, deferred
from smc_dp.core.errors import InputError

data_group = typer.Typer(help="List and verify the papers' data sets.", rich_markup_mode=None)


def list_data(data_dir: DataDir = None) -> None:
    """List every data set, and whether it is at hand."""
    from smc_dp.data import catalogue, report

    screen.print_blocks([report.catalogue_table(catalogue.list_datasets(data_dir))])


def verify_data(data_dir: DataDir = None) -> None:
    """Compare every file of the papers' data with its recorded SHA-256."""
    from smc_dp.data import catalogue, report

    if data_dir is None:
        raise InputError("options.no_data_dir")
    if not data_dir.is_dir():
        raise InputError("options.data_dir_is_no_folder", data_dir=str(data_dir))
    wrong = []
    for check in catalogue.verify_files(data_dir):
        screen.print_blocks([report.file_check(check)])
        wrong += [check.file] if check.fault else []
    if wrong:
        raise InputError("datasets.not_as_recorded", data_dir=str(data_dir), count=len(wrong), wrong=wrong)


data_group.command("list")(deferred(list_data))
data_group.command("verify")(deferred(verify_data))

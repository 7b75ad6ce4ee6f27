"""Group of commands `lab`: experiments and analyses that no release needs."""

from __future__ import annotations

import typer

from smc_dp.cli import attack, code_checks, compare, data, epsilon, matrix, schema, walkthrough
from smc_dp.cli.options import deferred

lab_group = typer.Typer(
    help="Compare methods, reproduce papers, attack, check and analyse protocols, look after data sets.",
    rich_markup_mode=None,
)
lab_group.command("compare")(deferred(compare.compare_methods))
lab_group.command("reproduce")(deferred(compare.reproduce_figure))
lab_group.command("attack")(deferred(attack.run_attacks))
lab_group.command("epsilon")(deferred(epsilon.bound_epsilon))
lab_group.command("matrix")(deferred(matrix.print_matrix))
lab_group.command("check")(deferred(code_checks.compute_checks))
lab_group.command("walkthrough")(deferred(walkthrough.show_protocol))
lab_group.add_typer(data.data_group, name="data")
lab_group.command("schema")(deferred(schema.print_schema))

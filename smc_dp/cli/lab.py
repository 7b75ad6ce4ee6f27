"""The group `lab`: experiments and analyses that no release needs."""

from __future__ import annotations

import typer

from smc_dp.cli import attack, code_checks, compare, epsilon, matrix, schema, walkthrough
from smc_dp.cli.options import deferred

lab = typer.Typer(
    help="Compare methods, reproduce papers, attack, check and analyse protocols, print schemas.",
    rich_markup_mode=None,
)
lab.command()(deferred(compare.compare))
lab.command()(deferred(compare.reproduce))
lab.command()(deferred(attack.attack))
lab.command()(deferred(epsilon.epsilon))
lab.command()(deferred(matrix.matrix))
lab.command()(deferred(code_checks.check))
lab.command()(deferred(walkthrough.walkthrough))
lab.command()(deferred(schema.schema))

"""The command `lab matrix`: what each coalition can compute from its views, derived from the code of the roles."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, check_new, choice, count, refuse
from smc_dp.cli.screen import seldom_collected
from smc_dp.core.errors import InputError
from smc_dp.core.version import __version__

if TYPE_CHECKING:
    from protocols.programs import Protocol
    from smc_dp.leakage.matrix import Matrix

PARTIES = 3


def matrix(
    protocol: Annotated[
        str | None, typer.Argument(metavar="PROTOCOL", help="A protocol; an unknown name lists them.")
    ] = None,
    parties: Annotated[
        str | None, typer.Option(metavar="K", help=f"2 to 5 parties, {PARTIES} by default; not with comparison.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="Draw the matrix into a page, a new file; not with comparison."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Compute the coalition matrix of a protocol: what each coalition learns beyond the release, from the role code.

    The comparison computes with bits, for which no symbol can stand: its matrix is a table that the package ships, and
    that its tests compute.

    \b
    Examples:
      smc-dp lab matrix pathak2010 --parties 3
      smc-dp lab matrix comparison
      smc-dp lab matrix linear
      smc-dp lab matrix secure_sum
      smc-dp lab matrix secure_sum --report matrix.html
    """
    from protocols.programs import PROTOCOLS
    from smc_dp.leakage import words

    check_new({"--report": report})
    found = PROTOCOLS[choice("PROTOCOL", protocol or "", tuple(PROTOCOLS))]
    if found.model.matrix_file:
        unfit = {"--parties": parties, "--report": report, "--json": as_json or None}
        refuse(unfit, f"not with {protocol}, whose matrix is the table that is printed")
        print(_shipped(found), end="")
        return 0
    computed = _computed(found, count("--parties", parties, 2) or PARTIES)
    if report is not None:
        from smc_dp.audit import matrix_picture
        from smc_dp.pages.rendering import write_page

        drawn = matrix_picture.page(tuple(words.tables(computed)), words.legend(computed))
        write_page(report, drawn, f"--report: {report}")
    print(json.dumps(computed.as_dict()) if as_json else words.text(computed, screen.prose_width()), end="\n" * as_json)
    return 0


def _shipped(protocol: Protocol) -> str:
    """Return the protocol's table, with its prose folded; raise InputError if the installed role code is not that of
    this version, for which tests compute the table.
    """
    from smc_dp.audit.run.released_results import released
    from smc_dp.leakage import role_code
    from smc_dp.leakage.words import wrapped

    if role_code.digest(protocol) not in {result.code for result in released().results}:
        raise InputError(
            f"{protocol.program.name}: the role code differs from that of smc-dp {__version__}, whose table is shipped"
        )
    file = files("protocols").joinpath(protocol.model.matrix_file)
    title, sentences, table, legend = file.read_text(encoding="utf-8").split("\n\n")
    legend += (
        f"smc-dp {__version__} ships this table. Its tests compute the table from the role code; this command does not."
    )
    title, sentences, legend = (
        "\n".join(wrapped(line, screen.prose_width(), indent) for line in block.splitlines())
        for block, indent in ((title, ""), (sentences, "  "), (legend, ""))
    )
    return "\n\n".join((title, sentences, table, legend)) + "\n"


def _computed(protocol: Protocol, parties: int) -> Matrix:
    from smc_dp.leakage import matrix as matrices

    if parties > matrices.MOST_PARTIES:
        raise InputError(f"--parties: wanted at most {matrices.MOST_PARTIES}, got {parties}")
    with screen.status() as hear, seldom_collected():
        return matrices.matrix(protocol, parties, hear)

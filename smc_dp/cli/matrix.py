"""Command `lab matrix`: the knowledge of each coalition, computed from the code of the roles."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, read_choice, read_count, refuse_options
from smc_dp.cli.screen import rare_garbage_collection
from smc_dp.core.errors import InputError
from smc_dp.core.version import __version__

if TYPE_CHECKING:
    from protocols.programs import Protocol

_PARTIES = 3


def print_matrix(
    protocol: Annotated[
        str | None, typer.Argument(metavar="PROTOCOL", help="A protocol; an unknown name lists them.")
    ] = None,
    parties: Annotated[
        str | None, typer.Option(metavar="K", help=f"2 to 5 parties, {_PARTIES} by default; not with comparison.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Compute the coalition matrix of a protocol. It says what each coalition learns beyond the release.

    The comparison computes with bits, which no symbol can represent. Its matrix is a table that the package ships and
    that its tests compute.

    \b
    Examples:
      smc-dp lab matrix pathak2010 --parties 3
      smc-dp lab matrix comparison
      smc-dp lab matrix linear
      smc-dp lab matrix secure_sum
    """
    from protocols.programs import PROTOCOLS
    from smc_dp.leakage import matrix as matrices
    from smc_dp.leakage import matrix_text

    found = PROTOCOLS[read_choice("PROTOCOL", protocol or "", tuple(PROTOCOLS))]
    if found.model.matrix_file:
        unfit = {"--parties": parties, "--json": as_json or None}
        refuse_options(unfit, "option.matrix_is_shipped", protocol=protocol)
        print(_shipped(found), end="")
        return 0
    wanted = read_count("--parties", parties, 2) or _PARTIES
    if wanted > matrices.MOST_MATRIX_PARTIES:
        raise InputError("options.too_many_parties", most=matrices.MOST_MATRIX_PARTIES, got=wanted)
    with screen.spinner() as hear, rare_garbage_collection():
        computed = matrices.coalition_matrix(found, wanted, hear)
    print(
        json.dumps(computed.as_dict()) if as_json else matrix_text.matrix_as_text(computed, screen.paragraph_width()),
        end="\n" * as_json,
    )
    return 0


def _shipped(protocol: Protocol) -> str:
    """Return the table that the package ships, with its prose folded; raise InputError for other role code."""
    from smc_dp.audit.run.released_results import load_results
    from smc_dp.leakage import role_code
    from smc_dp.leakage.matrix_text import wrap

    name = protocol.program.name
    if role_code.code_digest(protocol) not in {result.code for result in load_results().results}:
        raise InputError("matrix.other_role_code", name=name, version=__version__)
    blocks = files("protocols").joinpath(protocol.model.matrix_file).read_text(encoding="utf-8").split("\n\n")
    blocks[3] += f"smc-dp {__version__} ships this table; its tests compute it, and this command does not."
    for i, indent in ((0, ""), (1, "  "), (3, "")):  # the table itself is not folded
        blocks[i] = "\n".join(wrap(line, screen.paragraph_width(), indent) for line in blocks[i].splitlines())
    return "\n\n".join(blocks) + "\n"

"""The command `lab matrix`: what each coalition can compute from its views, derived from the code of the roles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.garbage import seldom_collected
from smc_dp.cli.options import AsJson, check_new, choice, count, refuse
from smc_dp.errors import InputError

if TYPE_CHECKING:
    from smc_dp.audit.code.exact.matrix import ExactMatrix
    from smc_dp.audit.code.matrix import Matrix
    from smc_dp.pages.blocks import Page

PARTIES = 3


def matrix(
    protocol: Annotated[
        str | None, typer.Argument(metavar="PROTOCOL", help="A protocol; an unknown name lists them.")
    ] = None,
    parties: Annotated[
        str | None, typer.Option(metavar="K", help=f"2 to 5 parties, {PARTIES} by default; not with comparison.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Draw the matrix into a page, a new file.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Compute the coalition matrix of a protocol: what each coalition learns beyond the release, from the role code.

    \b
    Examples:
      smc-dp lab matrix pathak2010 --parties 3
      smc-dp lab matrix comparison
      smc-dp lab matrix linear
      smc-dp lab matrix secure_sum
      smc-dp lab matrix secure_sum --report matrix.html
    """
    check_new({"--report": report})
    found = _computed(protocol or "", count("--parties", parties, 2))
    said, drawn = _told(found)
    if report is not None:
        from smc_dp.pages.rendering import write_page

        write_page(report, drawn, f"--report: {report}")
    print(json.dumps(found.as_dict()) if as_json else said, end="\n" if as_json else "")
    return 0


def _computed(name: str, asked: int | None) -> Matrix | ExactMatrix:
    from protocols.programs import PROTOCOLS
    from smc_dp.audit.code import matrix as matrices
    from smc_dp.audit.code.exact import matrix as exact_matrices

    protocol = PROTOCOLS[choice("PROTOCOL", name, tuple(PROTOCOLS))]
    exact = protocol.model.small is not None
    if exact:
        refuse({"--parties": asked}, f"not with {name}, which always has the same roles")
    parties = asked or PARTIES
    if parties > matrices.MOST_PARTIES:
        raise InputError(f"--parties: wanted at most {matrices.MOST_PARTIES}, got {parties}")
    with screen.status() as hear, seldom_collected():
        return exact_matrices.matrix(protocol, hear) if exact else matrices.matrix(protocol, parties, hear)


def _told(found: Matrix | ExactMatrix) -> tuple[str, Page]:
    """As text, and as a page."""
    from smc_dp.audit.code import picture, words
    from smc_dp.audit.code.exact import words as exact_words
    from smc_dp.audit.code.matrix import Matrix

    width = screen.prose_width()
    if isinstance(found, Matrix):
        return words.text(found, width), picture.page(tuple(words.tables(found)), words.legend(found))
    return exact_words.text(found, width), picture.page((exact_words.table(found),), exact_words.legend(found))

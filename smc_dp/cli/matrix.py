"""What a protocol shows to each coalition: the branch of the command `audit` that looks at code and no run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from smc_dp.cli import screen
from smc_dp.cli.garbage import seldom_collected
from smc_dp.cli.options import check_new, choice, refuse
from smc_dp.errors import InputError

if TYPE_CHECKING:
    from smc_dp.audit.code.exact.matrix import ExactMatrix
    from smc_dp.audit.code.matrix import Matrix
    from smc_dp.pages.blocks import Page

PARTIES = 3


def show_matrix(name: str, asked: int | None, report: Path | None, *, as_json: bool) -> int:
    """Compute the coalition matrix of this protocol, print it, and draw it into a page if one is wanted."""
    check_new({"--report": report})
    found = _computed(name, asked)
    said, drawn = _told(found)
    if report is not None:
        from smc_dp.pages.rendering import write_page

        write_page(report, drawn, f"--report: {report}")
    print(json.dumps(found.as_dict()) if as_json else said, end="\n" if as_json else "")
    return 0


def _computed(name: str, asked: int | None) -> Matrix | ExactMatrix:
    from protocols.programs import LOOKED_AT
    from smc_dp.audit.code import matrix as matrices
    from smc_dp.audit.code.exact import matrix as exact_matrices

    protocol = LOOKED_AT[choice("--matrix", name, tuple(LOOKED_AT))]
    exact = protocol.model.small is not None
    if exact:
        refuse({"--parties": asked}, f"not with --matrix {name}, which always has the same roles")
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

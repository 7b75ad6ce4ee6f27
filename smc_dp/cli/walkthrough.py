"""Command `lab walkthrough`: a protocol step by step, as one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import check_new, read_choice, read_count
from smc_dp.cli.screen import rare_garbage_collection
from smc_dp.core.errors import InputError

if TYPE_CHECKING:
    from protocols.programs import Protocol


def show_protocol(
    protocol: Annotated[
        str | None, typer.Option(metavar="NAME", help="The protocol; an unknown name lists them.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The page, a new file."),
    ] = None,
    parties: Annotated[
        str | None,
        typer.Option(
            metavar="K",
            help="Number of parties, 2 to 5; 2 or 3 for protocols with two secret permutations "
            "[default: 3; 4 for secure_sum; 2 with two secret permutations].",
        ),
    ] = None,
    everybody_stays: Annotated[
        bool,
        typer.Option(
            "--everybody-stays",
            help="No party drops out in the dry run, although the parameters allow one drop-out.",
        ),
    ] = False,
) -> int:
    """Show a protocol step by step. Each has messages, the paper's words, values, and what everybody knows by then.

    The page is one file that needs no network: arrow keys go from step to step, and it prints whole. Its values are
    those of a dry run, made up and safe to show.

    \b
    Examples:
      smc-dp lab walkthrough --protocol pathak2010 --out walkthrough.html
      smc-dp lab walkthrough --protocol pathak2010-as-printed-insecure --out as-published.html
      smc-dp lab walkthrough --protocol linear --parties 4 --out linear.html
      smc-dp lab walkthrough --protocol secure_sum --out sum.html
    """
    from protocols.programs import PROTOCOLS
    from smc_dp.pages.html import write_page
    from smc_dp.walkthrough import build

    known = tuple(name for name, one in PROTOCOLS.items() if not one.model.matrix_file)
    if out is None:
        raise InputError("options.no_page_name")
    check_new({"--out": out})
    shown, among = _chosen(protocol or "", known), read_count("--parties", parties, 2)
    with screen.spinner() as hear, rare_garbage_collection():
        made = build.walkthrough_of_protocol(shown, among, stays=everybody_stays, progress=hear)
    write_page(out, made, f"--out: {out}")
    print(f"Written to {out}")
    return 0


def _chosen(name: str, known: tuple[str, ...]) -> Protocol:
    from protocols.programs import PROTOCOLS

    if name in PROTOCOLS and name not in known:
        raise InputError("options.bits_have_no_walkthrough", name=name)
    return PROTOCOLS[read_choice("--protocol", name, known)]

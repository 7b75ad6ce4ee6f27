"""Command `lab walkthrough`: a protocol step by step, as one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import check_new, read_choice, read_count, refuse_options
from smc_dp.cli.screen import rare_garbage_collection
from smc_dp.core.errors import InputError

if TYPE_CHECKING:
    from protocols.programs import Protocol
    from smc_dp.pages.blocks import Page


def show_protocol(
    run_folder: Annotated[
        Path | None, typer.Argument(metavar="RUN", help="A run folder, with --views; else a dry run is made.")
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(metavar="NAME", help="No run: this protocol, on a dry run made for it.")
    ] = None,
    views: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="With RUN: folder of views (*.view), of some or all."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The page, a new file; with RUN its name contains the word SECRET."),
    ] = None,
    parties: Annotated[
        str | None,
        typer.Option(
            metavar="K",
            help="With --protocol: number of parties, 2 to 5; 2 or 3 for protocols with two secret permutations "
            "[default: 3; 4 for secure_sum; 2 with two secret permutations].",
        ),
    ] = None,
    everybody_stays: Annotated[
        bool,
        typer.Option(
            "--everybody-stays",
            help="With --protocol: no party drops out in the dry run, although the parameters allow one drop-out.",
        ),
    ] = False,
) -> int:
    """Show a protocol step by step. Each has messages, the paper's words, values, and what everybody knows by then.

    The page is one file that needs no network: arrow keys go from step to step, and it prints whole. With
    --protocol its values are those of a dry run, made up and safe to show. With RUN they are the secrets of its
    participants: the name of the page has to say so, and so does every sheet of it.

    \b
    Examples:
      smc-dp lab walkthrough --protocol pathak2010 --out walkthrough.html
      smc-dp lab walkthrough --protocol pathak2010-as-printed-insecure --out as-published.html
      smc-dp lab walkthrough --protocol linear --parties 4 --out linear.html
      smc-dp lab walkthrough --protocol secure_sum --out sum.html
      smc-dp run --out runs/second --record-views views
      smc-dp lab walkthrough runs/second --views views --out second-SECRET.html
    """
    from protocols.programs import PROTOCOLS
    from smc_dp.pages.html import write_page
    from smc_dp.walkthrough import build

    known = tuple(name for name, one in PROTOCOLS.items() if not one.model.matrix_file)
    if (run_folder is None) == (protocol is None):
        raise InputError("options.no_walkthrough_subject", known=known, got="neither" if protocol is None else "both")
    if out is None:
        raise InputError("options.no_page_name")
    check_new({"--out": out})
    if run_folder is not None:
        refuse_options({"--parties": parties, "--everybody-stays": everybody_stays or None}, "option.without_protocol")
        made = _of_run(run_folder, views, out)
    else:
        refuse_options({"--views": views}, "option.without_run")
        shown, among = _chosen(protocol or "", known), read_count("--parties", parties, 2)
        with screen.spinner() as hear, rare_garbage_collection():
            made = build.walkthrough_of_protocol(shown, among, stays=everybody_stays, progress=hear)
    mode = 0o644 if run_folder is None else 0o600  # views are for their owner alone
    write_page(out, made, f"--out: {out}", mode)
    print(f"Written to {out}")
    return 0


def _of_run(run_folder: Path, views: Path | None, out: Path) -> Page:
    from smc_dp.walkthrough import build

    if views is None:
        raise InputError("options.no_views")
    if build.FILE_MARKER not in out.name:
        raise InputError("options.page_without_secret_mark", mark=build.FILE_MARKER, got=out.name)
    with screen.spinner() as hear, rare_garbage_collection():
        return build.walkthrough_of_run(run_folder, views, hear)


def _chosen(name: str, known: tuple[str, ...]) -> Protocol:
    from protocols.programs import PROTOCOLS

    if name in PROTOCOLS and name not in known:
        raise InputError("options.bits_have_no_walkthrough", name=name)
    return PROTOCOLS[read_choice("--protocol", name, known)]

"""Command `lab check`: the checks of protocols' code, computed and compared with the shipped results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import check_new, read_choice
from smc_dp.cli.screen import rare_garbage_collection


def compute_checks(
    protocol: Annotated[
        str | None, typer.Argument(metavar="PROTOCOL", help="A protocol, all by default; an unknown name lists them.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the computed results to a new file.")] = None,
) -> int:
    """Compute the checks of protocols' code anew. Compare them with the results that the package ships.

    `smc-dp audit` cites these results for `distribution` and `limitations-true`: they depend on the code, not on the
    run. All protocols take a few minutes. Exit code 0: all results equal the shipped ones, and were computed for the
    same code; 1: one differs.

    \b
    Examples:
      smc-dp lab check
      smc-dp lab check linear --out results.json
    """
    from smc_dp.audit.run import code_checks, released_results
    from smc_dp.core.writing import write_new

    check_new({"--out": out})
    known = code_checks.claiming_protocols()
    names = tuple(known) if protocol is None else (read_choice("PROTOCOL", protocol, tuple(known)),)
    shipped = released_results.load_results()
    with screen.spinner() as hear, rare_garbage_collection():
        computed = code_checks.compute_results([known[name] for name in names], hear)
    differences = released_results.result_differences(computed, shipped)
    for result in computed.results:
        said = differences.get(result.key, f"equal to the result that smc-dp {shipped.version} ships")
        screen.print_lines([screen.fold(f"{result.name}: {result.status}; {said}", "  ")])
        screen.print_lines([screen.fold(f"  {result.detail}", "  "), ""])
    screen.print_lines(screen.fold(text, "  ") for key, text in differences.items() if key not in computed.by_key)
    if out is not None:
        write_new(out, released_results.results_text(computed).encode(), f"--out: {out}")
    return 1 if differences else 0

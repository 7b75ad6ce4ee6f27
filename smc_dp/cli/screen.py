"""Print progress on standard error, then the result on standard output.

The room of a subject makes the blocks of its report; here they are only printed.
"""

from __future__ import annotations

import gc
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from smc_dp.core.errors import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from rich.progress import Progress, TaskID

    from smc_dp.pages.blocks import PageBlock
    from smc_dp.run.simulation import HearProgress

_QUIET_SECONDS = 15.0  # between two plain lines of progress
_WIDEST = 120  # of prose on a terminal
_UNFOLDED = 1 << 20


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[HearProgress | None]:
    """Yield a callback that draws a bar with the time left on a terminal; elsewhere a line a stage, unless `quiet`."""
    if not sys.stderr.isatty():
        seen: set[str] = set()

        def report(stage: str, done: int, total: int) -> None:
            if stage not in seen:
                print(f"{stage} ...", file=sys.stderr, flush=True)
            seen.add(stage)

        yield None if quiet else report
        return
    with _bar(transient=True) as (progress, task):

        def update(stage: str, done: int, total: int) -> None:
            before = progress.tasks[task]
            if done < before.completed:  # the next part, whose speed is another
                progress.reset(task, completed=done, total=total, description=stage)
            else:  # a short stage is drawn, too
                progress.update(
                    task, completed=done, total=total, description=stage, refresh=stage != before.description
                )

        yield update


@contextmanager
def cell_progress() -> Iterator[Callable[[int, int, int], None]]:
    """Yield a listener to finished, failed and all cells: a bar with the time left, or plain lines now and then."""
    if not sys.stderr.isatty():
        start, last = time.monotonic(), [0.0]

        def report(done: int, failed: int, total: int) -> None:
            now = time.monotonic() - start
            if done + failed == total or now - last[0] >= _QUIET_SECONDS:
                last[0] = now
                ended = f", {failed} failed" if failed else ""
                print(f"{done} of {total} cells done after {now:.0f} s{ended}", file=sys.stderr, flush=True)

        yield report
        return
    with _bar(transient=False) as (progress, task):

        def hear(done: int, failed: int, total: int) -> None:
            said = f"cells, {failed} failed" if failed else "cells"
            progress.update(task, completed=done + failed, total=total, description=said)

        yield hear


@contextmanager
def _bar(*, transient: bool) -> Iterator[tuple[Progress, TaskID]]:
    from rich import progress as bars
    from rich.console import Console

    columns = (
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TextColumn("{task.description}", markup=False),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=Console(stderr=True), transient=transient) as progress:
        yield progress, progress.add_task("", total=None)  # nobody knows how much there is before the first call


@contextmanager
def spinner() -> Iterator[Callable[[str], None]]:
    """Yield a function that says on a terminal's standard error what is being done while the block runs."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status("starting") as spinner:

        def hear(what: str) -> None:
            spinner.update(escape(what))

        yield hear


def print_lines(lines: Iterable[str], to: TextIO | None = None) -> None:
    """Print each on a line of its own; to standard output unless `to` is given."""
    for line in lines:
        print(line, file=to, flush=True)


def print_blocks(blocks: Iterable[PageBlock], named: Callable[[str], str] = str, to: TextIO | None = None) -> None:
    """Print the blocks of a report, without their details; `named` makes options of parameters."""
    from smc_dp.pages.text import block_lines

    print_lines(map(named, block_lines(blocks, paragraph_width(), width())), to)


def warn_of_release(missing_files_text: str | None, insecure: Sequence[str]) -> None:
    """Say on standard error what a release was not verified with, and why it is insecure, if it is."""
    if missing_files_text:
        print(f"not verified against the transcript: {one_line(missing_files_text)}", file=sys.stderr)
    for reason in insecure:
        print(f"warning: this release is insecure: {one_line(reason)}", file=sys.stderr)


def full_statement(run_folder: Path) -> str:
    """Return the command that prints the privacy statement of this run folder in full."""
    return f"smc-dp show {run_folder} --details"


def width() -> int:
    """Return the columns of the terminal; other output is not folded, so that a line of it can be searched for."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNFOLDED


def paragraph_width() -> int:
    """Return the columns of a paragraph: at most 120 on a terminal; elsewhere it is not folded."""
    return min(width(), _WIDEST) if sys.stdout.isatty() else _UNFOLDED


def fold(text: str, rest: str = "") -> str:
    """Fold a paragraph to the terminal's width, at most 120; lines after the first begin with `rest`."""
    return textwrap.fill(text, paragraph_width(), subsequent_indent=rest)


RARE_THRESHOLDS = (5_000_000, 20, 100)


@contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """Collect garbage rarely while the block runs, for the symbolic engine keeps most of its objects."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*RARE_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()

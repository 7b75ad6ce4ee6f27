"""Print progress on standard error, then the result on standard output.

The room of a subject makes the blocks of its report; here they are only printed.
"""

from __future__ import annotations

import gc
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from rich.progress import TaskID

    from smc_dp.pages.blocks import PageBlock
    from smc_dp.run.simulation import HearProgress

_QUIET_SECONDS = 15.0  # between two plain lines of progress
_WIDEST = 120  # of prose on a terminal
_UNFOLDED = 1 << 20


@contextmanager
def progress(quiet: bool = False) -> Iterator[HearProgress | None]:
    """A callback that draws one bar for each stage on a terminal; elsewhere a plain line for each, unless `quiet`."""
    if not sys.stderr.isatty():
        seen: set[str] = set()

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in seen:
                print(f"{stage} ...", file=sys.stderr, flush=True)
            seen.add(stage)

        yield None if quiet else tell
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def update(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage)
            bars.update(tasks[stage], completed=done, total=total)

        yield update


@contextmanager
def grid() -> Iterator[Callable[[int, int, int], None]]:
    """A listener for finished, failed and all cells: a bar with the time left, or plain lines now and then."""
    if not sys.stderr.isatty():
        start, last = time.monotonic(), [0.0]

        def tell(done: int, failed: int, total: int) -> None:
            now = time.monotonic() - start
            if done + failed == total or now - last[0] >= _QUIET_SECONDS:
                last[0] = now
                ended = f", {failed} failed" if failed else ""
                print(f"{done} of {total} cells done after {now:.0f} s{ended}", file=sys.stderr, flush=True)

        yield tell
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as bars:
        task = bars.add_task("cells")

        def hear(done: int, failed: int, total: int) -> None:
            said = f"cells, {failed} failed" if failed else "cells"
            bars.update(task, completed=done + failed, total=total, description=said)

        yield hear


@contextmanager
def status() -> Iterator[Callable[[str], None]]:
    """A function that says on a terminal's standard error what is being done while the block runs."""
    with Console(stderr=True).status("starting") as spinner:

        def hear(what: str) -> None:
            spinner.update(escape(what))

        yield hear if sys.stderr.isatty() else lambda _: None


def show_lines(lines: Iterable[str]) -> None:
    """Print each on a line of its own."""
    for line in lines:
        print(line, flush=True)


def show(blocks: Iterable[PageBlock], named: Callable[[str], str] = str) -> None:
    """Print the blocks of a report, without their details; `named` makes options of parameters."""
    from smc_dp.pages.text import block_lines

    show_lines(map(named, block_lines(blocks, prose_width(), width())))


def width() -> int:
    """Columns of the terminal; what goes anywhere else is not folded, so that a line of it can be searched for."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNFOLDED


def prose_width() -> int:
    """Columns of a paragraph: of the terminal, or 120 where that is wider; elsewhere it is not folded."""
    return min(width(), _WIDEST) if sys.stdout.isatty() else _UNFOLDED


def fold(text: str, rest: str = "") -> str:
    """A paragraph in lines of the terminal's width, or of 120 where that is wider; lines after the first begin so."""
    return textwrap.fill(text, prose_width(), subsequent_indent=rest)


SELDOM = (5_000_000, 20, 100)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """While the block runs: the symbolic engine keeps most of what it makes, and looking through it took it long."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()

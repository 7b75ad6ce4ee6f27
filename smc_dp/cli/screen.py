"""What a person sees: progress on standard error, then the result on standard output.

The words stand beside what they are about, in files called `words`; here they are only printed.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

if TYPE_CHECKING:
    from smc_dp.audit.run.report import AuditReport
    from smc_dp.data.catalogue import CatalogueEntry
    from smc_dp.planning.plan import Plan
    from smc_dp.run.report import Report
    from smc_dp.run.simulation import HearProgress
import gc

_QUIET_SECONDS = 15.0  # between two plain lines of progress
_WIDEST = 120  # of prose on a terminal
_UNFOLDED = 1 << 20
_MOST_ROWS = 80  # of a table of means on the screen
_MOST_DRAWN = 2000  # rows that are folded to a width: rich takes a millisecond for each


@contextmanager
def progress(quiet: bool = False) -> Iterator[HearProgress | None]:
    """A callback that draws one bar for each stage on a terminal; elsewhere a plain line for each, unless `quiet`."""
    if not sys.stderr.isatty():
        yield None if quiet else _plain_progress()
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def update(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage)
            bars.update(tasks[stage], completed=done, total=total)

        yield update


def _plain_progress() -> HearProgress:
    seen: set[str] = set()

    def update(stage: str, done: int, total: int) -> None:
        if stage not in seen:
            print(f"{stage} ...", file=sys.stderr, flush=True)
        seen.add(stage)

    return update


@contextmanager
def grid() -> Iterator[Callable[[int, int, int], None]]:
    """A listener for finished, failed and all cells: a bar with the time left, or plain lines now and then."""
    if not sys.stderr.isatty():
        yield _plain_grid()
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as bars:
        task = bars.add_task("cells")

        def hear(done: int, failed: int, total: int) -> None:
            bars.update(task, completed=done + failed, total=total, description=_failed("cells", failed))

        yield hear


def _plain_grid() -> Callable[[int, int, int], None]:
    start, last = time.monotonic(), [0.0]

    def hear(done: int, failed: int, total: int) -> None:
        now = time.monotonic() - start
        if done + failed == total or now - last[0] >= _QUIET_SECONDS:
            last[0] = now
            print(_failed(f"{done} of {total} cells done after {now:.0f} s", failed), file=sys.stderr, flush=True)

    return hear


def _failed(text: str, failed: int) -> str:
    return f"{text}, {failed} failed" if failed else text


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
        print(line)


def show_table(headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[str], width: int) -> None:
    """Print a table in lines of at most this width, the columns called `numbers` to the right.

    A table of very many rows is not folded.
    """
    rows = list(rows)
    if len(rows) > _MOST_DRAWN:
        show_lines(_unfolded(headings, rows, numbers))
        return
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left")
    for row in rows:
        table.add_row(*row)
    Console(file=sys.stdout, markup=False, highlight=False, width=width).print(table)


def _unfolded(headings: Sequence[str], rows: list[Sequence[str]], numbers: Collection[str]) -> Iterator[str]:
    lines = [headings, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for cells in lines:
        placed = zip(headings, cells, widths, strict=True)
        yield " ".join(c.rjust(n) if name in numbers else c.ljust(n) for name, c, n in placed).rstrip()


def show_run(report: Report) -> None:
    """Print the result of a run."""
    from smc_dp.run import words

    show_lines(words.warnings(report))
    if report.cost:
        show_table(words.HEADINGS, words.costs(report.cost), words.HEADINGS[1:], width())
        show_lines(words.legend(report.simulated))
    show_lines(words.result(report, width()))


def show_audit(report: AuditReport, named: Callable[[str], str] = str) -> None:
    """Print an audit; `named` makes options of parameters."""
    from smc_dp.audit.run import words

    show_lines(map(named, words.lines(report, width())))


def show_plan(found: Plan, cost: bool) -> None:
    """Print a plan: what to do, then the figures; with `cost` those of the cost by stage and by role too."""
    from smc_dp.planning import words

    for paragraph in words.answer(found):
        print(fold(paragraph, "  "))
    print()
    show_table(words.HEADINGS, words.rows(found), words.NUMBERS, width())
    for paragraph in words.refusals(found):
        print(fold(paragraph, "  "))
    print()
    for paragraph in words.trust(found):
        print(fold(paragraph, "  "))
    print()
    print(words.cost(found))
    if not cost:
        return
    for headings, rows in ((words.STAGES, words.stages(found.cost)), (words.ROLES, words.roles(found.cost))):
        print()
        show_table(headings, rows, headings[1:], width())
    print()
    for paragraph in words.cost_notes(found.cost):
        print(fold(paragraph, "  "))


def show_means(rows: Sequence[Mapping[str, object]]) -> None:
    """Print means and standard deviations, a line for each method and epsilon, unless they are too many."""
    if not rows or len(rows) > _MOST_ROWS:
        return
    settings = {row["setting"] for row in rows}
    headings = [name for name in rows[0] if name != "setting" or len(settings) > 1]
    texts = ([str(row[heading]) for heading in headings] for row in rows)
    show_table(headings, texts, set(headings) - {"setting", "method", "trust", "calibration"}, width())


def show_data(entries: Sequence[CatalogueEntry]) -> None:
    """Print the data sets and their states."""
    from smc_dp.data import words

    show_table(words.HEADINGS, words.rows(entries), words.NUMBERS, width())


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

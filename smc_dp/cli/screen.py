"""What a person sees: progress on standard error, then the result on standard output."""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import mean
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

from protocols.runtime.network import LINKS
from smc_dp.aggregation import CURATOR, Cost, ProtocolSettings
from smc_dp.bench.protocol import Bench
from smc_dp.errors import one_line
from smc_dp.run.simulation import Comparison, Report
from smc_dp.run.simulation import HearProgress as Callback

if TYPE_CHECKING:
    from smc_dp.audit.run.check import CheckOutcome
    from smc_dp.audit.run.report import AuditReport as AuditReport
    from smc_dp.bench.training import TrainingBench
    from smc_dp.compare.study import ClaimVerdict
    from smc_dp.data.catalogue import CatalogueEntry

_QUIET_SECONDS = 15.0  # between two plain lines of progress
_MOST_ROWS = 80  # of a table of means on the screen


@contextmanager
def progress(quiet: bool = False) -> Iterator[Callback | None]:
    """A callback that draws one bar for each stage on a terminal; elsewhere a plain line for each, unless `quiet`."""
    if not sys.stderr.isatty():
        yield None if quiet else _plain_progress()
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def update(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage)
            bars.update(tasks[stage], completed=done, total=total)

        yield update


def _plain_progress() -> Callback:
    seen: set[str] = set()

    def update(stage: str, done: int, total: int) -> None:
        if stage not in seen:
            print(f"{stage} ...", file=sys.stderr, flush=True)
        seen.add(stage)

    return update


def show_training(measured: TrainingBench) -> None:
    """Print a benchmark of local training."""
    binary, softmax = measured.shapes
    table = Table(box=None, pad_edge=False)
    for heading in ("what", "straightforward", "ours", "times less", "largest difference"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for what, found in (
        (f"{binary.parties} parties x {binary.rows} rows, d = {binary.dimension}, two classes", measured.binary),
        (
            f"{softmax.parties} parties x {softmax.rows} rows, d = {softmax.dimension}, {softmax.classes} classes",
            measured.softmax,
        ),
        (f"votes of {binary.parties} parties on {measured.rows} rows", measured.votes),
    ):
        times = f"{found.straightforward:.2f}", f"{found.ours:.2f}", f"{found.ratio:.1f}"
        table.add_row(what, *times, f"{found.largest_difference:.1g}")
    print("Processor seconds on one thread; straightforward code was run on a sample and scaled up by count")
    Console(file=sys.stdout, markup=False, highlight=False, width=max(120, _width())).print(table)


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


def show_means(rows: Sequence[Mapping[str, object]]) -> None:
    """Print means and standard deviations, a line for each method and epsilon, unless they are too many."""
    if not rows or len(rows) > _MOST_ROWS:
        return
    settings = {row["setting"] for row in rows}
    headings = [name for name in rows[0] if name != "setting" or len(settings) > 1]
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("setting", "method", "calibration") else "right")
    for row in rows:
        table.add_row(*(str(row[heading]) for heading in headings))
    Console(file=sys.stdout, markup=False, highlight=False, width=max(120, _width())).print(table)


def show_verdicts(verdicts: Sequence[ClaimVerdict]) -> None:
    """Print claims and whether they came out."""
    if verdicts:
        print("Claims, and whether they came out:")
    for verdict in verdicts:
        print(f"  {verdict.answer:<7}  {verdict.quotation}")
        print(f"           {verdict.paper}; here {verdict.here}")


def show_data(entries: Sequence[CatalogueEntry]) -> None:
    """Print the data sets and their states."""
    table = Table(box=None, pad_edge=False)
    for heading in ("data set", "state", "rows", "test rows", "columns", "classes", "what it is", "used by"):
        table.add_column(heading, justify="right" if heading in ("rows", "test rows", "columns", "classes") else "left")
    for e in entries:
        test = f"{e.test_rows:,}" if e.test_rows else ""
        table.add_row(e.name, e.state, f"{e.rows:,}", test, f"{e.columns:,}", str(e.classes), e.what, e.paper)
    Console(file=sys.stdout, markup=False, highlight=False, width=max(160, _width())).print(table)


@contextmanager
def status() -> Iterator[Callable[[str], None]]:
    """A function that says on a terminal's standard error what is being done while the block runs."""
    with Console(stderr=True).status("starting") as spinner:

        def hear(what: str) -> None:
            spinner.update(escape(what))

        yield hear if sys.stderr.isatty() else lambda _: None


def show_bench(measured: Bench) -> None:
    """Print a benchmark."""
    print(f"K = {measured.parties}, d = {measured.dimension}, {measured.key_bits}-bit keys; processor seconds")
    table = Table(box=None, pad_edge=False)
    for heading in ("stage", "port on phe", "ours", "times less"):
        table.add_column(heading, justify="left" if heading == "stage" else "right")
    for stage, seconds in measured.ours.items():
        theirs = measured.naive.get(stage)
        ratio = "" if theirs is None else f"{theirs / seconds:.1f}"
        table.add_row(stage, "" if theirs is None else f"{theirs:.2f}", f"{seconds:.2f}", ratio)
    totals = (sum(measured.naive.values()), sum(measured.ours.values()))
    table.add_row("all", *(f"{total:.2f}" for total in totals), f"{measured.ratio:.1f}")
    Console(file=sys.stdout, markup=False, highlight=False, width=max(100, _width())).print(table)
    print("The roles share one process, and so their tables of public values; apart, each would build its own.")
    memory = "" if measured.megabytes is None else f" Peak memory of the process: {measured.megabytes:.0f} MB."
    print(f"Key generation, apart: {measured.keys:.2f} s.{memory}")


def show_audit(report: AuditReport) -> None:
    """Print every finding of an audit, the question with what was found, and the verdict."""
    width = max((len(f.check.name) for f in report.findings), default=0)
    group = ""
    for finding in report.findings:
        if finding.check.group != group:
            group = finding.check.group
            print(f"{group.capitalize()}")
        outcome = finding.outcome
        line = "" if outcome.line is None else f"line {outcome.line}: "
        text = f"{finding.check.name:<{width}}  {outcome.status:<12}  {finding.check.asks} {line}{_found(outcome)}"
        print(_hanging(text, "  ", width + 18))
    names: dict[str, list[str]] = {"passed": [], "failed": [], "not possible": []}
    for finding in report.findings:
        names[finding.outcome.status].append(finding.check.name)
    print(", ".join(f"{len(found)} {status}" for status, found in names.items()))
    if not_possible := names["not possible"]:
        print(_hanging(f"Not checked, for want of what these need: {', '.join(not_possible)}.", "", 2))
    if first := report.first_fault:
        where = "" if first.outcome.line is None else f" at line {first.outcome.line} of the record"
        print(f"FAILED: {first.check.name}{where}: {_found(first.outcome)}")
    else:
        print("PASSED: no check failed. An audit can refute what a run claims; it proves none of it.")


def _found(outcome: CheckOutcome) -> str:
    who = "" if outcome.party is None else f" [{one_line(outcome.party)}]"
    return one_line(outcome.detail) + who


def _hanging(text: str, first: str, rest: int) -> str:
    width = max(100, _width())
    return textwrap.fill(text, width, initial_indent=first, subsequent_indent=" " * rest, break_long_words=False)


def show(report: Report) -> None:
    """Print the result of a run."""
    for reason in report.insecure:
        print(f"INSECURE: {reason}.")
    if report.cost:
        _show_cost(report.cost, report.protocol)
    print("Privacy")
    print(_wrapped(report.privacy.plain_words()))
    print()
    _show_comparison(report.comparison)
    print(f"Written to {report.run_dir}: shares.json, release.json, transcript.jsonl, timings.json")


def _show_cost(cost: Cost, protocol: ProtocolSettings) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("stage")
    for heading in ("messages", "bytes", "rounds", f"{CURATOR} s", "party s", "slowest s"):
        table.add_column(heading, justify="right")
    for stage in cost.by_stage:
        parties = [seconds for role, seconds in stage.seconds.items() if role != CURATOR] or [0.0]
        figures = (stage.seconds.get(CURATOR, 0.0), mean(parties), max(parties))
        _add_row(table, stage.stage, stage.messages, stage.bytes, stage.rounds, *(f"{s:.2f}" for s in figures))
    _add_row(table, "all", cost.messages, cost.bytes, cost.rounds, "", "", f"{cost.seconds:.2f}")
    Console(file=sys.stdout, markup=False, highlight=False, width=max(100, _width())).print(table)
    print("party s: the parties' mean; slowest s: the slowest party, in the last row from start to end, all")
    print(f"participants computing at the same time, {_described(protocol)}.")
    print()


def _described(protocol: ProtocolSettings) -> str:
    link = LINKS[protocol.link]
    if protocol.link == "none":
        return "no time on the links"
    relayed = ", all mail through Charlie" if protocol.topology == "star" else ""
    speed = f"{link.latency * 1000:g} ms one way, {link.bandwidth / 1e6:g} MB/s"
    return f"over simulated links ({protocol.link}: {speed}{relayed})"


def _add_row(table: Table, stage: str, messages: int, size: int, rounds: int, *seconds: str) -> None:
    table.add_row(stage, f"{messages:,}", f"{size:,}", f"{rounds:,}", *seconds)


def _show_comparison(compared: Comparison | None) -> None:
    if compared is None:
        print("No rows to test on were given, so no accuracy is known.\n")
        return
    print(f"Test accuracy of the release: {compared.accuracy:.3f}")
    print("Comparison of a simulation, needs everyone's data in one place; not part of the release:")
    width = max(len("pooled, no privacy"), *(len(name) + len(" alone") for name in compared.individual))
    for name, value in compared.individual.items():
        print(f"  {name + ' alone':<{width}}  {value:.3f}")
    print(f"  {'pooled, no privacy':<{width}}  {compared.pooled:.3f}")
    print(f"  {'majority class':<{width}}  {compared.majority:.3f}")
    print()


def _wrapped(text: str) -> str:
    return textwrap.fill(text, width=min(100, _width()), initial_indent="  ", subsequent_indent="  ")


def _width() -> int:
    return shutil.get_terminal_size().columns

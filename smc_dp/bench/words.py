"""What a person reads of a benchmark: of the protocol, of local training, and of how long the command line starts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smc_dp.bench.protocol import Bench
    from smc_dp.bench.training import TrainingBench

HEADINGS = ("stage", "port on phe", "ours", "times less")
TRAINING_HEADINGS = ("what", "straightforward", "ours", "times less", "largest difference")
TRAINING = "Processor seconds on one thread; straightforward code was run on a sample and scaled up by count"


def title(measured: Bench) -> str:
    """The sizes."""
    return f"K = {measured.parties}, d = {measured.dimension}, {measured.key_bits}-bit keys; processor seconds"


def stages(measured: Bench) -> Iterator[tuple[str, ...]]:
    """A row of text under `HEADINGS` for every stage, and one for all."""
    for stage, seconds in measured.ours.items():
        theirs = measured.naive.get(stage)
        ratio = "" if theirs is None else f"{theirs / seconds:.1f}"
        yield stage, "" if theirs is None else f"{theirs:.2f}", f"{seconds:.2f}", ratio
    totals = (sum(measured.naive.values()), sum(measured.ours.values()))
    yield "all", *(f"{total:.2f}" for total in totals), f"{measured.ratio:.1f}"


def notes(measured: Bench, greetings: float, start: float | None) -> Iterator[str]:
    """What is not in the table; `greetings`: seconds in which a star of 1,000 parties opens its links; `start`: of a
    start of the command line, None where they are not known.
    """
    yield "The roles share one process, and so their tables of public values; apart, each would build its own."
    memory = "" if measured.megabytes is None else f" Peak memory of the process: {measured.megabytes:.0f} MB."
    yield f"Key generation, apart: {measured.keys:.2f} s.{memory}"
    yield f"For 1,000 parties around a curator to greet and open their links: {greetings:.2f} s, all together."
    if start is not None:
        yield f"To start the command line for its help: {start:.2f} s, the median of several fresh interpreters."


def parts(measured: TrainingBench) -> Iterator[tuple[str, ...]]:
    """A row of text under `TRAINING_HEADINGS` for training with two and with more classes, and for votes."""
    binary, softmax = measured.shapes
    for what, found in (
        (f"{binary.parties} parties x {binary.rows} rows, d = {binary.dimension}, two classes", measured.binary),
        (
            f"{softmax.parties} parties x {softmax.rows} rows, d = {softmax.dimension}, {softmax.classes} classes",
            measured.softmax,
        ),
        (f"votes of {binary.parties} parties on {measured.rows} rows", measured.votes),
    ):
        times = f"{found.straightforward:.2f}", f"{found.ours:.2f}", f"{found.ratio:.1f}"
        yield what, *times, f"{found.largest_difference:.1g}"

"""The rows of a benchmark as text, as CSV and as plain values for JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smc_dp.bench.goals import GoalRow, figure, spaced

GOAL_HEADINGS = ("what", "goal", "measured", "passed")
COLUMNS = (
    *("group", "what", "goal", "measured", "unit", "passed", "quick", "note", "why", "sense", "bound", "parts"),
    *("machine", "versions"),
)
QUICK = "Quick: sizes are small, no goal was set for them, and ratios at such sizes are far from those at full size."
RATIOS = "Processor time of all roles in this run unless a row says wall. Ratios are what to quote, not seconds."


def texts(row: GoalRow) -> tuple[str, str, str, str]:
    """Under `GOAL_HEADINGS`."""
    came = row.why if row.measured is None else figure(row.measured) + spaced(row.goal.unit)
    said = {True: "yes", False: "NO", None: "not judged" if row.measured is not None else "not measured"}
    return row.what + (" (quick)" if row.quick else ""), str(row.goal), came, said[row.passed]


def lines(rows: Sequence[GoalRow], machine: Mapping[str, str], versions: Mapping[str, str]) -> Iterator[str]:
    """What stands under the table."""
    if any(row.quick for row in rows):
        yield QUICK
    yield RATIOS
    yield from (f"{', '.join(whose)}: {note}." for note, whose in _notes(rows).items())
    judged = [row.passed for row in rows if row.passed is not None]
    yield f"Goals: {sum(judged)} of {len(judged)} passed; {len(rows) - len(judged)} of {len(rows)} rows not judged."
    yield "Machine: " + ", ".join(f"{name} {value}" for name, value in machine.items()) + "."
    yield "Versions: " + ", ".join(f"{name} {value}" for name, value in versions.items()) + "."


def _notes(rows: Sequence[GoalRow]) -> dict[str, list[str]]:
    """Every note once, with the groups that it is about."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.note and row.group not in found.setdefault(row.note, []):
            found[row.note].append(row.group)
    return found


def as_csv(rows: Sequence[GoalRow], machine: Mapping[str, str], versions: Mapping[str, str]) -> str:
    """A line for each row, with the figures it is made of, and on what all of it was measured."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    where = {"machine": _joined(machine), "versions": _joined(versions)}
    for row in rows:
        plain = row.as_dict()
        goal, parts = plain.pop("goal"), plain.pop("parts")
        writer.writerow({**plain, **goal, "goal": str(row.goal), "parts": _joined(parts), **where})
    return text.getvalue()


def _joined(facts: Mapping[str, object]) -> str:
    return "; ".join(f"{name}={value}" for name, value in facts.items())


def as_json(rows: Sequence[GoalRow], machine: Mapping[str, str], versions: Mapping[str, str]) -> dict[str, Any]:
    """Plain values."""
    return {"machine": dict(machine), "versions": dict(versions), "goals": [row.as_dict() for row in rows]}

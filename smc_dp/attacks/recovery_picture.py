"""Picture of a record and of what was recovered of it: feature by feature, version by version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smc_dp.core.arrays import Array
from smc_dp.pages.blocks import Drawing
from smc_dp.pages.svg import Svg

_WIDTH, _PANEL, _COLUMN, _HEAD, _HALF = 352.0, 132.0, 176.0, 22.0, 44.0
_MOST = 1.15  # rows are in the unit ball: what lies farther out stands at the edge
_READING = (
    "A bar is a feature of the secret record, a dot what the server computed; a ring at the edge is a dot that lies "
    "farther out. Features go from -1 to 1."
)


@dataclass(frozen=True, repr=False)
class Recovery:
    """Features and label that an attack on a version of a method computed."""

    version: str
    x: Array
    label: int


def draw_recoveries(secret: Array, label: int, found: Sequence[Recovery]) -> Drawing:
    """Draw the recoveries, two in a row, each beside the secret record."""
    svg = Svg(_WIDTH, _PANEL * ((len(found) + 1) // 2))
    for i, one in enumerate(found):
        _panel(svg, _COLUMN * (i % 2), _PANEL * (i // 2), secret, one)
    said = tuple(describe_recovery(secret, label, one) for one in found)
    return Drawing(svg, "The secret record, and what was computed", (*said, _READING))


def describe_recovery(secret: Array, label: int, one: Recovery) -> str:
    """Return a sentence on the error of a recovery."""
    error = float(abs(one.x - secret).max())
    right = "right" if one.label == label else "wrong"
    off = f"{error:.1g}" if error < 1 else f"{error:.0f}"
    return f"{one.version}: the {len(secret)} features are off by up to {off}, the label {one.label} is {right}."


def _panel(svg: Svg, left: float, top: float, secret: Array, one: Recovery) -> None:
    svg.text(left + 6, top + 15, one.version, size=12, bold=True)
    middle = top + _HEAD + _HALF + 8
    svg.line(left + 4, middle, left + _COLUMN - 8, middle, "faint")
    step = (_COLUMN - 40) / max(1, len(secret) - 1)
    for i, (truth, value) in enumerate(zip(secret.tolist(), one.x.tolist(), strict=True)):
        x, shown = left + 18 + step * i, min(_MOST, max(-_MOST, value))
        svg.line(x, middle - _HALF * truth, x, middle - _HALF * shown, "faint")
        svg.line(x - 7, middle - _HALF * truth, x + 7, middle - _HALF * truth, "strong")
        svg.circle(x, middle - _HALF * shown, 3.5, "solid" if shown == value else "paper")

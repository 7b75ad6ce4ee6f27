"""Picture of noise taken off a release: exact sum, release and remainder, coordinate by coordinate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from smc_dp.pages.blocks import Drawing
from smc_dp.pages.svg import Svg

_SHOWN = 16
_WIDTH, _LEFT, _PANEL, _HEAD, _HALF = 352.0, 16.0, 170.0, 26.0, 62.0
_READING = (
    f"Shown are the first {_SHOWN} coordinates: a bar is the exact sum, a ring the release, a dot the remainder "
    "after the party subtracted its own noise. Each version has a scale of its own."
)


@dataclass(frozen=True, repr=False)
class NoisyPanel:
    """Panel of one version: its name, the party whose attempt is shown, and three vectors on one grid."""

    version: str
    whose: str
    exact: Sequence[int]
    release: Sequence[int]
    left: Sequence[int]

    @property
    def sentence(self) -> str:
        """Sentence on the distance of release and remainder from the exact sum, in norms of that sum."""
        scale = vector_distance(self.exact, [0] * len(self.exact))
        before, after = (vector_distance(x, self.exact) / scale for x in (self.release, self.left))
        is_exact = list(self.left) == list(self.exact)
        ends = "exactly 0. It holds the exact sum" if is_exact else f"{after:.2f} times that norm"
        return (
            f"{self.version}, over all {len(self.exact)} coordinates: the distance between the release and the exact "
            f"sum is {before:.2f} times the norm of the exact sum. After {self.whose} has subtracted its own noise, "
            f"the distance is {ends}."
        )


def vector_distance(x: Sequence[int], y: Sequence[int]) -> float:
    """Return the distance of two vectors."""
    return float(np.linalg.norm(np.array([a - b for a, b in zip(x, y, strict=True)], dtype=float)))


def draw_panels(panels: Sequence[NoisyPanel]) -> Drawing:
    """Draw the panels below each other."""
    svg = Svg(_WIDTH, _PANEL * len(panels))
    for i, panel in enumerate(panels):
        _panel(svg, _PANEL * i, panel)
    return Drawing(svg, "One run of each version", (*(panel.sentence for panel in panels), _READING))


def _panel(svg: Svg, y: float, panel: NoisyPanel) -> None:
    svg.text(_LEFT, y + 16, panel.version, bold=True)
    middle = y + _HEAD + _HALF + 6
    svg.line(_LEFT - 8, middle, _WIDTH - 8, middle, "faint")
    for x, exact, release, left in _places(panel):
        svg.line(x, middle - exact, x, middle - release, "faint")
        svg.circle(x, middle - release, 4, "paper")
        svg.line(x - 7, middle - exact, x + 7, middle - exact, "strong")
        svg.circle(x, middle - left, 3)


def _places(panel: NoisyPanel) -> Iterator[tuple[float, float, float, float]]:
    """Yield the place of each coordinate shown, and the heights of the three values."""
    shown = [list(x[:_SHOWN]) for x in (panel.exact, panel.release, panel.left)]
    highest = max(1, *(abs(value) for values in shown for value in values))
    step = (_WIDTH - 2 * _LEFT) / (_SHOWN - 1)
    for i, three in enumerate(zip(*shown, strict=True)):
        exact, release, left = (_HALF * value / highest for value in three)
        yield _LEFT + step * i, exact, release, left

"""Pictures as SVG: lines, boxes, arrows and text, in patterns that can be told apart in grey.

Text is always text. Sizes are in pixels of a page at its natural width.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Literal, TypeAlias
from xml.etree import ElementTree

Fill: TypeAlias = Literal["paper", "solid", "dense", "hatched", "dotted"]
Stroke: TypeAlias = Literal["line", "strong", "faint", "dashed"]
Anchor: TypeAlias = Literal["start", "middle", "end"]
_LETTER = 0.6  # the width of a letter, as a part of its size, on the safe side for the fonts of systems


class Svg:
    """Picture that is drawn piece by piece. Later pieces lie above earlier ones."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._pieces: list[ElementTree.Element] = []

    def line(self, x1: float, y1: float, x2: float, y2: float, stroke: Stroke = "line", *, arrow: bool = False) -> None:
        """Draw a straight line, with a head at its end if it is an arrow."""
        ends = {"x1": _n(x1), "y1": _n(y1), "x2": _n(x2), "y2": _n(y2), "class": f"stroke-{stroke}"}
        self._add("line", ends | ({"marker-end": "url(#arrowhead)"} if arrow else {}))

    def rect(self, x: float, y: float, width: float, height: float, fill: Fill = "paper") -> None:
        """Draw a box."""
        size = {"x": _n(x), "y": _n(y), "width": _n(width), "height": _n(height)}
        self._add("rect", {**size, "class": f"fill-{fill}"})

    def circle(self, x: float, y: float, radius: float) -> None:
        """Draw a disc."""
        self._add("circle", {"cx": _n(x), "cy": _n(y), "r": _n(radius), "class": "fill-solid"})

    def arrow(self, d: str) -> None:
        """Draw a curved arrow along a path in the notation of SVG."""
        self._add("path", {"d": d, "class": "stroke-line", "marker-end": "url(#arrowhead)"})

    def text(
        self, x: float, y: float, text: str, anchor: Anchor = "start", *, size: float = 13, bold: bool = False
    ) -> None:
        """Draw a line of text with its foot at y."""
        looks = "words bold" if bold else "words"
        place = {"x": _n(x), "y": _n(y), "text-anchor": anchor, "font-size": _n(size), "class": looks}
        self._add("text", place).text = _printable(text)

    def markup(self, label: str) -> str:
        """Return the picture for a page, which has the style; `label` is its accessible name."""
        return ElementTree.tostring(self._element({"role": "img", "aria-label": _printable(label)}), encoding="unicode")

    def _element(self, attributes: dict[str, str]) -> ElementTree.Element:
        box = {"viewBox": f"0 0 {_n(self.width)} {_n(self.height)}", "width": _n(self.width), "height": _n(self.height)}
        made = ElementTree.Element("svg", {**box, **attributes})
        made.extend(self._pieces)
        return made

    def _add(self, tag: str, attributes: dict[str, str]) -> ElementTree.Element:
        piece = ElementTree.Element(tag, attributes)
        self._pieces.append(piece)
        return piece


def text_width(text: str, size: float = 13) -> float:
    """Return an upper estimate of the width of a line of text. Systems have different fonts."""
    return len(text) * size * _LETTER


@cache
def style_sheet() -> str:
    """Return the style of all pictures."""
    return (resources.files("smc_dp.pages") / "svg.css").read_text(encoding="utf-8")


@cache
def fill_patterns() -> str:
    """Return the patterns and the arrow head that pictures refer to, once for each page."""
    return (resources.files("smc_dp.pages") / "patterns.svg").read_text(encoding="utf-8")


def _n(number: float) -> str:
    return f"{number:.6g}"


def _printable(text: str) -> str:
    """XML has no letters for most control characters, and a mark that turns a line round is none of a name."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)

"""Texts that have to fit: cut at a length or at a width; of many names the first few, and how many more there are.

Whatever a stranger wrote, a page has to fit into its 2 MB.
"""

from __future__ import annotations

from collections.abc import Sequence

from smc_dp.pages.svg import text_width

LONGEST = 120  # characters of a name, unless somebody wants another number


def cut(text: str, most: int = LONGEST) -> str:
    """The text, and no more of it than so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def fitting(text: str, width: float, size: float) -> str:
    """As much of a line of a picture as goes into this width."""
    return cut(text, max(4, int(width / text_width("n", size))))


def first(texts: Sequence[str], most: int, longest: int = LONGEST) -> tuple[str, ...]:
    """The first of these, each cut, and at the end how many more there are."""
    more = (f"and {len(texts) - most:,} more",) if len(texts) > most else ()
    return (*(cut(text, longest) for text in texts[:most]), *more)


def some(texts: Sequence[str], most: int, longest: int = LONGEST, between: str = ", ") -> str:
    """The same on one line."""
    return between.join(first(texts, most, longest))

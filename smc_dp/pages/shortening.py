"""Shortening of texts: at a length or a width, and of lists to the first few with the number of the rest.

Whatever a stranger wrote, a page has to fit into its 2 MB.
"""

from __future__ import annotations

from collections.abc import Sequence

from smc_dp.pages.svg import text_width

LONGEST = 120  # characters of a name, unless somebody wants another number


def shorten(text: str, most: int = LONGEST) -> str:
    """Return the text; one of more than `most` characters is cut to so many, of which the last is an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def shorten_to_width(text: str, width: float, size: float) -> str:
    """Return as much of a line of a picture as fits this width."""
    return shorten(text, max(4, int(width / text_width("n", size))))


def first_texts(texts: Sequence[str], most: int, longest: int = LONGEST) -> tuple[str, ...]:
    """Return the first of these texts, each shortened, and the number of the rest."""
    more = (f"and {len(texts) - most:,} more",) if len(texts) > most else ()
    return (*(shorten(text, longest) for text in texts[:most]), *more)


def join_first(texts: Sequence[str], most: int, longest: int = LONGEST, between: str = ", ") -> str:
    """Return the first of these texts on one line, and the number of the rest."""
    return between.join(first_texts(texts, most, longest))

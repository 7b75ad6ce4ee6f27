"""Text of strangers in a document whose readers take text for markdown: every character stands for itself there.

The registry renders all of its strings as markdown with formulas, and asks for every address that stands in one.
"""

from __future__ import annotations

import re

from smc_dp.errors import one_line

_MARKUP = re.compile(r"[\\`*\[\]<>#$|~&{}]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])|(?<=[A-Za-z]):(?=//)|@|(?i:(?<=www))\.")


def literal(text: str) -> str:
    """The text on one line, with what could be taken for markup, a formula or an address as a character reference."""
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", one_line(text))

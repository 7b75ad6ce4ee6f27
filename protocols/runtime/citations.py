"""Citations: sentences of a paper or of the notes about a step, and the notes where the code departs from them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources

NOTES = "NOTES.md"
CUT = " ... "
"""Mark between two pieces of a citation."""

_TITLE = re.compile(r"^\*\*(\[.*?)\*\*", re.DOTALL)  # elsewhere two stars are a power
_SLANTED = re.compile(r"(?<![*\w])\*(?![*\s])([^*]+)(?<!\s)\*(?![*\w])")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True)
class Citation:
    """Citation for a step, with its source: a paper, or the NOTES.md of `package`.

    `notes`: labels, such as "N1", of the notes of `package` that explain where the step departs from the source.
    """

    text: str
    source: str
    package: str
    notes: tuple[str, ...] = ()

    @property
    def pieces(self) -> tuple[str, ...]:
        """Contiguous pieces of the source."""
        return tuple(self.text.split(CUT))


def cite_notes(package: str, where: str, text: str, *notes: str) -> Citation:
    """Return a citation from the NOTES.md of a package; `where` is its heading there."""
    return Citation(text, f"{NOTES} of {package.replace('.', '/')}, {where}", package, notes)


def read_note(package: str, label: str) -> str:
    """Return the note with this label in a package's NOTES.md as plain text; raise LookupError for an unknown label."""
    for paragraph in read_notes(package).split("\n\n"):
        for part in re.split(r"\n(?=\*\*\[)", paragraph.strip()):
            if part.startswith(f"**[{label}]"):
                return strip_markup(part)
    raise LookupError(f"{NOTES} of {package} has no note [{label}]")


def read_notes(package: str) -> str:
    """Return the text of a package's NOTES.md."""
    return (resources.files(package) / NOTES).read_text(encoding="utf-8")


def strip_markup(text: str) -> str:
    """Return Markdown text on one line without the signs of titles, emphasis and code, and without link targets."""
    return " ".join(_SLANTED.sub(r"\1", _LINK.sub(r"\1", _TITLE.sub(r"\1", text))).replace("`", "").split())

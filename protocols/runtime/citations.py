"""What somebody wrote of a step, word for word, and the notes that say where the code departs from it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources

NOTES = "NOTES.md"
CUT = " ... "
"""Between two pieces of a quotation."""

_TITLE = re.compile(r"^\*\*(\[.*?)\*\*", re.DOTALL)  # elsewhere two stars are a power
_SLANTED = re.compile(r"(?<![*\w])\*(?![*\s])([^*]+)(?<!\s)\*(?![*\w])")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True)
class Citation:
    """A quotation that belongs to a step, and where it stands: in a paper, or in the NOTES.md of `room`.

    `notes`: the labels, such as "N1", of those notes of the same file that say where the step departs from it and why.
    """

    text: str
    source: str
    room: str
    notes: tuple[str, ...] = ()

    @property
    def pieces(self) -> tuple[str, ...]:
        """What stands together in the source."""
        return tuple(self.text.split(CUT))


def cite_notes(room: str, where: str, text: str, *notes: str) -> Citation:
    """A quotation from the NOTES.md of a room; `where` is its heading there."""
    return Citation(text, f"{NOTES} of {room.replace('.', '/')}, {where}", room, notes)


def note(room: str, label: str) -> str:
    """The note with this label in the NOTES.md of a room, as plain text; LookupError where there is none."""
    for paragraph in read_notes(room).split("\n\n"):
        for part in re.split(r"\n(?=\*\*\[)", paragraph.strip()):
            if part.startswith(f"**[{label}]"):
                return plain(part)
    raise LookupError(f"{NOTES} of {room} has no note [{label}]")


def read_notes(room: str) -> str:
    """The NOTES.md of a room as it stands."""
    return (resources.files(room) / NOTES).read_text(encoding="utf-8")


def plain(text: str) -> str:
    """A piece of such a file without the signs of its title and of code, without the targets of links, on one line."""
    return " ".join(_SLANTED.sub(r"\1", _LINK.sub(r"\1", _TITLE.sub(r"\1", text))).replace("`", "").split())

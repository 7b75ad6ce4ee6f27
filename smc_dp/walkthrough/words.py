"""What a walkthrough says of letters and of itself; what it says of a protocol stands with the protocol."""

from __future__ import annotations

import re
import sys

from protocols.programs import Protocol
from protocols.runtime.message import Kind, Message
from protocols.runtime.quoted import NOTES, Quoted, note

HOW_TO_READ = (
    "Each step is one step of the paper, or of the notes of the protocol. It begins with a picture: a lane for each "
    "participant, and an arrow for what it sends; a dashed arrow is published, for everybody to read. The sentences "
    "before the picture say the same.",
    "Then comes what the paper or the notes say of the step, word for word, and where the program departs from the "
    "paper.",
    "Then what each kind of letter is, how each of its fields is protected, and the values of this session. Long "
    "numbers and vectors are cut. A ciphertext stands in brackets; what follows is what it holds, to those who have "
    "the key.",
    "Last comes what is known by now: what each participant, and each set of participants who put together what they "
    "saw, can work out of the secrets of the others.",
)
DEPARTS = "Where the program departs from it, and why"
BESIDE = "What else the notes have on it"
IS_WRONG = "What is wrong with it as printed, and what mends it"
MENDED = (
    'These are the notes of the mended program: where they say "here", they speak of that one. The steps of this page '
    "are as printed."
)
HOW_KNOWN = (
    "It is computed from the program's own role code, which runs over symbols, with the letters up to that step and "
    "none later. It is a statement about ideal building blocks: encryption hides what nobody has the key to, and "
    "everybody follows the protocol. It is a check, and no proof."
)


def what(protocol: Protocol) -> tuple[str, ...]:
    """What a protocol is, and what comes out of it: the first paragraphs of what its room and its roles say."""
    modules = dict.fromkeys(role.__module__ for role in protocol.program.roles.values())
    return tuple(_first(sys.modules[module].__doc__) for module in modules)


def role(protocol: Protocol, kind: Kind) -> str:
    """What a participant of this kind puts in and gets out, as its role says."""
    return _first(protocol.program.roles[kind].__doc__)


def _first(text: str | None) -> str:
    """The first paragraph of a docstring."""
    return " ".join((text or "").strip().split("\n\n")[0].split())


def about(kind: type[Message]) -> str:
    """What a letter of this kind is: the first sentence of what its class says."""
    first = _first(kind.__doc__)
    return re.split(r"(?<=[a-z\])])\. (?=[A-Z])", first)[0].rstrip(".") + "."


def protections(kind: type[Message]) -> tuple[tuple[str, str], ...]:
    """Each field with its protection in words."""
    return tuple((slot.name, f"{slot.protection.in_words}.") for slot in kind.slots)


def heading(protocol: Protocol, quoted: Quoted) -> str:
    """Above the notes on a step: a program departs from a paper, and not from its own notes."""
    if quoted.source.startswith(NOTES):
        return BESIDE
    return DEPARTS if protocol.claim else IS_WRONG


def departures(quoted: Quoted) -> tuple[str, ...]:
    """The notes on a step, as they stand."""
    return tuple(note(quoted.room, label) for label in quoted.notes)

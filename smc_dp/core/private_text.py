"""Text that may hold a cell, a path or a name: its owner's screen and a file that only its owner can read take it.

Loggers, carriers and messages take codes. A text of this type shows nothing wherever it is written as any other value.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeAlias

from typing_extensions import override

from smc_dp.core.errors import one_line


class PrivateText:
    """One line for the owner of the rows; `str`, `repr` and formats of it show nothing, and it cannot be pickled."""

    __slots__ = ("__line",)

    def __init__(self, text: object) -> None:
        self.__line = one_line(str(text))

    @override
    def __repr__(self) -> str:
        return "<private text>"

    @override
    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a private text is not pickled")

    def on_screen(self) -> str:
        """Return the line for the screen of its owner, and for nothing else."""
        return self.__line

    def append_to(self, path: Path) -> None:
        """Append the line to a file of mode 0600, in a folder that is made with mode 0700; raise OSError."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # O_NOFOLLOW: a link in place of the file would lead the text elsewhere.
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        with os.fdopen(file, "a", encoding="utf-8", errors="backslashreplace") as opened:
            os.fchmod(file, 0o600)  # before anything is written: the file may be there with another mode
            opened.write(f"{self.__line}\n")


Hear: TypeAlias = Callable[[PrivateText], None]
"""Listener to the progress of a site: the screen of its owner, or a file."""

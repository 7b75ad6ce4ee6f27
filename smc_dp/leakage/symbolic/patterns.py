"""Who vanishes, and whose mail comes too late: what else there is to a conversation beside everybody's secrets.

A pattern is about one participant, and about the first of its letters that its reader does not have in time. Letters
count as in `SealedCount`: the greeting is the first, every sealed letter counts one, what is published does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from protocols.runtime.session import PUBLIC_NAME
from smc_dp.leakage.symbolic.trace import Sent


@dataclass(frozen=True)
class Pattern:
    """Nothing leaves `name` from its letter of this number on; or, if `late`, that letter comes when its reader has
    gone on without it, and its sender goes on as well. `place` says which letter that is.
    """

    name: str = ""
    letter: int = 0
    late: bool = False
    place: str = ""

    @property
    def how(self) -> str:
        """What becomes of whose letters, without the name."""
        if not self.name:
            return "nobody missing"
        return f"late with {self.place}" if self.late else f"vanished before {self.place}"

    def __str__(self) -> str:
        return f"{self.name} {self.how}" if self.name else self.how


EVERYBODY_STAYS = Pattern()


def patterns(sent: Iterable[Sent], names: Iterable[str]) -> Iterator[Pattern]:
    """For each of these participants every letter after the greeting that it sends when nobody vanishes: that it
    vanishes before it, and that it is late with it. Without somebody's greeting nobody starts.
    """
    letters = [s for s in sent if s.to != PUBLIC_NAME]
    for name in names:
        for number, s in enumerate((s for s in letters if s.sender == name), start=2):
            for late in (False, True):
                yield Pattern(name, number, late, f"{type(s.message).__name__} in {s.stage}")

"""Garbled searches of a symbolic run: circuits, the rows that they lock, and who can open which.

A circuit is one box. The labels of the evaluator's choices open the row of the smallest number, and that one only,
without telling whose it is. Delta tells the labels apart: with it they open all of the box, every number and every row.
The order of equal numbers is a hint on the order of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from smc_dp.leakage.symbolic.form import Form, Number, Symbol


@dataclass(frozen=True, repr=False)
class Packed:
    """Bytes and the numbers behind them as words, as role code packs and unpacks them."""

    text: bytes
    numbers: tuple[Number, ...]
    width: int

    def __radd__(self, prefix: bytes) -> Packed:
        return Packed(prefix + self.text, self.numbers, self.width)

    def __len__(self) -> int:
        return len(self.text) + self.width * len(self.numbers)

    def __getitem__(self, place: slice) -> bytes | Packed:
        """Return the bytes before the numbers, or the numbers alone."""
        start, stop = place.start or 0, place.stop
        if stop is None and start == len(self.text):
            return Packed(b"", self.numbers, self.width)
        if stop is None or stop > len(self.text):
            raise ValueError("a row is cut elsewhere than where its numbers begin")
        return self.text[start:stop]


@dataclass(frozen=True, repr=False)
class RowKey:
    """Tag by which a row is found, and the key that opens it."""

    tag: bytes
    key: bytes


@dataclass(frozen=True, repr=False)
class Circuit:
    """Garbled search; `values` are its numbers, `smallest` the place of the least of them in this world.

    `labels`: those of the evaluator's choices. `delta`: the difference of a wire's two labels. `order`: the name of the
    permutation that orders equal numbers, None where nobody drew it; `ties`: what the evaluator adds to it.
    """

    tables: bytes
    keys: tuple[RowKey, ...]
    values: tuple[Form, ...]
    smallest: int
    labels: bytes
    delta: bytes
    order: str | None
    ties: Form

    def opened_by(self, theirs: Set[bytes], read: Set[bytes]) -> set[int]:
        """Return the places whose rows open for a holder of these strings that read the tables: all with Delta, else
        only the smallest.
        """
        if self.tables in read and self.labels in theirs:
            return set(range(len(self.keys))) if self.delta in theirs else {self.smallest}
        return set()

    def numbers(self, theirs: Set[bytes]) -> list[Form]:
        """Return all numbers, if these strings tell the labels apart."""
        return list(self.values) if {self.delta, self.labels} <= theirs else []

    def is_ordered_by(self, drawn: Set[str]) -> bool:
        """Return whether these permutations give the garbler's order of equal numbers."""
        return self.order is None or self.order in drawn

    def differences(self) -> list[Form]:
        """Return the differences of neighbouring numbers, a hint beside both orders of equal ones."""
        return [Form.of(x - y) for x, y in pairwise(self.values)]


@dataclass(frozen=True, repr=False)
class LockedUp:
    """Rows under the keys of one circuit, as one string."""

    circuit: Circuit
    rows: tuple[Packed, ...]


def open_rows(
    locked: Mapping[bytes, LockedUp], theirs: Set[bytes], read: Set[bytes]
) -> Iterator[tuple[RowKey, Packed]]:
    """Yield each row that opens of all that was locked and read, with its key."""
    for of in (every for made, every in locked.items() if made in read):
        found = of.circuit.opened_by(theirs, read)
        yield from (
            (key, row)
            for j, (key, row) in enumerate(zip(of.circuit.keys, of.rows, strict=True))
            if j in found or key.key in theirs
        )


def stranger_names(strangers: Sequence[Sequence[Symbol]]) -> dict[str, str]:
    """Return names for coins of keys out of opened rows, which do not say whose they are."""
    return {s.name: f"coin {i} of stranger {k}" for k, coins in enumerate(strangers) for i, s in enumerate(coins)}

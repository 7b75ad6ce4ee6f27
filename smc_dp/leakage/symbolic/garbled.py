"""Garbling, its transfers and its row locks in a symbolic run: strings, and one box for the circuit.

Each real module claims what it is worth, and its inside is no part of a symbolic run. The labels of the evaluator's
choices follow from his scalar and the garbler's points, and a choice that was sent shows nothing. Halves by exclusive
or are halves mod 2**bits, for each is as uniform, and together they are the number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from protocols.crypto import encapsulation, garbling, oblivious
from protocols.crypto.half_gates import LABEL_BYTES
from protocols.errors import DecodeError, LocalError
from smc_dp.leakage.symbolic.circuits import Circuit, LockedUp, Packed, RowKey
from smc_dp.leakage.symbolic.coins import Coins, Tape
from smc_dp.leakage.symbolic.form import Form, Number
from smc_dp.leakage.symbolic.strings import NO_OWNER


def ideal_halves() -> Any:
    """Return the stand-in for `arithmetic.halves`."""

    def split(n: Number, bits: int, rng: Coins) -> tuple[Number, Number]:
        a = rng.bits(bits)
        return a, (n - a) % (1 << bits)

    return SimpleNamespace(split=split)


def ideal_words() -> Any:
    """Return the stand-in for `arithmetic.words`: the numbers themselves."""

    def from_bytes(data: Packed, width: int) -> tuple[Number, ...]:
        return data.numbers

    return SimpleNamespace(
        to_bytes=lambda vector, width: Packed(b"", tuple(vector), width), from_bytes=from_bytes, canonical=tuple
    )


class Encapsulation:
    """Stand-in for `crypto.encapsulation`: kappa follows from the ephemeral secret, or from the box key's secret and
    epk.
    """

    KEY_BYTES = encapsulation.KEY_BYTES

    def __init__(self, tape: Tape) -> None:
        self._strings = tape.strings
        self._secrets: dict[bytes, bytes] = {}  # by box key

    def secret(self, rng: Coins) -> bytes:
        return rng.bytes(self.KEY_BYTES)

    def public_key(self, secret: bytes) -> bytes:
        box = self._strings.follows(b"box key", secret)
        self._secrets[box] = secret
        return box

    def is_usable(self, key: bytes) -> bool:
        return True

    def encapsulate(self, box: bytes, session: bytes, rng: Coins) -> tuple[bytes, bytes]:
        """Return epk, which follows from a new secret and gives nothing else; and kappa."""
        ephemeral = rng.bytes(self.KEY_BYTES)
        epk = self._strings.follows(b"epk", ephemeral)
        kappa = self._kappa(box, epk)
        self._strings.opens(kappa, (ephemeral,), 1)
        self._strings.opens(kappa, (self._secrets[box], epk), 2)
        return epk, kappa

    def opened(self, secret: bytes, epk: bytes, session: bytes) -> bytes:
        return self._kappa(self.public_key(secret), epk)

    def _kappa(self, box: bytes, epk: bytes) -> bytes:
        return self._strings.draw(NO_OWNER, hashlib.sha256(b"kappa\0" + box + epk).digest())


@dataclass(frozen=True, repr=False)
class _Chosen:
    """Evaluator's numbers in place of their bits, and his order of equal ones."""

    b: tuple[Number, ...]
    ties: Number


class GarbledSearch:
    """Stand-in for `crypto.oblivious` and `crypto.garbling`: transfers bring labels, and labels open a row."""

    def __init__(self, tape: Tape) -> None:
        self._tape, self._strings = tape, tape.strings
        self._sent: dict[bytes, tuple[_Chosen, bytes]] = {}  # by u: the choices, and the labels that they bring

    @property
    def transfers(self) -> Any:
        """Stand-in for `crypto.oblivious`."""
        return SimpleNamespace(offer=self._offer, choose=self._choose, extend=self._extend)

    @property
    def circuits(self) -> Any:
        """Stand-in for `crypto.garbling`."""
        return SimpleNamespace(
            chosen=lambda b, c, value_bits: _Chosen(tuple(b), c),
            garble=self._garble,
            lock=self._lock,
            unlock=self._unlock,
        )

    def _offer(self, rng: Coins) -> oblivious.Offer:
        x = rng.bytes(oblivious.POINT_BYTES)
        return oblivious.Offer(x, self._strings.follows(b"point", x))

    def _choose(self, session: bytes, A: bytes, rng: Coins) -> oblivious.Choice:
        """Return one point in place of all: it hides Delta perfectly."""
        delta, key, point = (rng.bytes(n) for n in (LABEL_BYTES, oblivious.POINT_BYTES, oblivious.POINT_BYTES))
        return oblivious.Choice(delta, (key,), (point,))

    def _extend(self, session: bytes, offer: oblivious.Offer, points: tuple[bytes, ...], bits: _Chosen) -> Any:
        labels = self._new(b"labels", offer.x, *points)
        self._strings.opens(labels, (offer.x, *points), 1 + len(points))
        u = self._new(b"u", offer.x, *points)
        self._sent[u] = bits, labels
        return SimpleNamespace(labels=labels, u=u)

    def _garble(
        self,
        session: bytes,
        choice: oblivious.Choice,
        u: bytes,
        a: Sequence[Number],
        ranks: Sequence[int],
        value_bits: int,
    ) -> Any:
        chosen, labels = self._sent[u]
        tables = self._long(garbling.table_bytes(len(a), value_bits), b"tables", u, *choice.points)
        values = tuple(Form.of(x + y) for x, y in zip(a, chosen.b, strict=True))
        keys = tuple(self._key(tables, j) for j in range(len(a)))
        order, ties = self._drawn_order(ranks), Form.of(chosen.ties)
        self._tape.circuits[tables] = Circuit(
            tables, keys, values, self._smallest(values), labels, choice.delta, order, ties
        )
        return SimpleNamespace(tables=tables, locks=keys)

    def _lock(self, garbled: Any, rows: Sequence[Packed]) -> bytes:
        made = self._long(sum(garbling.row_bytes(len(row)) for row in rows), b"rows", garbled.tables)
        self._tape.locked_rows[made] = LockedUp(self._tape.circuits[garbled.tables], tuple(rows))
        return made

    def _unlock(self, session: bytes, labels: bytes, K: int, value_bits: int, tables: bytes, locked: bytes) -> Packed:
        circuit, rows = self._tape.circuits.get(tables), self._tape.locked_rows.get(locked)
        if circuit is None or rows is None or rows.circuit is not circuit or labels != circuit.labels:
            raise DecodeError("garbling.no_row_opens")
        return rows.rows[circuit.smallest]

    def _smallest(self, values: Sequence[Form]) -> int:
        """Return the place whose number is smaller than all others in this world."""
        for j, x in enumerate(values):
            if all(self._tape.is_negative(x - y) for k, y in enumerate(values) if k != j):
                return j
        raise LocalError("symbol.none_is_the_smallest", role=self._tape.role)

    def _drawn_order(self, ranks: Sequence[int]) -> str | None:
        """Return the permutation that this role drew and ranks by; None where it drew no such one."""
        mine = (label for label, roles in self._tape.permutation_drawers.items() if self._tape.role in roles)
        return next((label for label in mine if self._tape.images(label) == tuple(ranks)), None)

    def _key(self, tables: bytes, j: int) -> RowKey:
        """Return the key of a row; the garbler has all of them."""
        tag, key = (
            self._strings.draw(self._tape.role, hashlib.sha256(what + b"%d\0" % j + tables).digest())
            for what in (b"tag", b"key")
        )
        return RowKey(tag, key)

    def _new(self, *what: bytes) -> bytes:
        return self._strings.draw(NO_OWNER, hashlib.sha256(b"garbled\0" + b"\0".join(what)).digest())

    def _long(self, length: int, *what: bytes) -> bytes:
        return self._strings.draw(NO_OWNER, hashlib.shake_256(b"garbled\0" + b"\0".join(what)).digest(length))

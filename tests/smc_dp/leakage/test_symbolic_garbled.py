"""Garbling, its transfers and locked rows in symbolic runs: small cases, and the letters of real runs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from support.linear_path import linear

from protocols.errors import DecodeError, LocalError
from protocols.linear import PROGRAM, ideal
from protocols.runtime.envelope import HELLO, STAGE_END
from smc_dp.leakage.symbolic import circuits
from smc_dp.leakage.symbolic.circuits import Packed
from smc_dp.leakage.symbolic.coins import Coins, Tape
from smc_dp.leakage.symbolic.engine import run_symbolically
from smc_dp.leakage.symbolic.form import Form, Symbol
from smc_dp.leakage.symbolic.garbled import Encapsulation, GarbledSearch, ideal_halves, ideal_words
from smc_dp.leakage.symbolic.worlds import World
from tests.support.refusals import refused

BITS, SESSION = 32, bytes(32)


class Search:
    """A search among three, of whom the second has the smallest number, between P1 and Charlie."""

    def __init__(self) -> None:
        self.tape = Tape(World(((2, 0, 1),), (1, 0, 2)), ("rho",), ("n_1", "n_2", "n_3"), role="P1")
        self.garbler, self.evaluator = Coins(self.tape, "P1", "here"), Coins(self.tape, "charlie", "here")
        numbers = [Form.of(Symbol(f"n_{j}", 0, (1 << BITS) - 1, "input", "")) for j in (1, 2, 3)]
        halves = [ideal_halves().split(n, BITS, self.garbler) for n in numbers]
        self.search = GarbledSearch(self.tape)
        transfers, self.gates = self.search.transfers, self.search.circuits
        self.offer = transfers.offer(self.evaluator)
        self.choice = transfers.choose(SESSION, self.offer.A, self.garbler)
        bits = self.gates.chosen([b for _, b in halves], self.evaluator.bits(2), BITS)
        self.sent = transfers.extend(SESSION, self.offer, self.choice.points, bits)
        self.a = [a for a, _ in halves]
        rho = self.garbler.permutation(3)
        self.garbled = self.gates.garble(SESSION, self.choice, self.sent.u, self.a, rho.images, BITS)
        self.rows = [Packed(bytes([j]) * 32, (Form.of(Symbol(f"eta_{j}", 0, 9, "input", "")),), 8) for j in range(3)]
        self.locked = self.gates.lock(self.garbled, self.rows)

    def unlock(self, labels: bytes, tables: bytes, locked: bytes) -> Any:
        return self.gates.unlock(SESSION, labels, 3, BITS, tables, locked)

    def opened_with(self, *strings: bytes) -> list[Packed]:
        theirs = self.tape.strings.reached(set(), {*strings})
        return [row for _, row in circuits.open_rows(self.tape.locked_rows, theirs, {*strings})]


def test_labels_open_the_row_of_the_smallest_and_delta_opens_all() -> None:
    s = Search()
    gates, rows = s.garbled.tables, s.locked
    assert s.unlock(s.sent.labels, gates, rows) is s.rows[1]
    assert s.opened_with(gates, rows) == []
    assert s.opened_with(gates, rows, s.choice.delta) == []
    assert s.opened_with(gates, rows, s.sent.labels) == [s.rows[1]]
    assert s.opened_with(rows, s.sent.labels) == []  # without the gates
    assert s.opened_with(gates, rows, s.offer.x, *s.choice.points) == [s.rows[1]]  # of which the labels follow
    assert s.opened_with(gates, rows, s.sent.labels, s.choice.delta) == s.rows
    assert s.opened_with(gates, rows, s.garbled.locks[2].key) == [s.rows[2]]
    circuit = s.tape.circuits[gates]
    assert [len(circuit.numbers(theirs)) for theirs in ({s.sent.labels}, {s.sent.labels, s.choice.delta})] == [0, 3]


def test_what_does_not_belong_together_opens_nothing() -> None:
    s, other = Search(), Search()
    other.tape.role = "P1"
    for labels, gates, rows in (
        (bytes(16), s.garbled.tables, s.locked),
        (s.sent.labels, bytes(9), s.locked),
        (s.sent.labels, s.garbled.tables, bytes(9)),
    ):
        with refused("garbling.no_row_opens", error=DecodeError):
            s.unlock(labels, gates, rows)


def test_who_knows_both_orders_of_equal_numbers_has_a_hint() -> None:
    s = Search()
    circuit = s.tape.circuits[s.garbled.tables]
    assert (circuit.is_ordered_by(set()), circuit.is_ordered_by({"rho"})) == (False, True)
    assert len(circuit.differences()) == 2
    s.gates.garble(SESSION, s.choice, s.sent.u, s.a, (0, 1, 2), BITS)
    assert s.tape.circuits[s.garbled.tables].is_ordered_by(set())  # twin: nobody drew these ranks


def test_numbers_that_are_no_halves_are_refused() -> None:
    s = Search()
    with refused("symbol.no_difference", error=LocalError):
        s.gates.garble(SESSION, s.choice, s.sent.u, s.a[::-1], (2, 0, 1), BITS)


def test_a_row_is_cut_where_its_numbers_begin_and_nowhere_else() -> None:
    row = b"epk" + ideal_words().to_bytes((Form.of(Symbol("x", 0, 9, "coin", "P1")), 2), 8)
    assert (row[:3], len(row), len(ideal_words().from_bytes(row[3:], 8))) == (b"epk", 19, 2)
    for start, stop in ((0, 5), (2, None), (0, None)):
        with pytest.raises(ValueError, match="cut elsewhere"):
            row[start:stop]


def test_kappa_follows_from_what_was_drawn_for_it_or_from_the_box_secret_and_epk() -> None:
    tape = Tape(World((), (0,)), (), ())
    party, charlie, boxes = Coins(tape, "P2", "here"), Coins(tape, "charlie", "here"), Encapsulation(tape)
    secret = boxes.secret(charlie)
    epk, kappa = boxes.encapsulate(boxes.public_key(secret), SESSION, party)
    assert boxes.opened(secret, epk, SESSION) == kappa
    assert kappa in tape.strings.reached({"P2"}, set())
    assert kappa not in tape.strings.reached({"charlie"}, set())
    assert kappa in tape.strings.reached({"charlie"}, {epk})
    assert kappa not in tape.strings.reached({"P1"}, {epk, boxes.public_key(secret)})


def test_strangers_have_names_that_do_not_say_whose_they_are() -> None:
    coins = [[Symbol(f"coin {i} of {j}", 0, 9, "coin", "") for i in (1, 2)] for j in "ab"]
    one, other = (list(circuits.stranger_names([found]).values()) for found in coins)
    assert one == other
    assert len(set(circuits.stranger_names(coins).values())) == 4


def test_a_symbolic_run_sends_what_a_real_one_does() -> None:
    p = ideal.sample(3)
    here = Counter(
        (s.sender, s.to, type(s.message).__name__)
        for s in run_symbolically(PROGRAM, ideal.MODEL, p, World(((0, 1, 2),), (1, 0, 2))).sent
    )
    real = linear((8, 3, 4)).simulate().transcript.envelopes
    there = Counter((e.sender, e.to, e.kind) for e in real if e.kind not in (HELLO, STAGE_END))
    assert here == there

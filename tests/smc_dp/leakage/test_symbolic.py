"""Linear forms against numbers put in for their unknowns; boxes, spans, rebinding and views on small cases."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from protocols.arithmetic.packing import Packing
from protocols.arithmetic.ring import Ring
from protocols.arithmetic.rng import Stream
from protocols.pathak2010 import PROGRAM, ideal, stage1
from protocols.pathak2010.minimum import with_tie_bits
from smc_dp.leakage.symbolic.box import Box, Commitments, Cryptosystem
from smc_dp.leakage.symbolic.coins import AgreedCoins, Coins, Tape
from smc_dp.leakage.symbolic.engine import run_symbolically
from smc_dp.leakage.symbolic.form import Form, Symbol
from smc_dp.leakage.symbolic.hiding import weaken_view
from smc_dp.leakage.symbolic.rebind import Rebinding
from smc_dp.leakage.symbolic.span import Span
from smc_dp.leakage.symbolic.trace import Trace
from smc_dp.leakage.symbolic.undecidable import UndecidedError
from smc_dp.leakage.symbolic.views import SymbolicReading, SymbolicView
from smc_dp.leakage.symbolic.worlds import World
from tests.support.refusals import refused

WORLD = World(((1, 0), (1, 0)), (0, 1))


def test_a_release_with_a_coin_in_it_hides_no_sum_beside_it() -> None:
    run = trace()
    x, y, *_ = map(Form.of, run.inputs.values())
    coin = Form.of(Symbol("r", 0, 1, "coin", "P2"))
    view = SymbolicView(run, frozenset(), given=[Form.of(x + y), coin])
    assert view.sums([], [Form.of(x + y + coin)]) == 1  # which the release does not give
    assert view.sums([], [Form.of(x + y)]) == view.sums([Form.of(x + y)], [Form.of(x + y + coin)]) == 0
    assert view.sums([], [Form.of(x + y + coin), coin]) == 0
    assert view.sums([], [x]) == 1


def tape() -> Tape:
    return Tape(WORLD, ("pi_1", "pi_2"), ("n_1", "n_2"), role="P1")


def unknown(name: str, bits: int) -> Form:
    return Form.of(Symbol(name, 0, (1 << bits) - 1, "input", "P1"))


def value(x: Any, numbers: dict[str, int]) -> int:
    """A form with numbers in place of its unknowns, reduced if the form was."""
    if not isinstance(x, Form):
        return int(x)
    total = x.constant + sum(c * numbers[s.name] for s, c in x.terms.items())
    return total % x.modulus if x.modulus else total


R = Ring(85)
COMPUTED: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, y: x + y + 3,
    "difference": lambda x, y: 5 - x - 2 * y,
    "reduced": lambda x, y: R.reduce(x - y),
    "shifted": lambda x, y: (x << 44) | y,
    "digits above": lambda x, y: ((x << 44) + y) >> 44,
    "digits below": lambda x, y: ((x << 44) + y) & ((1 << 44) - 1),
    "packed": lambda x, y: Packing(44, 2, 2).pack([x, y])[0],
    "unpacked": lambda x, y: Packing(44, 2, 2).unpack([(y << 44) + x])[1],
}


@pytest.mark.parametrize("name", COMPUTED)
def test_forms_compute_what_integers_do(name: str) -> None:
    compute = COMPUTED[name]
    form = compute(unknown("x", 32), unknown("y", 40))
    rng = Stream.insecure_from_seed(name)
    for _ in range(50):
        x, y = rng.bits(32), rng.bits(40)
        wanted = compute(x, y)
        assert value(form, {"x": x, "y": y}) == wanted
        assert form.low <= wanted <= form.high


UNDECIDED: dict[str, Callable[[Any, Any], Any]] = {
    "product": lambda x, y: x * y,
    "comparison": lambda x, y: x < y,
    "equality": lambda x, y: x == y,
    "truth": lambda x, y: bool(x - y),
    "digits with a carry": lambda x, y: ((x << 4) + y) >> 4,
    "a mask with holes": lambda x, y: x & 5,
    "overlapping bits": lambda x, y: (x << 3) | y,
    "a place": lambda x, y: [0, 1][x],
    "a length": lambda x, y: x.bit_length() + 1,
    "whether it has a length": lambda x, y: x.bit_length() == 32,
    "whether it is short": lambda x, y: x.bit_length() <= 31,
    "the same from the other side": lambda x, y: x.bit_length() > 0,
    "a length as a place": lambda x, y: [0] * x.bit_length(),
    "a number of that length": lambda x, y: 1 << x.bit_length(),
    "a range of that length": lambda x, y: range(x.bit_length()),
    "a length in words": lambda x, y: f"{x.bit_length()}",
    "words": lambda x, y: str(x),
    "words in a text": lambda x, y: f"{x} and {y!r}",
    "bytes": lambda x, y: bytes(x),
    "its size in memory": lambda x, y: x.__sizeof__(),
    "how many bits are set": lambda x, y: x.bit_count(),
    "a hash": lambda x, y: hash(x),
    "a number in a set": lambda x, y: {x},
    "a power": lambda x, y: pow(x, 2, 7),
    "a quotient": lambda x, y: x // 3,
    "bits that differ": lambda x, y: x ^ 1,
}


@pytest.mark.parametrize("name", UNDECIDED)
def test_what_depends_on_an_unknown_is_refused(name: str) -> None:
    with pytest.raises((UndecidedError, TypeError)):
        UNDECIDED[name](unknown("x", 32), unknown("y", 32))


REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "symbol.two_multiplied": lambda x, y: x * y,
    "symbol.compared": lambda x, y: x < y,
    "symbol.used_as_a_number": lambda x, y: x.to_bytes(8, "big"),
    "symbol.reduced_before": lambda x, y: Ring(64).add(x, Ring(32).reduce(y)),
    "symbol.digits_mod_another": lambda x, y: Ring(64).add(x << 32, y) >> 32,
}


@pytest.mark.parametrize("code", REFUSED)
def test_a_refusal_says_what_forms_cannot_follow(code: str) -> None:
    with refused(code, error=UndecidedError):
        REFUSED[code](unknown("x", 64), unknown("y", 64))


def test_ranges_decide_what_they_can() -> None:
    x = unknown("x", 32)
    assert 0 <= x < 1 << 32
    assert not x >= 1 << 32
    assert (x + 1).bit_length() <= 33
    assert not x.bit_length() > 32
    assert (x + 2**40).bit_length() > 40
    assert x - x == 0


def test_slots_take_a_packed_number_apart_and_leave_others_whole() -> None:
    x, y = unknown("x", 32), unknown("y", 32)
    assert [s.text for s in Form.of((x << 40) + y + 7).slots] == ["y + 7", "x"]
    assert [s.text for s in Form.of((x << 20) + y).slots] == ["1048576 x + y"]


def test_joined_digits_are_remembered_with_the_number() -> None:
    coins = Coins(tape(), "P1", "here")
    n = unknown("n", 32)
    whole = with_tie_bits(n, 40, coins)  # type: ignore[arg-type]
    (low,) = [s for s in Form.of(whole).terms if s.kind == "coin"]
    assert [x.text for x in low.joined] == [Form.of(whole).text]


def test_coins_differ_and_a_range_that_tells_is_kept() -> None:
    notes = tape()
    coins = Coins(notes, "P1", "here")
    a, b = coins.bits(8), coins.below(unknown("n", 32) + 1)
    assert [s.name for s in notes.coins["P1"]] == [Form.of(a).text, Form.of(b).text]
    assert notes.coins["P1"][1].about is not None
    assert coins.bytes(32) != coins.bytes(32)
    assert coins.bits(0) == 0


def test_coins_from_agreed_bytes_are_those_of_whoever_has_them() -> None:
    notes = tape()
    secret = Coins(notes, "P1", "here").bytes(32)
    key = notes.digest(b"shares" + secret)
    drawn = AgreedCoins(notes, key).bits(8)
    assert Form.of(AgreedCoins(notes, key).bits(8)).text == Form.of(drawn).text
    for members, read, known in ((set(), set(), 0), ({"P1"}, set(), 1), ({"P2"}, {secret}, 1), ({"P2"}, {key}, 1)):
        assert len(notes.coins_of(notes.strings.reached(members, read))) == known
    AgreedCoins(notes, notes.digest(b"what everybody knows")).bits(8)
    assert len(notes.coins_of(set())) == 1


# Boxes and commitments.


def test_a_commitment_opens_to_what_it_was_made_of() -> None:
    notes = tape()
    made = Commitments(notes)
    x, y = unknown("x", 32), unknown("y", 32)
    committed, opening = made.commit(b"P1", made.canonical([x, 3]), Coins(notes, "P1", "here"))
    assert made.opens(committed, b"P1", (x, 3), opening)
    for context, value, other in ((b"P2", (x, 3), opening), (b"P1", (x, 4), opening), (b"P1", (x, 3), committed)):
        assert not made.opens(committed, context, value, other)
    with refused("symbol.asked_for_equality", error=UndecidedError):
        made.opens(committed, b"P1", (y, 3), opening)


def test_boxes_follow_the_exponents() -> None:
    notes = tape()
    rng, crypto = Coins(notes, "P1", "here"), Cryptosystem(notes)
    key = crypto.generate(512, rng)
    x, y = unknown("x", 32), unknown("y", 32)
    product = key.public.add(key.encrypt(x, rng), key.encrypt(y, rng))
    assert Form.of(key.decrypt(product)).text == "x + y"
    assert len(Form.of(product.randomiser).terms) == 2
    again = key.public.blind(product, 5, rng)
    assert len(Form.of(again.randomiser).terms) == 3
    assert not again.trials


def test_a_box_raised_to_an_unknown_remembers_what_to_try() -> None:
    notes = tape()
    rng, crypto = Coins(notes, "P1", "here"), Cryptosystem(notes)
    key = crypto.generate(512, rng).public
    v, eta = key.encrypt(1, rng), unknown("eta", 64)
    (psi,) = key.scale(v, [eta])
    assert [(base, k.text) for base, k in psi.trials] == [(v, "eta")]
    assert {s.kind for s in Form.of(psi.randomiser).terms} == {"product"}
    assert psi.randomiser is not v.randomiser
    assert isinstance(psi, Box)


# Linear algebra.


def test_span_agrees_with_elimination_by_hand() -> None:
    span = Span()
    assert span.add({"x": 1, "y": 2}) is None
    assert span.add({"y": 3}) is None
    assert span.add({"x": 2, "y": 1}) == {0: 2, 1: -1}
    assert span.solve({"y": 1}) == {1: Fraction(1, 3)}
    assert span.solve({"z": 1}) is None
    assert span.solve({}) == {}


def test_span_solutions_hold_for_drawn_matrices() -> None:
    rng = Stream.insecure_from_seed("span")
    for _ in range(30):
        rows = [{c: rng.below(5) - 2 for c in "abcd"} for _ in range(6)]
        rows = [{c: k for c, k in row.items() if k} for row in rows]
        span = Span()
        relations = [span.add(row) for row in rows]
        for row, used in zip(rows, relations, strict=True):
            if used is not None:
                made = {c: sum(k * rows[i].get(c, 0) for i, k in used.items()) for c in "abcd"}
                assert {c: k for c, k in made.items() if k} == row


# Rebinding.


def test_rebinding_replaces_names_at_every_depth_and_nothing_real() -> None:
    class Other:
        @staticmethod
        def search(kind: str, size: int) -> str:
            return "another"

    before = dict(vars(stage1))
    copy = Rebinding({stage1.minimum: Other}, {"nowhere"}).function(stage1.smallest)
    assert copy.__globals__["minimum"] is Other
    assert copy.__code__ is stage1.smallest.__code__
    assert copy.__globals__["party"].__globals__ is copy.__globals__
    assert vars(stage1) == before


# Views.


def trace(world: World = WORLD) -> Trace:
    return run_symbolically(PROGRAM, ideal.MODEL, ideal.sample(2), world)


def test_a_run_over_symbols_has_the_messages_of_a_real_one() -> None:
    from support.pathak import trial

    real = trial([10, 20], 1).run()
    wire = [(e.sender, e.to, e.kind) for e in real.transcript.envelopes if e.kind not in ("Hello", "StageEnd")]
    assert sorted(wire) == sorted((s.sender, s.to, type(s.message).__name__) for s in trace().sent)


def test_published_shares_add_up_to_weights_and_the_noise_of_the_smallest() -> None:
    for smallest, ranks in enumerate(((0, 1), (1, 0)), start=1):
        shares = [s.message for s in trace(World(((0, 1), (1, 0)), ranks)).sent if s.to == "public"]
        total = Form.of(sum(message.y[0] for message in shares))  # type: ignore[attr-defined]
        assert {s.name: c for s, c in total.terms.items()} == {"w_1(1)": 1, "w_2(1)": 1, f"eta_{smallest}(1)": 1}


def test_views_of_one_world_are_alike_and_charlie_cannot_tell_who_is_smallest() -> None:
    charlie = frozenset({"charlie"})
    here = trace(World(((0, 1), (0, 1)), (0, 1)))
    there = trace(World(((1, 0), (0, 1)), (1, 0)))  # the same order behind pi_1
    elsewhere = trace(World(((0, 1), (0, 1)), (1, 0)))
    assert (
        SymbolicReading(here, charlie).view.key
        == SymbolicReading(trace(World(((0, 1), (0, 1)), (0, 1))), charlie).view.key
    )
    assert SymbolicReading(here, charlie).view.key == SymbolicReading(there, charlie).view.key
    assert SymbolicReading(here, charlie).view.key != SymbolicReading(elsewhere, charlie).view.key


def test_a_recipe_computes_the_secret_from_what_is_seen() -> None:
    both = SymbolicReading(trace(), frozenset({"P2", "charlie"})).view
    n_1 = Form.of(both.trace.inputs["n_1"])
    recipe = both.solve(n_1)
    assert recipe is not None
    assert both.gives(recipe, n_1)
    assert not both.gives(recipe, Form.of(both.trace.inputs["n_2"]))
    assert SymbolicReading(trace(), frozenset({"P2"})).view.solve(n_1) is None


def test_hardened_coins_are_long_enough() -> None:
    for members in ({"P1"}, {"charlie"}, {"P1", "P2"}):
        assert weaken_view(SymbolicReading(trace(), frozenset(members)).view) is None


COINS: dict[str, tuple[int, bool, Callable[[Any, Any], Any], bool]] = {
    "forty bits longer": (48, False, lambda x, coin: x + coin, True),
    "one bit less": (47, False, lambda x, coin: x + coin, False),
    "uniform in the ring": (16, False, lambda x, coin: Ring(16).reduce(x + coin), True),
    "a multiple": (90, False, lambda x, coin: x + 2 * coin, False),
    "of a range that the number sets": (90, True, lambda x, coin: x + coin, False),
}


@pytest.mark.parametrize("name", COINS)
def test_a_coin_hides_a_number_of_eight_bits(name: str) -> None:
    bits, about, compute, hides = COINS[name]
    x = unknown("x", 8)
    coin = Form.of(Symbol("r", 0, (1 << bits) - 1, "coin", "P2", x if about else None))
    view = SymbolicView(trace(), frozenset(), numbers=[compute(x, coin)])
    assert (weaken_view(view) is None) == hides

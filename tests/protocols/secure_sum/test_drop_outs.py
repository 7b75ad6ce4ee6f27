"""Whoever vanishes, wherever, and whatever comes late: the exact sum over its members, or a clean stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice, product

import pytest
from support.repetitions import with_slow
from support.sessions import Setup
from support.sums import Ledger, Loose, Outcome, made, outcome, parameters, simulated, wrong

from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.runtime.envelope import Envelope
from protocols.runtime.simulate import DropOutAfter

THREE = made(parameters(3, 0, 1))
READY, MASKED, EVERY = 4, 6, 9  # envelopes of a party of three: to be ready, to have masked, to the end of one sum
OF_CHARLIE = 17
PLACES = list(product(range(EVERY + 1), repeat=3))


def patterns(every: int) -> Iterator[dict[str, int]]:
    """Parties and how many envelopes they still send: all subsets and all places, or one in so many."""
    for counts in islice(PLACES, 0, None, every):
        yield {f"P{j}": count for j, count in enumerate(counts, start=1) if count < EVERY}


def played(made_: Setup, vanish: Mapping[str, int | DropOutAfter]) -> tuple[Outcome, Ledger]:
    ledger = Ledger()
    left = outcome(simulated(made_, ledger, vanish))
    assert wrong(made_, left, ledger) == [], vanish
    return left, ledger


@pytest.mark.parametrize("every", [41, pytest.param(7, marks=pytest.mark.slow)])
def test_any_of_three_vanish_between_any_two_sends(every: int) -> None:
    """Among at most D who vanish once all are ready the sum comes out, over exactly those whose input left."""
    ended = set()
    for vanish in patterns(every):
        left, ledger = played(THREE, vanish)
        early = any(count < READY for count in vanish.values())
        assert not (early and (ledger.charged or left.published)), vanish
        if not early and len(vanish) <= 1:
            wanted = sum(1 << j for j in range(3) if vanish.get(f"P{j + 1}", EVERY) >= MASKED)
            assert left.published[CURATOR_NAME].members == (wanted,), vanish
        ended.add((early, bool(left.published)))
    assert ended == {(True, False), (False, True), (False, False)}


@pytest.mark.parametrize("every", [859, pytest.param(59, marks=pytest.mark.slow)])
def test_charlie_vanishes_too(every: int) -> None:
    """He publishes last, so nothing is published; whoever has a result by then has the right one."""
    for left_of_charlie, counts in islice(product(range(OF_CHARLIE), PLACES), 0, None, every):
        vanish = {f"P{j}": count for j, count in enumerate(counts, start=1) if count < EVERY}
        left, ledger = played(THREE, vanish | {CURATOR_NAME: left_of_charlie})
        assert not left.published
        assert left_of_charlie > 1 or not ledger.charged  # his second envelope is the first start


@pytest.mark.parametrize(
    ("K", "t", "D", "count"),
    [
        (5, 1, 1, 4), (5, 0, 2, 4),
        *(pytest.param(*which, marks=pytest.mark.slow) for which in ((5, 1, 1, 30), (5, 0, 2, 30), (20, 5, 7, 4))),
    ],
)  # fmt: skip
def test_some_of_more_parties_vanish_in_one_of_two_sums(K: int, t: int, D: int, count: int) -> None:
    """`DropOutAfter` are counted: the greeting, K - 1 shares, ready, and three letters a sum."""
    made_, coins = made(parameters(K, t, D, (2, 1))), Stream.insecure_from_seed(f"vanish {K} {t}")
    for n in range(count):
        gone = {f"P{1 + coins.below(K)}" for _ in range(coins.below(D + 2) + 1)}
        vanish = {name: DropOutAfter((0 if n % 4 == 3 else K + 1) + coins.below(7)) for name in gone}
        left, _ = played(made_, vanish)
        ready = all(count.number >= K + 1 for count in vanish.values())
        if ready and len(gone) <= D:
            assert left.published, vanish


@pytest.mark.parametrize("R", [1, 2])
def test_without_drop_outs_all_are_needed_and_nothing_is_void(R: int) -> None:
    """D = 0: P2 sends a greeting, that it is ready, a mark, and for each sum a masked input and a mark. The others wait
    until it is ready before they pay.
    """
    made_ = made(parameters(3, 2, 0, (2,) * R))
    for place in range(3 + 2 * R + 1):
        left, ledger = played(made_, {"P2": place})
        assert bool(left.published) == (place >= 3 + 2 * R - 1)
        assert ledger.void == []
        assert len(ledger.charged) == min((0, 0, 2, 3, 5, 6, 6, 6)[place], 3 * R)


@pytest.mark.parametrize("late", [False, True])
def test_a_sum_of_too_few_is_given_up_and_costs_nobody_who_hears_of_it(late: bool) -> None:
    """Three of five are enough to sign that nobody is in it, and not enough for a sum. Who is alive, and only came too
    late with its input, reads the certificate as well.
    """
    made_ = made(parameters(5, 0, 1))
    if late:
        loose = Loose(made_, Stream.insecure_from_seed("few"), held=lambda e: e.kind == "Masked" and e.sender > "P3")
        left, ledger = loose.run(), loose.ledger
        assert wrong(made_, left, ledger) == []
    else:
        left, ledger = played(made_, {"P4": DropOutAfter(6), "P5": DropOutAfter(6)})
    alive = {f"P{j}" for j in range(1, 6 if late else 4)}
    assert {name for name, end in left.ends.items() if end == "stopped"} == alive | {CURATOR_NAME}
    assert {name for name, _ in ledger.void} == alive
    assert not left.published


# Late mail: Charlie gives up on letters that come after all, in any order of all links.


def loosely(made_: Setup, seed: int, patience: int, *, all_readers: bool = False) -> Loose:
    loose = Loose(made_, Stream.insecure_from_seed(f"loose {seed}"), patience, all_readers=all_readers)
    left = loose.run()
    assert loose.raised == {}
    assert wrong(made_, left, loose.ledger) == [], seed
    return loose


LATE = {
    "three": (parameters(3, 0, 1, (2, 1)), 4, 75),
    "five": (parameters(5, 1, 1, (1, 2)), 3, 30),
    "five, two may": (parameters(5, 0, 2, (1, 1, 1)), 3, 40),
    "four, verifiable": (parameters(4, 0, 1, (2, 1), verifiable=True), 3, 40),
    "nobody may": (parameters(3, 1, 0, (1, 1)), 4, 40),
}


@pytest.mark.parametrize("name", with_slow(LATE, "five", "five, two may"))
@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_late_mail_changes_nothing(name: str, slow: bool) -> None:
    p, few, many = LATE[name]
    made_, ends = made(p), set()
    for seed in range(many if slow else few):
        loose = loosely(made_, seed, 40, all_readers=seed % 5 == 4)
        ends.add(bool(loose.board.published))
    assert True in ends or not p.D


def held(kind: str, sender: str) -> Callable[[Envelope], bool]:
    return lambda e: (e.kind, e.sender, e.stage) == (kind, sender, "sum0")


@pytest.mark.parametrize("kind", ["Masked", "Signed", "Unmask"])
def test_who_came_too_late_is_back_in_the_next_sum(kind: str) -> None:
    """P2 is alive, and pays nothing if its masked input came too late; its later letters are not needed."""
    made_ = made(parameters(3, 0, 1, (2, 1)))
    loose = Loose(made_, Stream.insecure_from_seed("late"), held=held(kind, "P2"))
    left = loose.run()
    assert wrong(made_, left, loose.ledger) == []
    out = kind == "Masked"
    assert left.published[CURATOR_NAME].members == (0b101 if out else 0b111, 0b111)
    assert loose.ledger.void == ([("P2", "sum 0")] if out else [])
    late = {"Masked": ["Masked"], "Signed": ["Signed", "Unmask"], "Unmask": ["Unmask"]}[kind]
    assert [note.rule.fields for note in loose.roles[CURATOR_NAME].notes] == [
        {"kind": x, "stage": "sum0"} for x in late
    ]

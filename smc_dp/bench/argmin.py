"""The garbled search for the smallest size against MPyC's, of equal width; both sides, and the transfers, included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from protocols.arithmetic import halves
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.crypto import garbling, oblivious
from protocols.runtime.session import SESSION_BYTES
from smc_dp.bench.clocks import agreed, timed
from smc_dp.bench.goals import Goal, GoalRow, HearStep, MissingError, at_least
from smc_dp.bench.mpyc_argmin import BITS, LARGEST, mpyc_argmin

GROUP = "argmin"
GOALS = {100: at_least(10), 1000: at_least(30)}
QUICK = {10: at_least(10)}
_TRIES = 5
_PLACE_BYTES = 4


def rows(quick: bool, hear: HearStep) -> Iterator[GoalRow]:
    """A row for each number of parties."""
    for K, goal in (QUICK if quick else GOALS).items():
        hear(f"argmin of {K} sizes")
        yield _row(K, goal, quick)


def _row(K: int, goal: Goal, quick: bool) -> GoalRow:
    what = f"argmin over MPyC (3 parties on loopback, {BITS} bits, processor time of all), K = {K}"
    sizes = distinct(K, Stream.from_system())
    ours = median(garbled_seconds(sizes) for _ in range(_TRIES))
    try:
        theirs, place = mpyc_argmin(sizes)
    except MissingError as error:
        return GoalRow(GROUP, what, goal, None, {"ours_seconds": ours}, why=str(error), quick=quick)
    agreed(what, sizes.index(min(sizes)), place)
    parts = {"ours_seconds": ours, "mpyc_seconds": theirs, "and_gates": float(garbling.ands(K, BITS))}
    note = "two parties against three with an honest majority; oblivious transfers, garbling and evaluation are in it"
    return GoalRow(GROUP, what, goal, theirs / ours, parts, note, quick=quick)


def distinct(count: int, rng: Stream) -> list[int]:
    """So many different sizes that MPyC's integers can hold."""
    sizes: set[int] = set()
    while len(sizes) < count:
        sizes.add(rng.below(LARGEST))
    return [*Permutation.random(count, rng)(sorted(sizes))]


def garbled_seconds(sizes: Sequence[int]) -> float:
    """Processor seconds of garbler and evaluator together; raises DisagreeError if another place comes out."""
    rng = Stream.from_system()
    seconds, place = timed(lambda: garbled_argmin(sizes, rng))
    agreed("the garbled argmin", place, sizes.index(min(sizes)))
    return seconds


def garbled_argmin(sizes: Sequence[int], rng: Stream) -> int:
    """The place of the smallest, as the evaluator reads it: every row that may open holds its own."""
    K, session = len(sizes), rng.bytes(SESSION_BYTES)
    split = [halves.split(n, BITS, rng) for n in sizes]
    offer = oblivious.offer(rng)
    choice = oblivious.choose(session, offer.A, rng)
    bits = garbling.chosen([b for _, b in split], rng.bits(garbling.index_bits(K)), BITS)
    extension = oblivious.extend(session, offer, choice.points, bits)
    ranks = Permutation.random(K, rng).images
    garbled = garbling.garble(session, choice, extension.u, [a for a, _ in split], ranks, BITS)
    locked = garbling.lock(garbled, [place.to_bytes(_PLACE_BYTES, "big") for place in range(K)])
    opened = garbling.unlock(session, extension.labels, K, BITS, garbled.tables, locked)
    return int.from_bytes(opened, "big")

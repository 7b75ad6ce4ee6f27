"""Contributor of a party to sums: it answers each sum once, and nothing else."""

from __future__ import annotations

from functools import reduce
from typing import Any

from typing_extensions import override

from protocols.arithmetic.rng import Forks, Stream
from smc_dp.core.errors import InputError
from smc_dp.methods.functionality import Addend, Vector
from smc_dp.methods.gradients.descent import Steps
from smc_dp.methods.training.integer_rows import IntegerRows
from smc_dp.privacy.distributed import SharedRounds


def noise_label(r: int) -> str:
    """Return the label under which the noise of sum r is drawn."""
    return f"sum {r}"


class Contributor:
    """One party's answers to R sums: integers of its own rows at the weights that the sums so far give, and noise.

    The number of sums, and the noise of each, are fixed before the first; sum r is queried after sums 0 to r - 1 and
    once: a second answer, of other weights or of the same, would cost what the first did, and is refused with
    `InputError`. Every answer is legal, whatever the query. Without randomness there is no noise.

    An answer follows from the rows, the randomness and the sums so far, so that a party's program which begins anew
    gives the same ones; `answered` is how many it gave before. That number has to come from where its answers are kept:
    with a smaller one a sum is answered twice.
    """

    __slots__ = ("_answered", "_noise", "_rng", "_rows", "_seen", "_steps")

    def __init__(
        self, rows: IntegerRows, noise: SharedRounds, steps: Steps, rng: Stream | Forks | None, answered: int = 0
    ) -> None:
        if not 0 <= answered <= len(noise.steps):
            raise InputError("sum.impossible_count", count=len(noise.steps), answered=answered)
        self._rows, self._noise, self._steps, self._rng = rows, noise, steps, rng
        self._answered = answered
        self._seen: tuple[tuple[Vector, ...], Any] = ((), steps.begin())

    @override
    def __repr__(self) -> str:
        return f"Contributor({self._answered} sums answered)"  # never the rows

    def __call__(self, values: tuple[Vector, ...]) -> Addend:
        """Return the party's addend of the sum that follows these."""
        r, wanted = len(values), self._answered
        if r != wanted or r >= len(self._noise.steps):
            raise InputError("sum.out_of_turn", number=r, count=len(self._noise.steps), answered=wanted)
        self._answered += 1
        numbers = tuple(self._steps.numbers(self._after(values), self._rows))
        if self._rng is None:
            return Addend(numbers, (0,) * len(numbers))
        return Addend(numbers, tuple(self._noise.share(r, self._rng.fork(noise_label(r)))))

    def _after(self, values: tuple[Vector, ...]) -> Any:
        """Return the descent after these sums; steps that were made before are not made again."""
        seen, descent = self._seen
        if values[: len(seen)] != seen:
            seen, descent = (), self._steps.begin()
        descent = reduce(self._steps.after, values[len(seen) :], descent)
        self._seen = values, descent
        return descent

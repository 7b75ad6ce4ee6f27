"""Inputs in the views of parties: block by block of each sum, the numbers without noise, and the share of noise.

A mechanism specification says which sums there are and the distribution of each block. This file names no method.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from protocols.arithmetic.words import Words
from smc_dp.audit.run.blame import absent_senders
from smc_dp.audit.run.check import CheckOutcome, make_fault, not_possible
from smc_dp.audit.run.derived_parameters import DerivedParameters
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.privacy.private_inputs import fail_view
from smc_dp.privacy.distributed import SharedRounds

TEXT_OF_NO_NOISE = "none"
"""Public text of the distribution of a block without noise."""


@dataclass(frozen=True, eq=False)
class InputBlock:
    """Input of one party to one block of a sum, as signed integers: numbers without noise, and the share of noise.

    `distribution`: of that share, None for a block without noise.
    """

    without_noise: tuple[int, ...]
    noise: tuple[int, ...]
    distribution: Any

    @property
    def squared(self) -> int:
        """Squared length of the numbers without noise."""
        return sum(x * x for x in self.without_noise)


InputSums: TypeAlias = tuple[tuple[InputBlock, ...], ...]
"""Blocks by sum, as far as the party came."""


def inputs_of_views(evidence: Evidence, found: DerivedParameters) -> dict[str, InputSums] | CheckOutcome:
    """Return the input of each party whose view was given, or the outcome where a view holds none."""
    views = {name: view for name, view in evidence.views.items() if name in evidence.session.parties}
    if not views:
        return not_possible("views.no_party")
    absent_names, read = absent_senders(evidence), {}
    for name, view in views.items():
        mine = _of_party(view.inputs, found)
        if mine is None or (len(mine) < len(found.sums) and name not in absent_names):
            return fail_view(evidence, name, make_fault("view.no_input"))
        if len(mine) > len(found.sums):
            return fail_view(
                evidence, name, make_fault("view.too_many_answers", answers=len(mine), sums=len(found.sums))
            )
        read[name] = mine
    return read


def _of_party(inputs: tuple[Any, ...], found: DerivedParameters) -> InputSums | None:
    """Return a party's own vectors for one sum or several; None if its inputs are none."""
    # The first input of a role is the public parameters.
    without_noise, noise = ([x for mine in inputs[1:] for x in _vectors(mine, name)] for name in ("numbers", "noise"))
    if len(inputs) < 2 or len(without_noise) != len(noise):
        return None
    sums: list[tuple[InputBlock, ...]] = []
    for r, (x, e) in enumerate(zip(without_noise, noise, strict=True)):
        laid = _block_distributions(found, r)
        length = sum(length for length, _ in laid)
        if laid and not all(
            isinstance(v, tuple | Words) and len(v) == length and all(type(n) is int for n in v) for v in (x, e)
        ):
            return None
        sums.append(tuple(_blocks(laid, map(found.grid.lift, x), map(found.grid.lift, e))))
        if any(any(block.noise) for block in sums[-1] if block.distribution is None):
            return None
    return tuple(sums)


def _vectors(mine: Any, name: str) -> tuple[Any, ...]:
    found = getattr(mine, name, None)
    return found if isinstance(found, tuple) else (None,)


def _blocks(laid: list[tuple[int, Any]], without_noise: Iterable[int], noise: Iterable[int]) -> Iterator[InputBlock]:
    every, drawn = iter(without_noise), iter(noise)
    for length, distribution in laid:
        yield InputBlock(tuple(islice(every, length)), tuple(islice(drawn, length)), distribution)


def _block_distributions(found: DerivedParameters, r: int) -> list[tuple[int, Any]]:
    """Return the lengths of the blocks of sum r, each with the distribution of its noise; none beyond the last sum."""
    if r >= len(found.sums):
        return []
    known = {distribution.text: distribution for distribution in share_distributions(found, r)}
    return [(length, None if text == TEXT_OF_NO_NOISE else known[text]) for length, text in found.sums[r]]


def share_distributions(found: DerivedParameters, r: int) -> tuple[Any, ...]:
    """Return the distributions of the shares of sum r: one for each block that has noise."""
    if isinstance(found.shared, SharedRounds):
        return found.shared.distributions[r]
    return () if found.shared is None else (found.shared.distribution,)

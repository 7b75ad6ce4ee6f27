"""Which program computes which functionality, and how parts go in and the value comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from protocols import pathak2010
from protocols.arithmetic.ring import Ring
from protocols.pathak2010 import as_printed
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import PartyInput
from protocols.runtime.session import Program
from smc_dp.aggregation.functionality import Contribution, Functionality, SumWithSmallestNoise, Vector


@dataclass(frozen=True)
class Realisation:
    """A program that computes a functionality, all of it as functions of the program's parameters p.

    `entered`: a party's part as the input of its role. `value`: what the published messages, by name, give. `share`:
    the integers in one of them, in [0, modulus).
    """

    program: Program
    functionality: Callable[[Any], Functionality]
    entered: Callable[[Any, Any], Any]
    value: Callable[[Any, Mapping[str, Any]], Any]
    share: Callable[[Any], Sequence[int]]
    modulus: Callable[[Any], int]


def _hardened(p: Parameters, c: Contribution) -> PartyInput:
    return PartyInput(c.size, p.weights.vector(c.weights), p.weights.vector(c.noise))


def _printed(p: Parameters, c: Contribution) -> as_printed.PrintedInput:
    return as_printed.PrintedInput(c.size, p.weights.vector(c.weights), c.noise)


def _sum_of_shares(p: Parameters, published: Mapping[str, Any]) -> Vector:
    return nearest(p.weights, p.weights.add_vectors(*(share.y for share in published.values())))


def nearest(ring: Ring, elements: Sequence[int]) -> Vector:
    """For each element of the ring the integer nearest to zero that it stands for."""
    half = ring.modulus // 2
    return tuple(ring.reduce(x + half) - half for x in elements)


def _curator_protocol(
    program: Program, functionality: Callable[[Parameters], Functionality], entered: Callable[[Any, Any], Any]
) -> Realisation:
    return Realisation(
        program, functionality, entered, _sum_of_shares, lambda share: share.y, lambda p: p.weights.modulus
    )


REALISATIONS: Mapping[str, Realisation] = MappingProxyType(
    {
        realisation.program.name: realisation
        for realisation in (
            _curator_protocol(pathak2010.PROGRAM, lambda p: SumWithSmallestNoise(), _hardened),
            _curator_protocol(as_printed.PROGRAM, lambda p: SumWithSmallestNoise(times=p.K), _printed),
        )
    }
)
"""By the name of the program."""

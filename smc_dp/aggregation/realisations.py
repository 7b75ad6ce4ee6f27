"""Which program computes which functionality, and how parts go in and the value comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from protocols import pathak2010, secure_sum
from protocols.curator import CURATOR_NAME
from protocols.errors import LocalError
from protocols.pathak2010 import as_printed
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import PartyInput
from protocols.runtime.session import Program
from protocols.secure_sum.parameters import SHARES
from protocols.secure_sum.parameters import Parameters as SumParameters
from protocols.secure_sum.values import Addends
from smc_dp.aggregation.functionality import (
    Addend,
    Contribution,
    Functionality,
    SumWithShares,
    SumWithSmallestNoise,
    Vector,
)


@dataclass(frozen=True)
class Realisation:
    """A program that computes a functionality, all of it as functions of the program's parameters p.

    `value` and `members` raise ValueError for published messages that no run of the program can give.

    `entered`: a party's part as the input of its role. `publishers`: whose messages the value is made of, whoever else
    vanished. `value`: what these, by name, give. `members`: the parties whose parts are in it. `share`: the integers in
    one of them, in [0, modulus). `additive`: whether these add up to the value, as shares of it.
    """

    program: Program
    functionality: Callable[[Any], Functionality]
    entered: Callable[[Any, Any], Any]
    publishers: Callable[[Any], Sequence[str]]
    value: Callable[[Any, Mapping[str, Any]], Any]
    members: Callable[[Any, Mapping[str, Any]], Sequence[str]]
    share: Callable[[Any], Sequence[int]]
    modulus: Callable[[Any], int]
    additive: Callable[[Any], bool]


def _hardened(p: Parameters, c: Contribution) -> PartyInput:
    return PartyInput(c.size, p.weights.vector(c.weights), p.weights.vector(c.noise))


def _printed(p: Parameters, c: Contribution) -> as_printed.PrintedInput:
    return as_printed.PrintedInput(c.size, p.weights.vector(c.weights), c.noise)


def _sum_of_shares(p: Parameters, published: Mapping[str, Any]) -> Vector:
    return p.weights.nearest(p.weights.add_vectors(*(share.y for share in published.values())))


def _curator_protocol(
    program: Program, functionality: Callable[[Parameters], Functionality], entered: Callable[[Any, Any], Any]
) -> Realisation:
    return Realisation(
        program, functionality, entered, lambda p: tuple(program.participants(p)), _sum_of_shares,
        lambda p, published: p.parties, lambda share: share.y, lambda p: p.weights.modulus, lambda p: True,
    )  # fmt: skip


def _one_sum(p: SumParameters) -> Functionality:
    if p.R != 1:
        raise ValueError(f"wanted a session of one sum, got {p.R}")
    return SumWithShares(p.length(0))


def _masked(p: SumParameters, part: Addend) -> Addends:
    return Addends((p.ring.vector(part.numbers),), (p.ring.vector(part.noise),))


def _published_sum(p: SumParameters, published: Mapping[str, Any]) -> Vector:
    if p.output == SHARES:
        return p.ring.nearest(p.ring.add_vectors(*(share.y for share in published.values())))
    count = len(_in_the_sum(p, published))
    if count < p.fewest:  # fewer shares of the noise than are counted
        raise ValueError(f"a sum of {count} parties, wanted at least {p.fewest}")
    return p.ring.nearest(published[CURATOR_NAME].S)


def _in_the_sum(p: SumParameters, published: Mapping[str, Any]) -> Sequence[str]:
    if p.output == SHARES:
        return p.parties
    try:
        return tuple(p.parties[i] for i in p.members(published[CURATOR_NAME].members[0]))
    except LocalError as error:
        raise ValueError(str(error)) from None


_SECURE_SUM = Realisation(
    secure_sum.PROGRAM,
    _one_sum,
    _masked,
    lambda p: p.parties if p.output == SHARES else (CURATOR_NAME,),
    _published_sum,
    _in_the_sum,
    lambda share: share.y,
    lambda p: p.ring.modulus,
    lambda p: p.output == SHARES,
)

REALISATIONS: Mapping[str, Realisation] = MappingProxyType(
    {
        realisation.program.name: realisation
        for realisation in (
            _curator_protocol(pathak2010.PROGRAM, lambda p: SumWithSmallestNoise(), _hardened),
            _curator_protocol(as_printed.PROGRAM, lambda p: SumWithSmallestNoise(times=p.K), _printed),
            _SECURE_SUM,
        )
    }
)
"""By the name of the program."""

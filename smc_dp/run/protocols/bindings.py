"""Bindings of functionalities to programs: how contributions become inputs of roles, and messages a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any

from protocols import linear, pathak2010, secure_sum
from protocols.curator import CURATOR_NAME
from protocols.errors import LocalError
from protocols.pathak2010 import as_published
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import PartyInput
from protocols.runtime.actor import LocalProgram
from protocols.runtime.session import Program
from protocols.secure_sum.parameters import SHARES
from protocols.secure_sum.parameters import Parameters as SumParameters
from protocols.secure_sum.values import Addends
from smc_dp.methods.functionality import (
    Addend,
    Contribution,
    Functionality,
    RoundAnswer,
    Rounds,
    SumWithShares,
    SumWithSmallestNoise,
    Vector,
)


@dataclass(frozen=True)
class ProtocolBinding:
    """A program and the functionality that it computes, as functions of the program's parameters p.

    `role_input`: a party's contribution as the input of its role. `publishers`: the participants whose messages give
    the value, whoever else drops out. `value`: the value of these messages, by name. `members`: the parties whose
    contributions are in it, or in each of its sums. `share`: the integers in one message, in [0, modulus). `additive`:
    whether these are additive shares of the value. `answers`: the function that answers a role's queries, None where
    the whole input is known beforehand. `value` and `members` raise ValueError for messages that no run of the program
    can give.
    """

    program: Program
    functionality: Callable[[Any], Functionality]
    role_input: Callable[[Any, Any], Any]
    publishers: Callable[[Any], Sequence[str]]
    value: Callable[[Any, Mapping[str, Any]], Any]
    members: Callable[[Any, Mapping[str, Any]], Sequence[tuple[str, ...]]]
    share: Callable[[Any], Sequence[int]]
    modulus: Callable[[Any], int]
    additive: Callable[[Any], bool]
    answers: Callable[[Any, Any], LocalProgram | None] = lambda p, part: None


def _hardened(p: Parameters, c: Contribution) -> PartyInput:
    return PartyInput(c.size, p.weights.vector(c.weights), p.weights.vector(c.noise))


def _printed(p: Parameters, c: Contribution) -> as_published.PrintedInput:
    return as_published.PrintedInput(c.size, p.weights.vector(c.weights), c.noise)


def _sum_of_shares(p: Parameters, published: Mapping[str, Any]) -> Vector:
    return p.weights.nearest(p.weights.add_vectors(*(share.y for share in published.values())))


def _shares_of_the_mean(
    program: Program, functionality: Callable[[Any], Functionality], role_input: Callable[[Any, Any], Any]
) -> ProtocolBinding:
    return ProtocolBinding(
        program, functionality, role_input, lambda p: tuple(program.participants(p)), _sum_of_shares,
        lambda p, published: (p.parties,), lambda share: share.y, lambda p: p.weights.modulus, lambda p: True,
    )  # fmt: skip


def _sums(p: SumParameters) -> Functionality:
    each = tuple(SumWithShares(p.length(r)) for r in range(p.R))
    return each[0] if p.R == 1 else Rounds(each)


def _masked(p: SumParameters, part: Addend) -> Addends:
    return Addends((p.ring.vector(part.numbers),), (p.ring.vector(part.noise),))


def _known_beforehand(p: SumParameters, part: Addend | RoundAnswer) -> Addends:
    return _masked(p, part) if isinstance(part, Addend) else Addends((), ())


def _answers(p: SumParameters, part: Addend | RoundAnswer) -> LocalProgram | None:
    if isinstance(part, Addend):
        return None
    nearest = lru_cache(maxsize=None)(p.ring.nearest)  # each query comes with all sums before it
    return lambda values: _masked(p, part(tuple(map(nearest, values))))


def _published_sums(p: SumParameters, published: Mapping[str, Any]) -> Vector | tuple[Vector, ...]:
    if p.output == SHARES:
        return p.ring.nearest(p.ring.add_vectors(*(share.y for share in published.values())))
    for members in _members(p, published):
        if len(members) < p.fewest:  # fewer shares of the noise than are counted
            raise ValueError(f"a sum of {len(members)} parties, wanted at least {p.fewest}")
    every = iter(p.ring.nearest(published[CURATOR_NAME].S))
    sums = tuple(tuple(islice(every, p.length(r))) for r in range(p.R))
    return sums[0] if p.R == 1 else sums


def _in_the_sums(p: SumParameters, published: Mapping[str, Any]) -> Sequence[tuple[str, ...]]:
    if p.output == SHARES:
        return (p.parties,) * p.R
    return [tuple(p.parties[i] for i in members) for members in _members(p, published)]


def _members(p: SumParameters, published: Mapping[str, Any]) -> list[tuple[int, ...]]:
    """Return the members of each sum, by their places."""
    try:
        return [p.members(listed) for listed in published[CURATOR_NAME].members]
    except LocalError as error:
        raise ValueError(str(error)) from None


_SECURE_SUM = ProtocolBinding(
    secure_sum.PROGRAM,
    _sums,
    _known_beforehand,
    lambda p: p.parties if p.output == SHARES else (CURATOR_NAME,),
    _published_sums,
    _in_the_sums,
    lambda share: share.y,
    lambda p: p.ring.modulus,
    lambda p: p.output == SHARES,
    _answers,
)

BINDINGS: Mapping[str, ProtocolBinding] = MappingProxyType(
    {
        binding.program.name: binding
        for binding in (
            _shares_of_the_mean(pathak2010.PROGRAM, lambda p: SumWithSmallestNoise(), _hardened),
            _shares_of_the_mean(linear.PROGRAM, lambda p: SumWithSmallestNoise(), _hardened),
            _shares_of_the_mean(as_published.PROGRAM, lambda p: SumWithSmallestNoise(times=p.K), _printed),
            _SECURE_SUM,
        )
    }
)
"""Bindings by the name of the program."""

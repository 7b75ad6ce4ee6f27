"""Limits of a secure sum: number of parties, of colluders, and of drop-outs."""

from __future__ import annotations

from fractions import Fraction
from typing import NoReturn

from protocols.secure_sum import graph
from protocols.secure_sum.parameters import MOST_CLOSED, MOST_COMPLETE, MOST_PARTIES, most_dropouts
from smc_dp.core.errors import InputError

FEWEST_PARTIES = 2


def check_party_limits(K: int, t: int, D: int, *, sparse: bool = False) -> None:
    """Raise InputError, with the nearest that works, unless t of K parties may collude while D drop out.

    `sparse`: they are to share masks with neighbours alone although nobody may drop out.
    """
    most = MOST_PARTIES if D or sparse else MOST_CLOSED
    if most < K:
        raise InputError("parties.too_many_for_sum", most=most, dropouts=D, got=K)
    if K < FEWEST_PARTIES:
        raise InputError("parties.too_few_for_sum", least=FEWEST_PARTIES, got=K)
    if t >= K:
        raise InputError("colluders.too_many", most=K - 1, parties=K, got=t)
    if sparse:
        closed_graph(K, t, D)
    elif has_sparse_graph(K, D):
        if graph.least_neighbourhood(K, t, D, 1) is None:
            most = graph.most_dropouts(K, t, 1)
            raise InputError("dropouts.too_many_for_circle", parties=K, colluders=t, most=most, got=D)
    elif most_dropouts(K, t) < D:
        _refuse(K, t, D)


def has_sparse_graph(K: int, D: int) -> bool:
    """Tell whether so many parties share masks with neighbours in a sparse graph alone; claims are then semi-honest."""
    return D > 0 and K > MOST_COMPLETE


def sparse_graph_failure(K: int, t: int, D: int, sums: int, *, sparse: bool = False) -> Fraction:
    """Return a bound on the probability that a circle does not do for so many sums; 0 without one.

    `sparse`: raises InputError where there is no circle that will do.
    """
    if sparse:
        return closed_graph(K, t, D).failure
    found = graph.least_neighbourhood(K, t, D, sums) if has_sparse_graph(K, D) else None
    return Fraction(0) if found is None else found.failure


def closed_graph(K: int, t: int, D: int) -> graph.Neighbourhood:
    """Return the neighbourhood of a party in a sparse graph that is asked for although nobody may drop out.

    Raises InputError, with the nearest that works, where there is none.
    """
    if D:
        raise InputError("sparse_graph.with_dropouts", got=D)
    if (found := graph.least_closed_neighbourhood(K, t)) is not None:
        return found
    low, high = -1, t
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if graph.least_closed_neighbourhood(K, middle) is None else (middle, high)
    if low < 0:
        raise InputError("sparse_graph.too_few_parties", got=K)
    raise InputError("sparse_graph.too_many_colluders", parties=K, most=low, got=t)


def _refuse(K: int, t: int, D: int) -> NoReturn:
    ways = []
    fewer = [s for s in range(t) if most_dropouts(K, s) >= D]
    if fewer:
        ways.append(f"`colluders` at most {fewer[-1]}")
    more = next((n for n in range(K + 1, MOST_COMPLETE + 1) if most_dropouts(n, t) >= D), None)
    if more is not None:
        ways.append(f"at least {more} parties")
    fields = {
        "wanted": f"at most {most_dropouts(K, t)}",
        "instead": f". To let {D} drop out, take {', or '.join(ways)}" if ways else "",
    }
    raise InputError("dropouts.too_many", parties=K, colluders=t, got=D, **fields)

"""Deal the rows of one table to parties: only a simulation does this, real parties bring their own rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from smc_dp.data.bounds import canonical
from smc_dp.data.table import Table
from smc_dp.errors import InputError, shown

RESERVED = frozenset({"charlie", "public", "transcript"})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check_names(names: Sequence[str]) -> None:
    """Raises InputError unless there are two or more party names, each simple, not reserved and used once."""
    known: set[str] = set()  # a file of strangers may list very many
    for name in names:
        check_letters(name)
        if name.lower() in RESERVED:
            raise InputError(f"party name {shown(name)}: is reserved, wanted another name")
        if name in known:
            raise InputError(f"party name {shown(name)}: given twice, wanted a name for each party")
        known.add(name)
    if len(names) < 2:
        raise InputError(f"number of parties: wanted at least 2, got {len(names)}")


def check_letters(name: str) -> None:
    """Raises InputError for a name that is not simple: such names can stand in messages, and name files."""
    if not _NAME.fullmatch(name):
        raise InputError(f"party name {shown(name)}: wanted letters, digits, '.', '_' or '-', at most 64")


def even(parties: int) -> list[Fraction]:
    """Equal shares, in percent."""
    return [Fraction(100, parties)] * parties


def parse_split(text: str) -> list[Fraction]:
    """Shares in percent from a text such as 15,20,20,20,25; each is positive and they sum to 100."""
    shares = []
    for part in text.split(","):
        if not re.fullmatch(r"\s*[0-9]{1,3}(\.[0-9]{1,9})?\s*", part):
            raise InputError(f"split: wanted percentages such as 15,20,20,20,25, got {shown(text)}")
        shares.append(Fraction(part.strip()))
    if min(shares) <= 0:
        raise InputError(f"split: each share must be positive, got {shown(text)}")
    if sum(shares) != 100:
        raise InputError(f"split: the percentages must sum to 100, got a sum of {float(sum(shares)):g}")
    return shares


def sizes(rows: int, shares: Sequence[Fraction]) -> list[int]:
    """How many of the rows each share, in percent, comes to; they sum to `rows`.

    Sizes are rounded down; the rows left over go one each to the largest remainders, the first of equals.
    """
    exact = [rows * share / 100 for share in shares]
    found = [int(size) for size in exact]
    by_remainder = sorted(range(len(found)), key=lambda j: found[j] - exact[j])
    for j in by_remainder[: rows - sum(found)]:
        found[j] += 1
    return found


def deal(rows: int, shares: Sequence[Fraction], seed: int) -> list[NDArray[np.int64]]:
    """Disjoint row numbers for each share, at random by a public seed, every row dealt; sizes as `sizes` says."""
    order = np.random.default_rng(seed).permutation(rows).astype(np.int64)
    return [np.sort(part) for part in np.split(order, np.cumsum(sizes(rows, shares))[:-1])]


def group(table: Table, column: str) -> dict[str, NDArray[np.int64]]:
    """Row numbers by the value of `column`, in the order of first appearance."""
    groups: dict[str, list[int]] = {}
    for row, text in enumerate(table.texts(column)):
        groups.setdefault(canonical(text), []).append(row)
    return {name: np.array(rows, dtype=np.int64) for name, rows in groups.items()}

"""Values that go in, that stages leave behind, and that come out: plain frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from protocols.arithmetic.ring import Vector
from protocols.crypto.masking import ClosedPairs
from protocols.errors import LocalError
from protocols.secure_sum.parameters import Block, Parameters


@dataclass(frozen=True, repr=False)
class Addends:
    """Private input of a party: for some sums, in their order, its numbers and its share of the noise, as elements of
    Z_M.
    """

    numbers: tuple[Vector, ...]
    noise: tuple[Vector, ...]

    @property
    def count(self) -> int:
        """Number of sums that these addends are for."""
        return len(self.numbers)

    def unspent(self, over: int) -> Addends:
        """Return these addends without those of the first `over` sums."""
        spent = ((),) * min(max(over, 0), self.count)
        return Addends((*spent, *self.numbers[len(spent) :]), (*spent, *self.noise[len(spent) :]))


def join_addends(p: Parameters, *given: Addends) -> Addends:
    """Join what a party knew beforehand, and what it was given for the sums after those.

    Raises `LocalError` unless there are as many numbers, and as much noise, as each of the first sums has, or none
    where they are spent.
    """
    numbers = tuple(x for some in given for x in some.numbers)
    noise = tuple(e for some in given for e in some.noise)
    wanted = [p.length(r) if x else 0 for r, x in zip(range(p.R), numbers, strict=False)]
    if [len(x) for x in numbers] != wanted or [len(e) for e in noise] != wanted:
        raise LocalError("numbers.of_other_lengths", lengths=[p.length(r) for r in range(p.R)])
    return Addends(numbers, noise)


Tree = tuple[tuple[bytes, ...], ...]
"""Merkle tree: its levels from the leaves to the root."""


@dataclass(frozen=True, repr=False)
class Held:
    """Share of a dealer's seed b and of its secret mask key s that one party holds, for one sum."""

    b: bytes
    s: bytes


@dataclass(frozen=True, repr=False)
class Secrets:
    """Secrets of one sum, which nobody may have afterwards: the own seed b and secret mask key s, and the shares held
    of every dealer, the owner included.
    """

    b: bytes
    s: bytes
    held: tuple[Held, ...]


@dataclass(frozen=True, repr=False)
class Vault:
    """State of a party, or of Charlie, between two sums.

    `roster` is the digest of all greetings, `query` that of the next sum's query. `keys` are the mask keys, by sum and
    party. `secrets` has an entry for each sum, None for those that are over; or, where nobody may drop out, it is what
    the next sum is masked with, of another type than all that may be opened. `trees`: by dealer, the Merkle tree of
    the shares that are held of it. `values` and `members`: the sums that are over, and who is in them.

    `near`: in a circle the neighbours of a party; keys, what it holds and trees are of these, in their order.
    """

    roster: bytes
    query: bytes
    keys: tuple[tuple[bytes, ...], ...]
    secrets: tuple[Secrets | None, ...] | ClosedPairs = ()
    trees: tuple[Tree, ...] = ()
    values: tuple[Vector, ...] = ()
    members: tuple[int, ...] = ()
    near: tuple[int, ...] = ()

    def keyed(self, r: int) -> Mapping[int, bytes]:
        """Return the mask keys of sum r by party."""
        return dict(zip(self.near, self.keys[r], strict=True)) if self.near else dict(enumerate(self.keys[r]))

    def of(self, r: int) -> Secrets:
        """Return the secrets of sum r; raise `LocalError` when they have been erased, or nothing is ever opened."""
        found = self.secrets[r] if isinstance(self.secrets, tuple) else None
        if found is None:
            raise LocalError("sum.over", sum=r)
        return found

    def after(self, r: int, query: bytes, members: int, S: Vector) -> Vault:
        """Return this vault without the secrets of sum r, and with its result."""
        over = replace(self, query=query, values=(*self.values, S), members=(*self.members, members))
        if not isinstance(self.secrets, tuple):
            return over
        return replace(over, secrets=tuple(None if i == r else kept for i, kept in enumerate(self.secrets)))

    @property
    def pairs(self) -> ClosedPairs:
        """Common values that mask the next sum where nobody may drop out; raises `LocalError` where somebody may."""
        if isinstance(self.secrets, tuple):
            raise LocalError("opening.no_closed_pair")
        return self.secrets


@dataclass(frozen=True, repr=False)
class Opening:
    """Opening of one sum by party: what Charlie added up; zeros where there is nothing."""

    y: tuple[Vector, ...]
    inputs: tuple[bytes, ...]
    agreed: tuple[bytes, ...]
    seeds: tuple[bytes, ...]


@dataclass(frozen=True, repr=False)
class CuratorState:
    """State of Charlie: the vault, which has no secrets, what the parties committed to, and what he added up so far.

    `commitments` by sum and dealer, `leaves` by dealer and holder. `near`: in a circle the neighbours of each party,
    the holders of its shares in their order.
    """

    vault: Vault
    commitments: tuple[tuple[bytes, ...], ...]
    leaves: tuple[tuple[bytes, ...], ...]
    openings: tuple[Opening, ...] = ()
    near: tuple[tuple[int, ...], ...] = ()

    def dealers(self, holder: int) -> Sequence[int]:
        """Return the dealers whose shares this party holds: all, or its neighbours."""
        return self.near[holder] if self.near else range(len(self.leaves))


@dataclass(frozen=True, repr=False)
class Sums:
    """Result of a session: the sums in their order, and who is in each."""

    values: tuple[Vector, ...]
    members: tuple[int, ...]


RECORDS = (Block, Addends, Held, ClosedPairs, Secrets, Vault, Opening, CuratorState, Sums)

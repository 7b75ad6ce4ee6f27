"""The linear path with one thing left out or said twice, as patches of role code: some coalition learns more, or the
sum is another.

Each twin is a list of (module, name, what stands there instead); `PROGRAM` runs the patched modules over symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

from protocols import linear
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Vector
from protocols.crypto import encapsulation, garbling, masking, oblivious
from protocols.linear import masks, publication, selection, setup, submission
from protocols.linear.messages import LockedRows
from protocols.linear.values import Masks, OpenedRow
from protocols.runtime.message import CURATOR, PARTY, Message, Times, masked, message, public, shared

Patch = tuple[Any, str, Any]
_party, _row, _share = submission.party, submission._row, masks.masked_share


async def party(me: Any, p: Any, mine: Any) -> Any:
    """The real one: it stands here so that this file counts as one of roles."""
    return await linear.party(me, p, mine)


async def curator(me: Any, p: Any) -> Any:
    """The real one."""
    return await linear.curator(me, p)


async def echoing(me: Any, p: Any) -> Any:
    """Go says which row was opened."""
    keys = await me.stage(setup.curator, p)
    mine = await me.stage(submission.curator, p)
    row = await me.stage(selection.curator, p, keys, mine)
    return await me.stage(publication_with, p, row, mine.masks)


async def publication_with(me: Any, p: Any, row: Any, edges: Any) -> Any:
    """Go says which row was opened."""
    return await publication.curator(Saying(me, "Go", lambda m: Go(m.go, (row.epk,))), p, row.summand, edges)


PROGRAM = replace(linear.PROGRAM, roles={PARTY: party, CURATOR: curator})
ECHOING = replace(linear.PROGRAM, roles={PARTY: party, CURATOR: echoing})


# Letters of the same names that say more.


@message("1", PARTY >> CURATOR)
class Share(Message):
    """And something else."""

    b: Annotated[int, masked("size")]
    seed: Annotated[bytes, shared("seed")]
    more: Annotated[tuple[bytes, ...], public("key"), Times("dimension")]


@message("1", PARTY >> PARTY)
class Submit(Message):
    """And something else."""

    a: Annotated[int, masked("size")]
    box: Annotated[bytes, public("digest")]
    epk: Annotated[bytes, public("key")]
    row: Annotated[Vector, masked("weight"), Times("dimension")]
    seed: Annotated[bytes, shared("seed")]
    more: Annotated[tuple[bytes, ...], public("key"), Times("dimension")]


@message("transfer 2", CURATOR >> PARTY)
class Extension(Message):
    """And something else."""

    u: Annotated[bytes, masked("extension")]
    more: Annotated[tuple[bytes, ...], public("key"), Times("dimension")]


@message("transfer 3", PARTY >> CURATOR)
class Tables(Message):
    """And something else."""

    part: Annotated[bytes, public("tables part")]
    more: Annotated[tuple[bytes, ...], public("key"), Times("dimension")]


@message("4", CURATOR >> PARTY)
class Go(Message):
    """And something else."""

    go: Annotated[bytes, public("digest")]
    more: Annotated[tuple[bytes, ...], public("key"), Times("dimension")]


class Saying:
    """An endpoint that says more in one kind of letter; `coins` stands in place of its randomness."""

    def __init__(self, me: Any, kind: str, change: Callable[[Any], Any], coins: Any = None) -> None:
        self._me, self._kind, self._change, self._coins = me, kind, change, coins
        self.row: tuple[bytes, bytes] = (b"", b"")  # epk and kappa, as `_row_kept` keeps them
        self.sent: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._me, name)

    @property
    def rng(self) -> Any:
        return self._coins or self._me.rng

    def send(self, to: str, letter: Any) -> None:
        """Send, with more in it if it is of that kind."""
        kind = type(letter).__name__
        self.sent[kind] = letter
        self._me.send(to, self._change(letter) if kind == self._kind else letter)

    def broadcast(self, to: Sequence[str], letter: Any) -> None:
        """Send to each."""
        for name in to:
            self.send(name, letter)


class Coinless:
    """Randomness of which some draws come out as they are wanted."""

    def __init__(self, rng: Any, **instead: Any) -> None:
        self.__dict__.update(instead, _rng=rng)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rng, name)


# What a party submits.


def _row_kept(me: Any, p: Any, keys: Any, mine: Any) -> Any:
    epk, kappa = encapsulation.encapsulate(keys.box, me.session_id, me.rng)
    me.row = epk, kappa
    return epk, masks.mask_row(p, mine.eta, kappa)


def row_in_clear(me: Any, p: Any, keys: Any, mine: Any) -> Any:
    """eta, and no mask on it."""
    epk, _ = _row(me, p, keys, mine)
    return epk, mine.eta


async def pad_shared_with_first(me: Any, p: Any, keys: Any, mine: Any) -> Any:
    """P_1 knows the mask of the row."""
    said = Saying(me, "Submit", lambda m: Submit(m.a, m.box, m.epk, m.row, m.seed, (said.row[1],)))
    return await _party(said, p, keys, mine)


async def epk_to_charlie(me: Any, p: Any, keys: Any, mine: Any) -> Any:
    """Charlie has seen what stands in the row, and from whom."""
    said = Saying(me, "Share", lambda m: Share(m.b, m.seed, (said.row[0],)))
    return await _party(said, p, keys, mine)


async def both_halves_to_charlie(me: Any, p: Any, keys: Any, mine: Any) -> Any:
    """Charlie gets a as well."""
    said = Saying(me, "Share", lambda m: Share(m.b, m.seed, (said.sent["Submit"].a,)))
    return await _party(said, p, keys, mine)


def _seeds(me: Any, seed: Callable[[Any], bytes]) -> Any:
    """All strings after the first, which is for the row, are this one."""
    drawn: list[bytes] = []

    def string(n: int) -> bytes:
        drawn.append(me.rng.bytes(n) if not drawn else seed(me.rng) if len(drawn) == 1 else drawn[1])
        return drawn[-1]

    return Saying(me, "", lambda m: m, Coinless(me.rng, bytes=string))


async def one_seed_for_all_edges(me: Any, p: Any, keys: Any, mine: Any) -> Any:
    """The masks with P_1 and with Charlie are the same, one added and one taken away."""
    return await _party(_seeds(me, lambda rng: rng.bytes(submission.MASK_SEED_BYTES)), p, keys, mine)


async def seeds_of_zeros(me: Any, p: Any, keys: Any, mine: Any) -> Any:
    """Everybody knows all masks."""
    return await _party(_seeds(me, lambda rng: bytes(submission.MASK_SEED_BYTES)), p, keys, mine)


# The garbled search.


async def _garbles(
    me: Any,
    p: Any,
    rows: Any,
    w: Any,
    *,
    rho: Callable[[Any], Any] = lambda drawn: drawn.images,
    s_of: Callable[[Any, Any], Any] = lambda s, lock: s,
    more: Callable[[Any, Any, Any], tuple[Any, ...]] | None = None,
    off: bool = True,
) -> Any:
    s = p.weights.random_vector(p.dimension, me.rng)
    ranks = rho(Permutation.random(p.K, me.rng))
    u = (await me.receive(me.curator, selection.Extension)).u
    garbled = garbling.garble(me.session_id, rows.choice, u, rows.a, ranks, selection.SIZE_BITS)
    contents = [
        masks.pack_row(p, epk, p.weights.add_vectors(row, s_of(s, lock)))
        for epk, row, lock in zip(rows.epks, rows.rows, garbled.locks, strict=True)
    ]
    for part in selection.split_parts(garbled.tables):
        me.send(me.curator, Tables(part, more(garbled, ranks, rows)) if more else selection.Tables(part))
    for part in selection.split_parts(garbling.lock(garbled, contents)):
        me.send(me.curator, LockedRows(part))
    return p.weights.subtract_vectors(w, s) if off else w


async def tags_told(me: Any, p: Any, rows: Any, w: Any) -> Any:
    """The tags of all rows in the order of parties: which one is found says whose it is."""
    return await _garbles(me, p, rows, w, more=lambda garbled, ranks, rows: tuple(x.tag for x in garbled.locks))


async def rho_told(me: Any, p: Any, rows: Any, w: Any) -> Any:
    """Charlie knows both orders of equal sizes."""
    return await _garbles(me, p, rows, w, more=lambda garbled, ranks, rows: tuple(ranks))


async def delta_told(me: Any, p: Any, rows: Any, w: Any) -> Any:
    """Charlie tells labels apart."""
    return await _garbles(me, p, rows, w, more=lambda garbled, ranks, rows: (rows.choice.delta,))


async def no_rho(me: Any, p: Any, rows: Any, w: Any) -> Any:
    """Parties are ranked by their places."""
    return await _garbles(me, p, rows, w, rho=lambda drawn: tuple(range(p.K)))


async def no_s(me: Any, p: Any, rows: Any, w: Any) -> Any:
    """Rows are as they came."""
    return await _garbles(me, p, rows, w, s_of=lambda s, lock: (0,) * p.dimension)


async def s_of_the_tag(me: Any, p: Any, rows: Any, w: Any) -> Any:
    """Every row has an s of its own, which whoever finds the row can make."""

    def made(s: Any, lock: Any) -> Any:
        return masking.combined([masking.expand(lock.tag, p.dimension, p.width)], [], p.dimension, p.width)

    return await _garbles(me, p, rows, w, s_of=made)


async def _evaluates(me: Any, p: Any, keys: Any, mine: Any, c: Any, more: Callable[[Any, Any], Any] | None) -> Any:
    bits = garbling.chosen(mine.b, c, selection.SIZE_BITS)
    extension = oblivious.extend(me.session_id, keys.offer, mine.choice_points, bits)
    first = p.parties[0]
    me.send(first, Extension(extension.u, more(extension, c)) if more else selection.Extension(extension.u))
    tables = [(await me.receive(first, selection.Tables)).part for _ in range(p.table_parts)]
    rows = [(await me.receive(first, LockedRows)).part for _ in range(p.row_parts)]
    gates, locked = selection.join_parts(tables, p.table_bytes), selection.join_parts(rows, p.locked_bytes)
    content = garbling.unlock(me.session_id, extension.labels, p.K, selection.SIZE_BITS, gates, locked)
    epk, row = masks.unpack_row(p, content)
    return OpenedRow(epk, masks.unmask_row(p, row, encapsulation.opened(keys.box, epk, me.session_id)))


async def no_c(me: Any, p: Any, keys: Any, mine: Any) -> Any:
    """P_1's order of equal sizes is the whole order."""
    return await _evaluates(me, p, keys, mine, 0, None)


async def c_told(me: Any, p: Any, keys: Any, mine: Any) -> Any:
    """P_1 knows both orders of equal sizes."""
    return await _evaluates(me, p, keys, mine, me.rng.bits(p.index_bits), lambda extension, c: (c,))


async def labels_told(me: Any, p: Any, keys: Any, mine: Any) -> Any:
    """P_1, who has Delta, sees the colours of Charlie's labels."""
    return await _evaluates(me, p, keys, mine, me.rng.bits(p.index_bits), lambda extension, c: (extension.labels,))


# The masks of shares.


def without_charlie(p: Any, summand: Any, edges: Any) -> Any:
    """Charlie is no hub: the masks with him, the last of each party's, are left out, and his own."""
    return _share(p, summand, Masks(edges.plus[:-1], edges.minus if edges.plus else ()))


KEEP: Patch = (submission, "_row", _row_kept)
ROW_IN_CLEAR: Sequence[Patch] = ((submission, "_row", row_in_clear),)
PAD_SHARED: Sequence[Patch] = (KEEP, (submission, "party", pad_shared_with_first))
EPK_TO_CHARLIE: Sequence[Patch] = (KEEP, (submission, "party", epk_to_charlie))
BOTH_HALVES: Sequence[Patch] = ((submission, "party", both_halves_to_charlie),)
ONE_SEED: Sequence[Patch] = ((submission, "party", one_seed_for_all_edges),)
ZERO_SEEDS: Sequence[Patch] = ((submission, "party", seeds_of_zeros),)
TAGS_TOLD: Sequence[Patch] = ((selection, "first", tags_told),)
RHO_TOLD: Sequence[Patch] = ((selection, "first", rho_told),)
DELTA_TOLD: Sequence[Patch] = ((selection, "first", delta_told),)
NO_RHO: Sequence[Patch] = ((selection, "first", no_rho),)
NO_S: Sequence[Patch] = ((selection, "first", no_s),)
S_OF_THE_TAG: Sequence[Patch] = ((selection, "first", s_of_the_tag),)
NO_C: Sequence[Patch] = ((selection, "curator", no_c),)
C_TOLD: Sequence[Patch] = ((selection, "curator", c_told),)
LABELS_TOLD: Sequence[Patch] = ((selection, "curator", labels_told),)
WITHOUT_CHARLIE: Sequence[Patch] = ((masks, "masked_share", without_charlie),)

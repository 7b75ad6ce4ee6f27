"""The linear path with one thing left out or said twice, as patches of role code: some coalition learns more, or the
sum is another. Who says more says it in a message of its own, of a kind that is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from support.planted_roles import Patch
from support.planted_roles import planted as planted_in

from protocols import linear
from protocols.linear import masks, publication, selection, submission
from protocols.runtime.session import Program


def planted(name: str) -> AbstractContextManager[Program]:
    """The program, while the code of its roles is that of this twin."""
    return planted_in(linear, TWINS[name])


SEED, ROWS = "me.rng.bytes(MASK_SEED_BYTES)", "masks.blind_rows(p, all_rows.rows, s)"
TO_FIRST, TO_CHARLIE = "_digest(keys.box), epk, row, first))\n", "    me.send(me.curator, Share(b, charlie))\n"


def garbler_tells(numbers: str, count: str) -> Sequence[Patch]:
    """P_1 tells Charlie these."""
    before, said = "    masked = ", "me.send(me.curator, Extension(one))"
    tables, read = "    tables = ", "await me.receive(garbler, Extension)"
    return (
        (selection.first, before, f"    for one in {numbers}:\n        {said}\n{before}"),
        (selection.curator, tables, f"    for _ in range({count}):\n        {read}\n{tables}"),
    )


def evaluator_tells(what: str) -> Sequence[Patch]:
    """Charlie tells P_1 this of his choices."""
    sent, garbled = "    me.send(garbler, Extension(extension.u))\n", "    # 3. r_j"
    return (
        (selection.curator, "me.rng.bits(p.index_bits)", "(c := me.rng.bits(p.index_bits))"),
        (selection.curator, sent, f"{sent}    me.send(garbler, Extension({what}))\n"),
        (selection.first, garbled, f"    await me.receive(me.curator, Extension)\n{garbled}"),
    )


def party_tells_charlie(what: str) -> Sequence[Patch]:
    """Each party but P_1 tells Charlie this of what it submits."""
    return (
        (submission.party, TO_CHARLIE, f"{TO_CHARLIE}    me.send(me.curator, Neighbour({what}))\n"),
        (submission.curator, "    points = ", "    await me.gather(p.parties[1:], Neighbour)\n    points = "),
    )


TWINS: Mapping[str, Sequence[Patch]] = {
    "1 tags in the order of parties": garbler_tells("(lock.tag for lock in garbled.locks)", "p.K"),
    "2 no rho": [(selection.first, "rho.images", "tuple(range(p.K))")],
    "2 rho told": garbler_tells("rho.images", "p.K"),
    "5 no s": [(selection.first, ROWS, "masks.blind_rows(p, all_rows.rows, (0,) * p.dimension)")],
    "6 s of the tag": [
        (selection.first, ROWS, "[masks.mask_row(p, row, lock.tag) for row, lock in pairs]"),
        (selection.first, "    masked = ", "    pairs = zip(all_rows.rows, garbled.locks, strict=True)\n    masked = "),
    ],
    "7 rows in clear": [(submission._row, "masks.mask_row(p, mine.eta, kappa)", "mine.eta")],
    "7 P_1 knows the pad": [
        (submission._row, "    return epk", "    me.kappa = kappa\n    return epk"),
        (submission.party, TO_FIRST, f"{TO_FIRST}    me.send(me.parties[0], Neighbour(me.kappa))\n"),
        (
            submission.first,
            "    for name, submit in",
            "    await me.gather(me.others, Neighbour)\n    for name, submit in",
        ),
    ],
    "8 epk to Charlie": party_tells_charlie("epk"),
    "13 the row in Go": [
        (linear.curator, "    return await", "    me.epk = row.epk\n    return await"),
        (publication.curator, "    me.broadcast(", "    me.broadcast(p.parties, Go(me.epk))\n    me.broadcast("),
        (publication.party, "    go = (", "    await me.receive(me.curator, Go)\n    go = ("),
    ],
    "14 both halves to Charlie": party_tells_charlie("a"),
    "19 one seed for all edges": [(submission.party, f"first, charlie = {SEED}, {SEED}", f"first = charlie = {SEED}")],
    "19 seeds of zeros": [
        (submission.party, f"first, charlie = {SEED}, {SEED}", "first = charlie = bytes(MASK_SEED_BYTES)"),
        (submission.party, f"i: {SEED}", "i: bytes(MASK_SEED_BYTES)"),
    ],
    "20 no hub": [
        (masks.masked_share, "edges.plus, edges.minus)", "edges.plus[:-1], edges.minus if edges.plus else ())"),
    ],
    "27 no c": [(selection.curator, "me.rng.bits(p.index_bits)", "0")],
    "27 c told": evaluator_tells("c"),
    "Delta told": garbler_tells("(all_rows.choice.delta,)", "1"),
    "colours of labels told": evaluator_tells("extension.labels"),
}

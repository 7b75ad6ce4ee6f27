"""The coalition matrix of the linear path against a table made by hand, and twins that change it in the right cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from broken.linear_twins import planted
from support.repetitions import with_slow

from protocols import linear
from protocols.linear.parameters import Parameters
from protocols.programs import PROTOCOLS
from protocols.runtime.session import Program
from smc_dp.leakage import matrix_text
from smc_dp.leakage.matrix import OTHER_SUM, Matrix, Row, all_coalitions, coalition_matrix
from smc_dp.leakage.symbolic.world_runs import SMALLEST
from tests.support.matrix_file import legend, rows_beside

LINEAR = PROTOCOLS[linear.PROGRAM.name]
FILE = Path(linear.__file__).parent / "matrix.txt"
MOST = 5  # parties in the file
HUBS = {"P1", "charlie"}
# What a mutant tells, it tells in every setting.
ONE_SETTING = replace(LINEAR.model, variants=lambda p: ())


@cache
def found(K: int, chosen: tuple[tuple[str, ...], ...] | None = None) -> Matrix:
    return coalition_matrix(LINEAR, K, chosen=chosen)


def cut_off(p: Parameters, members: Sequence[str]) -> set[str]:
    """The parties outside of a coalition of both hubs whose neighbours on the ring are all in it."""
    outside = [j for j in range(1, p.K) if p.parties[j] not in members]
    return {p.parties[j] for j in outside if not {*p.before(j), *p.after(j)} & set(outside)}


def by_hand(row: Row, p: Parameters) -> dict[str, str]:
    """Cell by cell, what the theorem and the list of what is not claimed say."""
    K, charlie, inside = p.K, "charlie" in row.members, row.smallest in row.members
    parties = {m for m in row.members if m != "charlie"}
    outside = {f"P{j}" for j in range(1, K + 1)} - parties
    hubs = set(row.members) >= HUBS
    named = charlie and inside  # the functionality says so
    exact = "all" if hubs or named else "listed" if inside else "nothing"
    alone = cut_off(p, row.members) if hubs else set()
    vectors = {f"w_{j[1:]}": exact if len(outside) == 1 else "all" if j in alone else "nothing" for j in outside}
    vectors |= {f"eta_{j[1:]}": "all" if hubs else "nothing" for j in outside if j != row.smallest}
    for name in parties:
        vectors |= {f"w_{name[1:]}": "own"} | ({f"eta_{name[1:]}": "own"} if name != row.smallest else {})
    vectors["selected noise"] = "own" if inside else "all" if hubs else "nothing"
    vectors["exact sum"] = exact if outside else "own"
    places = ("{0}(1)", "{0}(2)", "{0}(1) - {0}(2)")  # each coordinate by itself, and their difference
    table = {place.format(vector): level for vector, level in vectors.items() for place in places}
    table |= {f"n_{j[1:]}": "all" if hubs else "nothing" for j in outside}
    table |= {f"n_{name[1:]}": "own" for name in parties}
    table[OTHER_SUM] = "nothing"
    certain = hubs or named or len(outside) <= charlie
    none = "not all" if K > 3 else "nothing"  # worlds nearby show that it is not determined
    table[SMALLEST] = "all" if certain else none if K > 3 or not (charlie and parties) else "partly"
    table["rho"] = "own" if "P1" in parties else none
    return table


@pytest.mark.parametrize("K", [2, *(pytest.param(K, marks=pytest.mark.slow) for K in (3, 4, 5))])
def test_matrix_is_the_table_and_the_one_that_is_checked_in(K: int) -> None:
    """Among five parties one coalition of each kind is tried; those of fewer show that the roles treat others alike."""
    p, text = LINEAR.model.sample(K), FILE.read_text(encoding="utf-8")
    every = list(all_coalitions((*p.parties, "charlie")))
    m = found(K, kinds(p, every) if K == MOST else None)
    assert K == MOST or {row.members for row in m.rows} == set(every)
    sparse = {row.session_label for row in m.rows if "ring_degree 2" in row.session_label}
    assert len(sparse) == (K >= 5)
    for row in m.rows:
        here = replace(p, ring_degree=2) if row.session_label in sparse else p
        assert {secret: cell.level for secret, cell in row.cells.items()} == by_hand(row, here), row
    if K == MOST:
        mine = text[text.index(f"{LINEAR.program.name}, {K} parties") :]
        assert mine.endswith(legend(m, LINEAR, every))
        assert rows_beside(m, mine) == []
    else:
        assert matrix_text.matrix_as_text(m) in text


def kinds(p: Parameters, every: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """One coalition for each number of members, with and without each hub, and, with both, of parties cut off."""
    ring = replace(p, ring_degree=2)
    found = {
        (*(hub in x for hub in sorted(HUBS)), len(x), len(cut_off(ring, x)) if set(x) >= HUBS else 0): x for x in every
    }
    return tuple(found.values())


@pytest.mark.parametrize("K", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_inside_the_claim_nothing_shows_but_what_the_functionality_tells(K: int) -> None:
    claimed = [row for row in found(K).rows if row.claimed]
    assert {row.members for row in claimed} == {row.members for row in found(K).rows if not set(row.members) >= HUBS}
    for row in claimed:
        charlie, inside = "charlie" in row.members, row.smallest in row.members
        told = {SMALLEST} if charlie and len(row.members) > 1 else set()
        if charlie and inside:  # its own noise is then the selected one, and it knows it
            told |= {s for s in row.cells if s.startswith(("exact sum", "w_"))}
        assert {s for s, cell in row.cells.items() if cell.beyond} <= told, row


# Number of parties, coalition, smallest party, secret, level.
TWINS: dict[str, tuple[int, tuple[str, ...], str, str, str]] = {
    "1 tags in the order of parties": (2, ("charlie",), "P2", SMALLEST, "all"),
    "2 no rho": (2, ("charlie",), "P2", SMALLEST, "partly"),
    "2 rho told": (2, ("charlie",), "P2", "rho", "all"),
    "5 no s": (2, ("charlie",), "P2", "selected noise(2)", "all"),
    "6 s of the tag": (2, ("charlie",), "P2", "selected noise(2)", "all"),
    "7 rows in clear": (2, ("P1",), "P1", "eta_2(2)", "all"),
    "7 P_1 knows the pad": (2, ("P1",), "P1", "eta_2(2)", "all"),
    "8 epk to Charlie": (2, ("charlie",), "P2", SMALLEST, "all"),
    "13 the row in Go": (3, ("P1",), "P2", SMALLEST, "all"),
    "14 both halves to Charlie": (2, ("charlie",), "P2", "n_2", "all"),
    "19 one seed for all edges": (2, ("charlie",), "P1", "w_2(2)", "all"),
    "19 seeds of zeros": (3, ("P3",), "P1", "w_2(2)", "all"),
    "20 no hub": (3, ("P1", "P3"), "P1", "w_2(2)", "all"),
    "27 no c": (2, ("P1",), "P2", SMALLEST, "partly"),
    "27 c told": (2, ("P1",), "P2", SMALLEST, "partly"),
    "Delta told": (2, ("charlie",), "P2", "n_2", "all"),
    "colours of labels told": (2, ("P1",), "P1", "n_2", "all"),
}


def row_of(program: Program, K: int, members: tuple[str, ...], smallest: str) -> Row:
    rows = coalition_matrix(replace(LINEAR, program=program, model=ONE_SETTING), K, chosen=(members,)).rows
    return next(row for row in rows if row.smallest == smallest)


@cache
def honest(K: int, members: tuple[str, ...], smallest: str) -> Row:
    return row_of(LINEAR.program, K, members, smallest)


@pytest.mark.parametrize("name", with_slow(TWINS, "19 seeds of zeros", "20 no hub"))
def test_twin_shows_in_its_cell(name: str) -> None:
    K, members, smallest, secret, level = TWINS[name]
    without = honest(K, members, smallest).cells[secret]
    with planted(name) as program:
        cell = row_of(program, K, members, smallest).cells[secret]
    assert (without.beyond, without.level == level, cell.level, cell.beyond) == (False, False, level, True)

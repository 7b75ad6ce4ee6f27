"""The coalition matrix against a table made by hand, and mutants that must change it in the right cell."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from broken.curator_twins import planted
from support.repetitions import with_slow

from protocols.errors import LocalError
from protocols.pathak2010 import PROGRAM, as_published, ideal
from protocols.pathak2010.protocol import LIMITS
from protocols.programs import PROTOCOLS, Protocol
from smc_dp.cli.main import main
from smc_dp.leakage import matrix_text
from smc_dp.leakage.matrix import OTHER_SUM, Matrix, Row, all_coalitions, coalition_matrix
from smc_dp.leakage.symbolic.world_runs import SMALLEST
from smc_dp.leakage.symbolic.worlds import World, nearby_worlds, rotate_permutations, single_moves
from tests.support.matrix_file import legend, rows_beside
from tests.support.refusals import refused

HARDENED, PRINTED = PROGRAM.name, as_published.PROGRAM.name
FOLDER = Path(as_published.__file__).parent
FILES = {HARDENED: FOLDER / "matrix-hardened.txt", PRINTED: FOLDER / "matrix-as-printed.txt"}
MOST = {HARDENED: 5, PRINTED: 4}  # parties in the files
# What a mutant tells, it tells in every setting.
ONE_SETTING = replace(ideal.MODEL, variants=lambda p: ())


def found(name: str, K: int, chosen: tuple[tuple[str, ...], ...] | None = None) -> Matrix:
    return _computed(name, K, chosen or chosen_of(name, K))


@cache
def _computed(name: str, K: int, chosen: tuple[tuple[str, ...], ...] | None) -> Matrix:
    return coalition_matrix(PROTOCOLS[name], K, chosen=chosen)


def levels(row: Row) -> dict[str, str]:
    return {secret: cell.level for secret, cell in row.cells.items()}


# By hand: what the theorem in `ideal.py` and its list of what is not claimed say, cell by cell.


def hardened(row: Row, K: int) -> dict[str, str]:
    charlie, inside = "charlie" in row.members, row.smallest in row.members
    parties = {m for m in row.members if m != "charlie"}
    outside = {f"P{j}" for j in range(1, K + 1)} - parties
    opened = charlie and bool(parties)  # the parties' key and Charlie's
    noise = opened and (inside or "P1" in parties)
    weights = "all" if noise else "listed" if inside else "nothing"
    vectors = {f"w_{j[1:]}": weights if len(outside) == 1 else "nothing" for j in outside}
    vectors |= {f"eta_{j[1:]}": "nothing" for j in outside if j != row.smallest}
    for name in parties:
        vectors |= {f"w_{name[1:]}": "own"} | ({f"eta_{name[1:]}": "own"} if name != row.smallest else {})
    vectors["selected noise"] = "own" if inside else "all" if noise else "nothing"
    vectors["exact sum"] = weights if outside else "own"
    # Each coordinate by itself, and their difference.
    places = ("{0}(1)", "{0}(2)", "{0}(1) - {0}(2)")
    table = {place.format(vector): level for vector, level in vectors.items() for place in places}
    table |= {f"n_{j[1:]}": "all" if opened else "nothing" for j in outside}
    table |= {f"n_{name[1:]}": "own" for name in parties}
    table[OTHER_SUM] = "nothing"
    table[SMALLEST] = "all" if opened or not outside else "nothing"
    table["pi_1"] = "own" if parties else "nothing"
    # P_1 sees which blinded place won, and members know the order of their own sizes: some pi_2 become more likely.
    table["pi_2"] = "own" if charlie else "partly" if "P1" in parties and len(parties) > 1 and K > 2 else "nothing"
    return table


def test_hardened_matrix_of_two_parties_is_the_table() -> None:
    rows = found(HARDENED, 2).rows
    assert len(rows) == 14
    for row in rows:
        assert levels(row) == hardened(row, 2), row


def every(K: int) -> list[tuple[str, ...]]:
    return list(all_coalitions((*(f"P{j}" for j in range(1, K + 1)), "charlie")))


def chosen_of(name: str, K: int) -> tuple[tuple[str, ...], ...] | None:
    """All coalitions (None); from four parties on, one with each number of them, with and without P1 and Charlie.

    The roles treat the other parties alike, as all coalitions of fewer parties show. As published they relay from
    neighbour to neighbour, so there it also counts whether the members are neighbours, where each line names them.
    """
    if K < 4:
        return None
    kinds = {kind_of(name, members): members for members in every(K)}
    if name == HARDENED:  # of numbers of members, those at the ends; all are tried among three
        kinds = {kind: members for kind, members in kinds.items() if len(members) in (1, 2, K)}
    return tuple(kinds.values())


def kind_of(name: str, members: tuple[str, ...]) -> tuple[object, ...]:
    by_name = name == PRINTED and not {"P1", "charlie"} & {*members}
    gaps = tuple(int(y[1:]) - int(x[1:]) > 1 for x, y in pairwise(members)) if by_name else ()
    return "P1" in members, "charlie" in members, len(members), gaps


def is_the_table(K: int) -> None:
    rows = found(HARDENED, K).rows
    assert {row.members for row in rows} == set(chosen_of(HARDENED, K) or every(K))
    for row in rows:
        wanted, got = hardened(row, K), levels(row)
        if K > 3:  # worlds nearby show that something is not determined, not how likely it is
            discrete = (SMALLEST, "pi_1", "pi_2")
            wanted |= {s: "not all" for s in discrete if wanted[s] in ("nothing", "partly")}
        assert got == wanted, row
    inside_the_claim_nothing_but_the_result_tells_of_an_input(K)


@pytest.mark.slow
def test_sampled_worlds_show_what_a_relay_tells_as_printed() -> None:
    """P_2 reads the a_j of another party, which does not exceed n_j: not in a world in which pi_1 moves nobody."""
    rows = found(PRINTED, 4, (("P2",),)).rows
    assert all("partly" in {c.level for s, c in row.cells.items() if s.startswith("n_")} for row in rows)


def test_inside_the_claim_nothing_but_the_result_tells_of_an_input() -> None:
    inside_the_claim_nothing_but_the_result_tells_of_an_input(2)


def inside_the_claim_nothing_but_the_result_tells_of_an_input(K: int) -> None:
    """The theorem: Charlie alone, or any parties without him, could make their view from the result."""
    claimed = [r for r in found(HARDENED, K).rows if r.members in coalitions_claimed(K)]
    assert claimed
    for row in claimed:
        assert [s for s, cell in row.cells.items() if cell.beyond and s != "pi_2"] == []


def coalitions_claimed(K: int) -> list[tuple[str, ...]]:
    return [("charlie",), *all_coalitions([f"P{j}" for j in range(1, K + 1)])]


def printed(members: tuple[str, ...], smallest: str) -> dict[str, str]:
    """By hand for K = 2: step 1.2 shows pi_1 to Charlie, and with it who is smallest; a_j, r and s are short; psi_j is
    stale, so every party finds every eta_j, one of which it can take off the sum.
    """
    if members == ("charlie",):
        hints = dict.fromkeys(["n_1", "n_2", "selected noise(1)", "selected noise(2)", "exact sum(2)"], "partly")
        return hints | {SMALLEST: "all", "pi_1": "all", "pi_2": "own"}
    mine = "12".index(members[0][1]) + 1
    other = 3 - mine
    lone = "charlie" not in members
    table = {f"n_{other}": "partly" if lone else "all"}
    for i in (1, 2):
        table |= dict.fromkeys([f"w_{other}({i})", f"exact sum({i})"], "listed" if lone else "all")
        if smallest == f"P{mine}":
            table[f"eta_{other}({i})"] = "all"
        else:
            table[f"selected noise({i})"] = "listed" if lone else "all"
    return table


@pytest.mark.parametrize("members", [("P1",), ("P2",), ("charlie",), ("P1", "charlie"), ("P2", "charlie")])
def test_printed_matrix_of_two_parties_is_the_table(members: tuple[str, ...]) -> None:
    rows = [row for row in found(PRINTED, 2).rows if row.members == members]
    assert len(rows) == 2
    for row in rows:
        wanted = printed(members, row.smallest)
        assert {s: row.cells[s].level for s in wanted} == wanted, row
        assert all(row.cells[s].beyond for s in wanted if wanted[s] in ("all", "partly")), row


# Twin, number of parties, coalition, smallest party, secret, level.
SHOWN: list[tuple[str, int, tuple[str, ...], str, str, str]] = [
    ("pi_2 is not applied", 3, ("P1",), "P2", SMALLEST, "partly"),
    ("r is missing", 2, ("P1",), "P2", "pi_2", "all"),
    ("r is too short", 2, ("P1",), "P2", "pi_2", "partly"),
    ("no covers", 2, ("charlie",), "P2", SMALLEST, "all"),
    ("no covers", 2, ("charlie",), "P2", "pi_1", "all"),
    ("psi_j is stale", 2, ("P1",), "P1", "eta_2(2)", "all"),
    ("psi_j is stale", 2, ("P1",), "P2", "selected noise(2)", "listed"),
    ("s is missing", 2, ("charlie",), "P2", "exact sum(2)", "all"),
    ("s is too short", 2, ("charlie",), "P2", "selected noise(2)", "partly"),
    ("summands are announced", 2, ("charlie",), "P2", "w_2(2)", "all"),
    ("coins are shown to Charlie", 2, ("charlie",), "P2", SMALLEST, "all"),
]


@pytest.mark.parametrize(("name", "K", "members", "smallest", "secret", "level"), with_slow(SHOWN, SHOWN[0]))
def test_twin_changes_its_cell(
    name: str, K: int, members: tuple[str, ...], smallest: str, secret: str, level: str
) -> None:
    with planted(name) as program:
        rows = coalition_matrix(Protocol(program, ONE_SETTING, None, LIMITS), K, chosen=(members,)).rows
    row = next(r for r in rows if r.smallest == smallest)
    assert (hardened(row, K)[secret], row.cells[secret].level) == ("nothing", level)
    assert row.cells[secret].beyond


def test_a_relay_passed_on_as_it_came_shows_nothing_more() -> None:
    """Charlie reads a randomiser that only its sender knows, and with that sender he can open everything anyway."""
    with planted("a relay is passed on as it came") as program:
        rows = coalition_matrix(Protocol(program, ONE_SETTING, None, LIMITS), 2).rows
    for row in rows:
        assert levels(row) == hardened(row, 2)


def test_printed_with_plain_blinding_shows_pi_2_to_all_parties() -> None:
    protocol = Protocol(as_published.PLAIN_BLINDING, replace(as_published.MODEL, variants=lambda p: ()), None, LIMITS)
    everybody = ("P1", "P2")
    assert {r.cells["pi_2"].level for r in coalition_matrix(protocol, 2, chosen=(everybody,)).rows} == {"all"}
    assert {r.cells["pi_2"].level for r in found(PRINTED, 2).rows if r.members == everybody} == {"partly"}


def test_a_protocol_whose_model_names_too_few_permutations_is_refused() -> None:
    model = replace(ideal.MODEL, permutations=("pi_1",))
    with refused("model.permutation_without_name", error=LocalError):
        coalition_matrix(Protocol(PROGRAM, model, None, LIMITS), 2)


# Worlds.


def test_moves_take_one_place_elsewhere() -> None:
    assert sorted(single_moves(3)) == [(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1)]
    assert len(single_moves(4)) == 9
    assert all(sorted(m) == [0, 1, 2, 3] for m in single_moves(4))


def test_turned_world_moves_every_place_and_keeps_the_order() -> None:
    assert rotate_permutations(World(((0, 1, 2, 3), (0, 1, 2, 3)), (1, 2, 3, 0))) == World(
        ((1, 2, 3, 0), (2, 3, 0, 1)), (1, 2, 3, 0)
    )


def test_worlds_nearby_are_others_and_keep_their_shape() -> None:
    world = World(((0, 1, 2, 3), (0, 1, 2, 3)), (1, 2, 3, 0))
    around = nearby_worlds(world)
    assert world not in around
    assert len(set(around)) == len(around)
    assert all(sorted(x) == [0, 1, 2, 3] for w in around for x in (*w.permutations, w.ranks))


# What a person gets.


def table(name: str, K: int) -> str:
    return matrix_text.matrix_as_text(found(name, K))


@pytest.mark.parametrize("name", FILES)
def test_checked_in_matrix_of_two_parties_is_the_computed_one(name: str) -> None:
    assert table(name, 2) in FILES[name].read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_what_a_coalition_learns_stands_before_the_wide_table(name: str) -> None:
    _, said, wide, key = matrix_text.matrix_as_text(found(name, 2), 120).split("\n\n")
    assert max(map(len, said.splitlines())) <= 120 < max(map(len, wide.splitlines()))
    unfolded = table(name, 2).split("\n\n")
    assert len(unfolded[1].splitlines()) == len(wide.splitlines()) - 1, "a line for each coalition"
    assert unfolded[2] == wide
    assert len(unfolded[3].splitlines()) == 3 < len(key.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "K"), [(name, K) for name, most in MOST.items() for K in range(2, most + 1)])
def test_checked_in_matrices_are_the_computed_ones_and_those_by_hand(name: str, K: int) -> None:
    text = FILES[name].read_text(encoding="utf-8")
    begins = [text.index(f"{name}, {k} parties:") for k in range(2, MOST[name] + 1)]
    mine = text[begins[K - 2] :] if MOST[name] == K else text[begins[K - 2] : begins[K - 1] - len("\n\n")]
    assert begins[0] == 0
    if chosen_of(name, K) is None:
        assert mine == table(name, K)
    else:
        m = found(name, K)
        assert mine.endswith(legend(m, PROTOCOLS[name], every(K)))
        assert rows_beside(m, mine) == []
    if name == HARDENED:
        is_the_table(K)


@pytest.mark.slow
def test_command_prints_every_cell_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "matrix", HARDENED, "--parties", "2", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(json.dumps(found(HARDENED, 2).as_dict()))
    assert printed["rows"][0]["cells"]["exact sum(2)"]["how"]
    assert printed["settings"][0] == "dimension 2, key_bits 256, ring_bits 64"


@pytest.mark.parametrize(
    ("args", "code", "fields"),
    [
        ((), "option.not_one_of", {"option": "PROTOCOL"}),
        (("other",), "option.not_one_of", {"option": "PROTOCOL"}),
        ((HARDENED, "--parties", "6"), "options.too_many_parties", {"most": 5, "got": 6}),
        ((HARDENED, "--parties", "1"), "option.too_small", {"option": "--parties", "least": 2, "got": 1}),
    ],
)
def test_command_refuses(
    args: tuple[str, ...], code: str, fields: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", "matrix", *args, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == code
    assert error["fields"].items() >= fields.items()

"""The coalition matrix of the secure sum against a table made by hand, pattern by pattern, and twins that change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from broken.sum_twins import planted
from support.repetitions import with_slow

from protocols import secure_sum
from protocols.programs import PROTOCOLS, Protocol
from protocols.runtime.session import Program
from protocols.secure_sum import complaints, dealing, ideal, leakage_model
from protocols.secure_sum.parameters import Parameters
from smc_dp.cli.main import main
from smc_dp.leakage import matrix_text
from smc_dp.leakage.matrix import OTHER_SUM, Cell, Matrix, Row, all_coalitions, coalition_matrix
from smc_dp.leakage.matrix_groups import cells_by_secret, group_rows_by_kind
from smc_dp.leakage.symbolic.patterns import Pattern

SUMS = PROTOCOLS[secure_sum.PROGRAM.name]
FILE = Path(secure_sum.__file__).parent / "matrix.txt"
SOME = (("charlie",), ("P2", "P3"), ("P1", "charlie"), ("P1", "P2", "charlie"))
CONVERSATION = ("Masked", "Signed", "Unmask")  # of a party in each sum, in its order


LAST = ("P3",)  # who may vanish, where it makes no difference who it is


@cache
def found(K: int, chosen: tuple[tuple[str, ...], ...] | None = SOME, leaving: tuple[str, ...] | None = LAST) -> Matrix:
    model = SUMS.model if leaving is None else replace(SUMS.model, drop_outs=lambda p: leaving)
    return coalition_matrix(replace(SUMS, model=model), K, chosen=chosen)


def with_dropouts(m: Matrix) -> list[Row]:
    return [row for row in m.rows if not row.session_label or "dropouts 1" in row.session_label]


def sent_in_time(p: Parameters, pattern: Pattern, kind: str, r: int) -> bool:
    """Whether the letter of this kind in sum r comes in time, of the party that the pattern is about."""
    if not pattern.name:
        return True
    missed, _, stage = pattern.place.partition(" in ")
    if stage == "setup":
        return holds_up(p, pattern)  # else nobody starts
    when, this = (int(stage.removeprefix("sum")), CONVERSATION.index(missed)), (r, CONVERSATION.index(kind))
    return this != when if pattern.late else this < when


def holds_up(p: Parameters, pattern: Pattern) -> bool:
    """Whether shares are late: their holder accuses the dealer, which opens them, and all go on."""
    return p.may_accuse_silence and pattern.late and pattern.place == "Shares in setup"


def read_in_setup(p: Parameters, pattern: Pattern, members: Sequence[str]) -> bool:
    """Whether these, with Charlie, know shares enough of a dealer whose shares for one holder were late."""
    if not holds_up(p, pattern):
        return False
    others = [name for name in p.parties if name != pattern.name]
    holders = {*members, others[pattern.message_number - 2]} - {"charlie"}
    return "charlie" in members and len(holders) >= p.T


def left(p: Parameters, pattern: Pattern, r: int) -> bool:
    """Whether the masked input has left, in time or not."""
    return sent_in_time(p, pattern, "Masked", r) or (pattern.late and not pattern.place.endswith("setup"))


def table(p: Parameters, row: Row) -> dict[str, tuple[str, str]]:
    """What a row has to show: of each secret the level, and what the result alone gives."""
    parties = [j for j, name in enumerate(p.parties, start=1) if name in row.members]
    place = {i: r for i, r in enumerate((r for r in range(p.R) for _ in range(p.length(r))), start=1)}
    opens = "charlie" in row.members and len(parties) >= p.T
    started = holds_up(p, row.pattern) or not row.pattern.place.endswith("setup")
    known = {row.pattern.name} if read_in_setup(p, row.pattern, row.members) else set()
    cells: dict[str, tuple[str, str]] = {}
    for j, name in enumerate(p.parties, start=1):
        for letter in "xEz":
            for i, r in place.items():
                late = row.pattern if name == row.pattern.name else Pattern()
                others = [k for k in taking_part(p, row.pattern, r) if k not in parties]
                by_sum = "all" if started and others == [j] else "nothing"
                alone = name in known or [p.parties[k - 1] for k in others if p.parties[k - 1] not in known] == [name]
                seen = "all" if (opens and started and left(p, late, r)) or (known and alone) else by_sum
                both = (seen, by_sum) if letter == "z" else ("nothing", "nothing")
                cells[f"{letter}_{j}({i})"] = ("own", "own") if j in parties else both
    return cells


def taking_part(p: Parameters, pattern: Pattern, r: int) -> list[int]:
    """Who is in sum r."""
    return [
        j for j, name in enumerate(p.parties, start=1) if name != pattern.name or sent_in_time(p, pattern, "Masked", r)
    ]


def check(m: Matrix, p: Parameters) -> int:
    """Compare all rows with dropouts with the table; how many there were."""
    rows = with_dropouts(m)
    for row in rows:
        for secret, wanted in table(p, row).items():
            got = row.cells[secret]
            assert (got.level, got.release) == wanted, (row.members, str(row.pattern), secret, got)
        sums = [cell.level for secret, cell in row.cells.items() if secret.startswith("S(")]
        assert row.cells[OTHER_SUM].level == "nothing"
        assert "charlie" not in row.members or set(sums) <= {"all", "own"}, (row.members, str(row.pattern))
    return len(rows)


@pytest.mark.parametrize("all_of_it", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_matrix_of_three_parties_is_the_table(all_of_it: bool) -> None:
    m, coalitions, leaving = (found(3, None, None), 15, 3) if all_of_it else (found(3), len(SOME), 1)
    patterns = 1 + leaving * 2 * (3 + 2 * 3)  # each vanished or late, three letters in setup and three in each sum
    for verifiable in (False, True):
        part = replace(m, rows=tuple(row for row in m.rows if f"verifiable {verifiable}" in row.session_label))
        assert check(part, replace(leakage_model.sample_session(3), verifiable=verifiable)) == coalitions * patterns
    assert not all_of_it or matrix_text.matrix_as_text(m) in FILE.read_text(encoding="utf-8")


def test_without_dropouts_no_coalition_learns_more_than_the_sum() -> None:
    rows = [row for row in found(3).rows if "dropouts 0" in row.session_label]
    assert {row.pattern.place for row in rows} == {"", "Ready in setup", "Masked in sum0", "Masked in sum1"}
    assert [row for row in rows if row.beyond] == []


def test_margin_and_claim_stand_side_by_side() -> None:
    """Of three T - 1 = 1 who follow the protocol, t = 0 who do not; of two, of whom none may vanish, any and 0."""
    for m, computed, claimed in (
        (found(3), "up to 1 of 3", "up to 0 of 3"),
        (found(2, None, ("P2",)), "up to 2 of 2", "up to 0 of 2"),
    ):
        said = next(
            line for line in matrix_text.matrix_as_text(m).splitlines() if line.startswith("Nothing more than the sum")
        )
        assert f"to charlie and {computed} parties" in said
        assert f"about charlie and {claimed} parties" in said
        assert "malicious" in said


def test_lines_cover_every_row_and_no_row_has_a_smallest_party() -> None:
    m = found(3)
    sessions = {row.session_label for row in m.rows}
    assert len(sessions) == 4
    assert {row.smallest for row in m.rows} == {""}
    for session in sessions:
        part = replace(m, rows=tuple(row for row in m.rows if row.session_label == session))
        told = [line.cells for line in group_rows_by_kind(part)]
        for row in part.rows:
            assert any(all(v in ("own", line.get(k)) for k, v in cells_by_secret(row).items()) for line in told), row


def test_json_names_the_patterns_of_a_row() -> None:
    entries = [e for e in found(3).as_dict()["rows"] if e["members"] == ["P1", "P2", "charlie"]]
    beyond = {p for e in entries if any(c["beyond"] for c in e["cells"].values()) for p in e["patterns"]}
    assert beyond == {"P3 late with Masked in sum0", "P3 late with Masked in sum1"}
    assert {p for e in entries for p in e["patterns"]} > {"nobody missing", "P3 vanished before Ready in setup"}


def test_two_parties_share_masks_and_nothing_else() -> None:
    assert [row for row in found(2, None, ("P2",)).rows if row.beyond] == []


# In a circle of six with four neighbours each, of whom two open a seed: all but the one on the other side.

CIRCLE = leakage_model.profiles(leakage_model.sample_session(6))[-1]
IN_ORDER = tuple(f"P{j}" for j in range(1, 7))


def around(
    chosen: tuple[tuple[str, ...], ...] | None, leaving: tuple[str, ...], program: Program = SUMS.program
) -> Matrix:
    model = replace(SUMS.model, sample=lambda K: CIRCLE, profiles=lambda p: (), drop_outs=lambda p: leaving)
    return coalition_matrix(replace(SUMS, model=model, program=program), 6, chosen=chosen)


def half_of_all() -> tuple[tuple[str, ...], ...]:
    """Every coalition, or the one on the other side of P6, where the same parties are neighbours."""
    other = {name: f"P{6 - j}" for j, name in enumerate(IN_ORDER[:5], start=1)}
    sides = ((c, tuple(sorted(other.get(name, name) for name in c))) for c in all_coalitions((*IN_ORDER, "charlie")))
    return tuple(dict.fromkeys(min(both) for both in sides))


def neighbours_of(j: int, members: Sequence[str]) -> int:
    return sum((i - j) % 6 in (1, 2, 4, 5) for i in range(1, 7) if f"P{i}" in members)


def read_alone(row: Row) -> set[int]:
    """Of whom the coalition has what it added, noise included, though others were in the sum as well."""
    told = [secret for secret, cell in row.cells.items() if secret.startswith("z_") and cell.beyond]
    return {int(secret[2:].partition("(")[0]) for secret in told}


@pytest.mark.parametrize("all_of_it", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_in_a_circle_charlie_reads_whom_enough_of_his_stand_beside(all_of_it: bool) -> None:
    some = (("charlie",), ("P2", "charlie"), ("P1", "P2", "charlie"), ("P1", "P4", "charlie"), IN_ORDER)
    m = around(half_of_all(), ("P6",)) if all_of_it else around(some, ())
    assert CIRCLE.T == 2
    for row in m.rows:
        read, others = read_alone(row), {j for j in range(1, 7) if f"P{j}" not in row.members}
        wanted = {j for j in others if "charlie" in row.members and neighbours_of(j, row.members) >= 2}
        if wanted and len(others - wanted - {6 if row.pattern.name else 0}) <= 1:
            wanted = others  # the last of them follows from the sum
        assert read <= wanted, (row.members, str(row.pattern))
        assert row.pattern.name or read == wanted or len(others) == 1, (row.members, read)
        assert not (row.claimed and row.beyond), (row.members, str(row.pattern))
        assert not row.even_malicious
    assert "malicious" not in matrix_text._margin(m)


# In a circle of six with two neighbours each, and nobody may vanish: two of Charlie's tear it if they are apart.

CLOSED = leakage_model.profiles(leakage_model.sample_session(6))[-2]


@pytest.mark.parametrize("all_of_it", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_in_a_closed_circle_charlie_reads_the_sum_of_each_stretch_between_his(all_of_it: bool) -> None:
    """And so what a party adds that stands alone between two of them; of the others nothing but their sum."""
    some = (("charlie",), ("P2", "charlie"), ("P1", "P2", "charlie"), ("P1", "P3", "charlie"), ("P1", "P4", "charlie"))
    assert (CLOSED.degree, CLOSED.D, CLOSED.t) == (2, 0, 1)
    for row in coalition_matrix(only(CLOSED, ()), 6, chosen=None if all_of_it else (*some, IN_ORDER)).rows:
        stretches = stretches_without(row.members) if "charlie" in row.members else []
        alone = {j for stretch in stretches for j in stretch if len(stretch) == 1 < len(stretches)}
        assert read_alone(row) == alone, row.members
        # With the result and those who stand alone, the sum of one longer stretch tells nothing more.
        longer = [stretch for stretch in stretches if len(stretch) > 1]
        assert (row.cells[OTHER_SUM].level == "all") == (len(longer) > 1), row.members
        assert not (row.claimed and row.beyond), row.members
        assert not row.even_malicious


def stretches_without(members: Sequence[str]) -> list[set[int]]:
    """The honest of a circle of six, by who stands beside whom."""
    found: list[set[int]] = []
    for j in (j for j in range(1, 7) if f"P{j}" not in members):
        beside = [stretch for stretch in found if {(j - 2) % 6 + 1, j % 6 + 1} & stretch]
        found = [*(stretch for stretch in found if stretch not in beside), {j}.union(*beside)]
    return found


def test_shares_that_are_not_covered_are_seen() -> None:
    """The twin: what neighbours send each other through Charlie is encrypted under a key that he has."""
    with planted("shares under a key that Charlie has") as program:
        (row,) = around((("charlie",),), (), program).rows
    assert read_alone(row) == set(range(1, 7))


@pytest.mark.slow
def test_the_command_prints_the_checked_in_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "matrix", secure_sum.PROGRAM.name, "--parties", "2"]) == 0
    assert FILE.read_text(encoding="utf-8").startswith(capsys.readouterr().out)


@pytest.mark.slow
def test_matrix_of_four_parties_is_the_table() -> None:
    """T is 3 and t is 1: with two parties Charlie learns no more than with none."""
    chosen = (("P1",), ("P2", "P3", "P4"), ("P3", "charlie"), ("P1", "P4", "charlie"), ("P1", "P2", "P3", "charlie"))
    m = coalition_matrix(only(ideal.MODEL.sample(4)), 4, chosen=chosen)
    assert check(m, leakage_model.sample_session(4)) == len(chosen) * (1 + 4 * 2 * (4 + 2 * 3))


# Twins: what is left out shows in the named cell.


def only(p: Parameters, leaving: tuple[str, ...] | None = None) -> Protocol:
    """The protocol in this session alone."""
    may = p.parties if leaving is None else leaving
    model = replace(ideal.MODEL, sample=lambda K: p, profiles=lambda p: (), drop_outs=lambda p: may)
    return replace(SUMS, model=model)


ONE_AND_ALL = leakage_model.sample_session(3)
OF_FIVE = replace(leakage_model.sample_session(5), colluders=0)
LATE, GONE = "P3 late with Masked in sum0", "P3 vanished before Masked in sum1"
# Session, coalition, pattern, secret; and how much of it shows.
TWINS: dict[str, tuple[Parameters, tuple[str, ...], str, str, str]] = {
    "T := t": (leakage_model.sample_session(4), ("P1", "charlie"), LATE, "z_3(1)", "all"),
    "no self mask": (ONE_AND_ALL, ("charlie",), LATE, "z_3(1)", "all"),
    "both kinds of shares": (ONE_AND_ALL, ("charlie",), "nobody missing", "z_1(1)", "all"),
    "one mask key for all sums": (ONE_AND_ALL, ("charlie",), GONE, "z_3(1)", "all"),
    "one seed for all sums": (ONE_AND_ALL, ("charlie",), LATE, "z_3(1)", "all"),
    "no noise": (ONE_AND_ALL, ("P1", "P2", "charlie"), "nobody missing", "x_3(1)", "all"),
    "no noise in what is asked for": (ONE_AND_ALL, ("P1", "P2", "charlie"), "nobody missing", "x_3(3)", "all"),
    "digests that can be tried": (OF_FIVE, ("P1", "P2", "P3"), "nobody missing", "z_4(1)", "partly"),
    "one context for all sums": (
        leakage_model.profiles(ONE_AND_ALL)[0],
        ("charlie",),
        "nobody missing",
        OTHER_SUM,
        "all",
    ),
}


def cell(m: Matrix, session: str, members: tuple[str, ...], pattern: str, secret: str) -> Cell:
    which = (session, members, pattern)
    return next(
        row.cells[secret] for row in m.rows if (row.session_label or session, row.members, str(row.pattern)) == which
    )


@pytest.mark.parametrize("name", with_slow(TWINS, "T := t", "one mask key for all sums", "one seed for all sums"))
def test_twin_shows_in_its_cell(name: str) -> None:
    p, members, pattern, secret, level = TWINS[name]
    alone = only(p, () if pattern == "nobody missing" else LAST)
    with planted(name) as program:
        m = coalition_matrix(replace(alone, program=program), p.K, chosen=(members,))
    got = cell(m, "", members, pattern, secret)
    assert got.level == level
    assert got.beyond


@pytest.mark.parametrize("name", [name for name, (p, *_) in TWINS.items() if p.K == 3])
def test_that_cell_shows_nothing_without_the_twin(name: str) -> None:
    p, members, pattern, secret, _ = TWINS[name]
    sessions = dict.fromkeys(row.session_label for row in found(3).rows)
    session = next(s for s in sessions if f"dropouts {p.D}," in s and "verifiable False" in s)
    assert cell(found(3), session, members, pattern, secret).level == "nothing"


def test_enough_shares_open_what_single_parties_add() -> None:
    """Of five parties without colluders T is 3, which leaves two: their sum hides neither from Charlie and three."""
    p = OF_FIVE
    three, two = ("P1", "P2", "P3"), ("P1", "P2")
    chosen = (three, (*two, "charlie"), (*three, "charlie"))
    for verifiable in (False, True):
        rows = coalition_matrix(only(replace(p, verifiable=verifiable), ()), 5, chosen=chosen).rows
        opened = {row.members: row.cells["z_4(1)"].level for row in rows}
        alone = "all" if verifiable else "nothing"
        assert opened == {three: alone, (*two, "charlie"): "nothing", (*three, "charlie"): "all"}
        assert {cell.level for row in rows for secret, cell in row.cells.items() if secret[:4] in ("x_4(", "E_4(")} == {
            "nothing"
        }


# Complaints: everybody's shares for P2 are zeros, P2 complains of all, and all disclose them.


def complaining(members: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> Row:
    given = dealing.shares_for_holder
    monkeypatch.setattr(
        dealing,
        "shares_for_holder",
        lambda of, holder: complaints.wrong_shares(given(of, holder)) if holder == 1 else given(of, holder),
    )
    (row,) = coalition_matrix(only(leakage_model.sample_session(4), ()), 4, chosen=(members,)).rows
    return row


@pytest.mark.parametrize("members", [("charlie",), ("P2", "charlie"), ("P1", "charlie"), ("P1", "P3", "P4")])
def test_what_a_complaint_opens_tells_no_claimed_coalition_more(
    members: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """T is 3 and t is 1. Charlie gets a share of every secret from whoever complains, who is one of the t."""
    row = complaining(members, monkeypatch)
    assert read_alone(row) == set()
    assert not row.beyond


def test_who_complains_falsely_stands_in_every_coalition_with_charlie(monkeypatch: pytest.MonkeyPatch) -> None:
    two = ("P1", "P3", "charlie")
    (without,) = coalition_matrix(only(leakage_model.sample_session(4), ()), 4, chosen=(two,)).rows
    assert read_alone(without) == set()
    assert read_alone(complaining(two, monkeypatch)) == {2, 4}

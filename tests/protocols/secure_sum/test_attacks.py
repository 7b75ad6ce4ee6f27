"""Attacks by Charlie and his parties, each against a version of the roles without its defence, where it reads what it
should not, and against the roles as they are.
"""

from __future__ import annotations

from broken.secure_sum_mutants import CHARGED_AT_THE_END, EQUAL_KEYS, LABEL, ONE_KEY, PARTIAL, QUORUM, THRESHOLD
from support import role_code
from support.coalition import Coalition, session
from support.role_code import Code, copied
from support.sum_checks import ALL, HONEST, five, over, split
from support.sum_checks_course import unanswered
from support.sum_checks_secrets import copied_key, copied_with_top_bit, copied_with_torsion, partitioned, withheld


def lone(c: Coalition, name: str, r: int = 0) -> bool:
    """Whether the coalition has read what this party alone added to sum r."""
    return any(read.of == {name} and read.value == c.added(name, r) for read in c.readable(r))


def test_a1_greetings_withheld_from_some_read_one_party_alone() -> None:
    assert lone(partitioned(copied(*PARTIAL, THRESHOLD)), "P1")
    # The second wall: with T = Q the few who know P1 have too few shares of its seed.
    assert not lone(partitioned(copied(*PARTIAL)), "P1")
    c = withheld(role_code.honest())
    assert not c.to_charlie("Masked")
    assert not c.charged


def vanished_in_the_second_sum(code: Code) -> Coalition:
    """P1 is in sum 0, and not in sum 1."""
    c = five(code, (1, 1))
    over(c)
    c.lead(1, ALL[1:], HONEST)
    return c


def test_a2_a_mask_key_for_the_session_opens_the_sum_before() -> None:
    assert lone(vanished_in_the_second_sum(copied(*ONE_KEY)), "P1")
    c = vanished_in_the_second_sum(role_code.honest())
    assert [read.of for read in c.readable(0)] == [set(HONEST)]
    assert [read.of for read in c.readable(1)] == [set(HONEST[1:])]


def with_a_copied_key(code: Code, copy: object = copied_key) -> Coalition:
    """K = 3, D = 0: the third party greets with the first one's mask key. The second has masks with both."""
    c = session(code, 3, 1, 0)
    c.greet()
    hello = c.greeting("P3", lambda said: copy(c, said))  # type: ignore[operator]
    for board in c.boards.values():
        board["P3"] = hello
    c.pump()
    c.start()
    return c


def bare(c: Coalition) -> bool:
    """Whether P2 has sent what it adds as it is."""
    return c.to_charlie("Masked")["P2"].y == c.added("P2", 0)


def test_a3_a_copied_mask_key_cancels_the_masks_of_a_third() -> None:
    assert bare(with_a_copied_key(copied(LABEL, EQUAL_KEYS)))
    # Either wall is enough.
    assert not bare(with_a_copied_key(copied(EQUAL_KEYS)))
    for code in (copied(LABEL), role_code.honest()):
        for copy in (copied_key, copied_with_top_bit, copied_with_torsion):
            c = with_a_copied_key(code, copy)
            assert not c.to_charlie("Masked")
            assert not c.charged
            # Nobody can tell the copy from the original, so nobody is blamed.
            assert not c.failed
            assert {process.end for process in c.honest.values()} == {"stopped"}


def test_a4_two_lists_of_survivors_open_both_secrets_of_everybody_between() -> None:
    c = split(copied(QUORUM))
    assert all(lone(c, name) for name in HONEST)
    assert not split(role_code.honest()).readable(0)


def test_a7_who_vanishes_after_its_masked_input_is_in_the_sum() -> None:
    broken, c = unanswered(copied(*CHARGED_AT_THE_END)), unanswered(role_code.honest())
    assert ("P1", "sum 0") not in broken.charged  # though it is in the sum that was read
    assert c.charged.count(("P1", "sum 0")) == 1
    assert not c.voided
    # Only a certificate voids a charge, and it does when it lacks the party.
    c = vanished_in_the_second_sum(role_code.honest())
    assert c.voided == [("P1", "sum 1")]

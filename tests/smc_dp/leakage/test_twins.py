"""Twins of role code that leak: the matrix has to catch each, and `distribution` some of them as well.

To catch is to show that a coalition learns more than of the honest protocol, or to refuse the run, for what forms
cannot follow is not passed over.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import pytest
from broken import curator_coin_twins as coins
from broken import curator_tell_twins as tell
from support.repetitions import with_slow
from support.two_worlds import compare_worlds

from protocols.arithmetic.rng import Stream
from protocols.errors import LocalError
from protocols.pathak2010 import PROGRAM, ideal
from protocols.pathak2010.protocol import LIMITS
from protocols.programs import Protocol
from protocols.runtime.claims import Model
from protocols.runtime.session import Program
from smc_dp.leakage.distributions import SIGNIFICANCE, real_readings
from smc_dp.leakage.matrix import LEVELS, Cell, Row, coalition_matrix
from tests.support.refusals import refused


class Twin(NamedTuple):
    """A program, how many parties it takes, the coalition that gains, and of what; `refused` is the code of the
    refusal where the run over symbols stops instead. `distribution`: whether `distribution` has to reject it too.
    """

    program: Program
    parties: int
    members: tuple[str, ...]
    gains: str = ""
    refused: str = ""
    law: bool = False


CHARLIE, P2 = ("charlie",), ("P2",)
TWINS: dict[str, Twin] = {
    # Coins again.
    "one share for all coordinates": Twin(coins.SHARES_FOR_ALL, 2, CHARLIE, "w_2", law=True),
    "one mask for all coordinates": Twin(coins.MASK_FOR_ALL, 2, CHARLIE, "selected noise", law=True),
    "a mask for one pack only": Twin(coins.MASK_OF_ONE_PACK, 2, CHARLIE, "selected noise", law=True),
    "a mask is a share": Twin(coins.MASK_IS_A_SHARE, 2, CHARLIE, "selected noise"),
    "shares alike": Twin(coins.SHARES_ALIKE, 3, ("P3", "charlie"), "w_2"),
    "the share of the size again": Twin(coins.SIZE_AGAIN, 3, ("P3", "charlie"), "w_2"),
    "all parties with one coin": Twin(coins.COMMON_COINS, 3, CHARLIE, "w_2"),
    "one randomiser for all of u": Twin(coins.SELECTED_ALIKE, 2, P2, "who is smallest"),
    # Told in covers.
    "the second weight": Twin(tell.IN_COVERS["second_weight"], 2, P2, "w_1"),
    "noise under few coins": Twin(tell.IN_COVERS["other_noise"], 2, P2, "eta_1"),
    "a length": Twin(tell.IN_COVERS["length"], 2, P2, refused="symbol.asked_for_length"),
    "the lowest bit": Twin(tell.IN_COVERS["lowest_bit"], 2, P2, refused="symbol.digits_with_carry"),
    "under even coins": Twin(tell.IN_COVERS["under_even_coins"], 2, P2, "w_1"),
    "a product": Twin(tell.IN_COVERS["product"], 2, P2, refused="symbol.two_multiplied"),
    "a refusal that is caught": Twin(tell.IN_COVERS["caught"], 2, P2, refused="symbol.other_bits_masked"),
    "a refusal that is caught by name": Twin(tell.IN_COVERS["caught_by_name"], 2, P2, refused="role.goes_on_undecided"),
    "with long keys": Twin(tell.IN_COVERS["with_long_keys"], 2, P2, "w_1"),
    "with the longest keys": Twin(tell.IN_COVERS["with_the_longest_keys"], 2, P2, "n_1"),
    # Told elsewhere.
    "the last weight in the clear": Twin(tell.LAST_IN_THE_CLEAR, 2, CHARLIE, "w_2", law=True),
    "an even mask": Twin(tell.EVEN_MASK, 2, CHARLIE, "selected noise"),
    "in the order of pi_1": Twin(tell.ORDER_OF_PI_1, 3, CHARLIE, "pi_1"),
    "doubts in words": Twin(tell.DOUBTING, 2, P2, refused="symbol.put_into_words"),
    "a coin as a number": Twin(tell.COIN_AS_A_NUMBER, 2, CHARLIE, refused="role.sends_random_bytes_as_number"),
    "named after the winner": Twin(tell.NAMED_AFTER_THE_WINNER, 2, P2, "who is smallest"),
    # Told by comparisons.
    "compared without a mask": Twin(tell.COMPARED_WITHOUT_MASK, 2, CHARLIE, "n_1"),
    "compared with one coin": Twin(tell.COMPARED_WITH_ONE_COIN, 3, CHARLIE, "n_1"),
    "a top bit in the order": Twin(tell.TOP_BIT_IN_THE_ORDER, 2, P2, refused="symbol.asked_for_equality"),
}
VARIED = {"with long keys": slice(1, 2), "with the longest keys": slice(3, 4)}  # told in these variants
ONE_SETTING = replace(ideal.MODEL, variants=lambda p: ())
# Where another twin tells the same in the same way.
AGAIN = ("one share for all coordinates", "a mask for one pack only")


def found(program: Program, twin: Twin, model: Model) -> tuple[Row, ...]:
    return coalition_matrix(Protocol(program, model, None, LIMITS), twin.parties, chosen=(twin.members,)).rows


@cache
def honest(parties: int, members: tuple[str, ...]) -> tuple[Row, ...]:
    """What the coalition gets of the protocol itself."""
    return found(PROGRAM, Twin(PROGRAM, parties, members), ONE_SETTING)


def caught(twin: Twin, model: Model = ONE_SETTING) -> None:
    """The matrix shows that the coalition learns more than of the protocol, or the run is refused."""
    if twin.refused:
        with refused(twin.refused, error=LocalError):
            found(twin.program, twin, model)
        return
    pairs = list(zip(found(twin.program, twin, model), honest(twin.parties, twin.members), strict=True))
    more = [(s, c) for row, other in pairs for s, c in row.cells.items() if worse(c, other.cells.get(s))]
    assert any(secret.startswith(twin.gains) and cell.beyond for secret, cell in more), more


def worse(cell: Cell, honest: Cell | None) -> bool:
    return honest is None or LEVELS.index(cell.level) > LEVELS.index(honest.level)


@pytest.mark.parametrize(
    "name", with_slow([n for n, twin in TWINS.items() if twin.parties == 2 and n not in VARIED], *AGAIN)
)
def test_the_matrix_catches(name: str) -> None:
    caught(TWINS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, twin in TWINS.items() if twin.parties == 3])
def test_the_matrix_catches_among_three(name: str) -> None:
    caught(TWINS[name])


@pytest.mark.parametrize("name", VARIED)
def test_what_is_told_with_long_keys_shows_with_long_keys_only(name: str) -> None:
    twin = TWINS[name]
    with pytest.raises(AssertionError):
        caught(twin)
    caught(twin, replace(ideal.MODEL, variants=lambda p: ideal.variants(p)[VARIED[name]]))


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, twin in TWINS.items() if twin.law])
def test_law_rejects(name: str) -> None:
    """With fewer executions than at an audit; so the honest protocol passes, as `test_leakage` shows."""
    small, trials = ideal.small(ideal.sample(3)), ideal.CLAIM.trials
    assert trials is not None
    who = [(p,) for p in ("P1", "P2", "P3", "charlie")]
    one, other = (
        real_readings(TWINS[name].program, trials, small, world, Stream.insecure_from_seed(f"{name} {world}"), who, 25)
        for world in (0, 1)
    )
    assert compare_worlds(one, other, other).p_value < SIGNIFICANCE

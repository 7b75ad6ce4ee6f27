"""Twins of role code that leak: the matrix has to catch each.

To catch is to show that a coalition learns more than of the honest protocol, or to refuse the run, for what forms
cannot follow is not passed over.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import pytest
from broken.curator_twins import planted
from support.repetitions import with_slow

from protocols.errors import LocalError
from protocols.pathak2010 import PROGRAM, ideal
from protocols.pathak2010.protocol import LIMITS
from protocols.programs import Protocol
from protocols.runtime.claims import Model
from protocols.runtime.session import Program
from smc_dp.leakage.matrix import LEVELS, Cell, Row, coalition_matrix
from tests.support.refusals import refused


class Twin(NamedTuple):
    """How many parties a twin takes, the coalition that gains, and of what; `refused` is the code of the refusal where
    the run over symbols stops instead.
    """

    parties: int
    members: tuple[str, ...]
    gains: str = ""
    refused: str = ""


CHARLIE, P2 = ("charlie",), ("P2",)
TWINS: dict[str, Twin] = {
    # Coins again.
    "one share for all coordinates": Twin(2, CHARLIE, "w_2"),
    "one mask for all coordinates": Twin(2, CHARLIE, "selected noise"),
    "a mask for one pack only": Twin(2, CHARLIE, "selected noise"),
    "a mask is a share": Twin(2, CHARLIE, "selected noise"),
    "shares alike": Twin(3, ("P3", "charlie"), "w_2"),
    "the share of the size again": Twin(3, ("P3", "charlie"), "w_2"),
    "all parties with one coin": Twin(3, CHARLIE, "w_2"),
    "one randomiser for all of u": Twin(2, P2, "who is smallest"),
    # Told in covers.
    "the second weight": Twin(2, P2, "w_1"),
    "noise under few coins": Twin(2, P2, "eta_1"),
    "a length": Twin(2, P2, refused="symbol.asked_for_length"),
    "the lowest bit": Twin(2, P2, refused="symbol.digits_with_carry"),
    "under even coins": Twin(2, P2, "w_1"),
    "a product": Twin(2, P2, refused="symbol.two_multiplied"),
    "a refusal that is caught": Twin(2, P2, refused="symbol.other_bits_masked"),
    "a refusal that is caught by name": Twin(2, P2, refused="role.goes_on_undecided"),
    "with long keys": Twin(2, P2, "w_1"),
    "with the longest keys": Twin(2, P2, "n_1"),
    # Told elsewhere.
    "the last weight in the clear": Twin(2, CHARLIE, "w_2"),
    "weights are committed to and opened": Twin(2, CHARLIE, "w_2"),
    "an even mask": Twin(2, CHARLIE, "selected noise"),
    "in the order of pi_1": Twin(3, CHARLIE, "pi_1"),
    "doubts in words": Twin(2, P2, refused="symbol.put_into_words"),
    "a coin as a number": Twin(2, CHARLIE, refused="role.sends_random_bytes_as_number"),
    "named after the winner": Twin(2, P2, "who is smallest"),
    # Told by comparisons.
    "compared without a mask": Twin(2, CHARLIE, "n_1"),
    "compared with one coin": Twin(3, CHARLIE, "n_1"),
    "a top bit in the order": Twin(2, P2, refused="symbol.asked_for_equality"),
    "matches are played in the order of the slots": Twin(2, ("P1",), "pi_2"),
    "as many matches more as the slot of the smallest says": Twin(2, P2, "who is smallest"),
    # Made by somebody who had not read the checks.
    "the coin under the parties' key is a hash of the session": Twin(2, CHARLIE, refused="role.needs_a_number"),
    "a stale ciphertext is called fresh by hand": Twin(2, ("P1",), refused="role.sends_no_number"),
    "the share for Charlie has the size above the ring": Twin(2, CHARLIE, "n_2"),
    "ties are broken by slot": Twin(2, CHARLIE, "n_"),
}
VARIED = {"with long keys": slice(1, 2), "with the longest keys": slice(3, 4)}  # told in these variants
ONE_SETTING = replace(ideal.MODEL, variants=lambda p: ())
# Where another twin tells the same in the same way.
AGAIN = ("one share for all coordinates", "a mask for one pack only")


def found(program: Program, twin: Twin, model: Model) -> tuple[Row, ...]:
    return coalition_matrix(Protocol(program, model, None, LIMITS), twin.parties, chosen=(twin.members,)).rows


@cache
def honest(twin: Twin) -> tuple[Row, ...]:
    """What the coalition gets of the protocol itself."""
    return found(PROGRAM, twin, ONE_SETTING)


def caught(name: str, model: Model = ONE_SETTING) -> None:
    """The matrix shows that the coalition learns more than of the protocol, or the run is refused."""
    twin = TWINS[name]
    if twin.refused:
        with planted(name) as program, refused(twin.refused, error=LocalError):
            found(program, twin, model)
        return
    before = honest(twin._replace(gains=""))
    with planted(name) as program:
        pairs = zip(found(program, twin, model), before, strict=True)
    more = [(s, c) for row, other in pairs for s, c in row.cells.items() if worse(c, other.cells.get(s))]
    assert any(secret.startswith(twin.gains) and cell.beyond for secret, cell in more), more


def worse(cell: Cell, honest: Cell | None) -> bool:
    return honest is None or LEVELS.index(cell.level) > LEVELS.index(honest.level)


@pytest.mark.parametrize(
    "name", with_slow([n for n, twin in TWINS.items() if twin.parties == 2 and n not in VARIED], *AGAIN)
)
def test_the_matrix_catches(name: str) -> None:
    caught(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, twin in TWINS.items() if twin.parties == 3])
def test_the_matrix_catches_among_three(name: str) -> None:
    caught(name)


@pytest.mark.parametrize("name", VARIED)
def test_what_is_told_with_long_keys_shows_with_long_keys_only(name: str) -> None:
    with pytest.raises(AssertionError):
        caught(name)
    caught(name, replace(ideal.MODEL, variants=lambda p: ideal.variants(p)[VARIED[name]]))

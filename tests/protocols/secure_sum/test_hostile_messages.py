"""Whatever stands in a message that is well formed, a role goes on, stops, or refuses its sender: no other exception,
no endless wait, no name of somebody honest, no false sum, and nothing is opened without a certificate of what the party
itself signed.
"""

from __future__ import annotations

from typing import Any

import pytest
from support import role_code
from support.coalition import Coalition
from support.role_code import Patch, copied
from support.twisting import TWISTS, WHOLE, Heard, places, run

from protocols.curator import CURATOR_NAME

CODE = role_code.honest()
PLACES = list(places(CODE))
NAMES = [f"{kind}.{slot.name}" for _, kind, slot in PLACES]
TO = {"P4": ("P1", "P2", "P3", CURATOR_NAME), CURATOR_NAME: ("P1", "P2", "P3", "P4")}


def opened_on_certificates(c: Coalition, heard: Heard) -> None:
    """Every party that opened had been sent a list with itself in it, and a quorum of signatures of that list."""
    m = c.code.messages
    for name in c.p.parties:
        lists = [message for to, message in heard.said if to == name and isinstance(message, m.Survivors)]
        proofs = [message for to, message in heard.said if to == name and isinstance(message, m.Certificate)]
        for r, _ in enumerate(x for x in heard.got if x[0] == name and isinstance(x[1], m.Unmask)):
            said = m.Agreed(r, lists[r].context, lists[r].members, lists[r].inputs)
            U = c.p.members(said.members)
            assert c.p.parties.index(name) in U
            assert len(U) >= c.p.fewest
            desk = c.honest[name].desk
            assert sum(desk.attested(c.p.parties[i], said, proofs[r].signatures[i]) for i in U) >= c.p.Q


def check(place: tuple[str, str, Any], how: str, to: tuple[str, ...]) -> None:
    liar, kind, slot = place
    c, heard = run(CODE, liar, kind, slot, how, to)  # every exception but `PeerError` comes out here
    assert not [name for name in c.honest if c.plays(name)], "somebody waits for ever"
    assert {error.culprit for error in c.failed.values()} <= {liar}
    opened_on_certificates(c, heard)
    if liar != CURATOR_NAME and c.honest[CURATOR_NAME].end == "done":
        for r, (members, S) in enumerate(zip(*_sums(c), strict=True)):
            U = [name for i, name in enumerate(c.p.parties) if members >> i & 1]
            added = c.total([name for name in U if name != liar], r)
            spoilt = kind == "Masked" and CURATOR_NAME in to  # then it is not what it has signed
            assert liar not in U if spoilt else c.p.ring.add_vectors(added, c.total({liar} & set(U), r)) == S


def _sums(c: Coalition) -> tuple[Any, Any]:
    result = c.honest[CURATOR_NAME].result
    return result.members, result.values


@pytest.mark.parametrize("place", PLACES, ids=NAMES)
def test_every_field_may_hold_anything(place: tuple[str, str, Any]) -> None:
    check(place, "flipped", TO[place[0]])


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES, ids=NAMES)
def test_every_field_may_hold_anything_towards_anybody(place: tuple[str, str, Any]) -> None:
    vectors = (*WHOLE, *(how.upper() for how in TWISTS)) if place[2].count else ()
    for how in (*TWISTS, *vectors):
        for to in (TO[place[0]], TO[place[0]][:1], TO[place[0]][-1:]):
            check(place, how, to)


def test_a_role_that_opens_without_a_certificate_is_found() -> None:
    broken = copied(Patch("sums", "U or range(p.K))) < p.Q:", "U or range(p.K))) < 0:"))
    place = next(place for place in places(broken) if place[1] == "Certificate")
    c, heard = run(broken, *place, "ZERO", TO[CURATOR_NAME])
    with pytest.raises(AssertionError, match=r"^assert 0 >= 3"):
        opened_on_certificates(c, heard)

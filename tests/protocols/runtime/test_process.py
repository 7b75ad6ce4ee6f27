"""One participant in motion, moved by hand."""

from __future__ import annotations

import re

import pytest
from broken import runtime_roles
from support.sessions import Setup, setup, with_roles

from protocols.errors import LocalError, PeerError
from protocols.pathak2010 import PROGRAM
from protocols.runtime.channel import HELLO, Envelope
from protocols.runtime.process import Process, processes


def all_of(made: Setup) -> dict[str, Process]:
    return processes(*made)


def carried(
    roles: dict[str, Process], *, until: str | None = None, but: tuple[str, str, str] | None = None
) -> list[Envelope]:
    """Carry mail until nobody sends, or until a message of this kind comes up; what is left of the last round.

    `but`: the kind, sender and addressee of what is lost.
    """
    under_way = [e for role in roles.values() for e in role.advance()]
    while under_way and not any(e.kind == until for e in under_way):
        for envelope in under_way:
            if envelope.to in roles and (envelope.kind, envelope.sender, envelope.to) != but:
                roles[envelope.to].deliver(envelope, envelope.number)
        under_way = [e for role in roles.values() for e in role.advance()]
    return under_way


def test_greetings_come_first_and_once() -> None:
    roles = all_of(setup(3, 1))
    first = roles["P1"].advance()
    assert [(e.kind, e.to, e.number) for e in first] == [(HELLO, to, 0) for to in ("P2", "P3", "charlie")]
    assert roles["P1"].advance() == []
    assert roles["P1"].waiting == f"{HELLO} from P2, P3, charlie"
    roles["P1"].deliver(next(e for e in roles["P3"].advance() if e.to == "P1"), 0)
    assert roles["P1"].waiting == f"{HELLO} from P2, charlie"


def test_waiting_says_what_from_whom_and_where() -> None:
    roles = all_of(setup(3, 1))
    carried(roles, until="Slot")
    for name in ("P1", "P2", "P3"):
        assert re.fullmatch(r"Blinded from charlie at stage1\.py line \d+", roles[name].waiting or "")
    assert re.fullmatch(r"Slot from P1 at stage1\.py line \d+", roles["charlie"].waiting or "")
    for role in roles.values():
        role.close()


def test_done_release_and_nothing_more() -> None:
    made = setup(2, 1)
    roles = all_of(made)
    with pytest.raises(LocalError, match="nothing is published before"):
        roles["P1"].release()
    last = carried(roles, until="Ready")
    with pytest.raises(LocalError, match="nothing is published before"):
        roles["P1"].release()
    for envelope in last:
        if envelope.to in roles:
            roles[envelope.to].deliver(envelope, envelope.number)
    carried(roles)
    assert all(role.done and role.waiting is None for role in roles.values())
    shares = [role.release() for role in roles.values()]
    assert [[e.kind for e in sent] for sent in shares] == [["PublishedShare"]] * 3
    assert [role.release() for role in roles.values()] == [[], [], []]  # once
    extra = roles["P2"].channel.seal("P1", "Ready", "stage3", b"\x80")
    with pytest.raises(PeerError, match="wanted nothing more") as caught:
        roles["P1"].deliver(extra, 99)
    assert (caught.value.culprit, caught.value.evidence) == ("P2", (99,))


@pytest.mark.parametrize("last", ["P2", "charlie"])
def test_nobody_publishes_before_everybody_has_announced(last: str) -> None:
    """A role asks for publication once it has all commitments, whatever its driver makes of that; the twin does not."""
    roles = all_of(setup(2, 1))
    carried(roles, but=("Ready", last, "P1"))
    assert (roles["P1"].done, roles["P1"].unpublished) == (False, [])
    assert roles["P1"].waiting is not None
    assert roles["P1"].waiting.startswith(f"Ready from {last}")
    assert all(len(role.unpublished) == 1 for name, role in roles.items() if name != "P1")
    hasty = all_of(setup(2, 1, program=with_roles(PROGRAM, party=runtime_roles.publishes_early)))
    carried(hasty, but=("Ready", last, "P1"))
    assert len(hasty["P1"].unpublished) == 1
    for role in (*roles.values(), *hasty.values()):
        role.close()


def test_early_mail_waits_for_its_turn() -> None:
    """Mail of a later step is kept until the role asks for it; order on a link is all that counts."""
    made = setup(3, 1)
    wanted = made.simulate().results
    roles = all_of(made)
    boxes: dict[str, list[Envelope]] = {name: [] for name in roles}
    for _ in range(1000):
        for role in roles.values():
            for envelope in role.advance():
                boxes.get(envelope.to, []).append(envelope)
        for name in reversed(list(roles)):  # one envelope at a time, the last sender's link first
            if boxes[name]:
                sender = max(e.sender for e in boxes[name])
                envelope = next(e for e in boxes[name] if e.sender == sender)
                boxes[name].remove(envelope)
                roles[name].deliver(envelope, envelope.number)
    assert {name: role.result for name, role in roles.items()} == wanted


def test_closing_is_quiet() -> None:
    """A role given up before or after its start leaves no warning (warnings are errors here)."""
    roles = all_of(setup(2, 1))
    roles["P2"].close()
    carried({"P1": roles["P1"], "charlie": roles["charlie"]})
    for role in roles.values():
        role.close()
        role.close()

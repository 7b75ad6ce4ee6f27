"""Tampering with mail stops the run and nobody is named for it; whoever lies is named, with the message that shows it.

In neither case anything is published.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from typing import Any

import pytest
from broken import runtime_roles
from broken.liars import LIES, Lie, swapped
from support.sessions import PRINTED, PROGRAMS, setup, with_roles

from protocols.curator import CURATOR_NAME
from protocols.errors import LocalError, PeerError, StallError
from protocols.pathak2010 import PROGRAM, stage3
from protocols.pathak2010.messages import KINDS, Half, PublishedShare, Ready, Reshare
from protocols.pathak2010.values import Announced
from protocols.runtime.envelope import HELLO, STAGE_END, Envelope
from protocols.runtime.session import PUBLIC_NAME, Program
from tests.support.refusals import refused

PARTIES = 2
Arrivals = Iterable[tuple[str, Envelope]]


@cache
def recorded(name: str) -> tuple[Envelope, ...]:
    """The envelopes of an honest run of the program of this name."""
    return tuple(setup(PARTIES, program=next(p for p in PROGRAMS if p.name == name)).simulate().transcript.envelopes)


def honest(program: Program) -> tuple[Envelope, ...]:
    """The envelopes of an honest run; number n is at place n - 1."""
    return recorded(program.name)


def kinds(program: Program) -> list[str]:
    return [HELLO, STAGE_END, *(kind.__name__ for kind in program.kinds)]


def first(program: Program, kind: str) -> int:
    """The number of the first message of a kind."""
    return next(n for n, e in enumerate(honest(program), start=1) if e.kind == kind)


@dataclass
class Attack:
    """A tamper hook that strikes at message `at` and remembers what was posted."""

    at: int
    strike: Callable[[int, Envelope], Arrivals]
    posted: list[Envelope]

    def __call__(self, n: int, envelope: Envelope) -> Arrivals:
        self.posted.append(envelope)
        return list(self.strike(n, envelope)) if n >= self.at else [(envelope.to, envelope)]


def attacked(program: Program, at: int, strike: Callable[[int, Envelope], Arrivals]) -> Any:
    """What a run under this attack raises. Nothing is published, unless a published share itself is attacked.

    Whatever it is, nobody is named for it, for all participants are honest, and there is no evidence against anybody.
    """
    attack = Attack(at, strike, [])
    with pytest.raises((PeerError, StallError)) as caught:
        setup(PARTIES, program=program).simulate(tamper=attack)
    if honest(program)[at - 1].kind != PublishedShare.__name__:
        assert PublishedShare.__name__ not in {e.kind for e in attack.posted}
    if isinstance(caught.value, PeerError):
        assert caught.value.culprit.startswith("somebody")
        assert caught.value.evidence == ()
    return caught.value


def between(sender: str) -> str:
    """Who may have spoilt what says it is from this sender."""
    return f"somebody on the way from {sender}" if sender in ("P1", "P2", CURATOR_NAME) else "somebody"


def at_only(at: int, arrivals: Callable[[Envelope], Arrivals]) -> Callable[[int, Envelope], Arrivals]:
    return lambda n, e: arrivals(e) if n == at else [(e.to, e)]


EACH_WAY = (HELLO, STAGE_END, Half.__name__, PublishedShare.__name__)
"""One kind for each way in which a message travels: header and body are checked before anybody looks at its kind."""


def targets() -> Iterator[Any]:
    """Each kind of both programs; what both have is attacked in the hardened one."""
    for program in PROGRAMS:
        for kind in kinds(program):
            if program is PROGRAM or kind not in kinds(PROGRAM):
                yield pytest.param(program, kind, id=kind)


def test_every_kind_is_sent() -> None:
    for program in PROGRAMS:
        assert {e.kind for e in honest(program)} == set(kinds(program))
    assert {kind.__name__ for kind in KINDS} < {e.kind for e in honest(PROGRAM)}


@pytest.mark.parametrize("kind", EACH_WAY)
def test_changed_envelope(kind: str) -> None:
    n = first(PROGRAM, kind)
    error = attacked(PROGRAM, n, at_only(n, lambda e: [(e.to, replace(e, body=e.body[::-1]))]))
    assert isinstance(error, PeerError)
    assert error.culprit == between(honest(PROGRAM)[n - 1].sender)


@pytest.mark.parametrize(("program", "kind"), list(targets()))
def test_dropped(program: Program, kind: str) -> None:
    n = first(program, kind)
    original, later = honest(program)[n - 1], []

    def strike(m: int, e: Envelope) -> Arrivals:
        if m > n and (e.sender, e.to) == (original.sender, original.to):
            later.append(m)
        return [] if m == n else [(e.to, e)]

    check_lost(original, attacked(program, n, strike), later)


def check_lost(original: Envelope, error: Any, later: list[int]) -> None:
    """The next message of the link shows the gap; when there is none, its reader is named, with what it waits for."""
    if later:
        assert isinstance(error, PeerError)
        assert error.culprit == between(original.sender)
        return
    assert isinstance(error, StallError)
    if original.kind == HELLO:
        others = {"P1", "P2", CURATOR_NAME} - {original.sender}
        assert {name: error.waiting.get(name) for name in others} == dict.fromkeys(
            others, f"{HELLO} from {original.sender}"
        )
    elif original.to == PUBLIC_NAME:
        assert error.waiting == {PUBLIC_NAME: f"a signed message from {original.sender}"}
    else:
        wait = error.waiting[original.to]
        assert re.fullmatch(
            rf"{original.kind} from {original.sender} at (setup|stage\d|roles|as_published)\.py line \d+", wait
        )
    assert error.code == "session.nobody_can_move"


def test_last_public_mark_dropped_is_noticed_before_anything_is_published() -> None:
    n = max(n for n, e in enumerate(honest(PROGRAM), start=1) if e.kind == STAGE_END)
    error = attacked(PROGRAM, n, at_only(n, lambda e: []))
    assert error.waiting == {PUBLIC_NAME: f"a signed message from {honest(PROGRAM)[n - 1].sender}"}


@cache
def honest_mail(program: str, who: str) -> tuple[Envelope, ...]:
    """What this participant of three sends when it does not lie."""
    made = setup(program=next(p for p in PROGRAMS if p.name == program))
    return tuple(e for e in made.simulate().transcript.envelopes if e.sender == who)


@pytest.mark.parametrize("name", LIES)
def test_liar_is_named(name: str) -> None:
    """With the number of the lie on its link: the first letter that an honest participant would not have sent."""
    lie: Lie = LIES[name]
    posted: list[Envelope] = []

    def watch(n: int, e: Envelope) -> Arrivals:
        posted.append(e)
        return [(e.to, e)]

    with refused(lie.code, error=PeerError) as caught:
        setup(program=lie.programmed()).simulate(tamper=watch)
    assert caught.value.culprit == lie.who
    mine = [e for e in posted if e.sender == lie.who]
    told = next(e for e, other in zip_longest(mine, honest_mail(lie.program.name, lie.who)) if e != other)
    assert told.kind == (lie.shown or lie.kind.__name__)
    assert caught.value.evidence == (told.number,)
    if lie.kind is not PublishedShare:
        assert PublishedShare.__name__ not in {e.kind for e in posted}


BROKEN_WORDS: dict[str, tuple[type[Any], Callable[[Any, str, Any], Any]]] = {
    "another share": (PublishedShare, swapped("y", lambda m: tuple(y ^ 1 for y in m.y))),
    "another opening": (PublishedShare, swapped("opening", lambda m: bytes(32))),
    "another commitment to one of them": (Ready, swapped("commitment", lambda m: bytes(32))),
}


@pytest.mark.parametrize(
    ("name", "who", "program"),
    [
        *((name, who, PROGRAM) for name in BROKEN_WORDS for who in ("P1", CURATOR_NAME)),
        *((name, "P3", PRINTED) for name in BROKEN_WORDS),
    ],
    ids=lambda value: value.name if isinstance(value, Program) else None,
)
def test_a_broken_word_is_caught(name: str, who: str, program: Program) -> None:
    """Whoever publishes another share than it announced is named; where nobody looks, it would be published."""
    lying = Lie(who, *BROKEN_WORDS[name], "", program=program).programmed()
    with refused("share.not_as_announced", error=PeerError) as caught:
        setup(program=lying).simulate()
    assert (caught.value.culprit, caught.value.evidence) == (who, ())
    if who == "P1":
        unchecked = setup(program=replace(lying, broken_commitment=None)).simulate()
        assert unchecked.published.keys() == {"P1", "P2", "P3", CURATOR_NAME}


def test_a_word_holds_in_its_session_for_its_name_and_its_numbers() -> None:
    made = setup()
    run = made.simulate()
    names, told, published = made.session.names, run.results["P2"], run.published
    assert stage3.broken_commitment(made.session.id, names, told, published) is None
    _, broken = stage3.broken_commitment(bytes(32), names, told, published) or pytest.fail("nobody is named")
    assert broken.code == "share.not_as_announced"
    assert stage3.broken_commitment(bytes(32), names, told, published) == ("P1", broken)
    swapped_names = {**published, "P2": published["P3"], "P3": published["P2"]}
    assert stage3.broken_commitment(made.session.id, names, told, swapped_names) == ("P2", broken)
    copied = replace(told, commitments=(told.commitments[0], told.commitments[2], *told.commitments[2:]))
    repeated = {**published, "P2": published["P3"]}
    assert stage3.broken_commitment(made.session.id, names, copied, repeated) == ("P2", broken)
    joined = replace(published["P3"], y=(*published["P3"].y, 0))
    assert stage3.broken_commitment(made.session.id, names, told, {**published, "P3": joined}) == ("P3", broken)
    missing = {name: share for name, share in published.items() if name != CURATOR_NAME}
    # It may be gone: nobody is named for that.
    assert stage3.broken_commitment(made.session.id, names, told, missing) is None
    other = Announced(told.y, (*told.commitments[1:], told.commitments[0]))
    assert stage3.broken_commitment(made.session.id, names, other, published) == ("P1", broken)


def test_every_kind_with_content_has_a_liar() -> None:
    lied = {lie.kind.__name__ for lie in LIES.values()}
    silent = {"Commitment", "PrintedShare"}  # any bytes are a commitment, any integer a share
    assert {k.__name__ for p in PROGRAMS for k in p.kinds} - lied == silent


async def ends_at_once(me: Any, *args: Any) -> None:
    """A role that does nothing."""


def test_deadlock_is_named() -> None:
    with refused("session.nobody_can_move", error=StallError) as caught:
        setup(program=with_roles(PROGRAM, party=runtime_roles.waits_first, curator=ends_at_once)).simulate()
    for party, following in (("P1", "P2"), ("P2", "P3"), ("P3", "P1")):
        assert re.fullmatch(rf"Opening from {following} at runtime_roles\.py line \d+", caught.value.waiting[party])
    assert "charlie" not in caught.value.waiting


OWN_FAULTS = {
    "undeclared route": (lambda me: me.send(me.curator, Half(0)), "message.without_a_route"),
    "to oneself": (lambda me: me.send(me.name, Half(0)), "message.without_a_route"),
    "unknown peer": (lambda me: me.send("mallory", Half(0)), "participant.unknown"),
    "publish by send": (
        lambda me: me.send(PUBLIC_NAME, PublishedShare((0,) * 3, bytes(32))),
        "message.published_not_sent",
    ),
    "publish a private kind": (lambda me: me.publish(Half(0)), "message.without_a_route"),
    "wrong length": (lambda me: me.send("P2", Reshare((0,) * 2)), "message.another_number_of_values"),
    "not of this program": (lambda me: me.send(me.curator, PRINTED.kinds[6](0, 0)), "message.of_another_program"),
    "stage in a stage": (lambda me: me.stage(ends_at_once), "stage.inside_another"),
    "receive from outside": (lambda me: me.receive("mallory", Half), "role.waits_for_a_stranger"),
}


@pytest.mark.parametrize("name", OWN_FAULTS)
def test_own_fault_is_a_local_error(name: str) -> None:
    """A role that breaks the rules of its own runtime is stopped before anything leaves it; no peer is blamed."""
    action, code = OWN_FAULTS[name]
    posted: list[Envelope] = []

    def watch(n: int, e: Envelope) -> Arrivals:
        posted.append(e)
        return [(e.to, e)]

    made = setup(program=with_roles(PROGRAM, party=runtime_roles.once_per_stage(action), curator=ends_at_once))
    with refused(code, error=LocalError):
        made.simulate(tamper=watch)
    assert {e.kind for e in posted} == {HELLO}

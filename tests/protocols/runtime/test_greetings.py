"""What a program lets its participants say in their greetings: public, signed, read from the board, made again."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Annotated

import pytest
from support.parties import Parties
from support.sessions import Setup, by_link, names, play, start

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.crypto.sealing import KEY_BYTES
from protocols.curator import parties_and_curator
from protocols.errors import Fault, LocalError, PeerError
from protocols.runtime.channel import Channel
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.envelope import HELLO, Envelope
from protocols.runtime.inbox import Absent
from protocols.runtime.message import CURATOR, PARTY, PUBLIC, Message, message, public
from protocols.runtime.session import Greeting, Program
from protocols.runtime.view import recompute, reconstruct_view
from tests.support.refusals import refused

WIDTH = 32


@message("0", PARTY >> PUBLIC)
class Promise(Message):
    """The hash of a secret."""

    digest: Annotated[bytes, public("digest")]


@message("1", (PARTY >> CURATOR) | (CURATOR >> PARTY))
class Secret(Message):
    """What was promised."""

    secret: Annotated[bytes, public("digest")]


def promise(p: Parties, name: str, secret: bytes) -> Promise:
    return Promise(hashlib.sha256(secret).digest())


async def tell(me: Endpoint) -> bytes:
    promised = await me.greetings(Promise)
    me.send(me.curator, Secret(me.greeting_secrets))
    return b"".join(greeted.digest for greeted in promised.values())


async def late(me: Endpoint) -> bytes:
    found: bytes = me.greeting_secrets
    return found


async def hear(me: Endpoint) -> bytes:
    promised = await me.greetings(Promise)
    for party in me.parties:
        if hashlib.sha256((await me.receive(party, Secret)).secret).digest() != promised[party].message.digest:
            me.refuse(party, "secret.not_as_promised")
    return b"".join(greeted.digest for greeted in promised.values())


async def party(me: Endpoint, p: Parties) -> bytes:
    return await me.stage(tell)


async def curator(me: Endpoint, p: Parties) -> bytes:
    return await me.stage(hear)


PROGRAM = Program(
    *("promises", 1, {PARTY: party, CURATOR: curator}, (Secret,), (), Parties),
    participants=parties_and_curator,
    greeting=Greeting(Promise, lambda p, rng: rng.bytes(WIDTH), promise),
)


def made(program: Program = PROGRAM) -> Setup:
    p = Parties(names(3), {"digest": WIDTH})
    return start(program, p, dict.fromkeys(program.participants(p), (p,)))


def test_everybody_reads_the_same_greetings_under_every_driver() -> None:
    setup = made()
    run = setup.simulate(views=True)
    hellos = [e for e in run.transcript.envelopes if e.kind == HELLO]
    assert [len(e.body) for e in hellos] == [
        *[KEY_BYTES + 3 + WIDTH + SIGNATURE_BYTES] * 3,
        KEY_BYTES + SIGNATURE_BYTES,
    ]
    assert set(run.results.values()) == {b"".join(e.digest for e in hellos[:3])}
    wanted = by_link(run.transcript.envelopes)
    assert by_link(play(setup, batch=1).envelopes) == wanted
    record = dict(enumerate(run.transcript.envelopes, start=1))
    for name, view in run.recorded.items():
        assert recompute(setup.session, view, record).fault is None
        again = reconstruct_view(
            setup.session, name, setup.identities[name], setup.seeds[name], setup.inputs[name], record
        )
        assert again == view


def test_nobody_waits_for_the_greeting_of_one_with_whom_nothing_is_shared() -> None:
    """A party shares a link with Charlie alone; it is `me.greetings` that waits for the other parties."""
    setup = made()
    assert setup.session.peers("P1") == ("charlie",)
    assert setup.session.peers("charlie") == names(3)
    run = setup.simulate(drop_outs={"P2": 0})
    assert run.ends == {"P1": "stopped", "P2": "gone", "P3": "stopped", "charlie": "stopped"}
    assert run.absent["P1"] == run.absent["charlie"] == {Absent("P2", HELLO, "setup")}
    assert (run.why["P1"].code, run.why["P1"].fields["what"]) == ("message.will_not_come", "Hello")
    assert run.why["charlie"] == Fault("greeting.not_there", {"name": "charlie", "peer": "P2"})


def test_a_greeting_changed_on_the_way_names_nobody_and_a_broken_promise_its_author() -> None:
    setup = made()

    def flipped(n: int, e: Envelope) -> list[tuple[str, Envelope]]:
        wrong = replace(e, body=e.body[:-70] + bytes([e.body[-70] ^ 1]) + e.body[-69:])
        return [(e.to, wrong if (e.kind, e.sender) == (HELLO, "P2") else e)]

    with refused("message.not_signed", error=PeerError) as caught:
        setup.simulate(tamper=flipped)
    assert (caught.value.culprit, caught.value.evidence) == ("somebody on the way from P2", ())

    async def lying(me: Endpoint, p: Parties) -> bytes:
        async def telling(me: Endpoint) -> bytes:
            me.send(me.curator, Secret(bytes(WIDTH)))
            return b""

        return await (me.stage(telling) if me.name == "P2" else me.stage(tell))

    with refused("secret.not_as_promised", error=PeerError) as caught:
        made(replace(PROGRAM, roles={PARTY: lying, CURATOR: curator})).simulate()
    assert caught.value.culprit == "P2"


def test_a_greeting_that_cannot_be_decoded_is_its_signers_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    greet = Channel.greet
    monkeypatch.setattr(Channel, "greet", lambda self, said: greet(self, said[:-1] if self.name == "P3" else said))
    with refused("message.another_size", error=PeerError) as caught:
        made().simulate()
    assert (caught.value.culprit, caught.value.evidence) == ("P3", (0,))


def test_the_secrets_behind_a_greeting_are_gone_with_the_first_stage() -> None:
    async def twice(me: Endpoint, p: Parties) -> bytes:
        await me.stage(tell)
        return await me.stage(late)

    with refused("greeting.randomness_too_late", error=LocalError):
        made(replace(PROGRAM, roles={PARTY: twice, CURATOR: curator})).simulate()


def test_the_secrets_behind_a_greeting_are_drawn_once_and_no_role_has_them_after_the_first_stage() -> None:
    drawn, held = list[bytes](), dict[int, int]()

    def drawn_secret(p: Parties, rng: Stream) -> bytes:
        drawn.append(rng.bytes(WIDTH))
        return drawn[-1]

    async def watched(me: Endpoint, p: Parties) -> bytes:
        for stage in range(2):
            kept = await me.stage(tell if stage == 0 else nothing)
            held[stage] = sum(value in drawn for value in vars(me._engine).values())
        return kept

    async def nothing(me: Endpoint) -> bytes:
        return b""

    greeting = Greeting(Promise, drawn_secret, promise)
    made(replace(PROGRAM, roles={PARTY: watched, CURATOR: curator}, greeting=greeting)).simulate()
    assert (len(drawn), held) == (3, {0: 0, 1: 0})


def test_links_are_those_that_the_program_declares() -> None:
    """A route between two kinds is not yet a link: whom the program does not name as a peer cannot be written to."""
    ring = replace(PROGRAM, peers=lambda p, name: ("P1",) if name == "charlie" else ("charlie",) * (name == "P1"))
    assert made(ring).session.peers("P2") == ()
    with refused("link.not_there", error=LocalError, name="P2", to="charlie"):
        made(ring).simulate()

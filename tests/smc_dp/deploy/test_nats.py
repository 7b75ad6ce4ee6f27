"""The carrier over a real nats-server: nothing is lost, repeats do no harm, and faults are one line."""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from nats.aio.client import Client
from nats.js import JetStreamContext
from support.relays import PARTIES, NatsRelay, free_port, relay, until, without_server

from protocols.curator import CURATOR_NAME
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.core.errors import InputError
from smc_dp.deploy.frame import CarrierError, Frame, Lane
from smc_dp.deploy.nats.carrier import NATS_PIECE_BYTES, NatsCarrier
from smc_dp.deploy.nats.connection import RelayConnection
from smc_dp.deploy.nats.provision import open_study
from smc_dp.deploy.nats.subjects import RelaySubjects
from tests.support.refusals import refused

pytestmark = without_server
NORTH, SOUTH, WEST = PARTIES
Answer = TypeVar("Answer")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsRelay]:
    with relay(tmp_path_factory.mktemp("relay")) as found:
        yield found


def frame(relay: NatsRelay, to: str, number: int, body: bytes, lane: Lane = "envelope", sender: str = NORTH) -> Frame:
    return Frame(relay.study.digest, sender, to, lane, number, body)


def brought(carrier: NatsCarrier, most: int, seconds: float = 10.0) -> list[Frame]:
    """What comes until so many have, each once, in the order in which they came."""
    found: dict[bytes, Frame] = {}
    for left in until(seconds):
        found.update((p.digest, p) for p in carrier.fetch(left))
        if len(found) >= most:
            break
    return list(found.values())


def test_a_frame_that_lies_where_its_sender_could_not_put_it_is_left_out(running: NatsRelay) -> None:
    with ExitStack() as stack:
        north, south = (stack.enter_context(closing(running.carrier(n))) for n in (NORTH, SOUTH))
        forged, true = frame(running, SOUTH, 7, b"", sender=WEST), frame(running, SOUTH, 7, b"")
        subject = running.subjects.of_frame(true)
        undigested = running.subjects.frames(NORTH, SOUTH, "envelope").replace("*", "digest")
        for body in (forged.encode(), b"no frame", replace(true, study="0" * 64).encode(), true.encode()):
            north._connection.call(lambda client, body=body: client.jetstream().publish(subject, body))
        one, many = {"Smc-Pieces": "1"}, {"Smc-Pieces": "9999"}
        for at, headers in ((undigested, one), (subject, one), (subject, many), (subject, STATUS)):
            north._connection.call(
                lambda client, at=at, said=headers: client.jetstream().publish(at, b"", headers=said)
            )
        assert brought(south, 2, 1.0) == [true]
        assert waiting(running, SOUTH) == 1  # what was left out is not brought again and again
        south.taken([true])
        assert waiting(running, SOUTH) == 0


def test_no_site_has_the_frame_of_another_dropped_as_a_repeat(tmp_path: Path) -> None:
    """Also where the relay keeps a long list of the `Nats-Msg-Id` of a stream, which anybody of the study can fill."""
    with relay(tmp_path) as running, ExitStack() as stack:
        charlie, south, west = (
            stack.enter_context(closing(running.carrier(name))) for name in (CURATOR_NAME, SOUTH, WEST)
        )
        sizes = (1, NATS_PIECE_BYTES + 1)
        true = [frame(running, PUBLIC_NAME, n, bytes(size), "transcript", CURATOR_NAME) for n, size in enumerate(sizes)]
        claimed = [f"{one.digest.hex()}{end}" for one in true for end in ("", ".0", ".1")]

        async def keep_a_list(client: Client) -> None:
            manager = client.jetstream()
            config = (await manager.stream_info(running.subjects.stream)).config
            config.duplicate_window = 3600
            await manager.update_stream(config)

        async def claim(client: Client) -> None:
            for number, identifier in enumerate(claimed):
                junk = running.subjects.of_frame(frame(running, WEST, number, b"junk", "notice", SOUTH))
                await client.jetstream().publish(junk, b"junk", headers={"Nats-Msg-Id": identifier})

        at_relay(running, keep_a_list)
        south._connection.call(claim)
        charlie.send(true)
        assert charlie.last(PUBLIC_NAME, "transcript") == true[-1]
        assert brought(west, 2) == true


def test_a_frame_whose_receipt_was_lost_is_sent_again_and_stored_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered, lost = JetStreamContext.publish, []

    async def without_first_receipts(self: JetStreamContext, subject: str, *said: object, **named: object) -> object:
        receipt = await answered(self, subject, *said, **named)
        if subject not in lost:
            lost.append(subject)
            raise ConnectionResetError
        return receipt

    async def stored(client: Client) -> int:
        return (await client.jetstream().stream_info(running.subjects.stream)).state.messages

    with relay(tmp_path) as running, closing(running.carrier(NORTH)) as north:
        sent = [frame(running, SOUTH, n, bytes(size)) for n, size in enumerate((1, NATS_PIECE_BYTES + 1, 2))]
        with monkeypatch.context() as patch:
            patch.setattr(JetStreamContext, "publish", without_first_receipts)
            north.send(sent)
        assert len(lost) == at_relay(running, stored) == len(sent) + 2  # the second came in two pieces
        north.send(sent[:1])  # as a program that is started again and killed at once
        assert at_relay(running, stored) == len(lost)
        assert north.last(SOUTH, "envelope") == sent[-1]
        with closing(running.carrier(SOUTH)) as south:
            assert brought(south, 3) == sent


STATUS = {"Status": "408"}
"""What the relay's own answers have, on a message of a site."""


def waiting(running: NatsRelay, name: str) -> int:
    """How many messages to a site the relay has brought and would bring again."""

    async def pending(client: Client) -> int:
        info = await client.jetstream().consumer_info(running.subjects.stream, running.subjects.seats[name])
        return int(info.num_ack_pending or 0)

    return at_relay(running, pending)


def at_relay(running: NatsRelay, work: Callable[[Client], Awaitable[Answer]]) -> Answer:
    """The result of what the relay's operator does there."""
    with closing(RelayConnection(running.study.relay, running.credentials, "_INBOX_operator", 5.0)) as operator:
        return operator.call(work)


def test_a_study_that_was_not_opened_is_one_line(tmp_path: Path) -> None:
    with relay(tmp_path, opened=False) as closed, closing(closed.carrier(NORTH, 0.5)) as north:
        one = frame(closed, SOUTH, 0, b"")
        for ask in (lambda: north.last(SOUTH, "envelope"), lambda: north.send([one]), lambda: north.fetch(0)):
            with refused("relay.not_reached", error=CarrierError, at=closed.study.relay):
                ask()
        for _ in range(2):  # the second time nothing changes
            open_study(closed.study, closed.kit)
        north.send([one])
        assert north.last(SOUTH, "envelope") == one


def test_a_relay_of_another_study_refuses(running: NatsRelay) -> None:
    other = RelaySubjects("0" * 64, running.study.names)
    stranger = NatsCarrier(other, running.study.relay, NORTH, running.site(NORTH), patience=0.5)
    with closing(stranger), refused("relay.not_ours", error=CarrierError, at=running.study.relay):
        stranger.last(SOUTH, "envelope")


def test_a_relay_that_is_away_is_one_line_that_names_it(running: NatsRelay) -> None:
    address = f"tls://127.0.0.1:{free_port()}"
    carrier = NatsCarrier(running.subjects, address, NORTH, running.site(NORTH), patience=0.5)
    with closing(carrier), refused("relay.not_reached", error=CarrierError, at=address):
        carrier.fetch(0)
    for wrong in ("http://x", "tls://", "nats://a:b", "tls://user@host", "tls://host/path", "host:4222"):
        with refused("relay.of_another_carrier"):
            NatsCarrier(running.subjects, wrong, NORTH, running.site(NORTH))
    with refused("file.unreadable"):
        NatsCarrier(running.subjects, address, NORTH, running.kit)


def test_what_the_library_logs_is_not_for_a_person(running: NatsRelay, caplog: pytest.LogCaptureFixture) -> None:
    """It writes a traceback when a call is broken off, as by Ctrl-C; afterwards others may hear it again."""
    library = logging.getLogger("nats.aio.client")

    async def broken_off(client: Client) -> None:
        library.error("nats: encountered error")
        raise InputError("broken off")

    with closing(RelayConnection(running.study.relay, running.credentials, "_INBOX_operator", 5.0)) as operator:
        with refused("broken off"):
            operator.call(broken_off)
        assert caplog.messages == []
    library.error("heard")
    assert caplog.messages == ["heard"]


def test_without_the_library_one_line_says_what_to_install(running: NatsRelay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nats", None)
    with refused("relay.no_nats_library"):
        running.carrier(NORTH)

"""A carrier over NATS JetStream: frames are messages in the stream of their study, which the relay keeps on its disk.

A message is at most a mebibyte long: nats-server takes messages above 32 MiB and then cannot read them again. A longer
frame lies there in pieces under subjects of its own, and what is brought to its addressee says how many.

A frame has a subject of its own, under which only its sender can put anything: the relay drops a repeat there. It must
not drop repeats by `Nats-Msg-Id`, of which a stream has one list: another site could then post under the coming one.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from protocols.runtime.session import PUBLIC_NAME
from smc_dp.core.errors import InputError
from smc_dp.deploy.arrival import longest_frame
from smc_dp.deploy.frame import MOST_FRAME_BYTES, Carrier, CarrierError, Frame, Lane
from smc_dp.deploy.nats.connection import RelayConnection
from smc_dp.deploy.nats.subjects import RelaySubjects
from smc_dp.deploy.study import JointStudy

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

NATS_PIECE_BYTES = 1 << 20
_PIECES, _STATUS, _SUBJECT = "Smc-Pieces", "Status", "Nats-Subject"
_SPLIT = re.compile("([0-9a-f]{64}) ([0-9]{1,4})")
_NEW = {"Nats-Expected-Last-Subject-Sequence": "0"}  # nothing may lie under the subject yet
_STORED_BEFORE = 10071  # the error of nats-server where something does
_BATCH = 32  # messages that a request asks for
_STANDS = 5.0  # seconds for which the relay keeps a request
_LATE = 2.0  # seconds after which a request without any answer is repeated
_ENDED = "408"  # the status of a request whose time is over
_LEAST = 0.05  # seconds that any fetch waits, for an answer takes its time
PATIENCE = 15.0
"""Seconds for which a relay that is away is tried again, before that is an error."""


@dataclass
class _Request:
    """Standing request to one consumer: `left` messages are due on it until `until`."""

    consumer: str
    replies: str
    number: int = 0
    left: int = 0
    until: float = 0.0


class NatsCarrier(Carrier):
    """Carrier of one site over NATS. The curator's also brings the envelopes between others.

    `most_bytes`: of a frame; a longer one is not brought, as if the relay had lost it.
    """

    def __init__(
        self,
        subjects: RelaySubjects,
        relay: str,
        name: str,
        credentials: Path,
        *,
        patience: float = PATIENCE,
        most_bytes: int = MOST_FRAME_BYTES,
    ) -> None:
        self._subjects, self._name, self._most = subjects, name, most_bytes
        self._connection = RelayConnection(relay, credentials, subjects.inbox(name), patience)
        self._acknowledged = tuple(map(subjects.acknowledging, subjects.consumers(name)))
        self._client: Client | None = None  # the one that the requests were made over
        self._requests: list[_Request] = []
        self._came: list[Msg] = []
        self._news = asyncio.Event()
        self._receipts: dict[bytes, str] = {}  # where to say that a frame was taken, by its digest

    @override
    def send(self, frames: Sequence[Frame]) -> None:
        for frame in frames:
            self._connection.call(partial(self._post, frame))

    @override
    def fetch(self, seconds: float) -> list[Frame]:
        return self._connection.call(partial(self._fetch, max(seconds, _LEAST)))

    @override
    def taken(self, frames: Sequence[Frame]) -> None:
        # with no error while the relay is away: a lost receipt only has a frame fetched again
        receipts = [self._receipts.pop(p.digest) for p in frames if p.digest in self._receipts]
        if receipts:
            with suppress(CarrierError):
                self._connection.call(partial(self._acknowledge, receipts))

    @override
    def last(self, to: str, lane: Lane) -> Frame | None:
        return self._connection.call(partial(self._last, self._subjects.frames(self._name, to, lane)))

    @override
    def close(self) -> None:
        self._connection.close()

    async def _post(self, frame: Frame, client: Client) -> None:
        """Put a frame into the stream, its pieces first, so that a reader of the frame finds them."""
        data, subject = frame.encode(), self._subjects.of_frame(frame)
        split: dict[str, str] = {}
        if len(data) > NATS_PIECE_BYTES:
            pieces = [data[at : at + NATS_PIECE_BYTES] for at in range(0, len(data), NATS_PIECE_BYTES)]
            for n, piece in enumerate(pieces):
                await self._put(client, f"{subject}.{n}", piece, {})
            data, split = b"", {_PIECES: str(len(pieces))}
        await self._put(client, subject, data, split)

    async def _put(self, client: Client, subject: str, data: bytes, headers: dict[str, str]) -> None:
        """Store a message under a subject of its own, unless it is there: a repeat has the same bytes."""
        from nats.js.errors import APIError

        try:
            await client.jetstream(timeout=self._connection.answered).publish(
                subject, data, stream=self._subjects.stream, headers={**_NEW, **headers}
            )
        except APIError as error:
            if error.err_code != _STORED_BEFORE:
                raise

    async def _fetch(self, seconds: float, client: Client) -> list[Frame]:
        if client is not self._client:
            await self._begin(client)
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while True:
            self._news.clear()
            for request in self._requests:
                await self._ask(client, request, loop.time())
            wait = min(until - loop.time(), _STANDS)
            if self._came or wait <= 0:
                break
            await _until(self._news, wait)
        return await self._frames(client)

    async def _begin(self, client: Client) -> None:
        """Subscribe to the answers of each consumer. Messages of a former connection will come again."""
        await self._stored(
            client, self._subjects.frames(self._name, PUBLIC_NAME, "envelope")
        )  # no answer: no such study
        own = client.new_inbox()
        self._requests = [_Request(consumer, f"{own}.{consumer}") for consumer in self._subjects.consumers(self._name)]
        self._came.clear()
        for request in self._requests:
            await client.subscribe(f"{request.replies}.*", cb=partial(self._hear, request))
        self._client = client

    async def _ask(self, client: Client, request: _Request, now: float) -> None:
        """Ask a consumer, unless it still has a request."""
        if request.left > 0 and now < request.until:
            return
        request.number, request.left, request.until = request.number + 1, _BATCH, now + _STANDS + _LATE
        wanted = json.dumps({"batch": _BATCH, "expires": int(_STANDS * 1e9)}).encode()
        await client.publish(self._subjects.asking(request.consumer), wanted, f"{request.replies}.{request.number}")

    async def _hear(self, request: _Request, message: Msg) -> None:
        """Note a message of a consumer of ours, or that a request has ended; of an earlier one that is no news.

        Another site can have its frames sent here, and put any header on what it posts: neither is taken for an answer.
        """
        if message.reply.startswith(self._acknowledged):
            request.left -= 1
            self._came.append(message)
        elif (message.subject, (message.headers or {}).get(_STATUS)) == (f"{request.replies}.{request.number}", _ENDED):
            request.left = 0
        self._news.set()

    async def _frames(self, client: Client) -> list[Frame]:
        """Return the frames that came. The relay need not bring any other message again."""
        came, self._came = self._came, []
        found: dict[bytes, Frame] = {}
        strange: list[str] = []
        for message in came:
            frame = await self._read(client, message)
            if frame is None:
                strange.append(message.reply)
            else:
                found[frame.digest] = frame
                self._receipts[frame.digest] = message.reply
        if strange:
            await self._acknowledge(strange, client)
        return list(found.values())

    async def _read(self, client: Client, message: Msg) -> Frame | None:
        """Return the frame in a message; None unless it is for this site and under its sender's subject."""
        try:
            frame = Frame.decode(await self._content(client, message.subject, message))
        except InputError:
            return None
        fits = self._subjects.fits(message.subject, frame) and self._subjects.is_for(self._name, frame)
        return frame if fits else None

    async def _content(self, client: Client, subject: str, message: Msg) -> bytes:
        """Return the bytes of a frame; of a split one its pieces, which must have the announced digest."""
        headers = message.headers or {}
        if _PIECES not in headers:
            return message.data
        said = _SPLIT.fullmatch(f"{subject.rpartition('.')[2]} {headers[_PIECES]}")
        most = -(-self._most // NATS_PIECE_BYTES)
        if said is None or int(said[2]) > most:  # what is too long is not read
            raise InputError("pieces.malformed", most=most)
        pieces = [await self._stored(client, f"{subject}.{n}") for n in range(int(said[2]))]
        data = b"".join(piece.data for piece in pieces if piece is not None)
        if hashlib.sha256(data).hexdigest() != said[1]:
            raise InputError("pieces.malformed", most=most)
        return data

    async def _last(self, frames: str, client: Client) -> Frame | None:
        message = await self._stored(client, frames)
        if message is None:
            return None
        try:
            return Frame.decode(await self._content(client, (message.headers or {})[_SUBJECT], message))
        except InputError as error:
            raise CarrierError("relay.not_what_was_sent", why=str(error)) from None

    async def _stored(self, client: Client, subject: str) -> Msg | None:
        """Return the last message under a subject, or under any that fits a pattern, if there is one."""
        found = await client.request(self._subjects.looking(subject), timeout=self._connection.answered)
        return None if (found.headers or {}).get(_STATUS) else found

    async def _acknowledge(self, receipts: Sequence[str], client: Client) -> None:
        for receipt in receipts:
            await client.publish(receipt, b"+ACK")
        await asyncio.wait_for(client.flush(), self._connection.answered)


def open_nats(study: JointStudy, name: str, credentials: Path | None) -> NatsCarrier:
    """Return the carrier of a participant, with the folder that the relay's operator made for it."""
    if credentials is None:
        raise InputError("relay.no_credentials")
    subjects, most = RelaySubjects(study.digest, study.names), longest_frame(study)
    return NatsCarrier(subjects, study.relay, name, credentials, most_bytes=most)


async def _until(news: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(news.wait(), seconds)

"""Operation costs: eight primitives measured on this machine, and an estimate of the processor time of a session.

Programs declare operations of six kinds; messages and their bytes are counted. The estimate is the sum of counts times
costs. Cheaper work is left out, so a test holds the estimate to a factor of four of a real run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any

from protocols import comparison
from protocols.arithmetic.ring import Ring, Vector
from protocols.arithmetic.rng import Stream
from protocols.comparison.parameters import Comparisons
from protocols.comparison.signs import CHOOSER, HOLDER
from protocols.crypto import dgk, garbling, masking, oblivious, paillier
from protocols.crypto.identity import Identity
from protocols.runtime import message as messages
from protocols.runtime.channel import Channel
from protocols.runtime.conversation import (
    AGREEMENT,
    BIT,
    ENCRYPTION,
    GATE,
    MASK_BYTE,
    POWER,
    Operations,
    PredictedTraffic,
)
from protocols.runtime.envelope import Envelope
from protocols.runtime.message import PARTY, Message, Times, message, public
from protocols.runtime.session import SESSION_BYTES, Session

ENVELOPE, SENT_BYTE = "envelope", "sent byte"
LINK_AGREEMENTS = 3
"""Agreements of one end of a link: its own, and about two for a signature that is checked."""
_BUDGET = 0.05  # seconds
_USES = 40  # of a fresh Paillier key, whose table grows with use
_BITS, _WORDS, _WIDTH, _MOST_PARTIES = 32, 10_000, 8, 1000


def estimated_seconds(p: Any, operations: Operations, foreseen: PredictedTraffic) -> float:
    """Return processor seconds of a session with parameters `p`, all participants together."""
    counts = {
        ENVELOPE: sum(stage.messages for stage in foreseen.by_stage.values()),
        SENT_BYTE: sum(stage.bytes for stage in foreseen.by_stage.values()),
        **operations,
        AGREEMENT: operations.get(AGREEMENT, 0) + LINK_AGREEMENTS * foreseen.links + foreseen.signed,
    }
    return sum(count * PRIMITIVES[kind](p) for kind, count in counts.items() if count)


def seconds_of(work: Callable[[], object]) -> float:
    """Return processor seconds of one call, as a mean of those that fit into a short budget, and of at least two."""
    work()
    begun, count = time.process_time(), 0
    while count < 2 or time.process_time() - begun < _BUDGET:
        work()
        count += 1
    return (time.process_time() - begun) / count


@message("1", PARTY >> PARTY)
class SampleNumbers(Message):
    """Numbers of a ring."""

    x: Annotated[Vector, public("word"), Times("words")]


def _power(p: Any) -> float:
    rng = Stream.from_system()
    key = paillier.generate(p.key_bits, rng)
    c = key.public.encrypt(1, rng)
    return seconds_of(lambda: key.decrypt(c))


def _encryption(p: Any) -> float:
    rng = Stream.from_system()
    key = paillier.generate(p.key_bits, rng, p.exponents).public
    begun = time.process_time()
    for _ in range(_USES):
        key.encrypt(1, rng)
    return (time.process_time() - begun) / _USES


def _bit(p: Any) -> float:
    rng = Stream.from_system()
    key = dgk.generate(p.key_bits, p.u, rng)
    return seconds_of(lambda: [key.encrypt(bit % 2, rng) for bit in range(_BITS)]) / _BITS


def _gate(p: Any) -> float:
    rng, session, K = Stream.from_system(), bytes(SESSION_BYTES), min(p.K, _MOST_PARTIES)
    offer = oblivious.offer(rng)
    choice = oblivious.choose(session, offer.A, rng)
    extended = oblivious.extend(session, offer, choice.points, garbling.chosen([1] * K, 0, _BITS))

    def search() -> None:
        garbled = garbling.garble(session, choice, extended.u, [1] * K, range(K), _BITS)
        rows = garbling.lock(garbled, [b"row"] * K)
        garbling.unlock(session, extended.labels, K, _BITS, garbled.tables, rows)

    return seconds_of(search) / garbling.and_count(K, _BITS)


def _agreement(p: Any) -> float:
    rng = Stream.from_system()
    secret, point = rng.bytes(masking.SECRET_BYTES), masking.public_key(rng.bytes(masking.SECRET_BYTES))
    return seconds_of(lambda: masking.agree(secret, point))


def _mask_byte(p: Any) -> float:
    """Measure masks of both kinds, from SHAKE-256 and from ChaCha20, and their sum."""
    seed = bytes(masking.SECRET_BYTES)

    def masks() -> None:
        made = masking.pair_mask(b"", 0, 1, seed, _WORDS, _WIDTH), masking.expand(seed, _WORDS, _WIDTH)
        masking.combined(made[:1], made[1:], _WORDS, _WIDTH)

    return seconds_of(masks) / (2 * _WORDS * _WIDTH)


def _sending(words: int) -> Callable[[], object]:
    """Return a function that encodes, seals, records, opens and decodes a message of so many numbers, and adds them."""
    rng, ring = Stream.from_system(), Ring(8 * _WIDTH)
    owners = {name: Identity.generate(rng.fork(name)) for name in (CHOOSER, HOLDER)}
    pinned = {name: owner.public for name, owner in owners.items()}
    session = Session(comparison.PROGRAM, Comparisons(1, _BITS), pinned, rng.bytes(SESSION_BYTES))
    board: dict[str, Any] = {}
    one, other = (Channel(session, name, owner, rng.fork(f"of {name}"), board) for name, owner in owners.items())
    board |= {end.name: end.greet(b"") for end in (one, other)}
    sent, layout = SampleNumbers(ring.random_vector(words, rng)), {"word": _WIDTH, "words": words}

    def send() -> None:
        envelope = one.seal(other.name, "SampleNumbers", "1", messages.encode(sent, layout, {}))
        recorded = Envelope.decode(envelope.encode())
        ring.add_vectors(messages.decode(SampleNumbers, other.open(recorded), layout, {}).x, sent.x)

    return send


PRIMITIVES: Mapping[str, Callable[[Any], float]] = MappingProxyType(
    {
        POWER: _power,
        ENCRYPTION: _encryption,
        BIT: _bit,
        GATE: _gate,
        AGREEMENT: _agreement,
        MASK_BYTE: _mask_byte,
        ENVELOPE: lambda p: seconds_of(_sending(1)),
        SENT_BYTE: lambda p: seconds_of(_sending(_WORDS)) / (_WORDS * _WIDTH),
    }
)
"""For each kind of operation, the function that measures its processor seconds under the parameters of a program."""

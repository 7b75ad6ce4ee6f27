"""Participants who seal, sign and number as they should, and lie in the content of one kind of message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from protocols.arithmetic import modular
from protocols.arithmetic.rng import Stream
from protocols.comparison.messages import Bits, ComparisonKey, Differences
from protocols.crypto import admission, paillier
from protocols.curator import CURATOR_NAME
from protocols.pathak2010 import PROGRAM, as_published
from protocols.pathak2010.messages import (
    Blinded,
    Half,
    Indicator,
    Masked,
    Match,
    Opening,
    PaillierKey,
    PublishedShare,
    Ready,
    Relay,
    Reshare,
    Selected,
    SharedKey,
    Slot,
)
from protocols.runtime import message as messages
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.envelope import HELLO, STAGE_END
from protocols.runtime.message import CURATOR, PARTY
from protocols.runtime.session import PUBLIC_NAME, Program

Twist = Callable[[Any, str, Any], Any]  # (liar, addressee, honest message) -> message, or None when it has sent


class Liar(Endpoint):
    """An endpoint that twists what its role sends."""

    def __init__(self, me: Endpoint, lie: Lie) -> None:
        self.__dict__.update(me.__dict__)
        self.lie, self.told = lie, 0

    def send(self, to: str, message: Any) -> None:
        """Send, with the one lie at the first chance."""
        if isinstance(message, self.lie.kind) and not self.told:
            told = self.lie.twist(self, to, message)
            self.told += told is not message
            if told is None:
                return
            message = told
        super().send(to, message)

    def publish(self, message: Any) -> None:
        """Publish, with the one lie."""
        told = self.lie.twist(self, PUBLIC_NAME, message) if isinstance(message, self.lie.kind) else message
        if told is not None:
            super().publish(told)

    def raw(self, to: str, kind: str, payload: bytes) -> None:
        """Seal any payload under any kind."""
        engine: Any = self._engine
        engine._emit(engine.channel.seal(to, kind, "", payload))

    def encoded(self, message: Any) -> bytes:
        """The canonical bytes of a message."""
        engine: Any = self._engine
        return messages.encode(message, engine.session.layout, engine.keys)

    def unpublished(self) -> list[tuple[str, str, bytes]]:
        """What this participant will sign and publish."""
        engine: Any = self._engine
        held: list[tuple[str, str, bytes]] = engine.progress.unpublished
        return held


@dataclass(frozen=True)
class Lie:
    """Who lies, in which kind of message, how, and the code of the accusation. `shown` is the kind that shows it."""

    who: str
    kind: type[Any]
    twist: Twist
    code: str
    shown: str | None = None
    program: Program = PROGRAM

    def programmed(self) -> Program:
        """The program in which this participant lies."""
        kind = CURATOR if self.who == CURATOR_NAME else PARTY
        honest: Any = self.program.roles[kind]

        async def role(me: Endpoint, *args: Any) -> Any:
            return await honest(Liar(me, self) if me.name == self.who else me, *args)

        return replace(self.program, roles={**self.program.roles, kind: role})


def minus(n: int) -> int:
    """A unit of Jacobi symbol -1."""
    return next(x for x in range(2, 1000) if modular.jacobi(x, n) == -1)


def swapped(field: str, value: Callable[[Any], Any]) -> Twist:
    """One field replaced."""
    return lambda me, to, m: replace(m, **{field: value(m)})


def bad(field: str, value: Callable[[int], int]) -> Twist:
    """The ciphertext of a field, or the last of its ciphertexts, replaced by a number made from n; covers are left."""

    def twist(me: Any, to: str, m: Any) -> Any:
        old = getattr(m, field)
        c = old[-1] if isinstance(old, tuple) else old
        if c is None:  # a cover
            return m
        new = type(c)(c.n, value(c.n))
        return replace(m, **{field: (*old[:-1], new) if isinstance(old, tuple) else new})

    return twist


def garbled(change: Callable[[bytes], bytes], kind: str | None = None) -> Twist:
    """The encoded message changed before it is sealed."""
    return lambda me, to, m: me.raw(to, kind or type(m).__name__, change(me.encoded(m)))


def also(kind: str, payload: bytes = b"") -> Twist:
    """The honest message, and another one after it."""

    def twist(me: Any, to: str, m: Any) -> None:
        me.told = 1
        Endpoint.send(me, to, m)
        me.raw(to, kind, payload)

    return twist


def stating(depth: int) -> Twist:
    """The honest message, in a round that cannot be."""

    def twist(me: Any, to: str, m: Any) -> None:
        counters = me._engine.channel.counters
        counters.round, kept = depth - 1, counters.round
        Endpoint.send(me, to, m)
        counters.round, me.told = kept, 1

    return twist


def cover(me: Any, to: str, m: Any) -> Any:
    """A cover where the share was due."""
    return m if m.b is None else replace(m, b=None)


def share(me: Any, to: str, m: Any) -> Any:
    """A share where a cover was due."""
    key = me._engine.keys["charlie's key"]
    return replace(m, b=key.encrypt(1, me.rng)) if m.b is None else m


def short_comparison_key(me: Liar, to: str, m: ComparisonKey) -> ComparisonKey:
    """A modulus one bit short, and smaller generators."""
    return ComparisonKey(m.n >> 1 | 1, m.g >> 9, m.h >> 9)


def small_key(me: Any, to: str, m: Any) -> Any:
    """A key of 496 bits."""
    key = paillier.generate(496, Stream.insecure_from_seed("small")).public
    return replace(m, n=key.n)


def prime_key(me: Any, to: str, m: Any) -> Any:
    """A prime of the right length and shape, with true roots: each point is its own."""
    rng = Stream.insecure_from_seed("prime")
    n = modular.random_prime(m.n.bit_length(), rng, residue=1, modulus=4)
    return replace(m, n=n, proof=tuple(admission._points(paillier.PublicKey(n), me.session_id + me.name.encode())))


def small_factor(m: Any) -> int:
    """A number 1 mod 4 of this length that the largest prime below 2**22 divides."""
    prime = 4194301  # 1 mod 4
    return int(m.n - m.n % (4 * prime) + prime)


def published(payload: Callable[[Any, Any], list[tuple[str, str, bytes]]]) -> Twist:
    """Other public mail than the role's."""
    return lambda me, to, m: me.unpublished().extend(payload(me, m))


def again(me: Any, m: Any) -> list[tuple[str, str, bytes]]:
    """The share, twice."""
    return [("PublishedShare", "stage3", me.encoded(m))] * 2


def mark_with_content(me: Any, m: Any) -> list[tuple[str, str, bytes]]:
    """A mark at the end of a stage that carries something."""
    return [(STAGE_END, "stage3", b"secret")]


C, P1, P2 = CURATOR_NAME, "P1", "P2"
PRINTED = as_published.PROGRAM

LIES = {
    "cover for share": Lie(P2, Relay, cover, "relay.not_as_due"),
    "share for cover": Lie(P2, Relay, share, "relay.not_as_due"),
    "relay non-unit": Lie(P2, Relay, bad("b", lambda n: n), "paillier.not_a_unit"),
    "relay Jacobi -1": Lie(P2, Relay, bad("b", minus), "paillier.not_randomised_by_h"),
    "another coin": Lie(P2, Opening, swapped("seed", lambda m: bytes(32)), "coin.not_as_committed_or_other_keys"),
    "another opening": Lie(P1, Opening, swapped("opening", lambda m: bytes(32)), "coin.not_as_committed_or_other_keys"),
    "small key of P1": Lie(P1, PaillierKey, small_key, "paillier_key.of_another_length"),
    "small key of Charlie": Lie(C, PaillierKey, small_key, "paillier_key.of_another_length"),
    "even modulus": Lie(C, PaillierKey, swapped("n", lambda m: m.n - 1), "paillier_key.unusable"),
    "zero modulus": Lie(C, PaillierKey, swapped("n", lambda m: 0), "paillier_key.unusable"),
    "modulus 3 mod 4": Lie(C, PaillierKey, swapped("n", lambda m: m.n - 2), "paillier_key.unusable"),
    "small factor": Lie(C, PaillierKey, swapped("n", small_factor), "paillier_key.small_factor"),
    "prime modulus": Lie(P1, PaillierKey, prime_key, "paillier_key.proof_fails"),
    "wrong proof": Lie(P1, PaillierKey, swapped("proof", lambda m: m.proof[::-1]), "paillier_key.proof_fails"),
    "zero proof": Lie(
        C, PaillierKey, swapped("proof", lambda m: (0,) * len(m.proof)), "paillier_key.proof_of_no_units"
    ),
    "shared key composite": Lie(P1, SharedKey, swapped("p", lambda m: m.p + 4), "shared_key.unusable"),
    "shared key square": Lie(P1, SharedKey, swapped("p", lambda m: m.q), "shared_key.unusable"),
    "comparison key g": Lie(C, ComparisonKey, swapped("g", lambda m: 1), "comparison_key.unusable"),
    "comparison key zero": Lie(C, ComparisonKey, swapped("n", lambda m: 0), "comparison_key.unusable"),
    "comparison key even": Lie(C, ComparisonKey, swapped("n", lambda m: m.n - 1), "comparison_key.unusable"),
    "comparison key one bit short": Lie(C, ComparisonKey, short_comparison_key, "comparison_key.of_another_length"),
    "comparison key small": Lie(C, ComparisonKey, swapped("n", lambda m: m.n >> 9 | 1), "comparison_key.unusable"),
    "slot zero": Lie(P2, Slot, bad("a", lambda n: 0), "paillier.not_a_unit"),
    "slot Jacobi -1": Lie(P1, Slot, bad("b", minus), "paillier.not_randomised_by_h"),
    "blinded Jacobi -1": Lie(C, Blinded, bad("a", minus), "paillier.not_randomised_by_h"),
    "half for reshare": Lie(P2, Half, garbled(bytes, "Reshare"), "message.of_another_kind", "Reshare"),
    "match out of range": Lie(C, Match, swapped("right", lambda m: 3), "comparison.of_no_places"),
    "match with itself": Lie(C, Match, swapped("right", lambda m: m.left), "comparison.of_no_places"),
    "bits non-unit": Lie(C, Bits, bad("y", lambda n: 0), "dgk.not_a_unit"),
    "differences non-unit": Lie(P1, Differences, bad("c", lambda n: 0), "dgk.not_a_unit"),
    "delta of two": Lie(P1, Differences, garbled(lambda b: b[:-1] + b"\x02"), "message.not_a_bit"),
    "indicator non-unit": Lie(C, Indicator, bad("u", lambda n: n), "paillier.not_a_unit"),
    "selected Jacobi -1": Lie(P2, Selected, bad("psi", minus), "paillier.not_randomised_by_h"),
    "masked non-unit": Lie(P1, Masked, bad("psi", lambda n: 0), "paillier.not_a_unit"),
    "payload short": Lie(P2, Reshare, garbled(lambda b: b[:-1]), "message.another_size"),
    "payload long": Lie(P2, Reshare, garbled(lambda b: b + b"\x00"), "message.another_size"),
    "payload not canonical": Lie(C, Reshare, garbled(lambda b: b"\xa1" + b[1:]), "message.not_canonical"),
    "unknown kind": Lie(P2, Ready, garbled(bytes, "Pickle"), "message.of_another_kind", "Pickle"),
    "greets twice": Lie(P2, Ready, garbled(bytes, HELLO), "message.of_another_kind", HELLO),
    "stage end in private": Lie(P2, Reshare, garbled(bytes, STAGE_END), "message.of_another_kind", STAGE_END),
    "round zero": Lie(P2, Half, stating(0), "message.states_no_round"),
    "round too late": Lie(C, Reshare, stating(1 << 32), "message.states_no_round"),
    "one message too many": Lie(C, Ready, also("Ready", b"\x80"), "message.not_wanted", "Ready"),
    "one message in between": Lie(P2, Half, also("Half", b"\x80"), "message.of_another_kind", "Half"),
    "mark with content": Lie(
        P2, PublishedShare, published(mark_with_content), "board.stage_end_carries_something", STAGE_END
    ),
    "published in private": Lie(
        P2, PublishedShare, published(lambda me, m: [("Ready", "stage3", b"\x80")]), "board.not_public", "Ready"
    ),
    "published nothing known": Lie(
        P2, PublishedShare, published(lambda me, m: [("Pickle", "stage3", b"\x80")]), "board.not_public", "Pickle"
    ),
    "published twice": Lie(C, PublishedShare, published(again), "board.published_before"),
    "published short": Lie(
        C,
        PublishedShare,
        published(lambda me, m: [("PublishedShare", "stage3", me.encoded(m)[:-1])]),
        "message.another_size",
    ),
    "index out of range": Lie(
        P2, as_published.PrintedCuratorShare, swapped("index", lambda m: 3), "share.index_unusable", program=PRINTED
    ),
    "index used before": Lie(
        "P3",
        as_published.PrintedCuratorShare,
        swapped("index", lambda m: (m.index + 1) % 3),
        "share.index_unusable",
        program=PRINTED,
    ),
    "printed slot non-unit": Lie(
        P2, as_published.PrintedSlot, bad("a", lambda n: n), "paillier.not_a_unit", program=PRINTED
    ),
    "printed noise non-unit": Lie(
        P2, as_published.PrintedSelected, bad("psi", lambda n: n), "paillier.not_a_unit", program=PRINTED
    ),
    "printed masked Jacobi -1": Lie(
        P1, as_published.PrintedMasked, bad("psi", minus), "paillier.not_randomised_by_h", program=PRINTED
    ),
}

"""Transfers: the bytes of a slow twin, q = t xor (b and Delta) in every row, and points that are refused."""

from __future__ import annotations

from nacl import bindings as sodium
from support import garbled_twin as twin
from support.garbled import SESSION

from protocols.arithmetic.rng import Stream
from protocols.crypto import oblivious
from protocols.errors import DecodeError
from tests.support.refusals import refused

Q = 2**252 + 27742317777372353535851937790883648493
ORDER_TWO = (2**255 - 20).to_bytes(32, "little")
IDENTITY = (1).to_bytes(32, "little")
COUNT = 41
BITS = bytes(i * i // 3 % 2 for i in range(COUNT))


def stream(label: str = "transfers") -> Stream:
    return Stream.insecure_from_seed(label)


def transfers(bits: bytes = BITS) -> tuple[oblivious.Choice, oblivious.Extended]:
    offer = oblivious.offer(stream("offer"))
    choice = oblivious.choose(SESSION, offer.A, stream())
    return choice, oblivious.extend(SESSION, offer, choice.points, bits)


def scalar(rng: Stream) -> int:
    return int.from_bytes(rng.bytes(64), "little") % Q


def unusable() -> dict[str, bytes]:
    fine = oblivious.offer(stream("fine")).A
    return {
        "identity": IDENTITY,
        "order two": ORDER_TWO,
        "order four": bytes(32),
        "torsioned": sodium.crypto_core_ed25519_add(fine, ORDER_TWO),
        "not canonical": (2**255 - 18).to_bytes(32, "little"),
        "on no curve": b"\2" + bytes(31),
        "too short": fine[:31],
        "empty": b"",
    }


# What must hold.


def test_points_and_keys_are_those_of_the_twin() -> None:
    """R_i and what it is hashed with, for both choices."""
    offer, r = oblivious.offer(stream("offer")), stream()
    x = scalar(stream("offer"))
    A = twin.times(x, twin.BASE)
    assert (int.from_bytes(offer.x, "little"), offer.A) == (x, twin.encoded(A))
    choice = oblivious.choose(SESSION, offer.A, stream())
    scalars = [scalar(r) for _ in range(oblivious.KEYS)]
    first, *rest = r.bytes(16)
    assert choice.delta == bytes([first | 1, *rest])
    for i in (0, 1, 2, 3, 4):
        own, bit = twin.times(scalars[i], twin.BASE), choice.delta[0] >> i & 1
        R = twin.plus(own, A) if bit else own
        assert choice.points[i] == twin.encoded(R)
        assert choice.keys[i] == twin.transfer_key(SESSION, i, A, R, twin.times(scalars[i], A))
    assert {choice.delta[0] >> i & 1 for i in range(5)} == {0, 1}


def test_rows_are_right() -> None:
    """q = t xor (b and Delta), row by row; half of the columns by the garbler's own key."""
    for count in (1, 8, 9, COUNT):
        choice, made = transfers(BITS[:count])
        q, delta = oblivious.zero_labels(choice, made.u, count), int.from_bytes(choice.delta, "little")
        labels, zeros = twin.numbers_of(made.labels), twin.numbers_of(q)
        assert len(labels) == count
        for t, zero, bit in zip(labels, zeros, BITS, strict=False):
            assert zero == t ^ bit * delta
        columns = [twin.column(key, count) for key in choice.keys]
        u = [made.u[i : i + len(made.u) // 128] for i in range(0, len(made.u), len(made.u) // 128)]
        for i, (column, hidden) in enumerate(zip(columns, u, strict=True)):
            chosen = choice.delta[i // 8] >> i % 8 & 1
            bits = [byte >> j & 1 for byte in hidden for j in range(8)]
            for j in range(count):
                assert zeros[j] >> i & 1 == column[j] ^ chosen * bits[j]


def test_u_hides_the_bits() -> None:
    """No column of u is another, and none is the bits; of each column about half are ones."""
    u = transfers(bytes(1000))[1].u
    columns = [u[i : i + 125] for i in range(0, len(u), 125)]
    assert len(set(columns)) == 128
    assert all(300 < int.from_bytes(column, "big").bit_count() < 700 for column in columns)


def test_every_key_is_its_own() -> None:
    """One point for all choices gives Charlie another column for each; another session gives others again."""
    offer = oblivious.offer(stream("offer"))
    points = (oblivious.offer(stream("point")).A,) * 128
    made = [oblivious.extend(session, offer, points, bytes(128)).labels for session in (SESSION, bytes(32))]
    columns = {whole for labels in made for whole in zip(*map(bits_of, twin.numbers_of(labels)), strict=True)}
    assert len(columns) == 256


def bits_of(label: int) -> list[int]:
    return [label >> i & 1 for i in range(128)]


def test_delta_is_new_and_odd() -> None:
    """Another one for other coins and for another session; its first bit is 1 and the others are not all alike."""
    offer = oblivious.offer(stream("offer"))
    sessions = [(SESSION, "one"), (SESSION, "two"), (bytes(32), "three"), (SESSION, "four")]
    deltas = [oblivious.choose(session, offer.A, stream(seed)).delta for session, seed in sessions]
    assert len(set(deltas)) == 4
    assert all(delta[0] & 1 for delta in deltas)


def test_unusable_points_are_refused() -> None:
    offer = oblivious.offer(stream("offer"))
    fine = transfers()[0].points
    for name, point in unusable().items():
        with refused("transfer.point_not_usable", error=DecodeError, name="A"):
            oblivious.choose(SESSION, point, stream(name))
        for place in (0, 1, 127):
            with refused("transfer.point_not_usable", error=DecodeError, name=f"R_{place + 1}"):
                oblivious.extend(SESSION, offer, (*fine[:place], point, *fine[place + 1 :]), BITS)


def test_messages_of_another_size_are_refused() -> None:
    choice, made = transfers()
    for wrong in (made.u[:-1], made.u + b"\0", b""):
        with refused("transfer.extension_of_another_size", error=DecodeError, count=len(wrong), wanted=128 * 6):
            oblivious.zero_labels(choice, wrong, COUNT)
    for points in (choice.points[:-1], (*choice.points, choice.points[0]), ()):
        with refused("transfer.another_number_of_points", error=DecodeError, count=len(points), wanted=128):
            oblivious.extend(SESSION, oblivious.offer(stream("offer")), points, BITS)
    assert [oblivious.u_bytes(n) for n in (1, 8, 9)] == [128, 128, 256]

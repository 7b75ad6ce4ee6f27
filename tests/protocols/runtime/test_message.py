"""The codec: one encoding per message, of one size per kind, and no bytes that do anything but decode or be refused."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Annotated, Any

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.toy import dgk_key, paillier_key

from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.comparison.messages import DGK, Bits, ComparisonKey, Differences
from protocols.crypto.dgk import BitCiphertext, FreshBit
from protocols.crypto.paillier import Ciphertext, Fresh, PublicKey, Uniform
from protocols.errors import DecodeError, LocalError
from protocols.pathak2010 import PROGRAM, Parameters, as_published
from protocols.pathak2010 import messages as kinds
from protocols.pathak2010.messages import XI, ZETA
from protocols.runtime import message as codec
from protocols.runtime.message import CURATOR, PARTY, PUBLIC, Message, Times, encrypted, masked, message, public, shared
from tests.support.refusals import refused

P = Parameters(("P1", "P2", "P3"), 3, 512)
LAYOUT = P.layout()
ZETA_KEY, XI_KEY, DGK_KEY = paillier_key("zeta"), paillier_key("xi"), dgk_key(P.u, 512)
KEYS = {XI: XI_KEY.public, ZETA: ZETA_KEY.public, DGK: DGK_KEY.public}
ALL = sorted({*PROGRAM.kinds, *as_published.PROGRAM.kinds}, key=lambda kind: kind.__name__)
every_kind = pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
ANY_KIND = st.sampled_from(ALL)


def fill(kind: type[Any], seed: int) -> Any:
    """A valid message with random content."""
    rng = Stream.insecure_from_seed(f"{kind.__name__} {seed}")

    def value(slot: codec.FieldSpec) -> Any:
        width = LAYOUT[slot.protection.width]
        if slot.type in (int, bool, bytes):
            return rng.bytes(width) if slot.type is bytes else rng.bits(1 if slot.type is bool else 8 * width)
        if slot.optional and rng.bits(1):
            return None
        key = KEYS[slot.protection.width]
        return key.blind(key.encrypt(rng.bits(3), rng), slot.type is BitCiphertext, rng)

    content = {
        slot.name: value(slot) if slot.count is None else tuple(value(slot) for _ in range(LAYOUT[slot.count]))
        for slot in kind.slots
    }
    return kind(**content)


@cache
def encoded(kind: type[Any], seed: int = 0) -> bytes:
    return codec.encode(fill(kind, seed), LAYOUT, KEYS)


def plain(value: Any) -> Any:
    """The value without its type's opinion on freshness."""
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)
    return (value.n, value.value) if isinstance(value, Ciphertext | BitCiphertext) else value


def freshened(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(freshened(v) for v in value)
    if isinstance(value, Ciphertext):
        return Uniform(value.n, value.value)
    return FreshBit(value.n, value.value) if isinstance(value, BitCiphertext) else value


def content(m: Any) -> dict[str, Any]:
    return {f.name: getattr(m, f.name) for f in fields(m)}


def check(kind: type[Any], data: bytes) -> bool:
    """Whether data decodes; if so, to a message that encodes to the same bytes; nothing but DecodeError is raised."""
    try:
        got = codec.decode(kind, data, LAYOUT, KEYS)
    except DecodeError:
        return False
    again = kind(**{name: freshened(value) for name, value in content(got).items()})
    assert codec.encode(again, LAYOUT, KEYS) == data
    return True


# One form, one size.


@every_kind
def test_decoding_gives_the_message_back_which_is_stale_and_not_shown(kind: type[Any]) -> None:
    for seed in range(4):
        sent = fill(kind, seed)
        data = codec.encode(sent, LAYOUT, KEYS)
        got = codec.decode(kind, data, LAYOUT, KEYS)
        assert {k: plain(v) for k, v in content(got).items()} == {k: plain(v) for k, v in content(sent).items()}
        assert len(data) == codec.size(kind, LAYOUT)
        assert cbor2.dumps(cbor2.loads(data), canonical=True) == data
        assert check(kind, data)
        flat = [x for v in content(got).values() for x in (v if isinstance(v, tuple) else (v,))]
        assert not any(isinstance(x, Fresh | FreshBit) for x in flat)
        assert not any(str(value) in repr(sent).partition("0x")[0] for value in content(sent).values())


def b(n: int, width: int) -> bytes:
    return n.to_bytes(width, "big")


@pytest.mark.parametrize(
    ("sent", "items"),
    [
        (kinds.Ready(b"c" * 32), [b"c" * 32]),
        (kinds.PublishedShare((1, 2, 3), b"o" * 32), [b(1, 8) + b(2, 8) + b(3, 8), b"o" * 32]),
        (kinds.Half(5), [b(5, 10)]),
        (kinds.Match(2, 0), [b(2, 4), b(0, 4)]),
        (kinds.Relay(2**77 - 1, None), [b(2**77 - 1, 10), bytes(128)]),
        (kinds.Reshare((1, 2**64 - 1, 0)), [b(1, 8) + b(2**64 - 1, 8) + b(0, 8)]),
        (kinds.Opening(b"s" * 32, b"o" * 32), [b"s" * 32, b"o" * 32]),
        (kinds.SharedKey(3, 5), [b(3, 32), b(5, 32)]),
        (ComparisonKey(3, 5, 7), [b(3, 64), b(5, 64), b(7, 64)]),
        (as_published.PrintedCuratorShare(1, 9), [b(1, 4), b(9, 10)]),
    ],
    ids=lambda x: type(x).__name__,
)
def test_the_encoding_written_out(sent: Any, items: list[Any]) -> None:
    assert codec.encode(sent, LAYOUT, KEYS) == cbor2.dumps(items, canonical=True)


# Arbitrary bytes.


@settings(max_examples=320)
@given(kind=ANY_KIND, data=st.data())
def test_arbitrary_bytes_are_refused_or_read(kind: type[Any], data: st.DataObject) -> None:
    size = codec.size(kind, LAYOUT)
    check(kind, data.draw(st.binary(max_size=200)))
    check(kind, Stream.insecure_from_seed(data.draw(st.integers(0, 10**9))).bytes(size))
    check(kind, data.draw(st.binary(min_size=size, max_size=size)) if size < 300 else bytes(size))


@settings(max_examples=320)
@given(kind=ANY_KIND, at=st.integers(0, 2**16), change=st.integers(1, 255), seed=st.integers(0, 2))
def test_one_changed_byte_is_refused_or_read(kind: type[Any], at: int, change: int, seed: int) -> None:
    altered = bytearray(encoded(kind, seed))
    altered[at % len(altered)] ^= change
    check(kind, bytes(altered))


@settings(max_examples=200)
@given(kind=ANY_KIND, seed=st.integers(0, 10**9), special=st.sampled_from(["random", "zero", "ones", "n"]))
def test_arbitrary_content_in_the_right_frame(kind: type[Any], seed: int, special: str) -> None:
    rng = Stream.insecure_from_seed(seed)

    def piece(slot: codec.FieldSpec) -> bytes:
        width = LAYOUT[slot.protection.width]
        key = KEYS.get(slot.protection.width)
        choices = {"random": rng.bytes(width), "zero": bytes(width), "ones": b"\xff" * width}
        choices["n"] = b(key.n, width) if key else bytes(width)
        return choices[special if rng.bits(1) else "random"]

    raw = [piece(s) if s.count is None else [piece(s) for _ in range(LAYOUT[s.count])] for s in kind.slots]
    check(kind, cbor2.dumps(raw, canonical=True))


@every_kind
def test_other_sizes_are_refused_with_both_sizes(kind: type[Any]) -> None:
    data = encoded(kind)
    for other in (data[:-1], data + b"\x00", b"", data * 2):
        with refused("message.another_size", error=DecodeError, wanted=len(data), got=len(other)):
            codec.decode(kind, other, LAYOUT, KEYS)


def frame(*pieces: Any) -> bytes:
    return cbor2.dumps(list(pieces), canonical=True)


def test_a_bit_is_zero_or_one() -> None:
    c = b"".join(b(x.value, 64) for x in fill(Differences, 0).c)
    for bit in (0, 1):
        assert codec.decode(Differences, frame(c, bytes([bit])), LAYOUT, KEYS).delta == bit
    for bit in (2, 255):
        with refused("message.not_a_bit", error=DecodeError, got=bit):
            codec.decode(Differences, frame(c, bytes([bit])), LAYOUT, KEYS)


def test_a_cover_is_zero_and_only_where_it_is_declared() -> None:
    cover = codec.encode(kinds.Relay(7, None), LAYOUT, KEYS)
    assert codec.decode(kinds.Relay, cover, LAYOUT, KEYS).b is None
    share = codec.encode(kinds.Relay(7, ZETA_KEY.public.encrypt(1, Stream.insecure_from_seed(1))), LAYOUT, KEYS)
    assert len(cover) == len(share)
    with refused("paillier.not_a_unit", error=DecodeError):
        codec.decode(kinds.Blinded, frame(bytes(128)), LAYOUT, KEYS)
    with refused("ciphertext.stale", error=LocalError):
        codec.encode(kinds.Blinded(None), LAYOUT, KEYS)  # type: ignore[arg-type]


def test_what_a_key_does_not_admit_is_refused_with_its_field() -> None:
    n = XI_KEY.public.n
    squares = [[pow(x, (prime - 1) // 2, prime) == 1 for prime in (XI_KEY.p, XI_KEY.q)] for x in range(99)]
    minus = next(x for x in range(2, 99) if squares[x][0] != squares[x][1])
    refusals = {x: "paillier.not_a_unit" for x in (0, n, XI_KEY.p, n * n + 1)} | {minus: "paillier.not_randomised_by_h"}
    for value, code in refusals.items():
        with refused(code, error=DecodeError) as caught:
            codec.decode(kinds.Blinded, frame(b(value, 128)), LAYOUT, KEYS)
        assert caught.value.fault.place == "a: "
    bits = b"".join(b(x.value, 64) for x in fill(Bits, 0).y[1:])
    for value in (0, DGK_KEY.p, DGK_KEY.public.n):
        with refused("dgk.not_a_unit", error=DecodeError):
            codec.decode(Bits, frame(b(value, 64) + bits), LAYOUT, KEYS)


# What a role may not send.


def test_stale_ciphertexts_are_not_sent_unless_the_paper_says_so() -> None:
    rng = Stream.insecure_from_seed("stale")
    c = ZETA_KEY.public.encrypt(1, rng)
    stale = ZETA_KEY.public.add(c, c)
    with refused("ciphertext.stale", error=LocalError):
        codec.encode(kinds.Relay(1, stale), LAYOUT, KEYS)
    with refused("ciphertext.stale", error=LocalError):
        codec.encode(kinds.Relay(1, Ciphertext(c.n, c.value)), LAYOUT, KEYS)
    assert codec.encode(kinds.Relay(1, ZETA_KEY.public.refresh(stale, rng)), LAYOUT, KEYS)
    bits = fill(Bits, 0).y
    with refused("ciphertext.stale", error=LocalError):
        codec.encode(Bits((BitCiphertext(bits[0].n, bits[0].value), *bits[1:])), LAYOUT, KEYS)
    printed = as_published.PrintedSelected((stale, stale, stale))
    assert codec.decode(type(printed), codec.encode(printed, LAYOUT, KEYS), LAYOUT, KEYS) == printed


@pytest.mark.parametrize("kind", [kinds.Blinded, kinds.Masked], ids=lambda kind: kind.__name__)
def test_what_returns_to_the_owner_of_a_key_is_uniform(kind: type[Any]) -> None:
    (slot,), rng = kind.slots, Stream.insecure_from_seed("returned")
    key = KEYS[slot.protection.width]
    assert isinstance(key, PublicKey)
    count = LAYOUT[slot.count] if slot.count else 1

    def made(c: Ciphertext) -> Any:
        return kind((c,) * count if slot.count else c)

    fresh = key.encrypt(1, rng)
    for c in (fresh, key.refresh(fresh, rng), XI_KEY.encrypt(1, rng), ZETA_KEY.encrypt(1, rng)):
        with refused("ciphertext.not_blinded", error=LocalError) as caught:
            codec.encode(made(c), LAYOUT, KEYS)
        assert caught.value.fault.place == f"{kind.__name__}.{slot.name}: "
    with refused("ciphertext.stale", error=LocalError):
        codec.encode(made(key.add(fresh)), LAYOUT, KEYS)
    assert codec.encode(made(key.blind(fresh, 1, rng)), LAYOUT, KEYS)


def test_the_fields_that_return_are_declared_and_all_others_take_what_is_fresh() -> None:
    slots = {f"{kind.__name__}.{slot.name}": slot for kind in PROGRAM.kinds for slot in kind.slots}
    assert {place for place, slot in slots.items() if slot.protection.category == "returned"} == {
        *("Blinded.a", "Masked.psi", "Differences.c")
    }
    c = ZETA_KEY.public.encrypt(1, Stream.insecure_from_seed("fresh"))
    for place, slot in slots.items():
        if slot.type is Ciphertext:
            assert codec.is_fresh(c, slot) == (slot.protection.category == "encrypted"), place
            assert codec.is_fresh(Uniform(c.n, c.value), slot)
            assert not codec.is_fresh(Ciphertext(c.n, c.value), slot)


def test_no_kind_of_the_hardened_protocol_may_carry_stale_ciphertexts() -> None:
    for kind in ALL:
        assert kind.as_published == kind.__name__.startswith("Printed") == (kind not in PROGRAM.kinds), kind


def test_ciphertexts_under_another_key_are_not_sent() -> None:
    c = XI_KEY.public.encrypt(1, Stream.insecure_from_seed(1))
    with refused("ciphertext.not_under_the_key", error=LocalError, key="charlie's key"):
        codec.encode(kinds.Relay(1, c), LAYOUT, KEYS)


@pytest.mark.parametrize("kind", [kinds.Blinded, Bits], ids=lambda kind: kind.__name__)
def test_nothing_is_sent_or_read_before_its_key_is_admitted(kind: type[Any]) -> None:
    with refused("key.not_admitted", error=LocalError):
        codec.encode(fill(kind, 0), LAYOUT, {})
    with refused("key.not_admitted", error=LocalError):
        codec.decode(kind, encoded(kind), LAYOUT, {})


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (kinds.Half(2**80), "integer.too_large"),
        (kinds.Half(-1), "integer.too_large"),
        (kinds.Half(None), "integer.too_large"),  # type: ignore[arg-type]
        (kinds.Half(1.0), "integer.too_large"),  # type: ignore[arg-type]
        (kinds.Half("5"), "integer.too_large"),  # type: ignore[arg-type]
        (kinds.Reshare((1, 2)), "message.another_number_of_values"),
        (kinds.Reshare((1, 2, 3, 4)), "message.another_number_of_values"),
        (kinds.Reshare((1, 2, 2**64)), "integer.too_large"),
        (kinds.Commitment(b"short"), "message.wanted_bytes"),
        (kinds.Commitment(b"l" * 33), "message.wanted_bytes"),
        (kinds.Commitment("t" * 32), "message.wanted_bytes"),  # type: ignore[arg-type]
        (kinds.Blinded(5), "ciphertext.stale"),  # type: ignore[arg-type]
        (Differences(fill(Differences, 0).c, 2), "message.wanted_a_bit"),  # type: ignore[arg-type]
    ],
    ids=lambda x: type(x).__name__,
)
def test_values_that_do_not_fit_are_not_sent(wrong: Any, code: str) -> None:
    with refused(code, error=LocalError) as caught:
        codec.encode(wrong, LAYOUT, KEYS)
    assert caught.value.fault.place.startswith(f"{type(wrong).__name__}.")


# Declarations.


def test_a_person_reads_of_each_protection_in_other_words_and_of_a_ciphertext_under_which_key() -> None:
    slots = [slot.protection for kind in PROGRAM.kinds for slot in kind.slots]
    words = {(one.category, one.width if one.is_ciphertext else ""): one.description for one in slots}
    assert {category for category, _ in words} == {"public", "masked", "shared", "encrypted", "returned"}
    assert len(set(words.values())) == len(words)
    assert all(key in said for (_, key), said in words.items())


@pytest.mark.parametrize(
    "field",
    [
        *(int, Annotated[int, "a note"], Annotated[int, public("a"), masked("a")]),
        *(Annotated[kind, public("a")] for kind in (float, str, Vector, Ciphertext, int | None)),
        *(Annotated[kind, public("a"), Times("K")] for kind in (tuple[float, ...], tuple[int, ...], int)),
        *(Annotated[Vector, public("a"), Times("K"), Times("d")], Annotated[int, encrypted("a")]),
    ],
)
def test_declarations_that_leave_something_open_are_refused(field: Any) -> None:
    declared = type("Declared", (Message,), {"__annotations__": {"x": field}})
    with refused("message.field_not_declared", error=LocalError, kind="Declared", field="x"):
        message("0", PARTY >> CURATOR)(declared)


@message("9.9", (PARTY >> PARTY) | (CURATOR >> PUBLIC))
class Example(Message):
    secret: Annotated[int, shared("sizes")]
    flag: Annotated[bool, public("bit")]


def test_what_a_declaration_makes() -> None:
    assert (Example.step, Example.as_published) == ("9.9", False)
    assert str(Example.route) == "party -> party, curator -> public"
    assert Example.route.allows(PARTY, PARTY)
    assert not Example.route.allows(PARTY, CURATOR)
    assert [str(slot.protection) for slot in Example.slots] == ["shared(sizes)", "public(bit)"]
    assert codec.decode(Example, codec.encode(Example(3, True), LAYOUT, {}), LAYOUT, {}) == Example(3, True)
    with pytest.raises(AttributeError):
        Example(3, True).secret = 4  # type: ignore[misc]

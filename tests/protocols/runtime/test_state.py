"""States: every value that a role may leave behind comes back, and no other bytes are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.toy import dgk_key, paillier_key

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.errors import ReplayError
from protocols.pathak2010 import PROGRAM, Parameters, as_published
from protocols.pathak2010.values import Announced, CuratorKeys, Halves, PartyInput, PartyKeys
from protocols.runtime import state
from tests.support.refusals import refused

RECORDS = (*as_published.PROGRAM.records, Parameters)
XI, ZETA, DGK = paillier_key("xi"), paillier_key("zeta"), dgk_key()
EXAMPLES = {
    "Parameters": Parameters(("a", "b"), 3, 512),
    "PartyInput": PartyInput(5, (1, 2**64 - 1), (0, 7)),
    "PrintedInput": as_published.PrintedInput(5, (1, 2), (-3, 4)),
    "Permutation": Permutation((2, 0, 1)),
    "Halves": Halves((1, 2, 3), Permutation((2, 0, 1))),
    "Announced": Announced((1, 2**64 - 1), (b"a" * 32, b"b" * 32)),
    "PublicKey": XI.public,
    "PrivateKey": XI,
    "Ciphertext": XI.public.add(XI.public.encrypt(3, Stream.insecure_from_seed(1))),
    "DgkPublicKey": DGK.public,
    "DgkPrivateKey": DGK,
    "PartyKeys": PartyKeys(XI, ZETA.public, Permutation((0, 1)), None),
    "CuratorKeys": CuratorKeys(XI.public, ZETA, DGK),
}
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.binary(max_size=8)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
    | st.sampled_from(sorted(EXAMPLES)).map(EXAMPLES.__getitem__),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text("abc", max_size=2) | st.integers(-9, 9), inner, max_size=3)
    ),
    max_leaves=12,
)


def same(a: Any, b: Any) -> bool:
    """Equal, and of the same types all the way down."""
    if type(a) is not type(b) or a != b:
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return not isinstance(a, list | tuple) or all(same(x, y) for x, y in zip(a, b, strict=True))


def check(data: bytes) -> None:
    """ReplayError, or a value that has exactly these bytes; nothing else."""
    try:
        value = state.load_state(data, RECORDS)
    except ReplayError:
        return
    assert state.dump_state(value, RECORDS) == data


def test_every_record_has_an_example() -> None:
    assert {record.__name__ for record in (*RECORDS, *PROGRAM.records)} == set(EXAMPLES)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_records_come_back(name: str) -> None:
    assert same(state.load_state(state.dump_state(EXAMPLES[name], RECORDS), RECORDS), EXAMPLES[name])


@given(VALUES)
def test_values_come_back(value: Any) -> None:
    data = state.dump_state(value, RECORDS)
    assert same(state.load_state(data, RECORDS), value)
    assert cbor2.dumps(cbor2.loads(data), canonical=True) == data


@pytest.mark.parametrize(
    "value", [0, -1, 1, 127, 128, -128, -129, 2**64, -(2**64), 2**3072, True, False, None, "", b""]
)
def test_integers_and_bits_come_back(value: Any) -> None:
    assert same(state.load_state(state.dump_state(value, RECORDS), RECORDS), value)


@dataclass(frozen=True)
class Stranger:
    x: int


def impostor() -> Any:
    """Another class of a record's name."""
    return dataclass(frozen=True)(type("Halves", (), {"__annotations__": {"b_tilde": int, "pi2": int}}))(1, 2)


@pytest.mark.parametrize(
    "value",
    [Stranger(1), Stranger, 1.5, {1, 2}, object(), [Stranger(1)], {"a": 1.0}, b"".__len__, bytearray(b"x"), impostor()],
    ids=lambda value: type(value).__name__,
)
def test_what_no_program_names_is_not_dumped(value: Any) -> None:
    with refused("state.class_unknown", error=ReplayError):
        state.dump_state(value, RECORDS)


def test_a_record_that_this_program_does_not_name_is_not_loaded() -> None:
    data = state.dump_state(Stranger(1), (Stranger,))
    assert state.load_state(data, (Stranger,)) == Stranger(1)
    with refused("state.not_restorable", error=ReplayError):
        state.load_state(data, RECORDS)
    with refused("state.not_restorable", error=ReplayError):
        state.load_state(state.dump_state(EXAMPLES["PrintedInput"], RECORDS), PROGRAM.records)


# Bytes that nobody dumped.

WELL = state.dump_state({"a": (1, [True, None, "x", b"y"]), "k": EXAMPLES["Halves"]}, RECORDS)


@given(st.binary(max_size=120))
@settings(max_examples=150)
def test_arbitrary_bytes_are_refused_or_read(data: bytes) -> None:
    check(data)


@given(st.integers(0, len(WELL) - 1), st.integers(0, 255), st.integers(0, 3))
@settings(max_examples=150)
def test_changed_bytes_are_refused_or_read(at: int, byte: int, how: int) -> None:
    changed = [WELL[:at] + bytes([byte]) + WELL[at + 1 :], WELL[:at] + bytes([byte]) + WELL[at:], WELL[:at]]
    check([*changed, WELL[:at] + WELL[at + 1 :]][how])


NAMES = ["plain", "int", "dict", "list", "tuple", "record", *(f"record {name}" for name in EXAMPLES)]
NESTED = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 300) | st.binary(max_size=4) | st.text("ab", max_size=2) | st.floats(),
    lambda inner: (
        st.tuples(st.sampled_from(NAMES), inner).map(list)
        | st.tuples(st.sampled_from(NAMES), st.lists(inner, max_size=5)).map(list)
        | st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab", max_size=1), inner, max_size=2)
    ),
    max_leaves=15,
)


@given(NESTED)
@settings(max_examples=120)
def test_states_of_the_right_shape_are_refused_or_read(plain: Any) -> None:
    check(cbor2.dumps(plain, canonical=True))


def text(s: str) -> bytes:
    return cbor2.dumps(s)


FIVE = b"\x82" + text("int") + b"\x41\x05"
assert state.dump_state(5, RECORDS) == FIVE
CRAFTED = {
    "trailing bytes": FIVE + b"\x00",
    "indefinite array": b"\x9f" + text("int") + b"\x41\x05\xff",
    "long head": b"\x98\x02" + text("int") + b"\x41\x05",
    "leading zero": b"\x82" + text("int") + b"\x42\x00\x05",
    "tag around all": b"\xd9\xd9\xf7" + FIVE,
    "float": b"\x82" + text("plain") + b"\xf9\x00\x00",
    "map with one key twice": b"\x82" + text("plain") + b"\xa2\x01\x01\x01\x02",
    "dict with one key twice": b"\x82" + text("dict") + b"\x82" + (b"\x82" + FIVE + FIVE) * 2,
    "dict with a list as key": b"\x82" + text("dict") + b"\x81\x82\x82" + text("list") + b"\x80" + FIVE,
    "a value in itself": b"\xd8\x1c\x82" + text("list") + b"\x81\xd8\x1d\x00",
    "deep lists": (b"\x82" + text("list") + b"\x81") * 300 + FIVE,
    "huge array": b"\x9b" + b"\x7f" + b"\xff" * 7,
    "three items": b"\x83" + text("int") + b"\x41\x05\x00",
    "kind is a list": b"\x82\x80\x80",
    "no permutation": cbor2.dumps(["record Permutation", [["tuple", [["int", b"\x05"]]]]]),
    "even modulus": cbor2.dumps(["record PublicKey", [["int", b"\x10"], ["int", b"\x03"]]]),
    "private key of a number": cbor2.dumps(["record PrivateKey", [["int", b"\x0f"]] * 3]),
    "one party": cbor2.dumps(
        ["record Parameters", [["tuple", [["plain", "a"]]], *([["int", b"\x03"]] * 3), ["plain", "tournament"]]]
    ),
    "constructor": cbor2.dumps(["record __class__", []]),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_crafted_bytes_are_refused(name: str) -> None:
    with pytest.raises(ReplayError):
        state.load_state(CRAFTED[name], RECORDS)


def test_a_state_has_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    value = state.load_state(WELL, RECORDS)
    monkeypatch.setattr(state, "MAX_STATE_BYTES", len(WELL) - 1)
    with refused("state.too_large", error=ReplayError, most=len(WELL) - 1, got=len(WELL)):
        state.load_state(WELL, RECORDS)
    with refused("state.too_large", error=ReplayError, most=len(WELL) - 1, got=len(WELL)):
        state.dump_state(value, RECORDS)

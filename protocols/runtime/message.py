"""Messages: frozen classes whose every field declares its protection, and their one canonical encoding.

A message is declared once, with the paper's step and its route:

    @message("1.3", PARTY >> CURATOR)
    class Slot(Message):
        a: Annotated[Ciphertext, encrypted(PARTIES)]
        b: Annotated[Ciphertext, encrypted(CURATOR)]

The type of a field is `Ciphertext`, for its reader cannot tell how it was made. The type that its writer must put there
follows from the protection: `Fresh` for `encrypted`, `Uniform` for `returned`.

A protection also names a width, which the protocol's parameters turn into bytes (its *layout*), so that the size of a
message is a function of public parameters and of nothing else. On the wire a message is a CBOR array of byte strings
(RFC 8949, deterministic), one per field; that of a vector holds its items one after the other. Decoding cuts the bytes
where the layout says, and demands in every place the one head that is due there: no parser, so no tags, no trailing
bytes, no second form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType, UnionType
from typing import Annotated, Any, ClassVar, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

from typing_extensions import override

from protocols.arithmetic import words
from protocols.crypto.dgk import BitCiphertext, DgkPublicKey, FreshBit
from protocols.crypto.paillier import Ciphertext, Fresh, Uniform
from protocols.crypto.paillier import PublicKey as PaillierPublicKey
from protocols.errors import DecodeError, LocalError
from protocols.runtime.cbor_limits import ARRAY, STRING, shortest_head

Key = PaillierPublicKey | DgkPublicKey
Layout = Mapping[str, int]
Keys = Mapping[str, Key]

_PLAIN = (int, bool, bytes)
_CIPHERTEXTS = (Ciphertext, BitCiphertext)


@dataclass(frozen=True)
class Kind:
    """Kind of participant, as an end of a route."""

    name: str

    def __rshift__(self, other: Kind) -> Route:
        return Route(((self, other),))


@dataclass(frozen=True)
class Route:
    """Pairs of kinds of participant: sender and receiver of a message."""

    ends: tuple[tuple[Kind, Kind], ...]

    def __or__(self, other: Route) -> Route:
        return Route(self.ends + other.ends)

    def allows(self, sender: Kind, receiver: Kind) -> bool:
        """Tell whether the route has this pair of ends."""
        return (sender, receiver) in self.ends

    @override
    def __str__(self) -> str:
        return ", ".join(f"{a.name} -> {b.name}" for a, b in self.ends)


PARTY, CURATOR, PUBLIC = Kind("party"), Kind("curator"), Kind("public")


@dataclass(frozen=True)
class Protection:
    """Protection of a field, and the name of its width in the layout.

    `category` is one of these. `public`: anybody may know it. `masked`: uniform to its reader, or nearly so. `shared`:
    a secret of all members of a group that its reader belongs to. `encrypted`: a ciphertext under the key of that name,
    which is also the name of its width. `returned`: the same, made from one that its reader may have made, and its
    reader has the secret key.
    """

    category: str
    width: str

    @override
    def __str__(self) -> str:
        return f"{self.category}({self.width})"

    @property
    def description(self) -> str:
        """Description for a person who reads a page."""
        return _IN_WORDS[self.category].format(key=self.width)

    @property
    def is_ciphertext(self) -> bool:
        """True for a field that holds ciphertexts."""
        return self.category in ("encrypted", "returned")


_IN_WORDS = MappingProxyType(
    {
        "public": "public",
        "masked": "random, as far as the receiver can see",
        "shared": "a secret of sender and reader",
        "encrypted": "a ciphertext ({key})",
        "returned": "a ciphertext ({key}), sent to the owner of the key",
    }
)


@dataclass(frozen=True)
class Times:
    """Mark of a vector; `count` names its length in the layout."""

    count: str


def public(width: str) -> Protection:
    """Declare a value that anybody may know."""
    return Protection("public", width)


def masked(width: str) -> Protection:
    """Declare a value that is uniform to its reader, or within the stated statistical distance of it."""
    return Protection("masked", width)


def shared(width: str) -> Protection:
    """Declare a secret that sender and reader are both meant to hold."""
    return Protection("shared", width)


def encrypted(key: str) -> Protection:
    """Declare a ciphertext under the key of this name."""
    return Protection("encrypted", key)


def returned(key: str) -> Protection:
    """Declare a ciphertext under the key of this name that goes back to the holder of the secret key."""
    return Protection("returned", key)


@dataclass(frozen=True)
class FieldSpec:
    """Field for the codec: type of its values, protection, name of its length when it is a vector."""

    name: str
    type: type
    optional: bool
    protection: Protection
    count: str | None


class Message:
    """Base of all messages: frozen, with the paper's step, the route, and the fields for the codec."""

    step: ClassVar[str]
    route: ClassVar[Route]
    as_published: ClassVar[bool]
    slots: ClassVar[tuple[FieldSpec, ...]]


MessageT = TypeVar("MessageT", bound=Message)


@dataclass_transform(frozen_default=True)
def message(step: str, route: Route, *, as_published: bool = False) -> Callable[[type[MessageT]], type[MessageT]]:
    """Make a message of a class; raise `LocalError` for a field without a declared protection.

    `as_published` marks a message of the paper's unmodified protocol, the only kind that may carry a stale ciphertext.
    """

    def make(cls: type[MessageT]) -> type[MessageT]:
        made = dataclass(frozen=True, repr=False)(cls)
        made.step, made.route, made.as_published = step, route, as_published
        hints = get_type_hints(made, include_extras=True)
        made.slots = tuple(_slot(made, f.name, hints[f.name]) for f in fields(made))  # type: ignore[arg-type]
        return made

    return make


def _slot(cls: type, name: str, hint: Any) -> FieldSpec:
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    protections = [note for note in notes if isinstance(note, Protection)]
    counts = [note.count for note in notes if isinstance(note, Times)]
    inner = declared = get_args(hint)[0] if notes else hint
    numbers, others = declared == words.Vector, get_origin(declared) is tuple
    if numbers or others:
        inner = int if numbers else get_args(declared)[0]
    optional = isinstance(inner, UnionType)
    if optional:
        inner = next(t for t in get_args(inner) if t is not type(None))
    allowed = (*_PLAIN, *_CIPHERTEXTS) if not others else (bool, bytes, *_CIPHERTEXTS)  # of numbers it is a `Vector`
    if (
        len(protections) != 1
        or len(counts) != (numbers or others)
        or inner not in allowed
        or (inner in _CIPHERTEXTS) != protections[0].is_ciphertext
        or (optional and inner not in _CIPHERTEXTS)  # zero encodes absence, and only among ciphertexts it is no value
    ):
        raise LocalError("message.field_not_declared", kind=cls.__name__, field=name)
    return FieldSpec(name, inner, optional, protections[0], counts[0] if counts else None)


def size(kind: type[Message], layout: Layout) -> int:
    """Return the length in bytes of every message of this kind under this layout."""
    total = len(shortest_head(ARRAY, len(kind.slots)))
    for slot in kind.slots:
        length = _length(slot, layout)
        total += len(shortest_head(STRING, length)) + length
    return total


def encode(message: Message, layout: Layout, keys: Keys) -> bytes:
    """Return the canonical bytes; raise `LocalError` for a value that does not fit, a stale ciphertext, a wrong key."""
    parts = [shortest_head(ARRAY, len(message.slots))]
    for slot in message.slots:
        value = getattr(message, slot.name)
        try:
            if slot.count is None:
                packed = _pack(value, slot, layout, keys, message.as_published)
            elif len(value) == layout[slot.count]:
                packed = _pack_all(value, slot, layout, keys, message.as_published)
            else:
                raise LocalError("message.another_number_of_values", wanted=layout[slot.count], got=len(value))
        except LocalError as error:
            raise error.within(f"{type(message).__name__}.{slot.name}") from None
        parts += shortest_head(STRING, len(packed)), packed
    return b"".join(parts)


def decode(kind: type[MessageT], data: bytes, layout: Layout, keys: Keys) -> MessageT:
    """Return the message; raise `DecodeError` unless `data` is exactly the canonical encoding of one."""
    wanted = size(kind, layout)
    if len(data) != wanted:
        raise DecodeError("message.another_size", wanted=wanted, got=len(data))
    values: dict[str, Any] = {}
    # Strings of one length have one encoding: it is canonical when every head is the one that is due in its place.
    head = shortest_head(ARRAY, len(kind.slots))
    at, exact = len(head), data.startswith(head)
    for slot in kind.slots:
        head = shortest_head(STRING, length := _length(slot, layout))
        exact, at = exact and data.startswith(head, at), at + len(head)
        try:
            read = _unpack_all(data[at : at + length], layout[slot.protection.width], slot, keys)
        except DecodeError as error:
            raise error.within(slot.name) from None
        values[slot.name], at = read[0] if slot.count is None else read, at + length
    if not exact:
        raise DecodeError("message.not_canonical")
    return kind(**values)


def _length(slot: FieldSpec, layout: Layout) -> int:
    """Return the number of bytes of a field."""
    return layout[slot.protection.width] * (1 if slot.count is None else layout[slot.count])


def _pack_all(values: Sequence[Any], slot: FieldSpec, layout: Layout, keys: Keys, as_published: bool) -> bytes:
    """Encode the items of a vector; plain integers and bytes, of which there may be many, in bulk."""
    width = layout[slot.protection.width]
    if slot.type is bytes and set(map(type, values)) <= {bytes} and set(map(len, values)) <= {width}:
        return b"".join(values)
    if slot.type is int and all(issubclass(kind, int) for kind in set(map(type, values))):
        try:
            return words.to_bytes(values, width)
        except OverflowError:
            pass  # the error below has a code
    return b"".join([_pack(value, slot, layout, keys, as_published) for value in values])


def _unpack_all(data: bytes, width: int, slot: FieldSpec, keys: Keys) -> Sequence[Any]:
    if slot.type is int:
        return words.from_bytes(data, width)
    pieces = [data[i : i + width] for i in range(0, len(data), width)]
    return tuple(pieces if slot.type is bytes else [_unpack(piece, slot, keys) for piece in pieces])


def _pack(value: Any, slot: FieldSpec, layout: Layout, keys: Keys, as_published: bool) -> bytes:
    width = layout[slot.protection.width]
    if value is None and slot.optional:
        return bytes(width)  # a cover: zero is no unit, so it cannot be taken for a ciphertext
    if slot.type is bytes:
        if not isinstance(value, bytes) or len(value) != width:
            raise LocalError("message.wanted_bytes", wanted=width)
        return value
    if slot.type is bool:
        if value not in (0, 1):
            raise LocalError("message.wanted_a_bit")
        number = int(value)
    elif slot.type is int:
        number = value
    else:
        key = _key(slot, keys)
        if not isinstance(value, _CIPHERTEXTS) or not (as_published or is_fresh(value, slot)):
            if isinstance(value, Fresh):
                raise LocalError("ciphertext.not_blinded")
            raise LocalError("ciphertext.stale")
        if value.n != key.n:
            raise LocalError("ciphertext.not_under_the_key", key=slot.protection.width)
        number = value.value
    if not isinstance(number, int) or number < 0 or number.bit_length() > 8 * width:
        raise LocalError("integer.too_large", bits=8 * width)
    return number.to_bytes(width, "big")


def is_fresh(c: Ciphertext | BitCiphertext, slot: FieldSpec) -> bool:
    """Tell whether a ciphertext is known to carry the randomness that this field requires."""
    return isinstance(c, (Uniform if slot.protection.category == "returned" else Fresh) | FreshBit)


def _unpack(piece: bytes, slot: FieldSpec, keys: Keys) -> Any:
    if slot.optional and not any(piece):
        return None
    number = int.from_bytes(piece, "big")
    if slot.type is bool:
        if number > 1:
            raise DecodeError("message.not_a_bit", got=number)
        return number
    return _key(slot, keys).admit(number)


def _key(slot: FieldSpec, keys: Keys) -> Key:
    if slot.protection.width not in keys:
        raise LocalError("key.not_admitted", key=slot.protection.width)
    return keys[slot.protection.width]

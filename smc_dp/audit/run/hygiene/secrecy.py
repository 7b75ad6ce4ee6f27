"""Secrecy of messages: masks wide enough for what they hide, and no private number of anybody but their reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import combinations
from math import inf, lgamma, log, log2
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from protocols.arithmetic.words import Words
from protocols.crypto.paillier import Ciphertext, PrivateKey
from protocols.runtime.claims import Mask, View, public_fields, readings, secret_keys_of
from protocols.runtime.link_decryption import DecryptedEnvelope
from smc_dp.audit.run.check import CheckOutcome, failed, failed_line, not_applicable, not_possible, passed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.view_messages import decrypted_messages, describe_views
from smc_dp.core.errors import shown

MIN_SIGMA = 40  # bits of slack below which a mask is none, whatever a protocol declares
CHANCE_BITS = 40  # an honest run fails `masks` with probability below 2**-40
CANARY_BITS = 21  # and each of the two halves of `canaries` with probability below 2**-21
DISTINCTIVE_BITS = 32  # a secret shorter than that may equal an index or a bit
_APART = 3  # coordinates of which differences are looked for
_TABLE_BITS = 20


@dataclass(frozen=True, repr=False)
class _Reading:
    line: int
    value: int


def check_masks(evidence: Evidence) -> CheckOutcome:
    """Check that every mask has the declared slack over what it hides, and that readings are as long as such masks are.

    N numbers uniform on [0, 2**B) have m among them with t or more leading zeros with probability at most C(N, m)
    2**-(t m). The check fails when this is below 2**-40 for some field, t and m, after a union bound over all of them.
    """
    hygiene, p = evidence.protocol.model.hygiene, evidence.session.parameters
    if hygiene is None:
        return not_applicable("masks.not_declared")
    declared = hygiene.masks(p)
    for mask in declared:
        if mask.slack is not None and mask.slack < max(MIN_SIGMA, hygiene.sigma):
            figures = {name: getattr(mask, name) for name in ("place", "bits", "hidden", "times", "slack")}
            return failed("masks.too_little_slack", **figures, wanted=hygiene.sigma)
    if not evidence.views:
        return not_possible("masks.slack_without_views", sigma=hygiene.sigma)
    messages, count = decrypted_messages(evidence), 0
    for mask in declared:
        found = list(_read(evidence, messages, mask))
        count += len(found)
        for reading in found:
            if reading.value.bit_length() > mask.bits + (mask.hidden is not None):
                return failed_line(evidence, reading.line, "masks.number_too_long", place=mask.place, bits=mask.bits)
        if short := _too_short(mask, found, log2(len(declared))):
            counts = {"short": len(short), "count": len(found)}
            return failed_line(evidence, short[0].line, "masks.too_short", place=mask.place, **counts, bits=mask.bits)
    return passed("masks.hold", count=count, least=hygiene.sigma, evidence=describe_views(evidence))


def _read(evidence: Evidence, messages: Sequence[DecryptedEnvelope], mask: Mask) -> Iterator[_Reading]:
    """Yield the numbers in a field for an owner of one of the given views' keys, message by message."""
    keys = {n: key for again in evidence.recomputed.values() for n, key in secret_keys_of(again.view).items()}
    kind, _, field = mask.place.partition(".")
    for decrypted in messages:
        if decrypted.envelope.kind != kind or decrypted.message is None:
            continue
        value = getattr(decrypted.message, field)
        values = [_plain(v, keys) for v in (value if isinstance(value, tuple | Words) else (value,))]
        known = [v for v in values if v is not None]
        if len(known) == len(values):
            yield from (_Reading(decrypted.line, v) for v in mask.unpack(known))


def _plain(value: Any, keys: dict[int, Any]) -> int | None:
    if isinstance(value, Ciphertext):
        key = keys.get(value.n)
        return key.decrypt(value) if isinstance(key, PrivateKey) else None
    return value if isinstance(value, int) else None


def _too_short(mask: Mask, found: list[_Reading], tests: float) -> list[_Reading]:
    """Return the readings that are shorter than masks ever are; `tests` is the log2 of the number of fields."""
    N = len(found)
    zeros = np.array([max(0, mask.bits - reading.value.bit_length()) for reading in found], dtype=np.int64)
    for t in sorted(set(zeros.tolist()) - {0}):
        m = int(np.count_nonzero(zeros >= t))
        choices = (lgamma(N + 1) - lgamma(m + 1) - lgamma(N - m + 1)) / log(2)
        if choices - t * m + tests + log2(N) + log2(mask.bits) < -CHANCE_BITS:
            return [reading for reading, z in zip(found, zeros, strict=True) if z >= t]
    return []


# Canaries.


@dataclass(frozen=True, repr=False)
class _Secret:
    owner: str
    name: str
    bits: int
    value: int


Numbers: TypeAlias = dict[int, int]  # what somebody read -> the first line where it stands


def check_canaries(evidence: Evidence) -> CheckOutcome:
    """Check that nobody reads a private number of another: plain, negated, or as sum or difference of two readings.

    Of each vector its first and its last distinctive number and the differences of the first three are looked for, or
    the first one alone where more would turn up by chance; compared numbers among the masked readings, where they would
    stand in front of random bits. What would turn up by chance too often is not looked for.
    """
    if len(evidence.views) < 2:
        return not_possible("canaries.too_few_views")
    secrets = list(_secrets(evidence))
    compared = set(evidence.protocol.model.compared(evidence.session.parameters))
    vectors = _vectors([s for s in secrets if s.name not in compared])
    read = {role: _numbers(evidence, role) for role in evidence.views}
    marked = _several(vectors)
    if _chance(marked, read) > -CANARY_BITS:
        marked = _first(vectors)
    if _chance(marked, read) > -CANARY_BITS:
        return not_applicable("canaries.too_short")
    for reader, numbers in read.items():
        for secret, line in _hits(numbers, [s for s in marked if s.owner != reader]):
            return failed("canaries.read", line=line, name=secret.name, owner=shown(secret.owner), reader=shown(reader))
    sizes = _compared(evidence, [s for s in secrets if s.name in compared])
    if isinstance(sizes, CheckOutcome):
        return sizes
    if not marked and sizes.startswith("not"):
        return not_applicable("canaries.not_distinctive", sizes=sizes)
    return passed("canaries.hold", count=len(marked), views=len(read), sizes=sizes)


def _secrets(evidence: Evidence) -> Iterator[_Secret]:
    """Yield the private numbers in the views by the names that the protocol's model gives them."""
    unknowns: list[tuple[str, int]] = []

    def unknown(name: str, bits: int) -> int:
        unknowns.append((name, bits))
        return len(unknowns) - 1

    p, model = evidence.session.parameters, evidence.protocol.model
    shapes = model.inputs(p, unknown)
    for role, view in evidence.views.items():
        mine = model.hygiene.gathered(p, view.inputs) if model.hygiene else view.inputs
        for index, value in _pairs(shapes[role], mine, type(p)):
            name, bits = unknowns[index]
            yield _Secret(role, name, bits, value % (1 << bits))


def _pairs(shape: Any, value: Any, skip: type) -> Iterator[tuple[int, int]]:
    """Yield the integers of two values of one shape, side by side; raise ValueError when their shapes differ."""
    if isinstance(shape, skip):
        return
    if isinstance(shape, int) and isinstance(value, int):
        yield shape, value
    elif isinstance(shape, tuple | Words) and isinstance(value, tuple | Words):
        vectors = len(shape) > len(value) and all(isinstance(x, tuple | Words) for x in shape)
        for a, b in zip(shape[: len(value)] if vectors else shape, value, strict=True):
            yield from _pairs(a, b, skip)
    elif is_dataclass(shape) and type(shape) is type(value):
        for f in fields(shape):
            yield from _pairs(getattr(shape, f.name), getattr(value, f.name), skip)
    else:
        raise ValueError("the inputs of a view have not the shape of inputs")


def _is_distinctive(secret: _Secret) -> bool:
    return min(secret.value, (1 << secret.bits) - secret.value) >> (DISTINCTIVE_BITS - 1) > 0


def _vectors(secrets: list[_Secret]) -> list[list[_Secret]]:
    """Return each owner's vectors, coordinate by coordinate."""
    found: dict[tuple[str, str], list[_Secret]] = {}
    for secret in secrets:
        found.setdefault((secret.owner, secret.name.partition("(")[0]), []).append(secret)
    return list(found.values())


def _first(vectors: list[list[_Secret]]) -> list[_Secret]:
    """Return the first distinctive number of each vector."""
    return [s for vector in vectors for s in [s for s in vector if _is_distinctive(s)][:1]]


def _several(vectors: list[list[_Secret]]) -> list[_Secret]:
    """Return the last one too, and differences of coordinates, which a mask that is used again does not hide."""
    last = [s for vector in vectors for s in [s for s in vector if _is_distinctive(s)][1:][-1:]]
    apart = [_apart(a, b) for vector in vectors for a, b in combinations(vector[:_APART], 2)]
    return [*_first(vectors), *last, *(s for s in apart if _is_distinctive(s))]


def _apart(a: _Secret, b: _Secret) -> _Secret:
    return _Secret(a.owner, f"{a.name} - {b.name}", a.bits, (a.value - b.value) % (1 << a.bits))


def _chance(marked: list[_Secret], read: Mapping[str, Numbers]) -> float:
    """Return the log2 of the probability, at most, that a reader finds one of these by chance."""
    found = -inf
    for reader, numbers in read.items():
        others = [s for s in marked if s.owner != reader]
        if others and numbers:
            tries = len(others) * (2 * len(numbers) + 3 * len(numbers) ** 2)
            found = max(found, log2(tries) - min(s.bits for s in others) + log2(len(read)))
    return found


def _numbers(evidence: Evidence, reader: str) -> Numbers:
    """Return all numbers that the owner of a view reads, also those that were packed."""
    again, found = evidence.recomputed[reader], Numbers()
    hygiene = evidence.protocol.model.hygiene
    mine = [d for d in again.decrypted if d.envelope.to == reader and d.message is not None]
    for decrypted in mine:
        messages = ((decrypted.envelope.sender, decrypted.message),)
        one = View(reader, again.view.inputs, again.view.results, messages)  # type: ignore[arg-type]
        for values in (*readings(one).values(), *public_fields(one).values()):
            for value in values:
                found.setdefault(value, decrypted.line)
    for mask in hygiene.masks(evidence.session.parameters) if hygiene else ():
        for reading in _read(evidence, mine, mask) if mask.unpack is not list else ():
            found.setdefault(reading.value, reading.line)
    return found


def _hits(numbers: Numbers, secrets: list[_Secret]) -> Iterator[tuple[_Secret, int]]:
    """Yield secrets among the numbers: plain, negated, or as v + w, v - w or -v - w of two of them mod 2**bits.

    A table of the numbers' low bits says which v are worth a look: w follows from v, so it must be in the table.
    """
    for bits in {s.bits for s in secrets}:
        lines = {v % (1 << bits): line for v, line in reversed(numbers.items())}
        values, modulus = list(lines), 1 << bits
        low = np.array([v % (1 << _TABLE_BITS) for v in values], dtype=np.int64)
        table = np.zeros(1 << _TABLE_BITS, dtype=bool)
        table[low] = True
        for secret in (s for s in secrets if s.bits == bits):
            s = secret.value
            for plain in (s, -s % modulus):
                if plain in lines:
                    yield secret, lines[plain]
            for v, w in ((-1, s), (1, -s), (-1, -s)):
                for i in _worth(table, v * low + w % (1 << _TABLE_BITS)):
                    if (v * values[i] + w) % modulus in lines:
                        yield secret, lines[values[i]]


def _worth(table: npt.NDArray[np.bool_], low: npt.NDArray[np.int64]) -> list[int]:
    found: list[int] = np.flatnonzero(table[low % len(table)]).tolist()
    return found


def _compared(evidence: Evidence, secrets: list[_Secret]) -> str | CheckOutcome:
    """Look for compared numbers at the top of masked readings; return how, in words, or the failed outcome."""
    hygiene, p = evidence.protocol.model.hygiene, evidence.session.parameters
    bits, shift = hygiene.carried(p) if hygiene else (0, 0)
    if hygiene is None or not shift:
        return "not looked for: they are too small to be told from others"
    wide = [mask for mask in hygiene.masks(p) if mask.bits >= bits and mask.unpack is list]
    found = []
    for reader, again in evidence.recomputed.items():
        mine = [decrypted for decrypted in again.decrypted if decrypted.envelope.to == reader]
        tops = [(r, (r.value % (1 << bits)) >> shift) for mask in wide for r in _read(evidence, mine, mask)]
        found += [(reader, s, r, top) for r, top in tops for s in secrets if s.owner != reader]
    if log2(len(found) or 1) - (bits - shift) > -CANARY_BITS:
        return "not looked for: among so many masked readings a chance hit is likely"
    for reader, s, r, top in found:
        if s.value == top:
            return failed("canaries.read", line=r.line, name=s.name, owner=shown(s.owner), reader=shown(reader))
    return f"looked for {len(found)} times"

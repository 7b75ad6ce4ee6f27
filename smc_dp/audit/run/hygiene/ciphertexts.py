"""Ciphertexts in the messages that the given views open: units of their kind, distinct, and fresh."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from protocols.arithmetic import modular
from protocols.crypto.dgk import BitCiphertext, DgkPublicKey
from protocols.crypto.paillier import Ciphertext
from protocols.runtime.link_decryption import DecryptedEnvelope
from protocols.runtime.message import Key, is_fresh
from protocols.runtime.view import Recomputed
from smc_dp.audit.run.check import CheckOutcome, failed, failed_line, not_applicable, passed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.view_messages import NO_VIEWS_OUTCOME, decrypted_messages, describe_views

AnyCiphertext: TypeAlias = Ciphertext | BitCiphertext


def _unseen(evidence: Evidence) -> CheckOutcome | None:
    """Return why no ciphertext of the run can be seen; None where views may show some."""
    if not any(slot.protection.is_ciphertext for kind in evidence.session.program.kinds for slot in kind.slots):
        return _NONE_SENT
    return None if evidence.views else NO_VIEWS_OUTCOME


def ciphertexts(decrypted: DecryptedEnvelope) -> Iterator[tuple[str, AnyCiphertext]]:
    """Yield every ciphertext of a message with its place; covers are none."""
    if decrypted.message is None:
        return
    for slot in decrypted.message.slots:
        if slot.protection.is_ciphertext:
            value = getattr(decrypted.message, slot.name)
            for c in value if slot.count else (value,):
                if c is not None:
                    yield f"{decrypted.envelope.kind}.{slot.name}", c


def check_units(evidence: Evidence) -> CheckOutcome:
    """Check that every ciphertext is a unit: mod n**2 with Jacobi symbol +1 under Paillier keys, mod n under DGK's."""
    if (unseen := _unseen(evidence)) is not None:
        return unseen
    count = 0
    locked = {(k.__name__, s.name) for k in evidence.session.program.kinds for s in k.slots if s.type not in _PLAIN}
    for decrypted in decrypted_messages(evidence):
        kind = decrypted.envelope.kind
        if decrypted.fault and (kind, decrypted.fault.partition(":")[0]) in locked:
            return failed_line(evidence, decrypted.line, "ciphertext.undecodable", kind=kind, fault=decrypted.fault)
        for place, c in ciphertexts(decrypted):
            count += 1
            if not _is_unit(c):
                return failed_line(evidence, decrypted.line, "ciphertext.no_unit", place=place)
    return passed("units.hold", count=count, evidence=describe_views(evidence)) if count else _NONE


_PLAIN = (int, bool, bytes)
_NONE = not_applicable("ciphertext.none_in_views")
_NONE_SENT = not_applicable("ciphertext.none_in_protocol")


def _is_unit(c: AnyCiphertext) -> bool:
    if isinstance(c, BitCiphertext):
        return modular.is_unit(c.value, c.n)
    return modular.is_unit(c.value, c.n * c.n) and modular.jacobi(c.value % c.n, c.n) == 1


def _distinct(evidence: Evidence) -> Iterator[DecryptedEnvelope]:
    """Yield all messages, but only the first copy of one that goes alike to several readers."""
    hygiene = evidence.protocol.model.hygiene
    alike = hygiene.alike if hygiene else ()
    readers: dict[tuple[str, str, bytes | None], set[str]] = {}
    for decrypted in decrypted_messages(evidence):
        e = decrypted.envelope
        if e.kind in alike:
            had = readers.setdefault((e.sender, e.kind, decrypted.payload), set())
            if had and e.to not in had:
                had.add(e.to)
                continue
            had.add(e.to)
        yield decrypted


def check_repeats(evidence: Evidence) -> CheckOutcome:
    """Check that no ciphertext stands twice in the messages, but in copies of one message to several readers."""
    if (unseen := _unseen(evidence)) is not None:
        return unseen
    seen: dict[tuple[int, int], str] = {}
    for decrypted in _distinct(evidence):
        for place, c in ciphertexts(decrypted):
            if before := seen.get((c.n, c.value)):
                return failed_line(evidence, decrypted.line, "ciphertext.repeated", place=place, before=before)
            seen[c.n, c.value] = f"{place} on line {decrypted.line}"
    return passed("repeats.hold", count=len(seen), evidence=describe_views(evidence)) if seen else _NONE


def check_freshness(evidence: Evidence) -> CheckOutcome:
    """Check that every ciphertext that somebody sent carries new randomness.

    Of c = (1 + m n) r**n mod n**2 the residue c mod n = r**n names the randomiser, for r -> r**n is a bijection: two
    ciphertexts with one residue differ by a known plaintext factor only [N4], and residue 1 is no randomness at all. A
    product or power with old randomness has a residue of its own, and only the sender's view shows it: its program then
    sends what is marked stale [N5].
    """
    if (unseen := _unseen(evidence)) is not None:
        return unseen
    seen: dict[tuple[int, int], tuple[int, str]] = {}
    bare = {key.n: _bare(key) for again in evidence.recomputed.values() for key in again.keys.values()}
    for decrypted in _distinct(evidence):
        for place, c in ciphertexts(decrypted):
            residue = c.value if isinstance(c, BitCiphertext) else c.value % c.n
            if residue in bare.get(c.n, ()):
                return failed_line(evidence, decrypted.line, "ciphertext.no_randomness", place=place)
            value, before = seen.setdefault((c.n, residue), (c.value, f"{place} on line {decrypted.line}"))
            if value != c.value:
                return failed_line(evidence, decrypted.line, "ciphertext.randomiser_reused", place=place, before=before)
    for again in evidence.recomputed.values():
        if stale := _stale(again):  # by its program, for which its owner does not answer
            return failed("ciphertext.not_refreshed", line=stale[0], place=stale[1])
    return passed("freshness.holds", count=len(seen), evidence=describe_views(evidence)) if seen else _NONE


def _bare(key: Key) -> frozenset[int]:
    """Return residues without randomness: the powers of g mod n for DGK, 1 for Paillier."""
    if isinstance(key, DgkPublicKey):
        return frozenset(key.constant(m).value for m in range(key.u))
    return frozenset({1})


def _stale(again: Recomputed) -> tuple[int | None, str] | None:
    """Return line and place of the first ciphertext that the role's program sends without new randomness."""
    sent = [decrypted for decrypted in again.decrypted if decrypted.envelope.sender == again.view.name]
    lines = {(decrypted.envelope.to, n): decrypted.line for n, decrypted in _numbered(sent)}
    numbers: dict[str, int] = {}
    for to, message in again.posted:
        numbers[to] = numbers.get(to, 0) + 1
        for slot in message.slots:
            value = getattr(message, slot.name)
            for c in value if slot.count else (value,):
                if isinstance(c, Ciphertext | BitCiphertext) and not is_fresh(c, slot):
                    return lines.get((to, numbers[to])), f"{type(message).__name__}.{slot.name}"
    return None


def _numbered(messages: list[DecryptedEnvelope]) -> Iterator[tuple[int, DecryptedEnvelope]]:
    """Yield each message with its number among those to its addressee, from 1."""
    count: dict[str, int] = {}
    for decrypted in messages:
        count[decrypted.envelope.to] = count.get(decrypted.envelope.to, 0) + 1
        yield count[decrypted.envelope.to], decrypted

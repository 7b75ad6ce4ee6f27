"""Keys of a run as the given views show them: length, shape, proofs, and the secret part against the public one."""

from __future__ import annotations

from protocols.arithmetic import modular
from protocols.arithmetic.rng import Stream
from protocols.crypto import admission, dgk, paillier
from protocols.crypto.dgk import DgkPrivateKey, DgkPublicKey
from protocols.runtime.claims import secret_keys_of
from protocols.runtime.link_decryption import DecryptedEnvelope
from protocols.runtime.message import Key, Message
from protocols.runtime.view import Recomputed
from smc_dp.audit.run.blame import chain_signer, malicious_sender
from smc_dp.audit.run.check import CheckOutcome, failed, make_fault, not_applicable, not_possible, passed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.view_messages import NO_VIEWS_OUTCOME, decrypted_messages, describe_views
from smc_dp.core.errors import Fault, shown
from smc_dp.run.agreement import TEST_KEYS


def check_keys(evidence: Evidence) -> CheckOutcome:
    """Check that every key has the declared length and shape, its proof, and the secret part that is in its view."""
    limits = evidence.protocol.limits
    if limits.keys is None:
        return not_applicable("keys.none_in_protocol")
    bits = limits.keys.bits(evidence.session.parameters)
    if bits < limits.keys.shortest and TEST_KEYS not in evidence.head["insecure"]:
        return failed("keys.unmarked_test_keys", line=0, bits=bits, mark=TEST_KEYS)
    if not evidence.views:
        return NO_VIEWS_OUTCOME
    announced = [decrypted for decrypted in decrypted_messages(evidence) if decrypted.message is not None]
    alike = {(d.envelope.sender, d.envelope.kind, d.payload): d for d in reversed(announced)}
    for decrypted in reversed(alike.values()):
        if fault := _announcement_fault(evidence, decrypted, bits):
            # Its own, whatever others told it.
            return failed(fault, line=decrypted.line, culprit=chain_signer(evidence, decrypted.line))
        if fault := _other_key(evidence, decrypted):
            return failed(fault, line=decrypted.line, culprit=malicious_sender(evidence, decrypted.line))
    named: dict[str, Key] = {}
    sound: set[int] = set()  # a key that all parties share is looked at once
    for role, again in evidence.recomputed.items():
        for name, key in again.keys.items():
            if named.setdefault(name, key) != key:
                return failed("keys.differ_between_views", role=shown(role), name=name)
        if fault := _secret_fault(again, bits, sound):  # nobody is named: its messages may have brought it
            return failed(fault.within(f"the view of {shown(role)} holds"))
    if not named:
        return not_possible("keys.none_in_views")
    proofs = sum(_names(decrypted.message) == {"n", "proof"} for decrypted in announced)
    return passed("keys.hold", bits=bits, count=len(named), proofs=proofs, evidence=describe_views(evidence))


def _names(message: Message | None) -> set[str]:
    return set() if message is None else {slot.name for slot in message.slots}


def _announcement_fault(evidence: Evidence, decrypted: DecryptedEnvelope, bits: int) -> Fault | None:
    """Return the fault of a key in a message, which the names of its fields tell; None for other messages."""
    message, names = decrypted.message, _names(decrypted.message)
    if names == {"p", "q"}:
        p, q = (getattr(message, name) for name in ("p", "q"))
        return _assembly_fault(p, q, bits)
    if names not in ({"n", "proof"}, {"n", "g", "h"}):
        return None
    return _comparison_fault(message, bits) if "g" in names else _paillier_fault(evidence, decrypted, bits)


def _other_key(evidence: Evidence, decrypted: DecryptedEnvelope) -> Fault | None:
    """Return the fault of an announced key that is none of those in its sender's view, which anybody can write."""
    sender = decrypted.envelope.sender
    if _names(decrypted.message) not in ({"n", "proof"}, {"n", "g", "h"}) or sender not in evidence.views:
        return None
    owned = secret_keys_of(evidence.recomputed[sender].view)  # a role that was stopped in its set-up has left none
    if not owned or getattr(decrypted.message, "n", None) in owned:
        return None
    return make_fault("key.not_of_view", sender=shown(sender))


def _assembly_fault(p: int, q: int, bits: int) -> Fault | None:
    try:
        paillier.assemble(p, q, bits)
    except ValueError as error:
        return make_fault("key.unusable_secret", why=str(error))
    return None


def _paillier_fault(evidence: Evidence, decrypted: DecryptedEnvelope, bits: int) -> Fault | None:
    n, proof = (getattr(decrypted.message, name) for name in ("n", "proof"))
    try:
        key = paillier.PublicKey(n)
    except ValueError as error:
        return make_fault("key.unusable_public", why=str(error))
    context = evidence.session.id + decrypted.envelope.sender.encode()
    # The auditor's own randomness: that of the reader is in its view. A prover who knows it first can make up a proof.
    return admission.verify(key, bits, proof, context, Stream.from_system())


def _comparison_fault(message: Message | None, bits: int) -> Fault | None:
    n, g, h = (getattr(message, name) for name in ("n", "g", "h"))
    if any(not modular.is_unit(x, n) or x == 1 for x in (g, h)):
        return make_fault("key.no_units")
    if dgk.has_size(DgkPublicKey(n, g, h, 2, dgk.order_bits(bits)), bits):
        return None
    return make_fault("key.other_size", bits=bits)


def _secret_fault(again: Recomputed, bits: int, sound: set[int]) -> Fault | None:
    """Return the fault of a secret key of a role; those found sound go into `sound` by their moduli."""
    known = list(again.keys.values())
    for n, secret in secret_keys_of(again.view).items():
        if secret.public not in known:
            return make_fault("key.never_used")
        if n in sound:
            continue
        if isinstance(secret, DgkPrivateKey):
            if not _has_orders(secret, bits):
                return make_fault("key.other_secret_part")
        elif fault := _assembly_fault(secret.p, secret.q, bits):
            return fault
        sound.add(n)
    return None


def _has_orders(key: DgkPrivateKey, bits: int) -> bool:
    """Return whether p and q are primes with n = p q, in which h has the order v and g the order u v."""
    public = key.public
    if key.p * key.q != public.n or public.n.bit_length() != bits:
        return False
    for prime, order in ((key.p, key.v_p), (key.q, key.v_q)):
        primes = modular.is_prime(prime) and modular.is_prime(order) and order.bit_length() == public.t
        g = modular.power(public.g, order, prime)
        if not primes or modular.power(public.h, order, prime) != 1 or g == 1 or modular.power(g, public.u, prime) != 1:
            return False
    return True

"""What a known-answer vector may ask of the code: one function per operation, plain JSON values in and out.

Integers of 53 bits or more and bytes are hexadecimal strings, integers with a leading 0x. `shared` holds a file's keys.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from protocols.arithmetic.packing import Packing
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Ring
from protocols.arithmetic.rng import Stream
from protocols.comparison import steps
from protocols.comparison.messages import DGK
from protocols.crypto import admission, commitment, dgk, identity, paillier, sealing
from protocols.crypto.dgk import BitCiphertext, FreshBit
from protocols.crypto.identity import Identity
from protocols.crypto.paillier import Ciphertext, Fresh, Uniform
from protocols.curator import CURATOR_NAME
from protocols.pathak2010 import KINDS, PROGRAM, Parameters, PartyInput, as_published
from protocols.pathak2010 import setup as stage0
from protocols.pathak2010.messages import XI, ZETA
from protocols.runtime import message as codec
from protocols.runtime.envelope import Envelope
from protocols.runtime.session import Session
from protocols.runtime.simulate import Setting, simulate

Json = Any
Shared = dict[str, Any]
OPS: dict[str, Callable[..., Json]] = {}
SAFE = 1 << 53


def op(function: Callable[..., Json]) -> Callable[..., Json]:
    OPS[function.__name__] = function
    return function


def run(shared: Shared, case: dict[str, Json]) -> tuple[str, Json]:
    """("ok", output), or the error's class and None."""
    try:
        return "ok", out(OPS[case["op"]](shared, **case["input"]))
    except Exception as error:
        return type(error).__name__, None


def number(x: Json) -> int:
    return x if isinstance(x, int) else int(x, 16)


def numbers(xs: Json) -> list[int]:
    return [number(x) for x in xs]


def out(value: Any) -> Json:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, bool | str | None):
        return value
    if isinstance(value, int):
        return value if abs(value) < SAFE else hex(value)
    if isinstance(value, dict):
        return {key: out(v) for key, v in value.items()}
    return [out(v) for v in value]


def stream(seed: Json) -> Stream:
    return Stream.insecure_from_seed(seed)


# Streams, shares, permutations, slots.


@op
def stream_bytes(shared: Shared, seed: Json, forks: list[str], n: int) -> Json:
    rng = stream(seed)
    for label in forks:
        rng = rng.fork(label)
    return rng.bytes(n)


@op
def stream_bits(shared: Shared, seed: Json, widths: list[int]) -> Json:
    rng = stream(seed)
    return [rng.bits(k) for k in widths]


@op
def stream_below(shared: Shared, seed: Json, bounds: list[Json]) -> Json:
    rng = stream(seed)
    return [rng.below(number(n)) for n in bounds]


@op
def split(shared: Shared, bits: int, x: Json, seed: Json) -> Json:
    return Ring(bits).split(number(x), stream(seed))


@op
def split_vector(shared: Shared, bits: int, x: list[Json], count: int, seed: Json) -> Json:
    return Ring(bits).split_vector(tuple(numbers(x)), count, stream(seed))


@op
def add_vectors(shared: Shared, bits: int, vectors: list[list[Json]]) -> Json:
    ring = Ring(bits)
    return ring.add_vectors(*(ring.vector(numbers(v)) for v in vectors))


@op
def random_permutation(shared: Shared, size: int, seed: Json) -> Json:
    return Permutation.random(size, stream(seed)).images


@op
def permute(shared: Shared, images: list[int], values: list[Json]) -> Json:
    return Permutation(tuple(images))(values)


@op
def unpermute(shared: Shared, images: list[int], values: list[Json]) -> Json:
    return Permutation(tuple(images)).inverse(values)


@op
def toss(shared: Shared, coins: list[str]) -> Json:
    return stage0.permutation([bytes.fromhex(coin) for coin in coins], len(coins)).images


@op
def pack(shared: Shared, slot_bits: int, slots: int, values: list[Json]) -> Json:
    return Packing(slot_bits, slots, len(values)).pack(numbers(values))


@op
def unpack(shared: Shared, slot_bits: int, slots: int, length: int, packs: list[Json]) -> Json:
    return Packing(slot_bits, slots, length).unpack(numbers(packs))


# Paillier.


def private(shared: Shared) -> paillier.PrivateKey:
    key = shared["key"]
    return paillier.assemble(number(key["p"]), number(key["q"]), key["bits"])


def cipher(shared: Shared, c: Json) -> Ciphertext:
    return private(shared).public.admit(number(c))


@op
def paillier_generate(shared: Shared, bits: int, seed: Json) -> Json:
    key = paillier.generate(bits, stream(seed))
    return {"p": key.p, "q": key.q}


@op
def paillier_assemble(shared: Shared, p: Json, q: Json, bits: int) -> Json:
    return paillier.assemble(number(p), number(q), bits).public.n


@op
def paillier_encrypt(shared: Shared, m: Json, seed: Json) -> Json:
    return private(shared).public.encrypt(number(m), stream(seed)).value


@op
def paillier_encrypt_as_owner(shared: Shared, m: Json, seed: Json) -> Json:
    return private(shared).encrypt(number(m), stream(seed)).value


@op
def paillier_blind(shared: Shared, c: Json, r: Json, seed: Json) -> Json:
    return private(shared).public.blind(cipher(shared, c), number(r), stream(seed)).value


@op
def paillier_add(shared: Shared, cs: list[Json]) -> Json:
    return private(shared).public.add(*(cipher(shared, c) for c in cs)).value


@op
def paillier_scale(shared: Shared, c: Json, factors: list[Json]) -> Json:
    return [x.value for x in private(shared).public.scale(cipher(shared, c), numbers(factors))]


@op
def paillier_decrypt(shared: Shared, c: Json) -> Json:
    return private(shared).decrypt(cipher(shared, c))


@op
def paillier_decrypt_under(shared: Shared, n: Json, c: Json) -> Json:
    return private(shared).decrypt(Ciphertext(number(n), number(c)))


@op
def paillier_public(shared: Shared, n: Json) -> Json:
    key = paillier.PublicKey(number(n))
    return {"h": key.h, "h_s": key.h_s}


@op
def admission_prove(shared: Shared, context: str) -> Json:
    return admission.prove(private(shared), bytes.fromhex(context))


@op
def admission_verify(shared: Shared, bits: int, proof: list[Json], context: str, seed: Json) -> Json:
    key = private(shared).public
    fault = admission.verify(key, bits, numbers(proof), bytes.fromhex(context), stream(seed))
    return None if fault is None else str(fault)


# The comparison.


def holder(shared: Shared) -> dgk.DgkPrivateKey:
    key = {name: number(x) for name, x in shared["key"].items()}
    public = dgk.DgkPublicKey(key["p"] * key["q"], key["g"], key["h"], key["u"], key["t"])
    return dgk.DgkPrivateKey(public, key["p"], key["q"], key["v_p"], key["v_q"])


@op
def dgk_generate(shared: Shared, bits: int, u: int, seed: Json) -> Json:
    key = dgk.generate(bits, u, stream(seed))
    secret = {name: getattr(key, name) for name in ("p", "q", "v_p", "v_q")}
    return secret | {name: getattr(key.public, name) for name in ("g", "h", "u", "t")}


@op
def dgk_encrypt(shared: Shared, m: int, seed: Json) -> Json:
    return holder(shared).public.encrypt(m, stream(seed)).value


@op
def dgk_is_zero(shared: Shared, c: Json) -> Json:
    key = holder(shared)
    return key.is_zero(key.public.admit(number(c)))


@op
def plaintext_modulus(shared: Shared, length: int) -> Json:
    return steps.plaintext_modulus(length)


@op
def offered_bits(shared: Shared, y: int, length: int, seed: Json) -> Json:
    return [c.value for c in holder(shared).encrypt_all(steps.bits(y, length), stream(seed))]


@op
def differences(shared: Shared, x: int, y: list[Json], delta_a: int, seed: Json) -> Json:
    public = holder(shared).public
    admitted = [public.admit(number(c)) for c in y]
    return [c.value for c in steps.blinded_differences(public, x, admitted, delta_a, stream(seed))]


@op
def at_most(shared: Shared, c: list[Json], delta: int) -> Json:
    key = holder(shared)
    return steps.is_at_most(key, [key.public.admit(number(c_i)) for c_i in c], delta)


@op
def halves_of_a_difference(shared: Shared, bits: int, d_p: int, d_c: int) -> Json:
    x, flip = steps.chooser_half(Ring(bits), d_p)
    y, top = steps.holder_half(Ring(bits), d_c)
    return {"x": x, "flip": flip, "y": y, "top": top, "negative": steps.is_negative(int(x <= y) ^ flip, top)}


# Seals, signatures, commitments.


@op
def x25519_public(shared: Shared, secret: str) -> Json:
    return sealing.public_key(bytes.fromhex(secret))


@op
def link_keys(shared: Shared, secret: str, peer: str, session: str, me: str, other: str) -> Json:
    keys = sealing.link_keys(bytes.fromhex(secret), bytes.fromhex(peer), bytes.fromhex(session), me, other)
    return {"outgoing": keys.outgoing, "incoming": keys.incoming}


@op
def seal(shared: Shared, key: str, number: int, header: str, payload: str) -> Json:
    return sealing.seal(bytes.fromhex(key), number, bytes.fromhex(header), bytes.fromhex(payload))


@op
def unseal(shared: Shared, key: str, number: int, header: str, body: str) -> Json:
    return sealing.unseal(bytes.fromhex(key), number, bytes.fromhex(header), bytes.fromhex(body))


@op
def sign(shared: Shared, secret: str, message: str) -> Json:
    me = Identity(bytes.fromhex(secret))
    return {"public": me.public, "signature": me.sign(bytes.fromhex(message))}


@op
def verify(shared: Shared, public: str, message: str, signature: str) -> Json:
    return identity.verify(bytes.fromhex(public), bytes.fromhex(message), bytes.fromhex(signature))


@op
def commit(shared: Shared, context: str, value: str, seed: Json) -> Json:
    return commitment.commit(bytes.fromhex(context), bytes.fromhex(value), stream(seed))


@op
def opens(shared: Shared, commitment_: str, context: str, value: str, opening: str) -> Json:
    return commitment.opens(*(bytes.fromhex(x) for x in (commitment_, context, value, opening)))


@op
def envelope_header(shared: Shared, **parts: Json) -> Json:
    for name in ("session", "prev"):
        parts[name] = bytes.fromhex(parts[name])
    return Envelope(**parts, body=b"").header


# Messages.


KIND = {kind.__name__: kind for kind in (*KINDS, *as_published.PROGRAM.kinds)}


def parameters(given: dict[str, Json]) -> Parameters:
    return Parameters(**given | {"parties": tuple(given["parties"]), "exponents": "full"})


def admitted(shared: Shared) -> dict[str, codec.Key]:
    keys = {name: {k: number(v) for k, v in key.items()} for name, key in shared["keys"].items()}
    return {
        XI: paillier.PublicKey(**keys[XI]),
        ZETA: paillier.PublicKey(**keys[ZETA]),
        DGK: dgk.DgkPublicKey(**keys[DGK]),
    }


def shown(value: Any) -> Json:
    if isinstance(value, tuple):
        return [shown(v) for v in value]
    return value.value if isinstance(value, Ciphertext | BitCiphertext) else value


@op
def message_size(shared: Shared, kind: str) -> Json:
    return codec.size(KIND[kind], parameters(shared["parameters"]).layout())


@op
def decode(shared: Shared, kind: str, data: str) -> Json:
    layout = parameters(shared["parameters"]).layout()
    got = codec.decode(KIND[kind], bytes.fromhex(data), layout, admitted(shared))
    return {f.name: shown(getattr(got, f.name)) for f in fields(got)}


@op
def encode(shared: Shared, kind: str, content: dict[str, Json], fresh: bool = True, uniform: bool = True) -> Json:
    """Ciphertexts are given as values, and taken as fresh and uniform unless stated."""
    keys, layout = admitted(shared), parameters(shared["parameters"]).layout()

    def value(slot: codec.FieldSpec, x: Json) -> Any:
        if slot.type is bytes or x is None:
            return None if x is None else bytes.fromhex(x)
        if slot.type in (int, bool):
            return number(x)
        paillier_type = (Uniform if uniform else Fresh) if fresh else Ciphertext
        made = (FreshBit if fresh else BitCiphertext) if slot.type is BitCiphertext else paillier_type
        return made(keys[slot.protection.width].n, number(x))

    made = {}
    for slot in KIND[kind].slots:
        x = content[slot.name]
        made[slot.name] = value(slot, x) if slot.count is None else tuple(value(slot, v) for v in x)
    return codec.encode(KIND[kind](**made), layout, keys)


@op
def encode_under_another_key(shared: Shared, kind: str, n: Json, c: Json) -> Json:
    (slot,) = KIND[kind].slots
    made = KIND[kind](**{slot.name: Uniform(number(n), number(c))})
    return codec.encode(made, parameters(shared["parameters"]).layout(), admitted(shared))


# A whole run.


def tampering(what: dict[str, Json] | None) -> Callable[[int, Envelope], list[tuple[str, Envelope]]] | None:
    """flip the last bit of envelope `n`, drop it, or deliver it twice."""
    if what is None:
        return None

    def tamper(n: int, envelope: Envelope) -> list[tuple[str, Envelope]]:
        if n != what["n"]:
            return [(envelope.to, envelope)]
        if what["do"] == "flip":
            return [(envelope.to, replace(envelope, body=envelope.body[:-1] + bytes([envelope.body[-1] ^ 1])))]
        return [(envelope.to, envelope)] * {"drop": 0, "repeat": 2}[what["do"]]

    return tamper


@op
def whole_run(
    shared: Shared,
    given: dict[str, Json],
    seed: Json,
    nonce: str,
    sizes: list[int],
    weights: list[list[Json]],
    noise: list[list[Json]],
    printed: bool = False,
    tamper: dict[str, Json] | None = None,
) -> Json:
    """Digests of all envelopes link by link, the published shares, and their sum."""
    p, root = parameters(given), stream(seed)
    names = (*p.parties, CURATOR_NAME)
    identities = {name: Identity.generate(root.fork(f"identity {name}")) for name in names}
    program, private_input = (as_published.PROGRAM, as_published.PrintedInput) if printed else (PROGRAM, PartyInput)
    session = Session(program, p, {n: i.public for n, i in identities.items()}, bytes.fromhex(nonce))
    inputs: dict[str, tuple[Any, ...]] = {CURATOR_NAME: (p,)}
    for name, n, w, eta in zip(p.parties, sizes, weights, noise, strict=True):
        e = tuple(numbers(eta)) if printed else p.weights.vector(numbers(eta))
        inputs[name] = (p, private_input(n, p.weights.vector(numbers(w)), e))
    seeds = {name: root.fork(f"seed {name}") for name in names}
    done = simulate(session, identities, seeds, inputs, Setting(tamper=tampering(tamper)))
    links: dict[str, list[bytes]] = {}
    for envelope in done.transcript.envelopes:
        links.setdefault(f"{envelope.sender} > {envelope.to}", []).append(envelope.digest)
    shares = {name: share.y for name, share in done.published.items()}
    return {"session": session.id, "links": links, "shares": shares, "sum": p.weights.add_vectors(*shares.values())}

"""The operations that conversations declare, each as the call of a role, and what one of them costs in seconds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import cycle, islice
from types import MappingProxyType

from protocols.arithmetic import halves, modular, shamir
from protocols.comparison import steps
from protocols.comparison.messages import DGK
from protocols.crypto import (
    admission,
    commitment,
    dgk,
    encapsulation,
    garbling,
    masking,
    oblivious,
    paillier,
)
from protocols.crypto.garbling import Garbled
from protocols.crypto.identity import Identity, verify
from protocols.linear import masks as linear_masks
from protocols.linear.parameters import SIZE_BITS
from protocols.linear.values import Masks
from protocols.pathak2010.messages import XI, ZETA
from protocols.runtime import message as messages
from protocols.runtime.statement import statement
from protocols.secure_sum import dealing
from protocols.secure_sum.messages import Listed, MaskKeys
from protocols.secure_sum.values import Held
from smc_dp.forecasts.workshop import BITS, FEW, SESSION, Workshop

_MOST_USES = 40
_LISTED = Listed(SESSION, 0, SESSION)


def _paillier_key(shop: Workshop) -> float:
    return shop.made(lambda: paillier.generate(shop.bits, shop.rng, shop.p.exponents))


def _comparison_key(shop: Workshop) -> float:
    return shop.made(lambda: dgk.generate(shop.bits, shop.p.u, shop.rng))


def _key_proof(shop: Workshop) -> float:
    return shop.power(lambda: admission.prove(shop.key, SESSION))


def _key_check(shop: Workshop) -> float:
    proof = admission.prove(shop.key, SESSION)
    return shop.power(lambda: admission.verify(shop.key.public, shop.bits, proof, SESSION, shop.rng))


def _key_assembly(shop: Workshop) -> float:
    return shop.power(lambda: paillier.assemble(shop.key.p, shop.key.q, shop.bits, shop.p.exponents))


def _encryption(shop: Workshop) -> float:
    """Of one of as many as there are under one key: its table grows with use, and is everybody's in one process."""
    uses = int(min(shop.p.K * (2 + shop.p.packing.packs), _MOST_USES))
    key = paillier.generate(shop.bits, shop.rng, shop.p.exponents).public
    return shop.once(lambda: key.encrypt_all([1] * uses, shop.rng)) / uses * shop.longer


def _first_encryption(shop: Workshop) -> float:
    """The first one of an owner, and the first power of its key."""
    key, _ = _unused(shop)
    return shop.once(lambda: key.encrypt(1, shop.rng)) * shop.longer


def _first_decryption(shop: Workshop) -> float:
    key, c = _unused(shop)
    return shop.once(lambda: key.decrypt(c)) * shop.longer


def _own_encryption(shop: Workshop) -> float:
    """Of one of as many as there are parties."""
    (key, _), uses = _unused(shop), int(min(shop.p.K, _MOST_USES))
    return shop.once(lambda: key.encrypt_all([1] * uses, shop.rng)) / uses * shop.longer


def _unused(shop: Workshop) -> tuple[paillier.PrivateKey, paillier.Fresh]:
    """The key as its owner has it before it is used, and a ciphertext."""
    public = paillier.PublicKey(shop.key.public.n, shop.p.exponents)
    return paillier.PrivateKey(public, shop.key.p, shop.key.q), shop.ciphertext


def _blinding(shop: Workshop) -> float:
    return shop.power(lambda: shop.key.public.blind(shop.ciphertext, 1, shop.rng))


def _decryption(shop: Workshop) -> float:
    return shop.power(lambda: shop.key.decrypt_all([shop.ciphertext]))


def _narrow_decryption(shop: Workshop) -> float:
    """Of one of as many as there are parties, opened together."""
    many, bits = [shop.ciphertext] * min(shop.p.K, shop.crowd), shop.p.sizes.bits
    return shop.power(lambda: shop.key.decrypt_narrow(many, bits, shop.rng)) / len(many)


def _product(shop: Workshop) -> float:
    return shop.power(lambda: shop.key.public.add(shop.ciphertext, shop.ciphertext)) / 2


def _scaling(shop: Workshop) -> float:
    """All the powers of one ciphertext that a party's packed noise asks for."""
    packed = shop.p.packing.pack(shop.ring.random_vector(shop.p.dimension, shop.rng))
    factors = [factor % shop.key.public.n for factor in packed[:FEW]]
    blocks: int = -(-len(packed) // len(factors))
    return shop.power(lambda: shop.key.public.scale(shop.ciphertext, factors)) * blocks


def _printed_scaling(shop: Workshop) -> float:
    """A power with a single number for its exponent."""
    number = shop.rng.bits(shop.p.ring_bits)
    return shop.power(lambda: modular.power(shop.ciphertext.value, number, shop.key.public.n_square))


def _admission(shop: Workshop) -> float:
    return shop.power(lambda: shop.key.public.admit(shop.ciphertext.value))


def _bit_admission(shop: Workshop) -> float:
    return shop.power(lambda: shop.comparison.public.admit(shop.offered[0].value))


def _bit(shop: Workshop) -> float:
    return shop.power(lambda: shop.comparison.encrypt_all([0, 1] * (BITS // 2), shop.rng)) / BITS


def _difference(shop: Workshop) -> float:
    return shop.power(lambda: steps.differences(shop.comparison.public, 1, shop.offered, 0, shop.rng)) / (BITS + 1)


def _zero_test(shop: Workshop) -> float:
    return shop.power(lambda: steps.at_most(shop.comparison, shop.offered, 0)) / BITS


# Vectors: what an operation costs on as many numbers as the program's have.


def _share(shop: Workshop) -> float:
    """One of the additive shares into which a vector is split, and its place in the sum of those that came."""

    def split_and_add() -> None:
        shop.ring.add_vectors(*shop.ring.split_vector(shop.vector, FEW, shop.rng))

    return shop.mean(split_and_add) * shop.wider / FEW


def _commitment(shop: Workshop) -> float:
    made = shop.mean(lambda: commitment.commit(SESSION, commitment.canonical(shop.vector), shop.rng))
    return made * shop.wider


def _row(shop: Workshop) -> float:
    """A party's halves and row on the linear path."""

    def row() -> None:
        halves.split(1, SIZE_BITS, shop.rng)
        _, kappa = encapsulation.encapsulate(shop.point, SESSION, shop.rng)
        linear_masks.row(shop.p, shop.vector, kappa)

    return shop.mean(row) * shop.wider


def _under(shop: Workshop, edges: int) -> float:
    """A summand under the masks of so many edges."""
    seeds = Masks(tuple(islice(cycle(shop.seeds), edges)), ())
    return shop.mean(lambda: linear_masks.share(shop.p, shop.vector, seeds)) * shop.wider


def _edge(shop: Workshop) -> float:
    return (_under(shop, 4 * FEW) - _under(shop, FEW)) / (3 * FEW)


def _summand(shop: Workshop) -> float:
    """What a summand costs beside its edges, its commitment included."""
    return max(0.0, _under(shop, FEW) - FEW * _edge(shop)) + _commitment(shop)


def _row_under_s(shop: Workshop) -> float:
    """What P_1 does to each row before it locks it."""
    packed = shop.mean(lambda: linear_masks.packed(shop.p, shop.point, shop.ring.add_vectors(shop.vector, shop.vector)))
    return packed * shop.wider


def _row_lock(shop: Workshop) -> float:
    locks = shop.garbled.locks[:FEW]
    content = bytes(encapsulation.KEY_BYTES + shop.d * shop.p.width)
    locked = shop.mean(lambda: garbling.lock(Garbled(b"", locks), [content] * len(locks)))
    return locked * shop.wider / len(locks)


def _offer(shop: Workshop) -> float:
    return shop.mean(lambda: (encapsulation.secret(shop.rng), oblivious.offer(shop.rng)))


def _choice(shop: Workshop) -> float:
    return shop.mean(lambda: oblivious.choose(SESSION, shop.search.offer.A, shop.rng))


def _extension(shop: Workshop) -> float:
    points, bits = shop.search.choice.points, shop.search.bits
    return shop.mean(lambda: oblivious.extend(SESSION, shop.search.offer, points, bits), 1) * shop.larger


def _garbling(shop: Workshop) -> float:
    return shop.mean(lambda: shop.garble(), 1) * shop.larger


def _evaluation(shop: Workshop) -> float:
    rows, labels = garbling.lock(shop.garbled, [b"row"] * shop.crowd), shop.search.extended.labels
    tables = shop.garbled.tables
    return shop.mean(lambda: garbling.unlock(SESSION, labels, shop.crowd, SIZE_BITS, tables, rows), 1) * shop.larger


def _row_opened(shop: Workshop) -> float:
    def opened() -> None:
        kappa = encapsulation.opened(shop.seeds[0], shop.point, SESSION)
        linear_masks.bare(shop.p, shop.vector, kappa)

    return shop.mean(opened) * shop.wider


def _agreement(shop: Workshop) -> float:
    return shop.mean(lambda: masking.agree(shop.seeds[1], shop.point))


def _mask_key(shop: Workshop) -> float:
    return shop.mean(lambda: masking.public_key(shop.seeds[1]))


def _statement(shop: Workshop) -> float:
    """One that is signed."""
    signer, layout = Identity(shop.seeds[0]), shop.p.layout()

    def sign() -> None:
        signer.sign(statement(SESSION, "", Listed.__name__, messages.encode(_LISTED, layout, {})))

    return shop.mean(sign)


def _statement_check(shop: Workshop) -> float:
    """One that is checked, and then kept."""
    layout = shop.p.layout()
    return 2 * shop.mean(lambda: messages.encode(_LISTED, layout, {})) + _signature_check(shop)


def _signature_check(shop: Workshop) -> float:
    signer = Identity(shop.seeds[0])
    public, signed = signer.public, signer.sign(SESSION)
    return shop.mean(lambda: verify(public, SESSION, signed))


def _greeting_read(shop: Workshop) -> float:
    """What a greeting says, its signature apart, which is checked when it is read or when a link is made of it."""
    layout = shop.p.layout()
    said = MaskKeys(*((SESSION,) * layout[name] for name in ("keys", "commitments", "held")))
    encoded = messages.encode(said, layout, {})
    return shop.mean(lambda: messages.decode(MaskKeys, encoded, layout, {}))


def _mask(shop: Workshop) -> float:
    """The mask of a pair, and its place among all masks."""

    def masks() -> None:
        made = [masking.pair_mask(SESSION, 0, j, seed, shop.d, shop.p.width) for j, seed in enumerate(shop.seeds, 1)]
        masking.combined(made[:2], made[2:], shop.d, shop.p.width)

    return shop.mean(masks) * shop.wider / FEW


def _closed(shop: Workshop) -> tuple[masking.ClosedSecret, masking.ClosedPairs]:
    """The first of some parties where nobody may vanish: its secret, and what it has in common with the others."""
    secrets = [dealing.closed(shop.rng) for _ in range(FEW)]
    return secrets[0], masking.closed_pairs(secrets[0], 0, [masking.closed_key(secret) for secret in secrets])


def _closed_agreement(shop: Workshop) -> float:
    secret, _ = _closed(shop)
    keys = [masking.closed_key(dealing.closed(shop.rng)) for _ in range(FEW)]
    return shop.mean(lambda: masking.closed_pairs(secret, 0, keys)) / (FEW - 1)


def _closed_mask(shop: Workshop) -> float:
    """The mask of a pair where nobody may vanish, its place among all masks, and the key of the next one."""
    _, pairs = _closed(shop)

    def masks() -> None:
        made = (masking.closed_mask(SESSION, pairs, j, shop.d, shop.p.width) for j in range(1, FEW))
        masking.combined(made, (), shop.d, shop.p.width)

    turned = shop.mean(lambda: masking.closed_after(pairs)) / FEW
    return shop.mean(masks) * shop.wider / (FEW - 1) + turned


def _addition(shop: Workshop) -> float:
    return shop.mean(lambda: shop.ring.add_vectors(*[shop.vector] * FEW)) * shop.wider / FEW


def _digest(shop: Workshop) -> float:
    return shop.mean(lambda: masking.digest(shop.vector, shop.p.width)) * shop.wider


def _dealing(shop: Workshop) -> float:
    return shop.mean(lambda: shamir.deal(shop.seeds[0], shop.p.T, shop.p.K, shop.rng))


def _opening(shop: Workshop) -> float:
    shares = dict(enumerate(shamir.deal(shop.seeds[0], shop.p.T, shop.p.T, shop.rng)))
    return shop.mean(lambda: dealing.opened(shares))


def _leaf(shop: Workshop) -> float:
    held = [Held(shop.seeds[0], shop.seeds[1])]
    return shop.mean(lambda: dealing.root(dealing.tree(0, 1, held)))


def _node(shop: Workshop) -> float:
    return shop.mean(lambda: dealing.climbed(SESSION, 0, shop.seeds)) / FEW


OPERATIONS: Mapping[str, Callable[[Workshop], float]] = MappingProxyType(
    {
        "Paillier key": _paillier_key,
        "comparison key": _comparison_key,
        "key proof": _key_proof,
        "key check": _key_check,
        "key assembly": _key_assembly,
        "encryption": _encryption,
        "first own encryption": _first_encryption,
        "own encryption": _own_encryption,
        "blinding": _blinding,
        "decryption": _decryption,
        "first decryption": _first_decryption,
        "narrow decryption": _narrow_decryption,
        "product": _product,
        "scaling": _scaling,
        "printed scaling": _printed_scaling,
        f"admission under {XI}": _admission,
        f"admission under {ZETA}": _admission,
        f"admission under {DGK}": _bit_admission,
        "bit": _bit,
        "difference": _difference,
        "zero test": _zero_test,
        "additive share": _share,
        "commitment": _commitment,
        "row": _row,
        "edge": _edge,
        "summand": _summand,
        "row under s": _row_under_s,
        "row lock": _row_lock,
        "row opened": _row_opened,
        "transfers offered": _offer,
        "transfers chosen": _choice,
        "transfers extended": _extension,
        "search garbled": _garbling,
        "search evaluated": _evaluation,
        "mask key": _mask_key,
        "agreement": _agreement,
        "statement": _statement,
        "statement check": _statement_check,
        "signature check": _signature_check,
        "greeting read": _greeting_read,
        "mask": _mask,
        "closed agreement": _closed_agreement,
        "closed mask": _closed_mask,
        "addition": _addition,
        "digest of a vector": _digest,
        "secret dealt": _dealing,
        "secret opened": _opening,
        "leaf": _leaf,
        "node": _node,
    }
)
"""By name: seconds of one of them, under the parameters of a program, which are those of the workshop."""

"""The secure sum with one thing left out or said twice, as patches of role code: some coalition learns more.

Each twin is a list of (module or class, name, what stands there instead); `PROGRAM` runs the patched modules over
symbols.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from protocols import secure_sum
from protocols.arithmetic import shamir
from protocols.arithmetic.rng import Stream
from protocols.crypto import masking
from protocols.runtime.message import CURATOR, PARTY
from protocols.secure_sum import dealing, masks, roster, steps, unmasking
from protocols.secure_sum.dealing import SEED_BYTES, Seeds
from protocols.secure_sum.messages import Unmask
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import Addends, Held, join_addends

Patch = tuple[Any, str, Any]
_blind, _lift, _is_committed_share, _context = (
    masks.mask_openly,
    masks.unmask_sum,
    unmasking.is_committed_share,
    roster.sum_context,
)
_covered, _uncovered = dealing.encrypt_shares, dealing.decrypt_shares


async def party(me: Any, p: Any, mine: Any, *later: Any) -> Any:
    """The real one: it stands here so that this file counts as one of roles."""
    return await secure_sum.party(me, p, mine, *later)


async def curator(me: Any, p: Any) -> Any:
    """The real one."""
    return await secure_sum.curator(me, p)


PROGRAM = replace(secure_sum.PROGRAM, roles={PARTY: party, CURATOR: curator})


def blind_without(p: Any, z: Any, context: bytes, index: int, b: bytes, s: bytes, *rest: Any) -> Any:
    """No self mask."""
    return p.ring.subtract_vectors(
        _blind(p, z, context, index, b, s, *rest), masking.self_mask(context, index, b, len(z), p.width)
    )


def lift_without(p: Any, context: bytes, y: Mapping[int, Any], seeds: Mapping[int, bytes], *rest: Any) -> Any:
    """None is taken away."""
    return _lift(p, context, y, {i: seed for i, seed in seeds.items() if i not in y}, *rest)


def unmasking_both(p: Any, vault: Any, r: int, U: Collection[int]) -> Unmask:
    """Where the digest of the other share should stand, stands the share."""
    held = vault.of(r).held
    own, other = zip(*((h.b, h.s) if i in U else (h.s, h.b) for i, h in enumerate(held)), strict=True)
    return Unmask(own, other, tuple(step for tree in vault.trees for step in dealing.merkle_path(tree, r)))


def is_dealt_both(*about: Any) -> bool:
    """Charlie hashes it himself."""
    *where, unmask, at = about
    siblings = tuple(dealing.share_digest(share) for share in unmask.siblings)
    return _is_committed_share(*where, replace(unmask, siblings=siblings), at)


def _dealt(p: Any, b: Sequence[bytes], s: Sequence[bytes], rng: Stream) -> Seeds:
    of_b = [shamir.deal(seed, p.T, p.K, rng) for seed in b]
    of_s = [shamir.deal(seed, p.T, p.K, rng) for seed in s]
    shares = tuple(tuple(Held(of_b[r][j], of_s[r][j]) for r in range(p.R)) for j in range(p.K))
    return Seeds(tuple(b), tuple(s), shares)


def one_mask_key(p: Any, rng: Stream) -> Seeds:
    """One secret mask key for all sums."""
    return _dealt(p, [rng.bytes(SEED_BYTES) for _ in range(p.R)], [rng.bytes(SEED_BYTES)] * p.R, rng)


def one_seed(p: Any, rng: Stream) -> Seeds:
    """One seed b for all sums."""
    return _dealt(p, [rng.bytes(SEED_BYTES)] * p.R, [rng.bytes(SEED_BYTES) for _ in range(p.R)], rng)


def no_fault(p: Any, greetings: Any, agreeing: Any) -> None:
    """Equal mask keys are as good as others."""


def without_noise(me: Any, p: Any, vault: Any, mine: Any, r: int, at: bytes) -> Any:
    """What is masked is the numbers alone."""
    me.spend(steps.charge_label(r))
    return masks.mask_vector(p, vault, mine.numbers[r], at, me.index, r)


def asked_without_noise(me: Any, p: Any, vault: Any, mine: Any, r: int) -> Any:
    """What a party is answered at home is added without the noise that came with it."""
    if r < mine.count:
        return mine
    answer = me.ask(vault.values)
    return join_addends(p, mine, Addends(answer.numbers, ((0,) * p.length(r),)))


def timeless(session: bytes, greeted: bytes, r: int, query: bytes) -> bytes:
    """The context of every sum is that of the first."""
    return _context(session, greeted, 0, roster.first_query(session))


def digests_alone(masked: Mapping[int, tuple[bytes, bytes]]) -> bytes:
    """What everybody signs is made of digests that can be tried."""
    return hashlib.sha256(b"".join(digest for digest, _ in masked.values())).digest()


T_OF_t: Sequence[Patch] = ((Parameters, "T", property(lambda p: p.t)),)
NO_SELF_MASK: Sequence[Patch] = ((masks, "mask_openly", blind_without), (masks, "unmask_sum", lift_without))
BOTH_KINDS: Sequence[Patch] = (
    (unmasking, "shares_to_unmask", unmasking_both),
    (unmasking, "is_committed_share", is_dealt_both),
)
ONE_MASK_KEY: Sequence[Patch] = ((dealing, "deal_seeds", one_mask_key), (roster, "mask_key_fault", no_fault))
ONE_SEED: Sequence[Patch] = ((dealing, "deal_seeds", one_seed),)
NO_NOISE: Sequence[Patch] = ((steps, "masked_input", without_noise),)
ASKED_WITHOUT_NOISE: Sequence[Patch] = ((secure_sum, "_known", asked_without_noise),)
DIGESTS_ALONE: Sequence[Patch] = ((roster, "inputs_digest", digests_alone),)
ONE_CONTEXT: Sequence[Patch] = ((roster, "sum_context", timeless),)


def covered_for_charlie(context: bytes, dealer: int, others: Mapping[int, bytes], dealt: Seeds) -> tuple[bytes, ...]:
    """Under what is known to him in place of what two neighbours agree on."""
    return _covered(context, dealer, dict.fromkeys(others, context), dealt)


def uncovered_by_all(context: bytes, dealer: int, holder: int, agreed: bytes, body: bytes) -> tuple[Held, ...] | None:
    """By the same."""
    return _uncovered(context, dealer, holder, context, body)


PUBLIC_COVER: Sequence[Patch] = (
    (dealing, "encrypt_shares", covered_for_charlie),
    (dealing, "decrypt_shares", uncovered_by_all),
)

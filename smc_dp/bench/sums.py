"""The secure sum over the public-key operations that it cannot do without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.crypto import masking
from protocols.secure_sum import masks
from protocols.secure_sum.parameters import Block, Parameters
from smc_dp.bench.apart import alone
from smc_dp.bench.clocks import agreed, price
from smc_dp.bench.goals import GoalRow, HearStep, at_most
from smc_dp.bench.public_key import counted, operation_prices, priced
from smc_dp.bench.whole_run import SECURE_SUM, names

GROUP = "sum"
FULL, QUICK = (200, 1000), (10, 20)
COUNTED = "smc_dp.bench.public_key"
COUNTED_ONCE = (
    "operations counted by one run and priced by one measurement each; to make a key of its bytes is one operation"
)
_TRIES, _SHORT, _CONTEXT_BYTES = 5, 4, 32


def rows(quick: bool, hear: HearStep) -> Iterator[GoalRow]:
    """One party's masks over its agreements, and a whole run over all public-key operations of everybody."""
    K, d = QUICK if quick else FULL
    line, at = partial(GoalRow, GROUP, quick=quick), f"K = {K}, d = {d:,}"
    prices = operation_prices()
    for D, most in ((0, 1.3), (K // 20 + 1, 2)):
        hear(f"masks of a party, D = {D}, {at}")
        check_masks(D)
        seconds, counts = mask_seconds(K, d, D)
        operations = priced(counts, prices)
        parts = {"masks_seconds": seconds, "x25519_seconds": operations, **_counts(counts)}
        what = f"secure sum, masks of a party over its X25519 operations, D = {D}, {at}"
        yield line(what, at_most(most), seconds / operations, parts, COUNTED_ONCE)
    for D in (0, K // 20 + 1):
        hear(f"whole secure sum, D = {D}, {at}")
        found = alone(COUNTED, protocol=SECURE_SUM, parties=K, dimension=d, dropouts=D)
        what = f"secure sum, whole run over its public-key operations, D = {D}, {at}"
        yield line(what, at_most(2), found["seconds"] / found["operations_seconds"], found, COUNTED_ONCE)


def mask_seconds(K: int, d: int, D: int) -> tuple[float, Mapping[str, int]]:
    """Seconds of one party's masks with its agreements, and how many operations of which kind are among them."""
    rng = Stream.from_system()
    p = Parameters(names(K), 0, D, ((Block(d, "none"),),))
    z, context = p.ring.random_vector(d, rng), rng.bytes(_CONTEXT_BYTES)
    masked = masking_parties(p, context, rng)
    counts, _ = counted(lambda: masked(0, z))
    return price(lambda i: masked(i % K, z), _TRIES), counts


def masking_parties(p: Parameters, context: bytes, rng: Stream) -> Callable[[int, Vector], Vector]:
    """What masks a vector as the party at a place does, agreements included."""
    secrets = [rng.bytes(masking.SECRET_BYTES) for _ in p.parties]
    if not p.D:
        closed = [masking.ClosedSecret(secret) for secret in secrets]
        own = [masking.closed_key(secret) for secret in closed]
        return lambda i, z: masks.cover(p, z, context, masking.closed_pairs(closed[i], i, own))
    keys = [masking.public_key(secret) for secret in secrets]
    seeds = [rng.bytes(masking.SECRET_BYTES) for _ in p.parties]
    return lambda i, z: masks.blind(p, z, context, i, seeds[i], secrets[i], keys)


def check_masks(D: int) -> None:
    """Raises DisagreeError unless masks hide each vector, and cancel where there are no seeds of single parties."""
    rng = Stream.from_system()
    K = 3 + 4 * D
    p = Parameters(names(K), 0, D, ((Block(_SHORT, "none"),),))
    masked = masking_parties(p, rng.bytes(_CONTEXT_BYTES), rng)
    plain = [p.ring.random_vector(_SHORT, rng) for _ in p.parties]
    hidden = [masked(i, z) for i, z in enumerate(plain)]
    agreed("masks of two parties alike", any(y == z for y, z in zip(hidden, plain, strict=True)), False)
    cancels = p.ring.add_vectors(*hidden) == p.ring.add_vectors(*plain)
    agreed("the sum of all masks", cancels, not D)


def _counts(counts: Mapping[str, int]) -> Mapping[str, float]:
    return {f"count_{name}": float(count) for name, count in counts.items()}

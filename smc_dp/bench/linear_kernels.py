"""The cryptography of the linear protocol and nothing else: no letters, greetings, seals, encodings or record.

The roles' own functions, in their order, for all participants one after the other. Run as a program, it measures one
size in a process of its own.
"""

from __future__ import annotations

from operator import eq

from protocols.arithmetic import halves, words
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.crypto import commitment, encapsulation, garbling, oblivious
from protocols.linear import masks
from protocols.linear.parameters import SEED_BYTES, SIZE_BITS, Parameters
from protocols.linear.values import Masks
from protocols.runtime.session import SESSION_BYTES
from smc_dp.aggregation import Contribution, SumWithSmallestNoise
from smc_dp.bench.apart import Measured, answer, peak_megabytes
from smc_dp.bench.clocks import CpuSeconds, agreed, clock
from smc_dp.bench.protocol import made_up


def cryptography(parties: int, dimension: int) -> Measured:
    """Processor seconds by part and together; raises DisagreeError unless the sum is right."""
    rng = Stream.from_system()
    p = Parameters(tuple(f"P{j}" for j in range(1, parties + 1)), dimension)
    given = made_up(parties, dimension, rng)
    seconds: CpuSeconds = {}
    published, bare = _computed(p, given, rng, seconds)
    agreed("masks of the linear protocol that hide nothing", any(map(eq, published, bare)), False)
    wanted = p.weights.vector(SumWithSmallestNoise().compute(given, rng))
    agreed("the linear protocol's cryptography", p.weights.add_vectors(*published), wanted)
    return {**seconds, "seconds": sum(seconds.values()), "megabytes": peak_megabytes() or 0.0}


def _computed(
    p: Parameters, given: list[Contribution], rng: Stream, seconds: CpuSeconds
) -> tuple[list[Vector], list[Vector]]:
    """Everybody's share of the sum, and what it is without masks."""
    session = rng.bytes(SESSION_BYTES)
    # what a role is given is in the ring already
    noise = [p.weights.vector(one.noise) for one in given]
    summands = [p.weights.vector(one.weights) for one in given]
    with clock(seconds, "parties"):
        secret = encapsulation.secret(rng)
        box = encapsulation.public_key(secret)
        split = [halves.split(one.size, SIZE_BITS, rng) for one in given]
        sealed = [encapsulation.encapsulate(box, session, rng) for _ in given]
        rows = [masks.row(p, eta, kappa) for eta, (_, kappa) in zip(noise, sealed, strict=True)]
    with clock(seconds, "transfers"):
        offer = oblivious.offer(rng)
        choice = oblivious.choose(session, offer.A, rng)
        bits = garbling.chosen([b for _, b in split], rng.bits(p.index_bits), SIZE_BITS)
        extension = oblivious.extend(session, offer, choice.points, bits)
    with clock(seconds, "garbling"):
        ranks = Permutation.random(p.K, rng).images
        garbled = garbling.garble(session, choice, extension.u, [a for a, _ in split], ranks, SIZE_BITS)
    with clock(seconds, "rows"):
        s = p.weights.random_vector(p.dimension, rng)
        hidden = masks.under(p, rows, s)
        contents = [masks.packed(p, epk, row) for (epk, _), row in zip(sealed, hidden, strict=True)]
        locked = garbling.lock(garbled, contents)
    with clock(seconds, "evaluation"):
        opened = garbling.unlock(session, extension.labels, p.K, SIZE_BITS, garbled.tables, locked)
        epk, masked = masks.unpacked(p, opened)
        selected = masks.bare(p, masked, encapsulation.opened(secret, epk, session))
    with clock(seconds, "masks"):
        summands[0] = p.weights.subtract_vectors(summands[0], s)
        summands.append(selected)
        edges = _edges(p, rng)
        published = [masks.share(p, summand, own) for summand, own in zip(summands, edges, strict=True)]
    with clock(seconds, "commitments"):
        for y in published:
            commitment.commit(session, words.canonical(y), rng)
    return published, summands


def _edges(p: Parameters, rng: Stream) -> list[Masks]:
    """Everybody's seeds, Charlie's last: a double star, and a ring of all parties but the first."""
    plus: list[list[bytes]] = [[] for _ in range(p.K + 1)]
    minus: list[list[bytes]] = [[] for _ in range(p.K + 1)]
    hubs = [(0, j) for j in range(1, p.K)] + [(j, p.K) for j in range(p.K)]
    for one, other in hubs + [(j, i) for j in range(p.K) for i in p.after(j)]:
        seed = rng.bytes(SEED_BYTES)
        low, high = sorted((one, other))
        plus[low].append(seed)
        minus[high].append(seed)
    return [Masks(tuple(added), tuple(taken)) for added, taken in zip(plus, minus, strict=True)]


if __name__ == "__main__":
    answer(cryptography)

"""What the protocol's cryptography costs, against a straightforward port on phe, in one run and in processor seconds.

The port does what the paper's steps say with one ciphertext per coordinate: phe's own encryption, scalar products
re-randomised by phe's `obfuscate`, Python integers for the shares. It has the same comparison as ours, sends nothing
over any channel, and does without the proofs, seals, signatures and encodings that ours pays for. Key generation is
measured apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import phe

from protocols import pathak2010
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.comparison import steps
from protocols.crypto import dgk
from protocols.pathak2010 import minimum
from protocols.pathak2010.parameters import Parameters
from smc_dp.aggregation import Contribution, Outcome, SumWithSmallestNoise, participants, secure

Seconds = dict[str, float]


@dataclass(frozen=True)
class Bench:
    """Processor seconds by part; `ours` has a part for each stage, with key generation apart in `keys`."""

    parties: int
    dimension: int
    key_bits: int
    naive: Seconds
    ours: Seconds
    keys: float
    megabytes: float | None

    @property
    def ratio(self) -> float:
        """How many times less processor time ours needs, key generation apart."""
        return sum(self.naive.values()) / sum(self.ours.values())

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "parties": self.parties,
            "dimension": self.dimension,
            "key_bits": self.key_bits,
            "cpu_seconds": {"naive": self.naive, "ours": self.ours, "key_generation": self.keys},
            "ratio": self.ratio,
            "peak_megabytes": self.megabytes,
        }


def bench_protocol(parties: int, dimension: int, key_bits: int, hear: Callable[[str], None] = lambda _: None) -> Bench:
    """Run both on the same sizes, weights and noise; raises RuntimeError when they disagree."""
    rng = Stream.from_system()
    contributions = [
        Contribution(
            1000 + j,
            tuple(rng.bits(42) for _ in range(dimension)),
            tuple(rng.bits(44) - (1 << 43) for _ in range(dimension)),
        )
        for j in range(parties)
    ]
    parameters = Parameters(tuple(f"P{j + 1}" for j in range(parties)), dimension, key_bits)
    hear("running the protocol")
    session = participants(pathak2010.PROGRAM, parameters, rng)
    outcome = secure(SumWithSmallestNoise(), contributions, session, rng=rng)
    megabytes = _peak_megabytes()
    hear("running the port on phe")
    naive, total = _naive(contributions, parameters, rng)
    if parameters.weights.vector(outcome.value) != tuple(total):
        raise RuntimeError("the protocol and the port on phe disagree")
    ours = _ours(outcome)
    keys = ours.pop("keys")
    return Bench(parties, dimension, key_bits, naive, ours, keys, megabytes)


def _peak_megabytes() -> float | None:
    """The most memory that this program has held; None where the system does not say."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    # Not getrusage: its maximum survives exec, and so counts what the parent process held.
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM:")), None)


def _ours(outcome: Outcome) -> Seconds:
    if outcome.execution is None or outcome.execution.cost is None:
        raise RuntimeError("the protocol did not report its cost")
    return {stage.stage: sum(stage.seconds.values()) for stage in outcome.execution.cost.by_stage}


def _naive(contributions: list[Contribution], p: Parameters, rng: Stream) -> tuple[Seconds, list[int]]:
    """The paper's steps on phe: processor seconds by stage, and the released sum."""
    K, d = p.K, p.dimension
    xi_public, xi = phe.generate_paillier_keypair(n_length=p.key_bits)
    zeta_public, zeta = phe.generate_paillier_keypair(n_length=p.key_bits)
    compare = dgk.generate(p.key_bits, p.u, rng)
    seconds: Seconds = {}
    with _clock(seconds, "stage1"):
        halves = [p.sizes.split(minimum.with_tie_bits(c.size, p.tie_bits, rng), rng) for c in contributions]
        pi1, pi2 = Permutation.random(K, rng), Permutation.random(K, rng)
        a = pi1([xi_public.encrypt(a_j) for a_j, _ in halves])
        b = [zeta.decrypt(c) for c in pi1([zeta_public.encrypt(b_j) for _, b_j in halves])]
        r = [rng.bits(p.blind_bits) for _ in range(K)]
        a_tilde = [
            p.sizes.reduce(xi.decrypt(c)) for c in pi2([c + xi_public.encrypt(x) for c, x in zip(a, r, strict=True)])
        ]
        b_tilde = pi2([p.sizes.subtract(x, y) for x, y in zip(b, r, strict=True)])
        search = minimum.search(p.comparison, K)
        while not search.found:
            search = search.after([_less(p, compare, a_tilde, b_tilde, i, j, rng) for i, j in search.pairs])
    with _clock(seconds, "stage2"):
        u = pi2.inverse([int(place == search.winner) for place in range(K)])
        v = pi1.inverse([zeta_public.encrypt(x) for x in u])
        selected = [[_refreshed(v_j * x) for x in c.noise] for v_j, c in zip(v, contributions, strict=True)]
        psi = [sum(column[1:], column[0]) for column in zip(*selected, strict=True)]
    with _clock(seconds, "stage3"):
        s = [rng.bits(p.mask_bits) for _ in range(d)]
        masked = [zeta.decrypt(c + zeta_public.encrypt(x)) for c, x in zip(psi, s, strict=True)]
        summands = [list(c.weights) for c in contributions]
        summands[0] = [w - x for w, x in zip(summands[0], s, strict=True)]
        shares = [p.weights.split_vector(p.weights.vector(x), K + 1, rng) for x in (*summands, masked)]
        published = [p.weights.add_vectors(*column) for column in zip(*shares, strict=True)]
        total = p.weights.add_vectors(*published)
    return seconds, list(total)


def _refreshed(c: phe.EncryptedNumber) -> phe.EncryptedNumber:
    c.obfuscate()
    return c


def _less(p: Parameters, key: dgk.DgkPrivateKey, a: list[int], b: list[int], i: int, j: int, rng: Stream) -> int:
    """Whether a_i + b_i < a_j + b_j, by our comparison."""
    y, top = steps.holder_half(p.sizes, p.sizes.subtract(b[i], b[j]))
    x, flip = steps.chooser_half(p.sizes, p.sizes.subtract(a[i], a[j]))
    offered = key.encrypt_all(steps.bits(y, p.compared_bits), rng)
    delta_a = rng.bits(1)
    c = steps.differences(key.public, x, offered, delta_a, rng)
    return steps.is_negative(steps.at_most(key, c, steps.xor(delta_a, flip)), top)


@contextmanager
def _clock(seconds: Seconds, part: str) -> Iterator[None]:
    start = time.process_time()
    yield
    seconds[part] = time.process_time() - start

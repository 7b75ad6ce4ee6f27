"""The numbers by which an attacker judges an output: where it lies, and what its last digits give away."""

from __future__ import annotations

import numpy as np

from smc_dp.core.arrays import Array

PRIMES = (2, 3, 5, 7, 11, 13)
_UNIFORM_BITS = 53
_WINDOW = 16  # candidates on either side: exp and log err by less than 3 of them for noise within 36 scales


def places(outputs: Array, centres: tuple[Array, Array]) -> Array:
    """Distances from the two outputs without noise, and what lies between: (scores, draws).

    The log-likelihood ratio of each noise in use is among them, but for rounding: the projection on the difference for
    Gaussian noise, the difference of the distances in L2 for K-norm noise, in L1 for Laplace noise. Single distances
    tell noise with too much mass near zero. outputs: (draws, width); centres: (width,).
    """
    first, second = (outputs - centre for centre in centres)
    apart = centres[1] - centres[0]
    rows = [first @ apart]
    for order in (1, 2):
        near, far = (np.linalg.norm(part, order, axis=1) for part in (first, second))
        rows += [near - far, near, far]
    found: Array = np.array(rows)
    return found


def residues(outputs: Array) -> Array:
    """For each small prime and each residue, whether the first coordinate has it; whole outputs (draws, width)."""
    whole = outputs[:, 0].astype(np.int64)
    return np.array([whole % prime == r for prime in PRIMES for r in range(prime)], dtype=np.float64)


def holes(outputs: Array, centres: tuple[Array, Array], scale: float) -> Array:
    """Whether a sampler in floats, the textbook one, could have led from each centre to the output: (2, draws).

    Its noise is -scale log(u) with a sign, for u a multiple of 2^-53. Rounded to floats, and added, it reaches only a
    part of the floats, another part from another centre (Mironov, CCS 2012). All u that could lead to the output are
    tried, which settles the question for centres within ten scales of zero.
    """
    return np.array([_reachable(outputs[:, 0], float(centre[0]), scale) for centre in centres], dtype=np.float64)


def _reachable(values: Array, centre: float, scale: float) -> Array:
    noise = values - centre
    nearest = np.rint(np.exp(-np.abs(noise) / scale) * 2.0**_UNIFORM_BITS)
    found = np.zeros(len(values), dtype=bool)
    for step in range(-_WINDOW, _WINDOW + 1):
        u = np.clip((nearest + step) * 2.0**-_UNIFORM_BITS, 2.0**-_UNIFORM_BITS, 1.0)
        found |= centre + np.sign(noise) * (scale * -np.log(u)) == values
    return found

"""Noise nobody knows: each party draws a share of it, and what is guaranteed counts the shares of H honest ones.

A secure sum releases the sum of all parties' integers and of all shares. A coalition subtracts its own shares; at
least H others are left, and any beyond H are noise added to a release that is private already. So every figure here is
one of H shares alone, whichever parties drop out and however many there are: H = K - D - t, with K parties of which D
may drop out and t collude. D, t and H are public, and a share depends on no secret.

`ddg`. Each share is a discrete Gaussian of variance parameter v = s^2/H in every coordinate, v >= 18. The lemma of
`smc_dp.privacy.gaussian` holds for their sum, with eta = 2.01 H e^(-18 pi^2) < H 2^-255: adding shares of variance
parameters a and b gives the density of variance a + b up to the factor by which a sum over a shifted lattice differs
from its integral, at a b/(a + b) >= 9, which is 1 +- kappa(9), and there are H - 1 additions. So mu^2 = D^2/(s^2 - 9).
With H <= 2,000 and at most 2^62 integers 2 p eta is below 2^-180, which the curve there is charged already. The sum is
not exactly one discrete Gaussian, so rho = (D^2/s^2 + tau p/2)/2 for p coordinates, where tau = 10 times the sum over
k < H of e^(-2 pi^2 v k/(k+1)) (Kairouz, Liu and Steinke 2021), which is below (H - 1) 2^-252 for v >= 18.

Sums that are queried in view of each other, and blocks of one sum with noise of their own: `rounds`.

`vg`. K-norm noise of scale s is a Gaussian vector whose variance is Gamma((d+1)/2, 2 s^2), and a Gamma variable is a
sum of H of shape (d+1)/(2H). So each party draws V of this distribution, one for all coordinates, and then discrete
Gaussians of variance parameter V. Where all V are at least 16, the lattice is not felt: their sum has the density of
K-norm noise up to factors that come to 4 H d kappa in all, kappa = 2.0001 e^(-16 pi^2). Where one is smaller, which has
probability at most e = H (8/s^2)^a/Gamma(a+1), a = (d+1)/(2H), nothing is claimed. And V is rounded up to 96 bits,
which adds 2^-81 and 2^-2000 once in all. For s >= 16 and d <= 10^4 that is
(D/s + 4 H d kappa + 2^-81, (1 + 2 e^epsilon) e + 2^-2000): not pure, but with a delta of at most 2^-64, because the
grid is made as fine as it takes.

`self`. Each share is the whole K-norm noise for the own sensitivity: pure, and H = 1 is enough.
"""

from smc_dp.privacy.distributed.block_bound import BlockBound
from smc_dp.privacy.distributed.calibration import SharedNoise, calibrate_shares, ring_bits, shared_statement
from smc_dp.privacy.distributed.inference_sum import InferenceBound
from smc_dp.privacy.distributed.least_squares_sums import GramBound, ResidualBound
from smc_dp.privacy.distributed.rounds import (
    Curvature,
    RoundBound,
    SharedRounds,
    rounds_statement,
    sums_signal,
)

__all__ = [
    "BlockBound",
    "Curvature",
    "GramBound",
    "InferenceBound",
    "ResidualBound",
    "RoundBound",
    "SharedNoise",
    "SharedRounds",
    "calibrate_shares",
    "ring_bits",
    "rounds_statement",
    "shared_statement",
    "sums_signal",
]

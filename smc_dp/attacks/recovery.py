"""An attack: whoever knows all records of a party but one reads the last one off what OFPA uploads.

OFPA perturbs w but not the bias alpha, so the derivative by alpha vanishes exactly: the sum over all records of
sigmoid(w.x_i + alpha) - y_i is zero, whatever the noise. The known records leave a single term, which gives the label
by its sign and w.x by its size. Each round is one linear equation for x, and d rounds have one solution.
"""

from __future__ import annotations

import numpy as np
import scipy.special

from smc_dp.core.arrays import Array
from smc_dp.data.federation import Rows
from smc_dp.methods.collaborative.rounds import with_one

_SMALLEST = 2.0**-50  # what a probability is at least taken for, where uploads are not exact minimisers


def recover(known: Rows, uploads: Array) -> tuple[Array, int]:
    """The one record that is not among the known ones: x, (d,), and its label, from one party's uploads.

    known: the other n - 1 records. uploads: (T, d+1), that party's (w, alpha) of T rounds; with fewer than d rounds the
    shortest x that fits. Against uploads that are not minimisers of the printed objective the answer is a guess.
    """
    scores = with_one(known.X) @ uploads.T
    missing = -(scipy.special.expit(scores) - known.y[:, np.newaxis]).sum(axis=0)  # sigmoid - y of the last record
    label = int(np.median(missing) < 0)
    probability = np.clip(missing + label, _SMALLEST, 1 - _SMALLEST)
    products = scipy.special.logit(probability) - uploads[:, -1]
    x, *_ = np.linalg.lstsq(uploads[:, :-1], products, rcond=None)
    return x, label

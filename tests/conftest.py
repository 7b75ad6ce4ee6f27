"""One profile for all tests: machines are shared, so a slow example is no failure, and a worker has one BLAS thread."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from hypothesis import settings
from threadpoolctl import threadpool_limits

settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")

# As many workers as cores, each with as many threads, wait for each other more than they compute. A limit holds for
# the libraries that are loaded, numpy's and scipy's.
LIMITED = (np, scipy.linalg)
LIMITS = threadpool_limits(1, user_api="blas")

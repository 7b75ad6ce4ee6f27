"""Fourier features of a release: whether every row with its features is in the unit ball, whatever the row was.

The row keeps half of the squared length. The longest pair of features that the map can give is taken in integers here;
the number of pairs is in the setting.
"""

from __future__ import annotations

from smc_dp.audit.run.check import make_fault
from smc_dp.audit.run.derived_parameters import DerivedParameters, feature_count
from smc_dp.core.errors import Fault
from smc_dp.methods.training.fourier import cosine_table

_HALF_ROW = 1 << 27


def features_fault(found: DerivedParameters) -> Fault | None:
    """Return the fault of features that could be longer than their half of a row, which D/2 pairs share."""
    count = feature_count(found.method)
    if count is None:
        return None
    cosines = cosine_table(count).tolist()
    quarter = len(cosines) // 4
    longest = max(c * c + cosines[i - quarter] ** 2 for i, c in enumerate(cosines))
    return None if longest * (count // 2) <= _HALF_ROW else make_fault("features.too_long", count=count)

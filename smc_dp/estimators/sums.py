"""Base class of the estimators that state figures of rows with public bounds, from secure sums."""

# Annotations are not deferred here, as in `base`.

from abc import ABC
from dataclasses import dataclass, field, replace
from os import PathLike
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from smc_dp.core.errors import InputError
from smc_dp.data.bounds import Bounds
from smc_dp.data.federation import Federation
from smc_dp.estimators.base import REFUSAL, SIMULATED_PARTIES, SINGLE_RELEASE
from smc_dp.estimators.bounded_rows import BoundsParameter
from smc_dp.estimators.ledger_charge import charge_fit
from smc_dp.estimators.validation import check_exact_number, check_whole_number, stream_of_seed
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.methods.sums.simulated_sum import SimulatedSum
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import Target


@dataclass(kw_only=True, eq=False, repr=False)
class SumsEstimator(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """Method of secure sums behind scikit-learn's interface, whose rows have public bounds; nobody is trusted."""

    bounds: BoundsParameter = field(default=None, kw_only=False)
    epsilon: float = 1.0
    delta: float = 1e-5
    colluders: int = 1
    dropouts: int = 0
    n_parties: int = 5
    insecure_seed: int | None = None
    ledger: str | PathLike[str] | None = None

    def _forget(self, result: str) -> None:
        """Delete an earlier release, so that a fit that fails leaves an estimator that is not fitted."""
        for released in (result, "privacy_"):
            if hasattr(self, released):
                delattr(self, released)

    def _release(self, method: Any, data: Federation, *, dealt: bool) -> Any:
        """Add up, draw noise, set `privacy_`, and return the model or the description; charge the ledger first."""
        bounds: Bounds = self.bounds_  # which a fit has set
        delta, rng = check_exact_number("delta", self.delta), stream_of_seed(self.insecure_seed)
        if delta is None:
            raise InputError("delta.infinite")
        target = Target(check_exact_number("epsilon", self.epsilon), "proven", "ddg", delta)
        t, D = check_whole_number("colluders", self.colluders), check_whole_number("dropouts", self.dropouts)
        simulated = replace(
            SimulatedSum.of(method, data, ThreatModel(len(data.parties), t, D), LARGEST_N),
            columns=bounds.columns,
            label=bounds.label_column,
            box=bounds.box,
        )
        more = ((SIMULATED_PARTIES, dealt), (SINGLE_RELEASE, self.ledger is None), (REFUSAL, True))
        caveats = tuple(caveat for caveat, holds in more if holds)
        if self.ledger is None:
            released, stated = simulated.compute(target, rng)
            self.privacy_: PrivacyStatement = replace(stated, caveats=(*stated.caveats, *caveats))
            return released
        if rng.insecure:
            raise InputError("ledger.insecure_seed")
        promised = simulated.statement(simulated.spec(target))
        with charge_fit(self.ledger, data, method.name, promised, target) as charge:
            released, stated = simulated.compute(target, rng)
            arrays = SimpleNamespace(sums=np.array(released.sums)) if isinstance(released, DescribeResult) else released
            self.privacy_ = charge.released(arrays, replace(stated, caveats=(*stated.caveats, *caveats)))
        return released

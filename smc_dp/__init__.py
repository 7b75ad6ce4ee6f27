"""Differentially private learning by several parties, over the protocols of `protocols`.

Seventeen names and the version are here; each is imported when it is first used.

* `run_protocol`: everybody's rows in, through the protocol, a run folder and a report out; `predict`: new rows
  classified with a run folder; `audit_run`: what somebody finds who was not there;
  `plan`: what to expect of a run, what to do, and what it will cost.
* `SecureSumClassifier`, `AveragingClassifier`, `EnsembleClassifier`, `FeatureMethodClassifier`,
  `CollaborativeClassifier`: scikit-learn estimators, one for each family of methods (`smc_dp.estimators`).
* `PrivacyStatement`: what a release guarantees, against whom, and what it does not cover: their attribute privacy_.
* `METHODS`: every method by its name, for whoever needs more than an estimator:
  `METHODS["wsum"]().train(federation).release(target, rng)`, rng from `protocols.arithmetic.rng.Stream.from_system()`.
* `Federation`, `Rows`: what the parties hold together, and what one of them holds.
* `Target`: how much privacy is wanted, and which noise.
* `InputError`: the ValueError that input gets which a person can correct; `RowsClippedWarning`: told where many rows
  were clipped, on that machine and nowhere else.
* `__version__`: this package's version.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smc_dp.audit.run.audited_prediction import predict
    from smc_dp.audit.run.checks import audit_run
    from smc_dp.data.federation import Federation, Rows
    from smc_dp.errors import InputError
    from smc_dp.estimators import (
        AveragingClassifier,
        CollaborativeClassifier,
        EnsembleClassifier,
        FeatureMethodClassifier,
        SecureSumClassifier,
    )
    from smc_dp.methods.registry import METHODS
    from smc_dp.notices import RowsClippedWarning
    from smc_dp.plans.plan import plan
    from smc_dp.privacy.statement import PrivacyStatement
    from smc_dp.privacy.target import Target
    from smc_dp.run.protocol import run_protocol

logging.getLogger(__name__).addHandler(logging.NullHandler())  # who wants to hear of it, says so

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "AveragingClassifier",
    "CollaborativeClassifier",
    "EnsembleClassifier",
    "FeatureMethodClassifier",
    "Federation",
    "InputError",
    "PrivacyStatement",
    "Rows",
    "RowsClippedWarning",
    "SecureSumClassifier",
    "Target",
    "__version__",
    "audit_run",
    "plan",
    "predict",
    "run_protocol",
]


def __getattr__(name: str) -> object:
    if name in __all__ and name.endswith("Classifier"):
        from smc_dp import estimators

        return getattr(estimators, name)
    if name in ("Federation", "Rows"):
        from smc_dp.data import federation

        return getattr(federation, name)
    if name in ("PrivacyStatement", "Target"):
        from smc_dp.privacy import statement, target

        return getattr(target if name == "Target" else statement, name)
    if name == "METHODS":
        from smc_dp.methods.registry import METHODS

        return METHODS
    if name == "RowsClippedWarning":
        from smc_dp.notices import RowsClippedWarning

        return RowsClippedWarning
    if name == "InputError":
        from smc_dp.errors import InputError

        return InputError
    if name == "run_protocol":
        from smc_dp.run.protocol import run_protocol

        return run_protocol
    if name == "plan":
        from smc_dp.plans.plan import plan

        return plan
    if name == "predict":
        from smc_dp.audit.run.audited_prediction import predict

        return predict
    if name == "audit_run":
        from smc_dp.audit.run.checks import audit_run

        return audit_run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""Differentially private learning by several parties, over the protocols of `protocols`.

Twenty-two names and the version are here; each is imported when it is first used.

* `run_protocol`: everybody's rows in, through the protocol, a run folder and a report out; `predict`: new rows
  classified with a run folder; `personalise`: a model of one site for itself, from a run folder and its own rows;
  `audit_run`: what somebody finds who was not there; `plan`: what to expect of a run, what to do, and what it will
  cost.
* `SecureSumClassifier`, `AveragingClassifier`, `EnsembleClassifier`, `FeatureMethodClassifier`,
  `CollaborativeClassifier`: scikit-learn estimators, one for each family of methods (`smc_dp.estimators`).
* `SecureSumLogisticRegression`, `SecureSumLinearRegression`: coefficients of two classes, or of an outcome that is a
  number, with standard errors and intervals.
* `SecureSumDescribe`: counts, means, deviations and quantiles of all rows, behind the same interface; `DescribeResult`:
  what it releases, as `run_protocol` with the method `describe` does.
* `PrivacyStatement`: what a release guarantees, against whom, and what it does not cover: their attribute privacy_.
* `METHODS`: every method by its name, if an estimator is not enough:
  `METHODS["wsum"]().train(federation).release(target, rng)`, rng from `protocols.arithmetic.rng.Stream.from_system()`.
* `Federation`, `Rows`: what the parties hold together, and what one of them holds.
* `Target`: how much privacy is wanted, and which noise.
* `InputError`: the ValueError that input gets which a person can correct; `RowsClippedWarning`: told where many rows
  were clipped, on that machine and nowhere else.
* `__version__`: this package's version.
"""

from __future__ import annotations

import logging
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from smc_dp.core.version import __version__

if TYPE_CHECKING:  # for type checkers, which read no table: the same names from the same modules
    from smc_dp.audit.run.audited_prediction import predict as predict
    from smc_dp.audit.run.checks import audit_run as audit_run
    from smc_dp.core.errors import InputError as InputError
    from smc_dp.core.errors import RowsClippedWarning as RowsClippedWarning
    from smc_dp.data.federation import Federation as Federation
    from smc_dp.data.federation import Rows as Rows
    from smc_dp.estimators import AveragingClassifier as AveragingClassifier
    from smc_dp.estimators import CollaborativeClassifier as CollaborativeClassifier
    from smc_dp.estimators import EnsembleClassifier as EnsembleClassifier
    from smc_dp.estimators import FeatureMethodClassifier as FeatureMethodClassifier
    from smc_dp.estimators import SecureSumClassifier as SecureSumClassifier
    from smc_dp.estimators import SecureSumDescribe as SecureSumDescribe
    from smc_dp.estimators import SecureSumLinearRegression as SecureSumLinearRegression
    from smc_dp.estimators import SecureSumLogisticRegression as SecureSumLogisticRegression
    from smc_dp.methods.registry import METHODS as METHODS
    from smc_dp.methods.statistics.describe_result import DescribeResult as DescribeResult
    from smc_dp.planning.plan import plan as plan
    from smc_dp.privacy.statement import PrivacyStatement as PrivacyStatement
    from smc_dp.privacy.target import Target as Target
    from smc_dp.run.personalisation import personalise as personalise
    from smc_dp.run.run_protocol import run_protocol as run_protocol

_MODULES = MappingProxyType(
    {
        "METHODS": "smc_dp.methods.registry",
        "AveragingClassifier": "smc_dp.estimators",
        "CollaborativeClassifier": "smc_dp.estimators",
        "DescribeResult": "smc_dp.methods.statistics.describe_result",
        "EnsembleClassifier": "smc_dp.estimators",
        "FeatureMethodClassifier": "smc_dp.estimators",
        "Federation": "smc_dp.data.federation",
        "InputError": "smc_dp.core.errors",
        "PrivacyStatement": "smc_dp.privacy.statement",
        "Rows": "smc_dp.data.federation",
        "RowsClippedWarning": "smc_dp.core.errors",
        "SecureSumClassifier": "smc_dp.estimators",
        "SecureSumDescribe": "smc_dp.estimators",
        "SecureSumLinearRegression": "smc_dp.estimators",
        "SecureSumLogisticRegression": "smc_dp.estimators",
        "Target": "smc_dp.privacy.target",
        "audit_run": "smc_dp.audit.run.checks",
        "personalise": "smc_dp.run.personalisation",
        "plan": "smc_dp.planning.plan",
        "predict": "smc_dp.audit.run.audited_prediction",
        "run_protocol": "smc_dp.run.run_protocol",
    }
)
"""Public name -> module that defines it, imported when the name is first used (PEP 562)."""

__all__ = [*_MODULES, "__version__"]

logging.getLogger(__name__).addHandler(logging.NullHandler())  # an application that wants the log adds its own handler


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

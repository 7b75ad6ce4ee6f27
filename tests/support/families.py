"""The families of classifiers, and each of their methods."""

from __future__ import annotations

import pytest

from smc_dp import (
    AveragingClassifier,
    CollaborativeClassifier,
    EnsembleClassifier,
    FeatureMethodClassifier,
    SecureSumClassifier,
)

FAMILIES = (
    *(AveragingClassifier, EnsembleClassifier, FeatureMethodClassifier, CollaborativeClassifier),
    SecureSumClassifier,
)
PAIRS = [pytest.param(family, method, id=method) for family in FAMILIES for method in family.methods]

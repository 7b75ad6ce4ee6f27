"""What takes most of a small simulation's time is made quicker for the tests that do not look at it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from smc_dp.data.federation import Rows
from smc_dp.methods import personal
from smc_dp.methods.model import LinearModel
from smc_dp.methods.personal import PersonalFit
from smc_dp.run import personal_comparison

if TYPE_CHECKING:
    from support.sites import Sites

STRENGTHS = {"TOWARDS": (1e1,), "ALONE": (1e-1,)}
KINDS = (personal.PERSONAL_KINDS[0], ("towards the release", 1e1), ("own rows alone", 1e-1))


@pytest.fixture(scope="session", autouse=True)
def _few_strengths() -> Iterator[None]:
    """A simulation chooses each party's personalised model among 3 candidates instead of 13."""
    fit = personal_comparison.fit_personal

    def fit_quickly(rows: Rows, release: LinearModel) -> PersonalFit:
        with patch.multiple(personal, PERSONAL_KINDS=KINDS, _FIRST_ALONE=2, **STRENGTHS):
            return fit(rows, release)

    with patch.object(personal_comparison, "fit_personal", fit_quickly):
        yield


@pytest.fixture(scope="session")
def curator_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """Three parties and Charlie with toy keys, undisturbed, to the end."""
    from support import sites

    run = sites.Sites(sites.joint(sites.LINEAR), tmp_path_factory.mktemp("curator")).run()
    yield run
    run.close()

"""Registry of the methods by name: the same in Python, on the command line and in files."""

from __future__ import annotations

from types import MappingProxyType

from smc_dp.core.errors import check_one_of
from smc_dp.methods.central_objective import CentralObjective
from smc_dp.methods.collaborative.ofaa import Ofaa
from smc_dp.methods.collaborative.ofpa import Ofpa
from smc_dp.methods.collaborative.param_laplace import ParamLaplace
from smc_dp.methods.feature_method import AverageMethod, FeatureMethod
from smc_dp.methods.gradients.gradient_descent import GradientDescent
from smc_dp.methods.gradients.newton import Newton
from smc_dp.methods.hamm2016.release_all import ReleaseAll
from smc_dp.methods.hamm2016.votes import Average, Soft, SoftAuxiliary, Vote
from smc_dp.methods.method import Method
from smc_dp.methods.nonprivate import Batch, Individual
from smc_dp.methods.pathak2010.averages import Central, Local
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.methods.statistics.describe import Describe
from smc_dp.methods.statistics.linear import LinearRegression
from smc_dp.methods.statistics.logistic import LogisticCoefficients
from smc_dp.methods.sums.clipped_average import ClippedAverage
from smc_dp.methods.sums.soft_statistic import SoftStatistic
from smc_dp.methods.sums.weighted_sum import WeightedSum, WeightedSumAddRemove

_CLASSES: tuple[type[Method], ...] = (
    PathakMean,
    Central,
    CentralObjective,
    Local,
    WeightedSum,
    WeightedSumAddRemove,
    Newton,
    GradientDescent,
    LogisticCoefficients,
    LinearRegression,
    FeatureMethod,
    AverageMethod,
    Ofpa,
    Ofaa,
    ParamLaplace,
    Vote,
    Soft,
    SoftAuxiliary,
    SoftStatistic,
    Average,
    ClippedAverage,
    Batch,
    Individual,
    ReleaseAll,
)

METHODS = MappingProxyType({method.name: method for method in _CLASSES})
"""Methods that learn a model."""
STATISTICS = MappingProxyType({Describe.name: Describe})
"""Methods that describe rows and learn nothing: a release of them has no weights, and cannot predict."""


def find_method(name: str) -> type[Method]:
    """Return the method of that name; InputError with all names if there is none."""
    check_one_of("method", name, METHODS)
    return METHODS[name]

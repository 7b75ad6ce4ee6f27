"""Comparison of two worlds in which the functionality tells a coalition nothing beside the sum."""

from __future__ import annotations

from smc_dp.leakage.distributions import NO_OUTPUT, DistributionCheck, Samples, compare_by_output


def compare_worlds(left: Samples, right: Samples, made: Samples) -> DistributionCheck:
    told = dict.fromkeys(left, NO_OUTPUT)
    return compare_by_output([(left, told), (right, told)], {NO_OUTPUT: made})

"""Audits of runs and of epsilon: whether a run kept to its protocol, who could learn what, whether the epsilon holds.

`run` audits one run from its folder and views, `epsilon` bounds the epsilon of mechanisms and methods from samples.
What follows from a protocol's code alone is in `smc_dp.leakage`.
"""

"""What an auditor can find out about a run: did what was promised happen, who could learn what, is the epsilon real.

`run` audits one run from its folder and views, `epsilon` bounds the epsilon of mechanisms and methods from samples, and
`matrix_picture` draws a coalition matrix. What follows from a protocol's code alone is in `smc_dp.leakage`.
"""

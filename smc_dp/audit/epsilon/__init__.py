"""Lower bounds on epsilon, with confidence, from samples of a mechanism on two neighbours.

A bound above the claim refutes it; a bound below it proves nothing. The power of the tests against half the noise is
therefore stated beside them.
"""

"""Lower bounds on epsilon from samples, with confidence: what an attacker proves who sees many releases.

A bound above what is claimed refutes the claim; a bound below it proves nothing. What the tests would have caught is
therefore stated beside them, as their power against a mechanism with half the noise.
"""

"""Secrets that are distinctive numbers, looked for in what somebody read."""

from __future__ import annotations

from collections.abc import Mapping

from protocols.runtime.claims import Readings


def canaries(found: Readings, secrets: Mapping[str, int], modulus: int, shift: int = 0) -> list[str]:
    """Which secrets (distinctive numbers below modulus >> shift) stand in the readings: plain, negated, or as the sum
    or difference of two of them, mod `modulus` and without the lowest `shift` bits.
    """
    values = {v % modulus for place in found.values() for v in place}
    seen = {x % modulus >> shift for v in values for w in (0, *values) for x in (v + w, v - w, -v - w)}
    return [name for name, secret in secrets.items() if secret in seen]

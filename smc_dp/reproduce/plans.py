"""What the plans of all papers' figures have in common."""

from __future__ import annotations

from fractions import Fraction

DELTA = Fraction(1, 10**6)
"""Stands in every entry, though no noise of a paper has a delta: a plan is known by all that stands in it."""

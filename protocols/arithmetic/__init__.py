"""Integers, shares, permutations and random streams; no messages, no parties."""

"""Differentially private learning by several parties, over the protocols of `protocols`."""

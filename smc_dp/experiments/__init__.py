"""Experiments: grids of methods and data sets, and the figures of the papers."""

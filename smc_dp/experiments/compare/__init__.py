"""Grids of experiments: what to run, running it in parallel, and pages that show the outcome beside the papers."""

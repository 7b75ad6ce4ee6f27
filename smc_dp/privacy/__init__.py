"""Sensitivity, noise, grid and the statement of what a release guarantees."""

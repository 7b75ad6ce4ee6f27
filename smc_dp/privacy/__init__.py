"""Sensitivity, noise, grid, the statement of what a release guarantees, and the ledger of releases."""

"""Ratios of processor time, measured in one run: the protocol against a port on phe, batched training against loops."""

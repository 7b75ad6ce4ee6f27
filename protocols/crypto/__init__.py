"""Cryptographic primitives; each file states its assumption first."""

"""Pathak, Rane and Raj (NIPS 2010): averaged models."""

"""Pathak, Rane and Raj (NIPS 2010): averaged models, and the theorems about them."""

"""Protocols that compute a functionality: their settings, bindings to programs, sessions and outcomes."""

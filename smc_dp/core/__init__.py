"""Shared foundations: errors, arrays, documents, and files that are read with care and written whole or not at all."""

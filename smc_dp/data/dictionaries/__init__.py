"""Data dictionaries as first drafts of bounds: a study's own description of its columns, and never a row."""

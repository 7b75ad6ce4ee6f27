"""The papers' figures as ready grids: what is published there, and what came out."""

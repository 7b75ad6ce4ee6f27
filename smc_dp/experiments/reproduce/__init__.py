"""The papers' figures as ready grids: what is printed there, and what came out."""

"""Local training: objectives with their constants, and a solver with a certified tolerance."""

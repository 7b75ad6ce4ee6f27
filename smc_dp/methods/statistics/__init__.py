"""Statistics from secure sums: what the released numbers say, and how sure they are."""

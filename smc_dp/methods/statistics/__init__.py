"""Statistics of all rows from secure sums, with intervals that count the noise of the sums."""

"""Learning methods, each named after its paper."""

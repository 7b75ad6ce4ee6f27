"""A protocol to watch, step by step: who sends what, what that means, and what everybody knows then."""

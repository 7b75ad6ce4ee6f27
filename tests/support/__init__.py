"""What several test files share: made-up parties, runs that are audited, forgeries, mutants."""

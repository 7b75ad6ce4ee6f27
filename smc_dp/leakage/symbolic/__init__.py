"""A protocol's role code run over linear forms, and what each coalition can work out from what it sees."""

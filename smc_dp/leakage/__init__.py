"""Analysis of a protocol's role code: coalitions, distributions of what they read, and limits of the claim."""

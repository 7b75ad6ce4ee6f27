"""What follows from a protocol's role code, whoever runs it: coalitions, laws of what is read, boundary."""

"""The facts of a run as documents: for an impact assessment, for an ethics committee, for a public registry."""

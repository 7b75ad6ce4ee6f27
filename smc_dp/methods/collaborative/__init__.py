"""OFPA, OFAA and parameter perturbation: collaborative logistic regression in rounds."""

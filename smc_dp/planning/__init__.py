"""What public numbers say beforehand of a release: its signal against the noise, and the accuracy that noise costs."""

"""A run: what all agree on, what a party does, its folder, its identities and its ledgers."""

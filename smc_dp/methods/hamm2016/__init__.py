"""Hamm, Cao and Belkin (ICML 2016): classifiers of many parties, aggregated by votes or by averaging."""

"""Weights of features by penalised pseudo-likelihood."""

"""Pseudo-likelihood and its gradient, by how features are stored."""

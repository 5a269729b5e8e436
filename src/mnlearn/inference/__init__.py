"""Conditional marginals: Gibbs sampling and enumeration."""

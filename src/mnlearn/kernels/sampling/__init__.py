"""Inference in log-linear models: sampling, enumeration, belief propagation."""

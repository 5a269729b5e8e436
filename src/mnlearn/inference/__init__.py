"""Marginals, conditionals, samples and log Z of one model, exact or approximate."""

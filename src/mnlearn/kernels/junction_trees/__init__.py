"""Kernels of learning junction trees: counts and entropies of small sets, consistent trees."""

"""Sums, products and maxima of tables of discrete variables."""

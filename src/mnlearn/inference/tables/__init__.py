"""Exact inference in models as tables: variable elimination and clique trees."""

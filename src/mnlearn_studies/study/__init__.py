"""A paper as data: its definition, its datasets, its cells, the bench."""

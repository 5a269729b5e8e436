"""Kernels of LEM: packed columns, mutual information, partitions, the search for a feature."""

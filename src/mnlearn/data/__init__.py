"""Datasets: reading, merging, splitting, fetching."""

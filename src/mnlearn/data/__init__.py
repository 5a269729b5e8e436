"""Datasets: reading, merging, splitting."""

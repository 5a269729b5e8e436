"""Measurements of speed, beside the figures of other programs."""

"""Circuits: evaluation, conditioning, splitting."""

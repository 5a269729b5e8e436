"""Searches for features."""

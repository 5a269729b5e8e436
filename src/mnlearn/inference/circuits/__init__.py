"""Exact inference in circuits."""

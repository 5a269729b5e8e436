"""Bits, random numbers, and exponentials and logarithms of whole vectors."""

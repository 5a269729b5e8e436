"""Figures of Ising networks, and the folder that `mnlearn ising` writes."""

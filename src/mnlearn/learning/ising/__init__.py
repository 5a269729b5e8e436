"""Ising networks as they are estimated in psychometrics, and what is asked of them."""

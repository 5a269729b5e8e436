"""The names of the scores; importing them imports nothing else."""

METRICS = ("pll", "cmll", "cll", "ll")

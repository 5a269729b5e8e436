"""The number that stands for an infinite weight.

It has a file of its own, so that what scores a circuit does not load the kernels of sampling.
"""

# In sums, infinities of both signs would give NaN. A log-probability below minus half of this
# number is reported as minus infinity.
HARD_WEIGHT = 1e6

"""What the partitions of the sides of a feature cost, in base-2 logarithms."""

import numpy as np

from mnlearn.kernels.jit import kernel


@kernel
def cost_of(side, log2_size, one_block):
    """Return log2 of the sum of the sizes of the blocks, 2 for each variable that is fixed.

    one_block : whether to take all variables as one block.
    """
    total = np.zeros(len(side.label))
    n_fixed = 0
    for j in range(len(total)):
        n_fixed += side.size[j] == 1
        total[0 if one_block else side.label[j]] += log2_size[side.size[j]]
    largest = total.max()
    cost = 2.0 * n_fixed * 2.0**-largest
    for j in range(len(total)):
        if total[j] > 0.0:
            cost += 2.0 ** (total[j] - largest)
    return largest + np.log2(cost)


@kernel
def score_of(cost, joint):
    """Return log2 of the score of a feature whose sides have the given log2 costs.

    joint : whether the score is 1 / (d1 + d0); else it is that of the paper, 1 / d1 + 1 / d0.
    """
    high, low = max(cost[0], cost[1]), min(cost[0], cost[1])
    if high == np.inf:
        return -np.inf
    if joint:
        return -(high + np.log2(1.0 + 2.0 ** (low - high)))
    return -low + np.log2(1.0 + 2.0 ** (low - high))

"""Packed bits and streams of random numbers as the kernels have them, in plain Python."""

import numpy as np

from mnlearn.kernels.arithmetic.splitmix import advance, mix, uniform


def packed(bits):
    """Packed bits of each row of a matrix, 64 to a word."""
    padded = np.zeros((len(bits), -(-bits.shape[1] // 64) * 64), bool)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def word(number):
    """A state of a stream; compiled kernels return it as a plain number."""
    return np.uint64(int(number) & (2**64 - 1))


class Stream:
    """The numbers and the words of a stream, one after the other."""

    def __init__(self, state):
        self.state = word(state)

    def next(self):
        self.state = word(advance(self.state))
        return uniform(self.state)

    def word(self):
        self.state = word(advance(self.state))
        return int(mix(self.state)) & (2**64 - 1)

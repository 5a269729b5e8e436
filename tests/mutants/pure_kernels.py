"""Kernels as plain Python, for tests of their mutants: nothing has to be compiled."""

import ctypes
import ctypes.util

import numba
import numpy as np

_fma = ctypes.CDLL(ctypes.util.find_library("m")).fma
_fma.restype, _fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3


def _popcount(word):
    return np.uint64(int(word).bit_count())


def _lowest_bit(word):
    word = int(word)
    return np.uint64((word & -word).bit_length() - 1)


def _selected(x, words, places, n_words):
    bits = np.full(n_words, 2**64 - 1, np.uint64)
    for place in places:
        bits &= words[place : place + n_words]
    return np.unpackbits(bits.view(np.uint8), bitorder="little").astype(bool)[: len(x)]


def _add_where(x, words, places, n_words, amount):
    x[: 64 * n_words][_selected(x, words, places, n_words)] += amount


def _sum_where(x, words, places, n_words):
    chosen = np.where(_selected(x, words, places, n_words), x[: 64 * n_words], np.float32(0))
    total = np.zeros(64, np.float32)
    for word in chosen.reshape(-1, 64):
        total += word
    while len(total) > 1:
        half = len(total) // 2
        total = total[:half] + total[half:]
    return total[0]


def _fused(a, b, c):
    found = _fma(a, b, c)
    return np.float32(found) if type(a) is type(b) is type(c) is np.float32 else np.float64(found)


def _add_up(n, number, add):
    """Add up in the fixed order of the kernels; `add` adds the numbers at some places to a sum."""
    whole = n - n % 16
    wide, rest = np.zeros(16, number), number(0)
    for k in range(0, whole, 16):
        wide = add(wide, slice(k, k + 16))
    for k in range(whole, n):
        rest = add(rest, k)
    while len(wide) > 1:
        half = len(wide) // 2
        wide = wide[:half] + wide[half:]
    return wide[0] + rest


def _sums(x, place, n):
    terms = x[place : place + n].astype(np.float64)
    return _add_up(n, np.float64, lambda total, at: total + terms[at])


def _dots(x, place, y, places, n):
    one, number = x[place : place + n].astype(np.longdouble), x.dtype.type
    products = [one * y[other : other + n] for other in places]
    return tuple(
        _add_up(n, number, lambda total, at, of=of: (total + of[at]).astype(number))
        for of in products
    )


def use():
    """Let kernels be plain functions; machine instructions have Python in their place."""
    numba.config.DISABLE_JIT = 1
    # Machine words wrap around, and overflows are infinite, without a word.
    np.seterr(all="ignore")
    from mnlearn.kernels.arithmetic import bits

    bits.popcount, bits.lowest_bit = _popcount, _lowest_bit
    bits.float_bits = lambda x: np.float64(x).view(np.int64)
    bits.bits_float = lambda word: np.int64(word).view(np.float64)
    bits.prefetch = lambda array, index: None
    bits.add_where, bits.sum_where = _add_where, _sum_where
    from mnlearn.kernels.arithmetic import sums

    sums.fused, sums._sums, sums.dots = _fused, _sums, _dots
    from mnlearn.kernels.arithmetic import logistic32

    logistic32._exponent_of = lambda shifted: (
        (np.float32(shifted).view(np.int32) + np.int32(127)) << np.int32(23)
    ).view(np.float32)

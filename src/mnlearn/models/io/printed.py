"""Numbers as the words of a file: what is wrong with a probability or a sum."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.errors import InputError

# A file of a few bytes can declare more variables than fit in memory.
MAX_VARS = 1_000_000
# Sums of finite weights are finite if the weights are no larger.
LARGEST = 1e300
# How far the sum of printed probabilities may be from 1.
_TOLERANCE = 1e-3
# Rounded to two digits or more, a sum may be off by what rounding explains, up to this much.
_MOST = 0.05


def numbers(words: Sequence[str], most: float = 1.0) -> NDArray[np.float64] | None:
    """Return the numbers if all words are numbers from 0 to `most`."""
    try:
        values = np.array(list(map(float, words)))
    except ValueError:
        return None
    # Python takes 1_0 for a number. NaN makes a comparison false.
    fits = ((values >= 0.0) & (values <= most)).all() and not any("_" in word for word in words)
    return values if fits else None


def fault_of(words: Sequence[str], n_states: int) -> tuple[int, str] | None:
    """Return the first word that is no probability, by its number, and what was expected."""
    for k, word in enumerate(words):
        if numbers([word]) is not None:
            continue
        if word.lower().lstrip("+-") in ("nan", "na", "null", "?"):
            reason = "R's bnlearn writes it for states of the parents that its data lack"
            advice = f"write numbers, such as {1 / n_states:.4g} for each state"
            return k, f"expected a probability, got {word!r}; {reason}; {advice}."
        return k, f"expected a probability, got {word[:40]!r}."
    return None


def check_sums(
    prob: NDArray[np.float64],
    words: Sequence[str],
    name: str,
    parents: Sequence[tuple[str, Sequence[str]]] = (),
) -> None:
    """Refuse distributions, on the last axis, that do not add up to 1, as far as `words` are exact.

    `parents` are the names and states of the other axes.
    """
    total = prob.sum(axis=-1)
    off = np.abs(total - 1.0)
    if (off <= _TOLERANCE).all():
        return
    digits = max(len(word.partition(".")[2]) for word in words)
    rounded = 0.5 * prob.shape[-1] * 10.0**-digits if digits > 1 else 0.0
    at = np.argwhere(off > max(_TOLERANCE, min(_MOST, rounded)))
    if len(at):
        row = tuple(at[0].tolist())
        own = [f"{u}={states[k]}" for (u, states), k in zip(parents, row, strict=True)]
        given = f" given {', '.join(own)}" if own else ""
        raise InputError(
            f"expected probabilities of {name}{given} that add up to 1, got {total[row]:.6g}."
        )

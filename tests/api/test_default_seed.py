"""The seed of a call that names none: that of the command line, the same in each call."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn

RNG = np.random.default_rng(3)
# Each column is the one before it, with noise.
ROWS = np.cumsum(RNG.random((120, 4)) < 0.25, axis=1) % 2
FRAME = pd.DataFrame(ROWS, columns=list("abcd"))
HOLES = FRAME.astype(float).mask(RNG.random(FRAME.shape) < 0.2)
WIDE = RNG.integers(0, 2, (50, 25))


@cache
def learned():
    return mn.DTSL().fit(FRAME)


@cache
def wide():
    return mn.Atomic().fit(WIDE)


CALLS = {
    "sample of a model": lambda **seed: wide().model_.sample(20, burn_in=2, **seed),
    "sample of an estimator": lambda **seed: wide().sample(20, burn_in=2, **seed),
    "query": lambda **seed: learned().query({"a": 1}, inference="gibbs", samples=40, **seed),
    "score": lambda **seed: (
        mn.score(learned(), FRAME, "cmll", folds=1, inference="gibbs", samples=9, **seed).mean
    ),
    "impute": lambda **seed: mn.impute(HOLES, iterations=1, **seed),
    "fit": lambda **seed: mn.Atomic(missing="impute", **seed).fit(HOLES).model_.weight,
    "fit ising": lambda **seed: mn.Ising(missing="impute", **seed).fit(HOLES).thresholds_,
    "bootstrap": lambda **seed: mn.Ising(gamma=0.0).fit(FRAME).bootstrap(4, **seed),
    "drop cases": lambda **seed: mn.Ising(gamma=0.0).fit(FRAME).drop_cases(2, **seed),
    "compare": lambda **seed: (
        mn.compare_ising({"x": FRAME[:60], "y": FRAME[60:]}, 19, gamma=0.0, **seed).edges
    ),
    "search": lambda **seed: (
        mn.GridSearch(mn.DTSL(), {"sd": [0.5, 1.0]}, **seed).fit(FRAME).best_score_
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_without_a_seed_is_that_of_the_command_line(name):
    found = np.asarray(CALLS[name](), object).tolist()
    assert repr(found) == repr(np.asarray(CALLS[name](random_state=20), object).tolist())
    assert repr(found) != repr(np.asarray(CALLS[name](random_state=21), object).tolist())

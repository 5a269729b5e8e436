"""A model asked from many threads at once, and loaded with memory maps by joblib."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from operator import methodcaller

import joblib
import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from mnlearn.models.io.native import KINDS

RNG = np.random.default_rng(7)
ROWS = (RNG.random((200, 5)) < [0.3, 0.5, 0.6, 0.4, 0.7]).astype(int)
ROWS[:, 1] = ROWS[:, 0] ^ (RNG.random(200) < 0.2)
FRAME = pd.DataFrame(ROWS, columns=list("abcde"))
# What learns a model of each kind.
LEARNED = {
    "ArithmeticCircuit": lambda: mn.ChowLiu().fit(FRAME).model_,
    "BayesianNetwork": lambda: mn.ChowLiu().fit(FRAME).model_.to_bayesian_network(),
    "DependencyNetwork": lambda: mn.DNTree().fit(FRAME).model_,
    "FeatureTree": lambda: mn.LEM().fit(FRAME).model_,
    "HiddenTree": lambda: mn.HCLT().fit(FRAME).model_,
    "JunctionTree": lambda: mn.JunctionTree().fit(FRAME).model_,
    "MarkovNetwork": lambda: mn.Atomic().fit(FRAME).model_,
}
ASKED = (
    methodcaller("query", {"a": 1}),
    methodcaller("query", {"a": 0, "c": 1}, n_jobs=2),
    methodcaller("sample", 20, random_state=1),
    methodcaller("most_probable", {"a": 1}),
    methodcaller("most_probable", {"a": 1}, variables=["b"]),
    lambda model: mn.score(model, FRAME, metric="pll").per_example,
)


def answers(model, asked):
    """Return the bits of an answer, or the sentence that refuses it."""
    try:
        return np.asarray(asked(model)).tobytes()
    except mn.InputError as error:
        return str(error)


def arrays_of(value):
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from arrays_of(item)
    elif type(value).__module__.startswith("mnlearn."):
        yield from arrays_of(list(vars(value).values()))


@pytest.mark.parametrize("kind", [kind.__name__ for kind in KINDS])
def test_threads_and_memory_maps_change_no_bit(kind, tmp_path):
    model = LEARNED[kind]()
    assert type(model).__name__ == kind
    content = pickle.dumps(model)
    expected = [answers(model, asked) for asked in ASKED]
    # A copy knows nothing of earlier answers, so the threads also race to prepare them.
    copy, calls = pickle.loads(content), np.arange(4 * len(ASKED)) % len(ASKED)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda k: answers(copy, ASKED[k]), calls))
    assert found == [expected[k] for k in calls]
    joblib.dump(model, tmp_path / "m.joblib")
    mapped = joblib.load(tmp_path / "m.joblib", mmap_mode="r")
    for array in arrays_of(mapped):
        owner = array
        while not isinstance(owner, np.memmap) and isinstance(owner.base, np.ndarray):
            owner = owner.base
        assert isinstance(owner, np.memmap) or not array.size
    assert [answers(mapped, asked) for asked in ASKED] == expected

"""Rows that features touch, merged rows and pseudo-likelihoods, from the definition of log-odds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, log_expit

from made_words import packed
from mnlearn.kernels.likelihood import log_odds, packed_columns, stored_columns

N_VARS = 8
SIZES = (1, 63, 64, 65, 130)


class Made:
    """Random rows and features, with one column for each literal, arranged by variable."""

    def __init__(self, n_rows, n_features=14):
        rng = self.rng = np.random.default_rng(n_rows)
        # Few different rows of most variables, so that there is something to merge.
        self.rows = (rng.random((n_rows, N_VARS)) < np.linspace(0.3, 0.7, N_VARS)).astype(np.uint8)
        self.weight = rng.integers(1, 4, n_rows).astype(float)
        lengths = [*range(1, N_VARS + 1), *rng.integers(1, 5, n_features - N_VARS)]
        own = [np.sort(rng.choice(N_VARS, n, replace=False)) for n in lengths]
        self.start = np.cumsum([0, *lengths])
        self.var = np.concatenate(own).astype(np.int32)
        self.value = (rng.random(len(self.var)) < 0.5).astype(np.uint8)
        self.feature = np.repeat(np.arange(n_features), lengths)
        self.last_word = np.uint64(2 ** ((n_rows - 1) % 64 + 1) - 1)
        self.columns = packed(self.rows.T)
        # A column of a literal touches the rows where the other literals hold.
        self.touched = np.ones((len(self.var), n_rows), bool)
        for k in range(len(self.var)):
            for other in range(self.start[self.feature[k]], self.start[self.feature[k] + 1]):
                if other != k:
                    self.touched[k] &= self.rows[:, self.var[other]] == self.value[other]
        self.by_variable = np.argsort(self.var, kind="stable")
        self.var_start = np.searchsorted(self.var[self.by_variable], np.arange(N_VARS + 1))
        self.coefficient = rng.normal(size=len(self.var))
        self.coefficient[rng.random(len(self.var)) < 0.2] = 0.0

    def log_odds(self, v):
        """The log-odds of a variable in each row, by the coefficients of its literals."""
        own = self.by_variable[self.var_start[v] : self.var_start[v + 1]]
        return self.coefficient[own] @ self.touched[own]

    def losses(self, v):
        """The loss of each row, and its derivative by the log-odds."""
        sign = np.where(self.rows[:, v], 1.0, -1.0)
        s = sign * self.log_odds(v)
        return -self.weight * log_expit(s), -self.weight * sign * expit(-s)


def merge(made, v):
    """The merged rows of a variable."""
    touched = made.touched[made.by_variable[made.var_start[v] : made.var_start[v + 1]]]
    offset = np.cumsum([0, *touched.sum(axis=1)]).astype(np.int64)
    mark = made.rng.integers(0, 2**64, len(touched) + 1, np.uint64)
    rows, values = np.nonzero(touched)[1].astype(np.uint16), np.ascontiguousarray(made.rows[:, v])
    return stored_columns.merge_rows(offset, rows, mark, values, made.weight)


def merged_design(made):
    """The design of merged rows."""
    merged = [merge(made, v) for v in range(N_VARS)]
    joined = stored_columns.Merged(*map(np.concatenate, zip(*merged, strict=True)))
    return stored_columns.Design(
        made.var_start, np.cumsum([0, *joined.n_listed]), joined.complement, joined.touched,
        np.cumsum([0, *[len(one.weight) for one in merged]]), joined.weight, joined.value,
        np.zeros(len(made.var), np.int64), np.ones(N_VARS, np.int64),
    )  # fmt: skip


@pytest.mark.parametrize("n_rows", SIZES)
def test_rows_that_a_variable_cannot_tell_apart_are_merged(n_rows):
    made = Made(n_rows)
    for v in range(N_VARS):
        own = made.touched[made.by_variable[made.var_start[v] : made.var_start[v + 1]]]
        seen = {}
        keys = [(made.rows[i, v], own[:, i].tobytes()) for i in range(n_rows)]
        place = np.array([seen.setdefault(key, len(seen)) for key in keys])
        merged, n = merge(made, v), len(seen)
        assert_allclose(merged.held, own @ made.weight)
        assert_array_equal(merged.weight, np.bincount(place, made.weight, n))
        assert_array_equal(merged.value[place], made.rows[:, v])
        offset = np.cumsum([0, *merged.n_listed])
        assert offset[-1] == len(merged.touched)
        for c, touched in enumerate(own):
            listed = merged.touched[offset[c] : offset[c + 1]]
            assert (np.diff(listed.astype(int)) > 0).all()
            assert len(listed) <= n // 2
            found = np.isin(np.arange(n), listed) != merged.complement[c]
            assert_array_equal(found[place], touched)


@pytest.mark.parametrize("n_rows", SIZES)
def test_pseudo_likelihood_of_merged_rows(n_rows):
    made = Made(n_rows)
    design = merged_design(made)
    coefficient = made.coefficient[made.by_variable]
    loss, gradient = np.full(N_VARS, np.nan), np.full(len(coefficient), np.nan)
    stored_columns.value_and_gradient(design, coefficient, 1, N_VARS, loss, gradient)
    assert np.isnan(loss[0])
    own = made.touched[made.by_variable]
    for v in range(1, N_VARS):
        lost, slope = made.losses(v)
        columns = slice(made.var_start[v], made.var_start[v + 1])
        assert loss[v] == pytest.approx(lost.sum())
        assert_allclose(gradient[columns], own[columns] @ slope, atol=1e-9)


@pytest.mark.parametrize("n_rows", SIZES)
def test_log_odds_of_rows(n_rows):
    made = Made(n_rows)
    weight = made.rng.normal(size=len(made.start) - 1)
    weight[2] = 0.0
    n_words = made.columns.shape[1]
    out = made.rng.normal(size=(n_rows, N_VARS))
    expected = out.copy()
    for k, v in enumerate(made.var):
        change = weight[made.feature[k]] * (1.0 if made.value[k] else -1.0)
        expected[:, v] += change * made.touched[k]
    arguments = made.columns, made.last_word, made.start, made.var, made.value, weight
    log_odds.add_log_odds(*arguments, n_words - 1, n_words, out)
    done = slice(64 * (n_words - 1), n_rows)
    assert_allclose(out[done], expected[done])
    log_odds.add_log_odds(*arguments, 0, n_words - 1, out)
    assert_allclose(out, expected)
    total = np.full(n_rows, np.nan)
    log_odds.sum_log_probabilities(out, made.rows, total)
    assert_allclose(total, log_expit(np.where(made.rows, out, -out)).sum(axis=1))


@pytest.mark.parametrize("n_rows", [*SIZES, 64 * packed_columns.BLOCK + 70])
def test_pseudo_likelihood_of_packed_columns(n_rows):
    made = Made(n_rows)
    n_words = made.columns.shape[1]
    literals = np.stack([~made.rows.T.astype(bool), made.rows.T.astype(bool)], axis=1)
    always = np.ones((1, n_rows), bool)
    whole = np.concatenate([literals.reshape(2 * N_VARS, n_rows), always])
    weight, values = np.zeros(64 * n_words, np.float32), np.zeros((N_VARS, 64 * n_words), np.uint8)
    weight[:n_rows], values[:, :n_rows] = made.weight, made.rows.T
    # Bits beyond the last row are set where literals ask for 0, and where they always hold.
    words = packed(whole)
    words[[*range(0, 2 * N_VARS, 2), 2 * N_VARS], -1] |= ~made.last_word
    start = np.arange(N_VARS + 1)
    data = packed_columns.PackedData(words.ravel(), n_words, made.last_word, weight, values, start)
    code = (2 * made.var + made.value).astype(np.uint32)
    features = packed_columns.CodedFeatures(made.start, code, made.var)
    n_columns = len(made.var)
    own, feature = made.by_variable, made.feature[made.by_variable]
    touched = made.touched[own]
    count, total = np.full(n_columns, -1), np.full(n_columns, np.nan)
    packed_columns.count_touched(data, features, own, feature, count, total)
    assert_array_equal(count, touched.sum(axis=1))
    assert_allclose(total, touched @ made.weight, rtol=1e-6)

    is_many = made.rng.random(n_columns) < 0.6
    variables = made.var[own]

    def of(chosen):
        return np.searchsorted(variables[chosen], np.arange(N_VARS + 1))

    coefficient = made.coefficient[own].astype(np.float32)
    others = np.full((is_many.sum(), 4), 99)
    packed_columns.write_other_literals(
        features, own[is_many], feature[is_many], 2 * N_VARS, others
    )
    for row, k in zip(others, own[is_many], strict=True):
        rest = [j for j in range(*made.start[made.feature[k] + np.arange(2)]) if j != k][:4]
        assert row.tolist() == [*code[rest], *[2 * N_VARS] * (4 - len(rest))]
    many = packed_columns.ManyColumns(
        of(is_many), own[is_many], feature[is_many], others, coefficient[is_many]
    )
    offset = np.cumsum([0, *count[~is_many]]).astype(np.int64)
    # A list of which the place is empty is not written.
    rows = np.full(offset[-1] + 1, 60000, np.uint16)
    packed_columns.list_touched(data, features, own[~is_many], feature[~is_many], offset, rows)
    assert_array_equal(rows[:-1], np.nonzero(touched[~is_many])[1])
    assert rows[-1] == 60000
    span = np.stack([offset[:-1], offset[1:], offset[1:], offset[1:]], axis=1)
    few = packed_columns.FewColumns(of(~is_many), span, rows, coefficient[~is_many])
    loss = np.full(N_VARS, np.nan)
    gradients = np.full(is_many.sum(), np.nan), np.full((~is_many).sum(), np.nan)
    packed_columns.value_and_gradient(data, features, many, few, 1, N_VARS, loss, gradients)
    assert np.isnan(loss[0])
    for v in range(1, N_VARS):
        lost, slope = made.losses(v)
        assert loss[v] == pytest.approx(lost.sum(), rel=1e-5)
        for chosen, found in ((is_many, gradients[0]), (~is_many, gradients[1])):
            expected = touched[chosen & (variables == v)] @ slope
            assert_allclose(found[variables[chosen] == v], expected, rtol=1e-4, atol=1e-3)

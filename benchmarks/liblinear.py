"""A program: L1-penalised logistic regressions by scikit-learn's liblinear, and their seconds.

    python liblinear.py DATA.csv OUT.csv PENALTY

DATA.csv has a header and values 0 and 1. Each variable is regressed on all others; OUT.csv gets a
row for each: its intercept, then the weight of each variable. The processor seconds of the
regressions are printed as one number. The bench runs this file by its path, so that the process
imports what scikit-learn needs and nothing of this package.
"""

import sys
import time

import numpy as np
from sklearn.linear_model import LogisticRegression


def main() -> None:
    """Read the data, regress, and write the weights."""
    data, out, penalty = sys.argv[1:]
    rows = np.loadtxt(data, delimiter=",", skiprows=1, ndmin=2)
    n_vars = rows.shape[1]
    weights = np.zeros((n_vars, n_vars + 1))
    began = time.process_time()
    for v in range(n_vars):
        if np.ptp(rows[:, v]) == 0:
            weights[v, 0] = np.inf if rows[0, v] else -np.inf
            continue
        # An intercept that is penalised, as a column of ones.
        x = rows.copy()
        x[:, v] = 1.0
        fitted = LogisticRegression(
            C=1 / float(penalty), l1_ratio=1, solver="liblinear", fit_intercept=False,
            max_iter=10000, random_state=0,
        ).fit(x, rows[:, v])  # fmt: skip
        weights[v, 1:] = fitted.coef_[0]
        weights[v, 0], weights[v, 1 + v] = fitted.coef_[0, v], 0.0
    print(time.process_time() - began)
    np.savetxt(out, weights, delimiter=",")


if __name__ == "__main__":
    main()

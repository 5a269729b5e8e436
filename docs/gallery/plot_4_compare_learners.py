"""
Compare learners
================

Which learner suits the data? Here the data come from conjunctions of three literals, and seven
learners are compared on new examples. The true network is known, so we also know what is
possible.
"""

import matplotlib.pyplot as plt
import pandas as pd

import mnlearn as mn
from mnlearn_studies.datasets.embedded import build_true_network, load_embedded

train, _, test = load_embedded("triples", seed=20)
learners = {
    "Atomic": mn.Atomic(),
    "ChowLiu": mn.ChowLiu(),
    "L1": mn.L1(),
    "LTM": mn.LTM(),
    "LEM": mn.LEM(),
    "ACMN": mn.ACMN(),
    "DTSL": mn.DTSL(l1=1.0),
}

# %%
# All scores are means per example in nats. Higher is better. With 12 variables the log-likelihood
# (LL) of every model is exact.

rows = {}
for name, learner in learners.items():
    learner.fit(train)
    score = mn.score(learner, test, "ll")
    kind = type(learner.model_).__name__
    rows[name] = {"LL": round(score.mean, 3), "error": round(score.stderr, 3), "model": kind}
table = pd.DataFrame.from_dict(rows, orient="index")
best = mn.score(build_true_network("triples", seed=20), test, "ll").mean
print(table)
print(f"the true network: {best:.3f}")

# %%
# ``Atomic`` takes the variables as independent, and ``ChowLiu`` and ``L1`` have features of at
# most two variables. ``ACMN`` and ``DTSL`` have features of any length, and come close to the
# true network.

figure, axes = plt.subplots(figsize=(7, 3.2))
worst = table["LL"].min()
axes.barh(table.index, table["LL"] - worst, color="steelblue")
axes.axvline(best - worst, color="firebrick", label="the true network")
axes.set_xlabel("test log-likelihood above independent variables (nats per example)")
axes.legend(loc="lower right")
figure.tight_layout()
plt.show()

"""
How close is approximate inference?
===================================

A network with strong weights is asked for its marginals by four methods. Enumeration is exact
here, so the error of the others is known.
"""

import matplotlib.pyplot as plt
import numpy as np

import mnlearn as mn
from mnlearn_studies.datasets.embedded import load_embedded

train, _, test = load_embedded("grid", seed=20)
model = mn.L1().fit(train).model_

# %%
# Each row of evidence gives the first four variables. The other twelve are asked for.

rows = test.rows[::20][:40].astype(float)
rows[:, 4:] = np.nan
answers = {
    method: np.asarray(model.query(rows, inference=method))[:, 4:].ravel()
    for method in ("exact", "gibbs", "bp", "meanfield")
}
for method in ("gibbs", "bp", "meanfield"):
    error = np.abs(answers[method] - answers["exact"])
    print(f"{method:10} mean error {error.mean():.4f}, largest {error.max():.3f}")

# %%
# Gibbs sampling is off by chance alone. Belief propagation (bp) and mean field have errors that
# no number of iterations removes.

figure, panels = plt.subplots(1, 3, figsize=(9, 3.2), sharex=True, sharey=True)
for axes, method in zip(panels, ("gibbs", "bp", "meanfield"), strict=True):
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    axes.plot(answers["exact"], answers[method], ".", markersize=4, color="steelblue")
    axes.set(title=method, xlabel="exact probability", aspect="equal")
panels[0].set_ylabel("answer of the method")
figure.tight_layout()
plt.show()

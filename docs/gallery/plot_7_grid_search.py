"""
Choose hyperparameters
======================

``GridSearch`` learns at every point of a grid and scores the models on validation data. The
points share work: trees are grown once, and weights start at those of the point before.
"""

import matplotlib.pyplot as plt
import pandas as pd

import mnlearn as mn
from mnlearn_studies.datasets.embedded import load_embedded

train, valid, test = load_embedded("triples", seed=20)
grid = {
    "feature_mode": ["prune", "nonzero"],
    "l1": [1, 3, 10, 30, 100, 300],
    "sd": [0.1, 0.3, 1, 3, 10],
}
search = mn.GridSearch(mn.DTSL(), grid).fit(train, validation=valid)
print(search.best_params_)
print(f"test PLL {search.best_estimator_.score(test):.3f}")

# %%
# ``cv_results_`` has a row for each point. Each square is a point of the grid with one of the two
# kinds of features.

table = pd.DataFrame(search.cv_results_)
table = table[table["param_l1"].notna()]
figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
low, high = table["mean_test_score"].quantile(0.2), table["mean_test_score"].max()
for axes, (mode, part) in zip(panels, table.groupby("param_feature_mode"), strict=True):
    part = part.astype({"param_l1": float, "param_sd": float, "mean_test_score": float})
    square = part.pivot_table(index="param_sd", columns="param_l1", values="mean_test_score")
    image = axes.imshow(square, vmin=low, vmax=high, origin="lower", cmap="viridis")
    axes.set_xticks(range(len(square.columns)), [f"{l1:g}" for l1 in square.columns])
    axes.set_yticks(range(len(square.index)), [f"{sd:g}" for sd in square.index])
    axes.set(title=f"feature_mode={mode}", xlabel="l1")
panels[0].set_ylabel("sd")
figure.colorbar(image, ax=panels, label="validation PLL (nats)", extend="min")
plt.show()

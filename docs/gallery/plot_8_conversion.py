"""
From a dependency network to a Markov network
=============================================

A dependency network has one conditional distribution for each variable. It is quick to learn, but
has no joint distribution. It can be converted to a Markov network in closed form, or lend its
features to weight learning.
"""

import matplotlib.pyplot as plt
import pandas as pd

import mnlearn as mn
from mnlearn_studies.datasets.embedded import load_embedded

train, _, test = load_embedded("grid", seed=20)
network = mn.DNTree().fit(train)
print(network.model_)

# %%
# The conversion averages over orders of the variables. More orders lose less.

scores = {"dependency network": network.score(test)}
for orders in ("one", "pair", "rotations", "both-rotations"):
    converted = mn.from_dependency_network(network, train, orders=orders)
    scores[f"converted: {orders}"] = converted.score(test, "pll")
scores["weights learned (LW)"] = mn.LW(network=network, l1=10.0).fit(train).score(test)
table = pd.Series(scores, name="PLL")
print(table.round(4).to_string())

# %%
# On these data the converted networks score higher than the dependency network that they come
# from, and weight learning does not score higher than the best conversion.

figure, axes = plt.subplots(figsize=(7, 2.8))
axes.plot(table, table.index, "o", color="steelblue")
axes.invert_yaxis()
axes.grid(axis="y", color="0.9")
axes.set_xlabel("test PLL (nats per example)")
figure.tight_layout()
plt.show()

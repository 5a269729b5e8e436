"""
How close is approximate inference?
===================================

Three networks of spins are asked for their marginals in five ways: a tree, and two grids of weak
and of strong couplings. The exact answer is known, so the error of the others is known too.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import mnlearn as mn
from mnlearn.inference.chains import estimate
from mnlearn.inference.marginals import conditional_marginals
from mnlearn.inference.settings import Inference
from mnlearn.inference.tables.factors import factors_of
from mnlearn.inference.terms import terms_of
from mnlearn.variables.schema import NO_STATE

rng = np.random.default_rng(1)


def spins(n, strengths, field):
    """Return a network of spins, +1 or -1, with random fields, from the couplings of pairs."""
    weight = dict(enumerate(rng.normal(scale=field, size=n)))
    for (u, v), strength in strengths.items():
        weight[u] -= 2 * strength
        weight[v] -= 2 * strength
    literals = [{v: 1} for v in weight] + [{u: 1, v: 1} for u, v in strengths]
    pairs = [4 * strength for strength in strengths.values()]
    return mn.MarkovNetwork.from_features(literals, [*weight.values(), *pairs], n)


side = 8
grid = [(v, v + 1) for v in range(side**2) if v % side < side - 1]
grid += [(v, v + side) for v in range(side**2 - side)]
tree = [(int(rng.integers(v)), v) for v in range(1, side**2)]
networks = {
    "tree": spins(side**2, {pair: rng.normal() for pair in tree}, 0.6),
    "weak grid": spins(side**2, {pair: 0.3 * rng.normal() for pair in grid}, 0.6),
    "strong grid": spins(side**2, dict.fromkeys(grid, 0.6), 0.03),
}

# %%
# `network.query` chooses a way by itself. Here each way gets more and more work, so the functions
# below it are called. The first call of each loads it and is not counted.

unknown = np.full((1, side**2), NO_STATE, np.uint8)
variables = np.arange(side**2)


def run(method):
    """Return what answers by a method with more or less work."""

    def answer(network, work):
        if method == "exact":
            return np.asarray(network.query(np.full((1, side**2), np.nan), inference="exact"))[0]
        if method == "tempering":
            found = estimate(
                factors_of(network), unknown, Inference(samples=100), seed=1, work=work
            )
            return found.probability[0, 1::2]
        settings = {"samples": work, "burn_in": work // 10} if method == "gibbs" else {}
        settings = settings or {"iterations": work}
        rows, how = np.zeros((1, side**2), np.uint8), Inference(method, **settings)
        return conditional_marginals(terms_of(network), rows, variables, how, seed=1).probability[0]

    return answer


works = {
    "exact": [0],
    "bp": [1, 4, 16, 64],
    "meanfield": [1, 4, 16, 64],
    "gibbs": [2**k for k in range(6, 19, 2)],
    "tempering": [2**k for k in range(14, 25, 2)],
}
curves = {}
for name, network in networks.items():
    exact = run("exact")(network, 0)
    for method, amounts in works.items():
        answer = run(method)
        answer(network, amounts[0])
        seconds, errors = [], []
        for work in amounts:
            times = []
            while len(times) < 3 and sum(times) < 0.1:
                began = time.process_time()
                found = answer(network, work)
                times.append(time.process_time() - began)
            seconds.append(min(times))
            errors.append(np.abs(found - exact).mean())
        curves[name, method] = seconds, errors
        print(f"{name:22} {method:10} error {errors[-1]:.4f} after {seconds[-1]:.3f} s")

# %%
# Tables are exact. Belief propagation is exact on the tree; on a grid its error and that of mean
# field stay, however many iterations they make. One Gibbs chain gets better with time where
# couplings are weak. Where they are strong, the chain stays among the states in which most spins
# are equal, and only chains at several temperatures leave them.

least = 1e-6
colours = {
    "exact": "black",
    "bp": "tab:orange",
    "meanfield": "tab:green",
    "gibbs": "tab:blue",
    "tempering": "tab:red",
}
figure, panels = plt.subplots(1, 3, figsize=(7, 4), sharex=True, sharey=True)
for axes, name in zip(panels, networks, strict=True):
    for method, colour in colours.items():
        seconds, errors = curves[name, method]
        shape = {"marker": "*", "markersize": 15} if method == "exact" else {"marker": "o"}
        drawn = np.maximum(errors, least)
        axes.loglog(seconds, drawn, color=colour, label=method, linewidth=2, **shape)
    axes.set_title(name, fontsize=15)
    axes.set_xticks([1e-3, 1e-1])
    axes.tick_params(labelsize=14)
    axes.grid(color="0.9")
panels[0].set_ylabel("mean error of a marginal", fontsize=14)
panels[1].set_xlabel("processor seconds", fontsize=14)
handles, labels = panels[0].get_legend_handles_labels()
figure.legend(
    handles, labels, ncol=5, loc="upper center", frameon=False, fontsize=13,
    columnspacing=0.9, handlelength=1.2, handletextpad=0.4,
)  # fmt: skip
figure.tight_layout(rect=(0, 0, 1, 0.92))
plt.show()

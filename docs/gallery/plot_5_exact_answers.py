"""
Exact answers from a circuit
============================

ACMN learns a network together with a circuit, which answers every query exactly. The same circuit
says what is probable, what is most probable, and draws samples.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import mnlearn as mn

rng = np.random.default_rng(7)


def draw(probability):
    """Return 2,000 values, 1 with the given probabilities."""
    return (rng.random(2000) < probability).astype(int)


alarm = pd.DataFrame({"burglary": draw(0.05), "earthquake": draw(0.08)})
either = np.maximum(0.9 * alarm["burglary"], 0.4 * alarm["earthquake"])
alarm["alarm"] = draw(np.maximum(either, 0.01))
alarm["john_calls"] = draw(0.05 + 0.8 * alarm["alarm"])
alarm["mary_calls"] = draw(0.02 + 0.6 * alarm["alarm"])

circuit = mn.ACMN().fit(alarm).model_
print(circuit)

# %%
# Evidence is a mapping. What it does not name is summed out.

evidence = {
    "nothing known": {},
    "John calls": {"john_calls": 1},
    "both call": {"john_calls": 1, "mary_calls": 1},
    "both call, earthquake": {"john_calls": 1, "mary_calls": 1, "earthquake": 1},
}
beliefs = pd.DataFrame(
    {words: circuit.query(given, ["burglary", "alarm"]) for words, given in evidence.items()}
)
print(beliefs.T.round(3))
print(circuit.most_probable({"john_calls": 1, "mary_calls": 1}).to_dict())

# %%
# An earthquake explains the calls, so a burglary becomes less probable again.

axes = beliefs.T.plot.barh(figsize=(7, 3), color=["firebrick", "0.7"])
axes.invert_yaxis()
axes.set_xlabel("probability")
axes.figure.tight_layout()
plt.show()

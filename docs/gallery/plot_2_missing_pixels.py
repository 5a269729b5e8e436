"""
Complete half of a picture
==========================

A network of the 64 pixels of handwritten digits sees the upper half of a digit and says how
likely each pixel of the lower half is to be dark. The model is a circuit, so the answers are
exact.
"""

import matplotlib.pyplot as plt
import numpy as np

import mnlearn as mn
from mnlearn_studies.datasets.embedded import load_embedded

train, _, test = load_embedded("digits", seed=20)

# %%
# ``ACBN`` learns a Bayesian network together with its circuit.

model = mn.ACBN().fit(train).model_
print(model)

# %%
# A pixel that is not known is NaN. ``query`` has a column for each state of each pixel.

pictures = test.rows[20 :: len(test.rows) // 8][:8].astype(float)
half = pictures.copy()
half[:, 32:] = np.nan
answers = model.query(half).xs(1, axis=1, level="state").to_numpy()

# %%
# The rows are: what the model sees, what it expects, and the truth.

figure, axes = plt.subplots(3, 8, figsize=(8, 3.2))
for row, images in zip(axes, (half, answers, pictures), strict=True):
    for cell, image in zip(row, images, strict=True):
        cell.set_facecolor("lightsteelblue")
        cell.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        cell.set(xticks=[], yticks=[])
for row, label in zip(axes, ("given", "expected", "truth"), strict=True):
    row[0].set_ylabel(label)
figure.tight_layout()
plt.show()

"""Independent variables: the baseline that every structure learner has to beat."""

import time
from dataclasses import dataclass

import numpy as np

from mnlearn.learning.learner import Fitted, Learner, Stage, Task
from mnlearn.learning.parameters import parameter
from mnlearn.models.features import atomic_features
from mnlearn.models.io import suffixes
from mnlearn.models.markov_network import markov_network


@dataclass(eq=False, kw_only=True)
class Atomic(Learner):
    """The product of smoothed marginals as a network of atomic features."""

    pseudocount: float = parameter(0.5, "count added to each value of a variable; above 0", above=0)

    def learn(self, task: Task) -> Fitted:
        began = time.process_time()
        train = task.train
        ones = train.frequency * train.n_examples + self.pseudocount
        zeros = (1 - train.frequency) * train.n_examples + self.pseudocount
        weight = np.log(ones / zeros)
        for columns in train.schema.several:
            own = np.log(ones[list(columns)])
            weight[list(columns)] = own - own.mean()
        network = markov_network(train.schema, atomic_features(train.n_columns), weight)
        return Fitted(network, {"weights": time.process_time() - began}, {})

    title = "Independent variables"
    citation = "baseline"
    stages = (Stage(("pseudocount",), learn),)
    formats = suffixes.NETWORK

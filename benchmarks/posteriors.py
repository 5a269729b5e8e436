"""A program: posterior marginals of a Bayesian network by pyAgrum, and their seconds.

    python posteriors.py NETWORK.bif EVIDENCE.csv OUT.csv

Each row of EVIDENCE.csv has a state of each variable, or * where it is asked for. OUT.csv gets
row,variable,state,probability. The processor seconds of all rows are printed as one number. The
bench runs this file by its path, so that the process imports nothing of this package.
"""

import csv
import sys
import time
from pathlib import Path

import pyagrum


def main() -> None:
    """Read the network and the evidence, infer, and write the probabilities."""
    network, evidence, out = sys.argv[1:]
    bn = pyagrum.loadBN(network)
    with Path(evidence).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = []
    began = time.process_time()
    engine = pyagrum.LazyPropagation(bn)
    engine.setNumberOfThreads(1)
    for k, row in enumerate(rows, 1):
        engine.setEvidence({name: state for name, state in row.items() if state != "*"})
        asked = {name for name, state in row.items() if state == "*"}
        engine.setTargets(asked)
        engine.makeInference()
        found += [(k, name, engine.posterior(name).tolist()) for name in sorted(asked)]
    print(time.process_time() - began)
    with Path(out).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "variable", "state", "probability"])
        for k, name, p in found:
            labels = bn.variable(name).labels()
            writer.writerows([k, name, state, q] for state, q in zip(labels, p, strict=True))


if __name__ == "__main__":
    main()

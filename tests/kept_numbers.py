"""Digests of the numbers of small records, to be compared with those that are kept.

    python tests/kept_numbers.py            write `kept_numbers.json` again, if numbers change
    python tests/kept_numbers.py FOLDER     make the records in FOLDER and print the digests

It makes records of every kind, and of learners that use different kernels, in a process with the
settings of the class of processors. A digest covers numbers and words of a record and the arrays of
its models, and no digest of code, no seconds and no memory.
"""

import hashlib
import json
import os
import re
import sys
import tempfile
from pathlib import Path

from mnlearn.runtime.target import describe_target, enter_class, is_in_class

# `workflow` is a package of the checkout, which no installed one has.
sys.path.append(str(Path(__file__).parents[1]))
KEPT = Path(__file__).with_name("kept_numbers.json")
# Keys of a record under which digests of code are.
_SAYS_CODE = re.compile("^recipe$|^learned_from$|_by$")
_GIBBS = {"method": "gibbs", "burn_in": 10, "samples": 50}
STUDY = {
    "title": "s",
    "datasets": ["triples"],
    "methods": {
        "acmn": {"grid": {"max_edges": [300, 1000]}},
        "blm": {"grid": {"initial": ["full"], "price": [3.0, 10.0]}},
        "chow_liu": {},
        "dn_lr": {"grid": {"lambda": [1.0]}},
        "dn_tree": {"grid": {"kappa": [0.01]}},
        "dn2mn": {"network": "dn_tree"},
        "dtsl": {"grid": {"kappa": [0.001, 0.01], "sd": [0.1, 1.0]}},
        "gssl": {"grid": {"n_generated": [3000], "l1": [1.0, 5.0]}},
        "hclt": {"grid": {"n_states": [4]}},
        "l1": {"grid": {"lambda": [1.0]}},
        "lem": {"grid": {"delta": [0.01]}},
        "ltm": {},
        "mixture": {"grid": {"n_components": [3]}},
    },
    "cmll": {
        "groups": 4,
        "partitions": {"default": 1, "exceptions": {}},
        "inference": _GIBBS,
    },
    "paired": [["dtsl", "gssl"]],
    "divergences": [["chow_liu", "acmn"]],
    "likelihoods": {
        "methods": ["dtsl"],
        "beliefs": {"iterations": 20, "tolerance": 1e-3},
        "annealing": {"n_chains": 10, "n_steps": 10},
        "queries": {"examples": 2, "percentage": 50},
    },
    "queries": {"examples": 6, "percentages": [50], "methods": ["acmn", "hclt"]},
    "figures": [
        {"name": "drawn", "kind": "structure", "caption": "", "dataset": "triples",
         "method": "dtsl"}
    ],
}  # fmt: skip


def digests(folder, study, mirror=""):
    """Make all records of a study in a folder; return the digest of each by its name."""
    from made_study import make_all, make_plan
    from mnlearn_studies.records import learn

    learn.warm_up = lambda *_: None  # Seconds are in no digest.
    os.chdir(folder)
    plan = make_plan(Path(folder), study, mirror=mirror)
    made = [job for job in make_all(plan) if job.record.kind not in ("data", "parts", "times")]
    return {_name(job.record): _digest(job) for job in made}


def _name(record):
    return "/".join((record.kind, record.dataset, "-".join(record.names)))


def _digest(job):
    """Return the digest of the numbers of a record, and of the models beside it."""
    from workflow.comparison import differences, read_content

    from mnlearn_studies.records.files import model_digest

    whole = hashlib.sha256()
    if job.out.suffix == ".json":
        content = read_content(job.out)
        if isinstance(content, dict):
            content = {k: v for k, v in content.items() if not _SAYS_CODE.search(k)}
        # What differs from nothing is all that is compared.
        for value in sorted(differences(None, content), key=lambda each: each.place):
            whole.update(f"{value.place} {value.made!r}\n".encode())
    models = sorted(job.out.parent.glob("*.npz")) if job.record.kind == "models" else []
    for path in [*models, *([job.out] if job.out.suffix == ".npz" else [])]:
        whole.update(f"{path.stem.partition('@')[0]} {model_digest(path)}".encode())
    return whole.hexdigest()[:16]


def main():
    enter_class()
    print(describe_target(), file=sys.stderr)
    if len(sys.argv) > 1:
        print(json.dumps(digests(sys.argv[1], STUDY)))
        return
    if not is_in_class():
        sys.exit("kept_numbers: this processor is not of the class x86-64-v3")
    with tempfile.TemporaryDirectory() as folder:
        KEPT.write_text(json.dumps(digests(folder, STUDY), indent=1) + "\n")


if __name__ == "__main__":
    main()

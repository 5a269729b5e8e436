"""The jobs that are killed, run beside each other and run on full disks: lists of commands."""

import shlex
from pathlib import Path

import numpy as np

from faults.steps import learn, pair, partition, prepare, score
from made_random import random_data
from made_server import make_mirror, registry_text

# In commands it stands for the folder of inputs.
INPUTS = "INPUTS"
TRAIN, VALID, TEST = (f"INPUTS/{split}.npz" for split in ("train", "valid", "test"))


def _cell(method, grid, criterion=None):
    folder = f"models/{method}@0"
    outputs = [f"cells/{method}@0.json", f"tuning/{method}@0.csv", f"per_example/{method}@0.csv"]
    return [
        learn(method, grid, folder, train=TRAIN, valid=VALID, criterion=criterion),
        score(method, folder, test=TEST, groups="groups@0.json", outputs=outputs, samples=20),
    ]


PARTITION = partition(TRAIN, "groups@0.json")
GRID = {"kappa": [0.01, 0.1], "feature_mode": ["prune-5", "nonzero"], "sd": [0.5, 1.0]}
CMLL = {"groups": 3, "method": "gibbs", "burn_in": 5, "samples": 20}
# Each is resumed where it was ended: a command that is done is not run again.
JOBS = {
    "study": [
        PARTITION,
        *_cell("atomic", {}),
        *_cell("dtsl", GRID, CMLL),
        pair("per_example/dtsl@0.csv", "per_example/atomic@0.csv", "paired/dtsl-atomic@0.json"),
    ],
    "circuit": [PARTITION, *_cell("acmn", {"max_edges": [40, 80], "split_cost": [0.001]})],
    "fit": [
        "fit dtsl --train INPUTS/train.npz --valid INPUTS/valid.npz --grid INPUTS/grid.yaml "
        "--out m.npz --trace trace.csv --threads 1",
        "convert m.npz m.mn",
        "convert m.npz m.graphml",
        "score m.npz INPUTS/test.npz --per-example scores.csv --threads 1",
        "sample m.npz --rows 50 --out s.csv.gz --threads 1",
        "convert s.csv.gz s.npz",
    ],
    "prepare": [
        prepare("triples", "data/triples/", {}),
        "fetch toy --folder data --mirror INPUTS/mirror --jobs 1",
        prepare("toy", "data/toy/", {"mirror": "INPUTS/mirror"}),
    ],
}


def job(name, inputs):
    """Return the commands of a job."""
    return [line.replace(INPUTS, str(inputs)) for line in JOBS[name]]


def make_inputs(folder):
    """Write what the jobs read; return its folder. Runs below `folder` know the benchmark `toy`."""
    inputs = folder / "inputs"
    inputs.mkdir()
    for seed, split in enumerate(("train", "valid", "test")):
        random_data(seed, n_examples=200).save(inputs / f"{split}.npz")
    (inputs / "grid.yaml").write_text("kappa: [0.01, 0.1]\nsd: [0.5, 1.0]\n")
    make_mirror(inputs / "mirror", ("toy",), compressed=True)
    (folder / "workflow").mkdir()
    registry = registry_text({"toy": "http://127.0.0.1:9"})
    # A network that is built, and not fetched.
    own = (Path(__file__).parents[2] / "workflow/datasets.tsv").read_text(encoding="utf-8")
    built = [line for line in own.splitlines(True) if line.startswith("triples\t")]
    (folder / "workflow/datasets.tsv").write_text(registry + "".join(built))
    return inputs


def run_line(line):
    """Run one command in this process; return its exit status."""
    from mnlearn.cli import main

    try:
        main.main(shlex.split(line), prog_name="mnlearn")
    except SystemExit as end:
        return end.code or 0
    return 0


def final_files(folder):
    """Return the content of every file under a final name: no name on its way begins with a dot."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(p.startswith(".") for p in path.relative_to(folder).parts)
    }


def differences(folder, expected):
    """Return what is wrong with the files of a job that may not have ended; None if nothing is.

    A file is there as a whole, or not at all. The state of a search is replaced while it runs; it
    has to be readable.
    """
    for name, content in final_files(folder).items():
        if name.endswith(".state.npz"):
            with np.load(folder / name, allow_pickle=False) as state:
                dict(state)
        elif name not in expected:
            return f"{name}: is not a file of the job"
        elif content != expected[name]:
            return f"{name}: differs, {len(content)} bytes instead of {len(expected[name])}"
    return None

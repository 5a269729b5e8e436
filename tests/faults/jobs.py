"""The jobs that are killed, run beside each other and run on full disks: lists of commands."""

import shlex

import numpy as np

from made_random import random_data
from made_server import make_benchmark, make_mirror, registry_text

# In commands it stands for the folder of inputs.
INPUTS = "INPUTS"
CELL = (
    "--study s --dataset d --train INPUTS/train.npz --valid INPUTS/valid.npz --threads 1 "
    "--checkpoints kept"
)
SCORE = (
    "--test INPUTS/test.npz --groups groups.json --checkpoints kept --threads 1 --inference "
    """'{"method": "gibbs", "burn_in": 5, "samples": 20}'"""
)
PARTITION = "partition INPUTS/train.npz --dataset d --groups 3 --number 2 --out groups.json"


def _cell(method, grid, more=""):
    return [
        f"tune {method} --label {method} {CELL} --grid '{grid}' --models models/{method} {more}",
        f"score-cell models/{method} {SCORE} --per-example {method}.pe.csv --trace {method}.csv "
        f"--cell cells/{method}.json",
    ]


GRID = '{"kappa": [0.01, 0.1], "feature_mode": ["prune-5", "nonzero"], "sd": [0.5, 1.0]}'
CMLL = """--cmll '{"groups": 3, "method": "gibbs", "burn_in": 5, "samples": 20}'"""
# Each is resumed where it was ended: a command that is done is not run again.
JOBS = {
    "study": [
        PARTITION,
        *_cell("atomic", "{}"),
        *_cell("dtsl", GRID, CMLL),
        "pair --study s --dataset d --first dtsl dtsl.pe.csv --second atomic atomic.pe.csv "
        "--out pair.json",
        "gather cells/atomic.json cells/dtsl.json --paired pair.json --out scores.csv",
        "page INPUTS/table.md --out page.html",
    ],
    "circuit": [
        PARTITION,
        *_cell("acmn", '{"max_edges": [40, 80], "split_cost": [0.001]}'),
    ],
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
        "prepare triples --folder data --seed 1",
        "fetch toy --folder data --mirror INPUTS/mirror --jobs 1",
        "prepare toy --folder data --mirror INPUTS/mirror --seed 1",
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
    (inputs / "table.md").write_text("Scores.\n\n| a | b |\n| - | -: |\n| x | **1.5** |\n" * 200)
    make_mirror(inputs / "mirror", ("toy",), compressed=True)
    (folder / "workflow").mkdir()
    registry = registry_text([make_benchmark("toy", "http://127.0.0.1:9")])
    (folder / "workflow/datasets.tsv").write_text(registry)
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

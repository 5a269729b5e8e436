"""`study.gather`: the table of hand-made records."""

import json

from made_study import scores_of

SCORES = {
    "pll": {"mean": -1.5, "stderr": 0.25},
    "cmll": {"mean": -2.0, "stderr": 0.5, "partitions": [-2.0, -4.0]},
}
HEAD = {"study": "s", "dataset": "d"}
FILES = {"seconds_read": 0.25, "seconds_write": 0.5}


def write_cell(folder, method, variants):
    entries = {
        variant: {
            "scores": SCORES if variant == "" else {"pll": SCORES["pll"]},
            "validation": -1.0,
            "seconds": {"structure": 1.0, "weights": 2.0},
            "parameters": {},
            "details": {},
        }
        for variant in variants
    }
    record = {
        **HEAD, **FILES, "method": method, "learner": method, "variants": entries,
        "seconds_tuning": 8.0, "peak_memory_mib_learn": 30, "peak_memory_mib_score": 20,
    }  # fmt: skip
    path = folder / f"cells/d/{method}@0.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))
    return path


EXPECTED = """study,dataset,method,variant,quantity,value,stderr
s,d,atomic,,pll,-1.5,0.25
s,d,atomic,,cmll,-2.0,0.5
s,d,atomic,,cmll_partition_mean,-3.0,1.4142135623730951
s,d,atomic,,cmll_partitions,2.0,
s,d,atomic,,validation,-1.0,
s,d,atomic,,peak_memory_mib,30.0,
s,d,atomic,,seconds_tuning,8.0,
s,d,atomic,,seconds_tuning_and_files,8.75,
s,d,atomic,,seconds_structure,1.0,
s,d,atomic,,seconds_weights,2.0,
s,d,atomic,,seconds_learn,3.0,
s,d,atomic,,seconds_learn_and_files,3.75,
s,d,dtsl,,pll,-1.5,0.25
s,d,dtsl,,cmll,-2.0,0.5
s,d,dtsl,,cmll_partition_mean,-3.0,1.4142135623730951
s,d,dtsl,,cmll_partitions,2.0,
s,d,dtsl,,validation,-1.0,
s,d,dtsl,,peak_memory_mib,30.0,
s,d,dtsl,,seconds_tuning,8.0,
s,d,dtsl,,seconds_tuning_and_files,8.75,
s,d,dtsl,prune-5,pll,-1.5,0.25
s,d,dtsl,prune-5,validation,-1.0,
s,d,dtsl,prune-5,peak_memory_mib,30.0,
s,d,dtsl,prune-5,seconds_tuning,8.0,
s,d,dtsl,prune-5,seconds_tuning_and_files,8.75,
s,d,dtsl,prune-5,mean_seconds_weights,3.0,
s,d,dtsl,nonzero,mean_seconds_weights,7.0,
s,d,dtsl,,seconds_structure,16.0,
s,d,dtsl,,seconds_structure_min,14.0,
s,d,dtsl,,seconds_structure_max,20.0,
s,d,dtsl,,seconds_weights,2.0,
s,d,dtsl,,seconds_weights_min,1.0,
s,d,dtsl,,seconds_weights_max,9.0,
s,d,dtsl,,seconds_learn,21.0,
s,d,dtsl,,seconds_learn_min,18.0,
s,d,dtsl,,seconds_learn_max,23.0,
s,d,dtsl,,seconds_learn_and_files,21.75,
s,d,dtsl,,seconds_learn_and_files_min,18.75,
s,d,dtsl,,seconds_learn_and_files_max,23.75,
"""
RUNS = [
    {"structure": structure, "weights": weights, "read": 0.25, "write": 0.5}
    for structure, weights in ((16.0, 2.0), (20.0, 1.0), (14.0, 9.0))
]


def test_seconds_of_a_timed_method_are_the_medians_of_its_timing(tmp_path):
    """A sum has a median of its own. Of the grid points beside a cell, the last stage counts."""
    cells = [write_cell(tmp_path, "atomic", [""]), write_cell(tmp_path, "dtsl", ["", "prune-5"])]
    timing = tmp_path / "timing.json"
    timing.write_text(json.dumps({**HEAD, "methods": {"dtsl": {"runs": RUNS}}}))
    trace = tmp_path / "tuning/d/dtsl@0.csv"
    trace.parent.mkdir(parents=True)
    trace.write_text(
        "stage,feature_mode,seconds_weights\n0,prune-5,100\n1,prune-5,2\n1,nonzero,7\n1,prune-5,4\n"
    )
    scores = scores_of({"datasets": ["d"], "timed": ["dtsl"]}, cells=cells, times=[timing])
    assert scores.to_csv(index=False) == EXPECTED

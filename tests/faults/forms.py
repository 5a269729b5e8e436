"""One file of each form that commands read, and commands that read it."""

import gzip
import lzma
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from command import succeed
from faults.steps import learn, pair, prepare, score, step
from made_random import random_data, random_dependency_network, random_network
from mnlearn.data.dataset import merge_rows
from mnlearn.data.text_tables import save_text
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.runtime.files import read_json, write_json
from mnlearn.variables.schema import binary_schema

ROOT = Path(__file__).parents[2]
BIF = """\
network wet { property author = nobody; }
variable Cloudy { type discrete [ 2 ] { no, yes }; }
variable Rain { type discrete [ 2 ] { no, yes }; property position = (1, 2); }
variable Wet { type discrete [ 2 ] { no, yes }; }
probability ( Cloudy ) { table 0.4, 0.6; } // a remark
probability ( Rain | Cloudy ) { (no) 0.5, 0.5; (yes) 0.9, 0.1; }
probability ( Wet | Cloudy, Rain ) { (no, no) 1.0, 0.0; default 0.1, 0.9; }
"""
MANY = """\
network many { }
variable "Age group" { type discrete [ 3 ] { young, middle, old }; }
variable Ill { type discrete [ 2 ] { no, yes }; }
probability ( "Age group" ) { table 0.3, 0.3, 0.4; }
probability ( Ill | "Age group" ) { (young) 0.9, 0.1; default 0.5, 0.5; }
"""
UAI = """\
MARKOV
3
2 2 2
3
1 0
2 0 1
2 1 2

2
 0.4 0.6

4
 1 0.5 0.25 2

4
 0 1 1 3
"""
PEOPLE = (
    '"","person_id",a,"b, c",d\n1,x1,1,yes,1.0\n2,x2,2,no,NA\n3,x3,2,,0.0\n4,x4,1,yes,?\n'
    "5,x5,2,no,0\n6,x6,1,yes,1\n"
)
CATEGORICAL = "colour,size,smoker\nred,10,no\nblue,9,yes\ngreen,10,no\n"
EVIDENCE = "*,0,1,0,1,0\n0,0,1,0,1,0\n*,*,1,0,1,*\n"


@dataclass(frozen=True)
class Form:
    """A file and the commands that read it; FILE stands for the file.

    writes : a name of the files that a command may leave only if it succeeds; empty for commands
        that write elsewhere.
    """

    path: str
    commands: tuple[str, ...]
    writes: str = "o."

    @property
    def file(self):
        return shlex.quote(self.path)


DATA = (
    "fit atomic --train FILE --out o.npz",
    "fit chow_liu --train d.npz --valid FILE --out o.ac",
    "score m.npz FILE --json --threads 1",
    "convert FILE o.csv.gz",
    "convert FILE o.npz",
    prepare("own", "o.", {"local": {"train": "FILE"}}),
)
MODEL = (
    "info FILE --json",
    "convert FILE o.npz",
    "convert FILE o.graphml",
    "convert FILE o.csv",
    "score FILE d.npz --json --threads 1",
    "score FILE d.npz --json --threads 1 --metric cmll --burn-in 1 --samples 5",
    "score FILE d.npz --json --threads 1 --metric ll",
    "query FILE --evidence evidence --burn-in 1 --samples 5 --threads 1 --out o.csv",
    "sample FILE --rows 3 --burn-in 2 --threads 1 --out o.csv",
)
GATHER = "step write own scores"
OUTPUTS = ("o.@0.json", "o.trace@0.csv", "o.rows@0.csv")
SCORE_CELL = score("dtsl", "models", test="d.npz", groups="p.json", outputs=OUTPUTS, samples=5)
TIME_CELL = step(
    "times",
    {"record": "o.@0.json"},
    {"searches": {}},
    inputs={"cells": ["FILE"], "train": "d.npz"},
    method="dtsl",
)
PAIR = pair("FILE", "FILE", "o.@0.json")
TABLES = "step write demo tables"
# Records of the study `own`, of recipes that are not current.
CELL, TRACE = (f"results/own/{kind}/digits/dtsl@0.{form}" for kind, form in
               (("cells", "json"), ("tuning", "csv")))  # fmt: skip


def make_forms(folder):
    """Write the files into the current folder, a small checkout; return the forms."""
    for name in ("workflow", "config.yaml"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
    data = random_data(0, n_examples=60)
    named = merge_rows(data.rows[data.row_of], schema=binary_schema("abcdef"))
    data.save("d.npz")
    for name in ("d.data", "d.data.xz", "d.txt"):
        save_text(data, name)
    for name in ("named.csv", "named.csv.gz"):
        save_text(named, name)
    named.save("named.npz")
    np.savez("plain.npz", data=data.rows)
    Path("weighted.data").write_text(
        "2|0,1,1,0,1,0\n0.5|1,1,1,0,0,0\n1|0,0,1,0,1,1\n", encoding="utf-8"
    )
    save_model(random_network(0), "m.npz")
    save_model(random_network(0), "m.mn")
    save_model(random_network(1), "w.mn")
    save_model(random_dependency_network(0, n_vars=6), "dn.npz")
    save_model(random_dependency_network(0, n_vars=6), "dn.dn")
    Path("b.bif").write_text(BIF, encoding="utf-8")
    save_model(load_model("b.bif"), "b.bn")
    save_model(load_model("b.bif"), "b.npz")
    save_model(compile_network(load_model("b.bif")), "b.ac")
    Path("many.bif").write_text(MANY, encoding="utf-8")
    Path("a.uai").write_text(UAI, encoding="utf-8")
    Path("people.csv").write_text(PEOPLE, encoding="utf-8")
    Path("evidence").write_text(EVIDENCE, encoding="utf-8")
    Path("categories.csv").write_text(CATEGORICAL, encoding="utf-8")
    Path("grid.yaml").write_text("kappa: [0.01, 0.1]\nmin_leaf_examples: [1]\n", encoding="utf-8")
    Path("groups.json").write_text("[[0, 1, 2], [3, 4, 5]]", encoding="utf-8")
    Path("p.json").write_text(
        "[[[0, 1, 2], [3, 4, 5]], [[0, 2], [1, 3], [4, 5]]]", encoding="utf-8"
    )
    for line in (
        "fit acmn --train d.npz --set max_edges=60 --out c.ac",
        "convert c.ac c.npz",
        "fit lem --train d.npz --out lem.npz",
        "fit hclt --train d.npz --set n_states=2 --out hclt.npz",
        learn("dtsl", {"kappa": [0.01]}, "models", train="d.npz", valid="d.npz"),
        SCORE_CELL,
    ):
        succeed(line)
    shutil.copy("workflow/studies/demo.yaml", "workflow/studies/own.yaml")
    for made, name in zip(OUTPUTS, (CELL, TRACE, "pe.csv"), strict=True):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(made, name)
    cell = read_json(CELL)
    write_json(CELL, {**cell, "study": "own", "dataset": "digits"})
    succeed(GATHER)
    Path("results/demo").mkdir()
    shutil.copy("results/own/scores.csv", "results/demo/scores.csv")
    for left in Path().glob("o.*"):
        left.unlink()
    return [
        *(Form(name, DATA) for name in (
            "d.data", "d.data.xz", "d.txt", "named.csv", "named.csv.gz", "named.npz", "plain.npz",
        )),
        Form("weighted.data", DATA[:-1]),
        *(Form(name, MODEL) for name in (
            "m.npz", "m.mn", "c.ac", "c.npz", "lem.npz",
        )),
        Form("w.mn", ("weights FILE d.npz --out o.npz --threads 1",)),
        *(Form(name, tuple(c for c in MODEL if "metric ll" not in c)) for name in (
            "dn.npz", "dn.dn",
        )),
        Form("hclt.npz", (*MODEL[:2], *MODEL[4:])),
        *(Form(name, MODEL[:4]) for name in ("b.bif", "b.bn", "b.npz")),
        Form("b.ac", (*MODEL[:2], "convert FILE o.nnf", "query FILE --evidence Rain=yes")),
        Form("many.bif", (*MODEL[:3], "convert FILE o.uai", "query FILE --evidence Ill=yes")),
        Form("a.uai", (*MODEL[:3], "convert FILE o.ac", "convert FILE o.uai")),
        Form("people.csv", (
            "convert FILE o.npz --missing drop --na ? --leave-out d",
            "impute FILE --out o.csv --na ? --leave-out d --threads 1 --iterations 1",
            "fit chow_liu --train FILE --missing em --na ? --leave-out d --out o.npz --threads 1",
        )),
        Form("evidence", ("query m.npz --evidence FILE --burn-in 1 --samples 5 --out o.csv",)),
        Form("categories.csv", ("convert FILE o.npz", "fit chow_liu --train FILE --out o.npz")),
        Form("grid.yaml", ("fit dn_tree --train d.npz --valid d.npz --grid FILE --out o.npz",)),
        Form("groups.json", (
            "score m.npz d.npz --metric cmll --groups FILE --burn-in 1 --samples 5 --json",
        )),
        Form("p.json", (SCORE_CELL,)),
        Form("models/tuning.json", (SCORE_CELL,)),
        Form("models/trace.csv", (SCORE_CELL,)),
        Form("models/chosen.npz", (SCORE_CELL,)),
        Form(CELL, (GATHER, TIME_CELL)),
        Form(TRACE, (GATHER,)),
        Form("pe.csv", (PAIR,)),
        Form("results/demo/scores.csv", (
            TABLES, "step write demo figures", "step write demo claims",
        ), ""),
        Form("config.yaml", (TABLES,), ""),
        Form("workflow/studies/demo.yaml", (TABLES, TABLES, "step write demo figures"), ""),
        Form("workflow/published.tsv", (TABLES,), ""),
        Form("workflow/datasets.tsv", ("study demo --stale", "datasets --json"), ""),
        Form("workflow/costs.tsv", ("datasets --json",), ""),
    ]  # fmt: skip


def unpacked(path, content):
    """Return the content of a compressed file, and a function that packs it again."""
    if path.endswith(".gz"):
        return gzip.decompress(content), lambda plain: gzip.compress(plain, mtime=0)
    if path.endswith(".xz"):
        return lzma.decompress(content), lzma.compress
    return content, lambda plain: plain

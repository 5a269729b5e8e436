"""Pairs of whole processes: what is measured where a program is installed, absent, or fails."""

import logging
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks import judges, liblinear, pairs
from benchmarks.measure import REPEATS, Bench
from benchmarks.processes import ProgramError, measure_in_turn, run_program
from numpy.testing import assert_allclose

from mnlearn.learning.trees import learn_tree_path
from mnlearn.models.dependency_network import tree_network
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.scoring.any_model import pll
from mnlearn_studies.datasets.embedded import load_embedded

# Ours is replaced by this: whole runs of it would take a minute.
OURS = """
import sys, shutil
shutil.copy({model!r}, sys.argv[1])
"""


@pytest.fixture(scope="module")
def parts():
    return load_embedded("grid", 0)


@pytest.fixture(scope="module")
def model(parts, tmp_path_factory):
    """A file of trees."""
    path = tmp_path_factory.mktemp("model") / "trees.npz"
    save_model(tree_network(learn_tree_path(parts[0], 0.01).trees), path)
    return path


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A path with nothing but what a test puts there, by `program`."""
    place = tmp_path / "bin"
    place.mkdir()
    monkeypatch.setenv("PATH", str(place))
    monkeypatch.setattr(pairs, "find_spec", lambda name: None)
    return place


def program(place, name, text):
    path = place / name
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)


def measured(parts, caplog):
    bench = Bench()
    with caplog.at_level(logging.INFO, "mnlearn"):
        for program in pairs.PROGRAMS:
            pairs.measure_pairs(bench, "grid", parts, program=program)
    said = [r.getMessage() for r in caplog.records if r.getMessage().startswith("without")]
    return bench.figures, said


def replace_ours(monkeypatch, model):
    def fit(folder, train, method, settings, *, out, network=""):
        code = OURS.format(model=str(model))
        return [sys.executable, "-c", code, pairs._ours(out)], lambda: None

    monkeypatch.setattr(pairs, "_fit", fit)


def test_without_other_programs_nothing_is_measured(parts, programs, caplog):
    assert measured(parts, caplog) == ([], [])


def test_a_program_on_the_path_is_measured_beside_ours(
    parts, programs, model, monkeypatch, caplog, tmp_path
):
    replace_ours(monkeypatch, model)
    network = tmp_path / "peer.dn"
    save_model(load_model(model), network)
    log = tmp_path / "log"
    program(
        programs, "dnlearn",
        f"import shutil, sys\nopen({str(log)!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')\n"
        f"assert len(open('train.data').readlines()) == {int(parts[0].n_examples)}\n"
        f"shutil.copy({str(network)!r}, sys.argv[sys.argv.index('-o') + 1])\n",
    )  # fmt: skip
    figures, said = measured(parts, caplog)
    assert said == []
    assert [(f.task, f.scope, f.peer_scope) for f in figures] == [
        (task, scope, "process, in turn")
        for task in ("trees, split penalty 10", "logistic, penalty 2")
        for scope in ("process", "in-process")
    ]
    assert log.read_text().splitlines() == [
        *["-ps 10 -i train.data -o trees.dn"] * REPEATS,
        *["-logistic -l1 2 -i train.data -o logistic.dn"] * REPEATS,
    ]
    score = pll(load_model(model), parts[2]).mean
    for figure in figures:
        assert figure.note == f"test PLL {score:.4f}, peer {score:.4f}"
        assert figure.peer_seconds > 0
        assert figure.ratio == figure.peer_seconds / figure.seconds


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import sys\nsys.exit('no such data.')", "dnlearn ended with status 1: no such data."),
        ("import sys\nsys.exit(3)", "dnlearn ended with status 3: it says nothing."),
        ("import sys\nopen(sys.argv[-1], 'w').write('?')", "trees.dn"),
        ("", "trees.dn"),
    ],
)
def test_a_program_that_fails_is_one_sentence_and_no_row(
    parts, programs, model, monkeypatch, caplog, text, sentence
):
    replace_ours(monkeypatch, model)
    monkeypatch.setattr(pairs, "LIBRA", pairs.LIBRA[:1])
    program(programs, "dnlearn", text)
    figures, said = measured(parts, caplog)
    assert figures == []
    (line,) = said
    assert line.startswith("without dnlearn -ps 10 on grid: ")
    assert sentence in line
    assert line.endswith(".")
    assert "\n" not in line


def test_the_loop_of_a_script_is_beside_the_task_alone(
    parts, programs, monkeypatch, caplog, tmp_path
):
    edges = "source,target\nV0,V1\nV1,V2\n"
    monkeypatch.setattr(pairs, "ISING", f"import sys; open(sys.argv[2], 'w').write({edges!r})")
    theirs = "node_a,node_b,weight\nV2,V1,0.5\nV3,V4,1\nV0,V3,1\n"
    program(
        programs, "Rscript",
        "import sys\n"
        "if sys.argv[1] == '-e': sys.exit(sys.argv[2] != 'library(glmnet)')\n"
        "assert sys.argv[1].endswith('workflow/peers/ising_glmnet.R')\n"
        "assert open(sys.argv[2]).readline().count(',') == 15\n"
        f"open(sys.argv[3], 'w').write({theirs!r})\nprint(12.5)\n",
    )  # fmt: skip
    (process, alone), said = measured(parts, caplog)
    assert said == []
    assert process.note == alone.note == "2 edges, peer 3, 1 in common"
    assert (process.scope, process.peer_scope) == ("process", "process, in turn")
    assert process.peer_seconds < 12.5
    assert (alone.scope, alone.peer_scope) == ("in-process", "in-process, in turn")
    assert alone.peer_seconds == 12.5


def test_without_glmnet_there_is_no_ising_network(parts, programs, caplog):
    program(programs, "Rscript", "import sys\nsys.exit(1)")
    assert measured(parts, caplog) == ([], [])


def test_liblinear_as_a_program(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    rows = (rng.random((60, 3)) < 0.5).astype(int)
    rows[:, 1] |= rows[:, 0]
    rows = np.column_stack([rows, np.ones(60, int)])
    np.savetxt(tmp_path / "d.csv", rows, delimiter=",", fmt="%d", header="a,b,c,d", comments="")
    monkeypatch.setattr(sys, "argv", ["", tmp_path / "d.csv", tmp_path / "out.csv", "2"])
    liblinear.main()
    assert float(capsys.readouterr().out) > 0
    weights = np.loadtxt(tmp_path / "out.csv", delimiter=",")
    assert weights.shape == (4, 5)
    assert_allclose(np.diag(weights[:, 1:]), 0.0)
    assert weights[3].tolist() == [np.inf, 0, 0, 0, 0]
    # The minimum of loss and penalty: no step of one weight lowers it.
    y = rows[:, 0]

    def objective(w):
        odds = w[0] + rows @ w[1:]
        return np.logaddexp(0, np.where(y == 1, -odds, odds)).sum() + 2 * np.abs(w).sum()

    for k in (0, 2, 3):
        for step in (-0.01, 0.01):
            assert objective(weights[0] + step * np.eye(5)[k]) > objective(weights[0])


def test_the_score_of_regressions(parts):
    rows, weight = parts[2].rows[:2].astype(float), parts[2].weight[:2]
    n_vars = rows.shape[1]
    weights = np.random.default_rng(1).normal(size=(n_vars, n_vars + 1))
    total = 0.0
    for x, w in zip(rows, weight, strict=True):
        for v in range(n_vars):
            p = 1 / (1 + np.exp(-weights[v, 0] - weights[v, 1:] @ x))
            total += w * np.log(p if x[v] else 1 - p)
    found = judges.score_regressions(weights, parts[2].subset(np.arange(2)))
    assert_allclose(found, total / weight.sum())


def test_posteriors_are_compared_by_row_variable_and_state(tmp_path):
    table = "row,variable,state,probability\n1,b,0,0.25\n1,b,1,0.75\n2,b,0,1\n"
    ours, theirs = tmp_path / "ours.csv", tmp_path / "theirs.csv"
    ours.write_text(table)
    theirs.write_text("row,variable,state,probability\n2,b,0,1\n1,b,1,0.7\n1,b,0,0.3\n")
    found = judges.compare_posteriors(ours, theirs)
    assert found == "3 probabilities, largest difference 5e-02"
    theirs.write_text(table.replace("2,b", "2,c"))
    with pytest.raises(ValueError, match=r"expected the 3 probabilities of ours.csv\.$"):
        judges.compare_posteriors(ours, theirs)


def test_processor_seconds_are_those_of_the_program_and_its_children(tmp_path):
    spin = "import time\nwhile time.process_time() < {}: pass"
    child = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {spin.format(0.4)!r}])"
    assert run_program([sys.executable, "-c", child], tmp_path)[0] > 0.4
    sleep = "import time\ntime.sleep(0.5)"
    spent, _ = run_program([sys.executable, "-S", "-E", "-c", sleep], tmp_path)
    assert spent < 0.4


def test_programs_run_in_turn(tmp_path):
    def note(letter):
        return [sys.executable, "-c", f"open('log', 'a').write({letter!r}); print({letter!r})"]

    _, _, printed = measure_in_turn(note("a"), note("b"), tmp_path)
    assert (tmp_path / "log").read_text() == "a" + "ab" * REPEATS
    assert printed == "b\n"


def test_a_fault_of_ours_is_not_hidden(tmp_path):
    with pytest.raises(RuntimeError, match="status 1"):
        measure_in_turn([sys.executable, "-c", "1 / 0"], [sys.executable, "-c", ""], tmp_path)
    with pytest.raises(ProgramError, match="No such file"):
        run_program([str(tmp_path / "nothing")], tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert Path(pairs.LIBLINEAR).is_file()

"""The bench measures what it says: its reference stops as Libra does, and its rows are complete."""

import numpy as np
import pandas as pd
import pytest
from benchmarks import cost, growth, gssl, measure, weights
from benchmarks import run as bench
from benchmarks.__main__ import main
from click.testing import CliRunner

from mnlearn.learning.owlqn import minimise, new_history
from mnlearn.learning.trees import learn_tree_path
from mnlearn.learning.weights.arrangement import arrange
from mnlearn.learning.weights.descent import Penalty
from mnlearn.learning.weights.fit import MAX_ITERATIONS, fit_weights
from mnlearn.learning.weights.stored_likelihood import arrange_stored
from mnlearn.models.tree_features import tree_features
from mnlearn.runtime.files import write_csv
from mnlearn_studies.datasets.embedded import load_embedded


def test_reference_stops_when_five_iterations_gain_too_little():
    train = load_embedded("digits", 0)[0]
    features = tree_features(learn_tree_path(train, 1e-3).trees, "default")
    likelihood = arrange_stored(features, train)
    penalty = Penalty(1.0)
    state = weights.fit_as_libra(likelihood, penalty)

    def smooth(w):
        value, gradient = likelihood.value_and_gradient(w)
        return value + 0.5 * w @ w, gradient + w

    objectives = []

    def done(progress):
        objectives.append(progress.objective)
        return progress.iteration == state.n_iterations

    minimise(
        smooth,
        np.zeros(len(features)),
        np.zeros(len(features)),
        done,
        max_iterations=100,
        history=new_history(6),
    )
    gains = -np.subtract(objectives[5:], objectives[:-5]) / objectives[5:]
    assert objectives[-1] == state.objective
    assert gains[-1] < 1e-3
    assert np.all(gains[:-1] >= 1e-3)
    assert fit_weights(likelihood, penalty).objective < state.objective


@pytest.mark.parametrize(
    "penalty", [pytest.param(Penalty(None, 5.0), marks=pytest.mark.nightly), Penalty(1.0)]
)
def test_screened_weights_are_timed_to_the_objective_of_the_reference(monkeypatch, penalty):
    train, _, test = load_embedded("digits", 0)
    features = tree_features(learn_tree_path(train, 1e-3).trees, "default")
    arranged = arrange_stored(features, train), 0.0
    n_arranged, limits = 0, []

    def count(*arguments):
        nonlocal n_arranged
        n_arranged += 1
        return arrange(*arguments)

    def learn(*arguments, **options):
        if options.get("screen"):
            limits.append(options["max_iterations"])
        return fit_weights(*arguments, **options)

    monkeypatch.setattr(weights, "arrange", count)
    monkeypatch.setattr(weights, "fit_weights", learn)
    quiet = bench.Bench()
    weights.measure_weights(
        quiet, "digits", features, arranged, penalty=penalty, peer=None, parts=(train, test)
    )
    assert n_arranged == len(limits) > 0
    monkeypatch.undo()
    runs = 1 + measure.REPEATS
    needed = limits[-2 * runs]
    assert limits[-2 * runs :] == [needed] * runs + [MAX_ITERATIONS] * runs
    bar = weights.fit_as_libra(arranged[0], penalty).objective

    def objective(iterations):
        likelihood = arrange(features, train)
        learned = fit_weights(likelihood, penalty, max_iterations=iterations, screen=True)
        return weights.objective_of(arranged[0], penalty, learned.weight)

    assert objective(needed) <= bar < objective(needed - 1)


def test_the_least_number_of_iterations():
    for least in (1, 2, 57, MAX_ITERATIONS):
        assert weights.count_iterations_until(lambda n, least=least: n >= least) == least
    assert weights.count_iterations_until(lambda n: False) == MAX_ITERATIONS


@pytest.mark.nightly
def test_a_dataset_is_measured_whole(capsys):
    quiet = bench.Bench()
    bench._measure_dataset(quiet, "grid", load_embedded("grid", 0))
    bench.measure_logistic(quiet, "grid", *load_embedded("grid", 0)[::2])
    bench.measure_generated(quiet, "grid", *load_embedded("grid", 0)[:2])
    bench.measure_circuits(quiet, "grid", *load_embedded("grid", 0)[::2])
    # Digits has variables that never vary.
    bench.measure_logistic(quiet, "digits", *load_embedded("digits", 0)[::2])
    tasks = [figure.task for figure in quiet.figures]
    for task in (
        "trees",
        "logistic",
        "features",
        "arrange",
        "value and gradient",
        "weights, L1 5",
        "weights, L1 5, converged",
        "weights, sd 1",
        "screened weights, L1 5",
        "screened weights, L1 5, converged",
        "screened weights, sd 1",
        "screened weights, sd 1, converged",
        "PLL",
        "Gibbs",
        "generate features",
        "GSSL, one setting",
        "circuit",
    ):
        assert any(name.startswith(task) for name in tasks), task
    assert all(figure.seconds > 0 for figure in quiet.figures)
    assert all(figure.ratio is None for figure in quiet.figures)
    assert capsys.readouterr().out == ""


def test_only_the_datasets_named_are_renewed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "bench.csv"
    row = {"seconds": 1.0, "code_digest": "s", "machine": "m"}
    write_csv(out, [{"task": t, "dataset": d, **row} for t, d in (("a", "plants"), ("b", "grid"))])
    monkeypatch.setattr(
        bench, "STEPS", {"s": lambda found, name, _: found.add(bench.Figure("c", name, 2.0))}
    )
    runner = CliRunner()
    assert runner.invoke(main, ["--datasets", "grid", "--out", str(out)]).exit_code == 0
    kept = pd.read_csv(out)
    assert kept[["task", "dataset", "seconds"]].to_numpy().tolist() == [
        ["a", "plants", 1.0],
        ["c", "grid", 2.0],
    ]
    refused = runner.invoke(main, ["--datasets", "grid,nowhere"])
    assert refused.exit_code == 2
    expected = "benchmarks: dataset nowhere: expected one of grid, digits, nltcs"
    assert refused.stderr.startswith(expected)


def test_a_bench_resumes_and_measures_a_step_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out, done = tmp_path / "bench.csv", []

    def step(seconds, fails=()):
        def run(found, name, _):
            if name in fails:
                raise RuntimeError
            done.append((seconds, name))
            found.add(bench.Figure(f"task {seconds}", name, seconds, peer="p"))

        return run

    def steps(*fails):
        monkeypatch.setattr(bench, "STEPS", {"one": step(1.0), "two": step(2.0, fails)})

    def run(*options):
        arguments = ["--datasets", "grid,digits", "--out", str(out), *options]
        return CliRunner().invoke(main, arguments)

    steps("digits")
    assert isinstance(run().exception, RuntimeError)
    first = [(1.0, "grid"), (2.0, "grid"), (1.0, "digits")]
    assert done == first
    assert pd.read_csv(out)[["seconds", "dataset"]].to_numpy().tolist() == [*map(list, first)]
    steps()
    assert run().exit_code == 0
    assert done[3:] == [(2.0, "digits")]
    whole = pd.read_csv(out)
    assert whole["step"].tolist() == ["one", "two", "one", "two"]
    assert run("--steps", "two").exit_code == 0
    assert done[4:] == [(2.0, "grid"), (2.0, "digits")]
    assert pd.read_csv(out).equals(whole.iloc[[0, 2, 1, 3]].reset_index(drop=True))
    # Rows of other code are measured again.
    out.write_text(out.read_text().replace(whole["code_digest"][0], "old", 1))
    assert run().exit_code == 0
    assert done[6:] == [(1.0, "grid")]
    refused = run("--steps", "three")
    assert refused.exit_code == 2
    assert refused.stderr == "benchmarks: step three: expected one of one, two, growth.\n"


def test_growth_has_a_row_for_each_size_and_the_exponent_of_all():
    assert growth.rate_of([(10, 1.0)]) == ""
    found = [(n, 3 * n**1.5) for n in (1000, 2000, 4000)]
    assert growth.rate_of(found) == "time ~ size^1.50 up to 4,000"
    quiet = bench.Bench()
    growth._add(quiet, "trees", found)
    assert [(f.size, f.seconds) for f in quiet.figures] == found
    assert [f.rate.count("^1.50") for f in quiet.figures] == [0, 1, 1]


def test_the_figure_of_cost_has_a_line_and_an_exponent_for_each_task(tmp_path, monkeypatch):
    rows = [{"task": "a", "seconds": f"{n * n}", "size": f"{n}"} for n in (4, 1, 2)]
    rows += [{"task": "alone", "seconds": "1", "size": "5"}, {"task": "b", "seconds": "1"}]
    drawn = []
    monkeypatch.setattr(cost, "render", lambda figure: drawn.append(figure) or (b"", b"png"))
    assert cost.draw_cost(rows, tmp_path / "c.png")
    ((line,),) = [axes.get_lines() for axes in drawn[0].axes]
    assert line.get_xydata().tolist() == [[1, 1], [2, 4], [4, 16]]
    assert line.get_label() == "a: size^2.00"
    assert (tmp_path / "c.png").read_bytes() == b"png"
    assert not cost.draw_cost(rows[3:], tmp_path / "none.png")
    assert not (tmp_path / "none.png").exists()


@pytest.mark.nightly
def test_the_grid_on_paths_beside_one_from_zero(monkeypatch):
    monkeypatch.setattr(gssl, "SMALL", ("grid",))
    monkeypatch.setattr(gssl, "GRID_GENERATED", 1000)
    quiet = bench.Bench()
    bench.measure_generated(quiet, "grid", *load_embedded("grid", 0)[:2])
    figure = next(f for f in quiet.figures if f.task == "GSSL grid on paths")
    assert figure.rate == "54 points"
    assert "all from zero" in figure.note
    assert gssl.measure_peak_rate() > 1e8

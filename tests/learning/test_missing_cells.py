"""Missing cells: filled in by a network, summed out by circuits."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from command import refuse, succeed
from made_data import assert_same
from mnlearn.data.dataset import merge_rows
from mnlearn.data.incomplete import MISSING, incomplete, merge_incomplete
from mnlearn.inference.circuits.exact import log_partition, log_value
from mnlearn.learning import imputation
from mnlearn.learning.imputation import Imputation, complete, complete_groups, impute
from mnlearn.learning.incomplete_circuits import run_em
from mnlearn.learning.tuning import tune
from mnlearn.methods import load_learner
from mnlearn.models.circuit_building import NO_PARENT, tree_circuit
from mnlearn.runtime.errors import InputError
from mnlearn.scoring import any_model
from mnlearn.variables.schema import binary_schema
from oracles import all_states

RNG = np.random.default_rng(7)
# A chain of 6 variables, of which each is mostly equal to the one before it.
N_VARS = 6
PARENT = np.array([NO_PARENT, 0, 1, 2, 3, 4])
P_ONE = np.array([[0.4, 0.4], *[[0.1, 0.85]] * (N_VARS - 1)])
TRUE = tree_circuit(PARENT, np.log(np.stack([1 - P_ONE, P_ONE], axis=2)), N_VARS)


def draw_chain(n):
    rows = np.empty((n, N_VARS), np.uint8)
    for v in range(N_VARS):
        above = rows[:, v - 1] if v else np.zeros(n, np.uint8)
        rows[:, v] = RNG.random(n) < P_ONE[v][above]
    return rows


ROWS = draw_chain(1200)
HOLES = ROWS.copy()
HOLES[RNG.random(ROWS.shape) < 0.2] = MISSING
DATA = merge_incomplete(
    HOLES,
    schema=binary_schema([f"x{v}" for v in range(N_VARS)]),
)


def learned(method, data, **settings):
    learner = load_learner(method)
    grid = learner.grid({name: [value] for name, value in settings.items()})
    return tune(learner, data, grid, None).best.fitted.model


def test_imputed_cells_are_better_than_the_marginal_guess():
    """Drawn cells are compared with cells drawn from the shares, likely ones with the mode."""
    missing = HOLES == MISSING
    share = DATA.frequency()
    truth = ROWS[missing]
    drawn = impute(DATA, seed=1)
    right = (drawn.rows[drawn.row_of][missing] == truth).mean()
    by_share = np.where(ROWS == 1, share, 1 - share)[missing].mean()
    assert right > by_share + 0.15
    likely = impute(DATA, Imputation(fill="likely"), seed=1, threads=2)
    filled = likely.rows[likely.row_of]
    assert (filled[missing] == truth).mean() > ((share > 0.5) == ROWS)[missing].mean() + 0.15
    assert (filled[~missing] == ROWS[~missing]).all()
    assert_same(drawn, impute(DATA, seed=1, threads=2))


def test_each_iteration_of_an_imputation_draws_other_numbers(monkeypatch):
    drawn, stream = [], imputation.stream

    def keep(*names):
        drawn.append(stream(*names).random())
        return stream(*names)

    monkeypatch.setattr(imputation, "stream", keep)
    impute(DATA, Imputation(iterations=3), seed=1)
    assert len(set(drawn)) == len(drawn) == 4


def test_drop_keeps_the_complete_examples():
    kept = complete(DATA, "drop", seed=0)
    whole = (HOLES != MISSING).all(axis=1)
    assert_same(kept, merge_rows(HOLES[whole], schema=DATA.schema))
    with pytest.raises(InputError, match="missing: expected one of drop, impute, got 'em'"):
        complete(DATA, "em", seed=0)


def test_em_is_nearer_to_the_true_parameters_than_dropping(rng):
    """Cells are missing more often where the variable before them is 1."""
    holes = ROWS.copy()
    rate = np.where(np.roll(ROWS, 1, axis=1) == 1, 0.5, 0.05)
    rate[:, 0] = 0
    holes[rng.random(ROWS.shape) < rate] = MISSING
    data = merge_incomplete(holes)
    given = learned("chow_liu", complete(data, "drop", seed=0))
    tree = tree_circuit(PARENT, np.log(np.full((N_VARS, 2, 2), 0.5)), N_VARS)
    dropped = run_em(tree, incomplete(data.complete_examples()), iterations=3).model
    by_em = run_em(tree, data, iterations=50).model
    error = {
        name: np.abs(np.exp(model.weight) - np.exp(TRUE.weight)).mean()
        for name, model in (("dropped", dropped), ("em", by_em))
    }
    assert error["em"] < 0.5 * error["dropped"]
    before = any_model.marginal_ll(given, data).mean * data.n_examples
    assert run_em(given, data).log_likelihood[-1] > before


def chain(p_one):
    """The chain with these probabilities of 1, (n_vars, 2) by the value of the variable before."""
    return tree_circuit(PARENT, np.log(np.stack([1 - p_one, p_one], axis=2)), N_VARS)


def test_a_prior_adds_examples_of_the_model_at_the_start():
    """On complete data an iteration gives (counts + m p) / (n + m), here with m = 25."""
    start = chain(np.array([[0.7, 0.7], *[[0.2, 0.5]] * (N_VARS - 1)]))
    states, rows = all_states(N_VARS), ROWS[:40]
    examples = np.concatenate([rows, states])
    weight = np.concatenate([np.ones(40), 25 * np.exp(log_value(start, states))])
    p_one = np.full((N_VARS, 2), weight @ examples[:, 0] / (40 + 25))
    for v in range(1, N_VARS):
        for above in (0, 1):
            of = weight * (examples[:, v - 1] == above)
            p_one[v, above] = of @ examples[:, v] / of.sum()
    data = incomplete(merge_rows(rows))
    found = run_em(start, data, iterations=1, prior=25.0).model
    np.testing.assert_allclose(found.weight, chain(p_one).weight, atol=1e-9)
    without = run_em(start, data, iterations=1, prior=0.0).model
    assert np.abs(found.weight - without.weight).max() > 0.1


def test_a_prior_weighs_as_so_many_examples_for_weights_of_features():
    """At the maximum the marginals of acmn are the means of the shares of the data and its own."""
    rows, states = ROWS[:40], all_states(N_VARS)
    start = learned("acmn", merge_rows(ROWS), max_edges=100)
    settings = {"iterations": 15, "tolerance": 0.0, "prior": 60.0}
    model = run_em(start, incomplete(merge_rows(rows)), **settings).model
    p_start, p = (
        np.exp(log_value(given, states) - log_partition(given)) for given in (start, model)
    )
    expected = (rows.sum(axis=0) + 60 * (p_start @ states)) / (40 + 60)
    np.testing.assert_allclose(p @ states, expected, atol=1e-4)


def write(path, values, header=True):
    names = ",".join(f"x{v}" for v in range(N_VARS)) + "\n" if header else ""
    lines = [",".join("01"[x] if x < 2 else "NA" for x in row) for row in values.tolist()]
    path.write_text(names + "\n".join(lines) + "\n")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "holes.csv", HOLES[:300])
    write(tmp_path / "bare.csv", HOLES[:300], header=False)


@pytest.mark.nightly
def test_commands(files):
    fit = "fit chow_liu --train holes.csv --missing"
    n_holes = (HOLES[:300] == MISSING).any(axis=1).sum()
    assert 0 < n_holes < 300
    told = f"holes.csv: dropped {n_holes} of 300 examples."
    assert told in succeed(f"{fit} drop --out d.npz").stderr
    told = f"holes.csv: filled in missing cells of {n_holes} of 300 examples."
    assert told in succeed(f"{fit} impute --out i.npz").stderr
    assert "known cells -" in succeed(f"{fit} em --out e.npz").stderr
    score = "score {} holes.csv --metric ll --json"
    means = {m: float(succeed(score.format(f"{m}.npz")).stdout.split('"mean": ')[1].split(",")[0])
             for m in "die"}  # fmt: skip
    assert means["e"] >= max(means["d"], means["i"])
    assert told in succeed("impute holes.csv --out whole.csv --threads 1").stderr
    assert succeed("impute whole.csv --out whole.data").stderr == ""
    succeed("impute bare.csv --out again.csv --threads 2")
    whole, again = (Path(f"{name}.csv").read_text(encoding="utf-8") for name in ("whole", "again"))
    assert whole.split("\n", 1)[1] == again
    succeed("convert holes.csv out.npz --missing impute")
    succeed("ising holes.csv --missing drop --out net --bootstraps 0")


IMPUTATIONS = {
    "": {},
    "--fill likely": {"fill": "likely"},
    "--iterations 2": {"iterations": 2},
    "--seed 5": {"random_state": 5},
}


def test_impute_takes_its_options_and_is_that_of_python(files):
    frame, written, cells = pd.read_csv("holes.csv"), [], []
    for options, arguments in IMPUTATIONS.items():
        succeed(f"impute holes.csv --out whole.csv --threads 1 {options}")
        expected = mn.impute(frame, n_jobs=1, **arguments)
        assert pd.read_csv("whole.csv").to_numpy().tolist() == expected.to_numpy().tolist()
        written.append(Path("whole.csv").read_bytes())
        cells.append(expected.to_numpy().tobytes())
    assert len(set(written)) == len(set(cells)) == 4


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("fit dtsl --train holes.csv --out o.npz", "holes.csv, line"),
        ("fit dtsl --train holes.csv --missing em --out o.npz", "--missing em: expected a method"),
        ("convert holes.csv o.npz", "with --missing or mnlearn impute"),
        ("fit dtsl --train bare.csv --out o.npz", "bare.csv, line"),
        ("impute holes.csv --out o.mn", "expected a text file of examples"),
    ],
)
def test_commands_refuse(files, line, names):
    refuse(line, names)


def test_a_treatment_changes_nothing_where_no_cell_is_missing(files):
    succeed("impute holes.csv --out whole.csv")
    written = []
    for missing in ("refuse", "drop", "impute", "em"):
        succeed(f"fit chow_liu --train whole.csv --missing {missing} --out o.npz")
        written.append(Path("o.npz").read_bytes())
        learner = mn.ChowLiu(missing=None if missing == "refuse" else missing)
        mn.save(learner.fit(pd.read_csv("whole.csv")), "p.npz")
        written.append(Path("p.npz").read_bytes())
    assert len(set(written)) == 1


def test_score_refuses_other_metrics(files):
    succeed("fit atomic --train holes.csv --missing drop --out m.npz")
    succeed("fit dn_tree --train holes.csv --missing drop --out dn.npz")
    row, column = np.argwhere(HOLES[:300] == MISSING)[0]
    n_holes = (HOLES[:300] == MISSING).any(axis=1).sum()
    for line, advice in (
        ("m.npz {} --metric pll", ", or use --metric ll, which sums them out"),
        ("m.npz {} --metric cmll", ", or use --metric ll, which sums them out"),
        (
            "m.npz {} --metric ll --ais 5",
            ", or use --metric ll without --ais and --inference, which sums them out",
        ),
        ("dn.npz {}", ""),
    ):
        refuse(
            f"score {line.format('holes.csv')}",
            f"holes.csv, line {row + 2}, column 'x{column}': is missing, and {n_holes} of 300 "
            f"examples have missing cells; fill them in with mnlearn impute{advice}.",
        )


def test_groups_are_filled_in_from_all_of_them():
    """So that the network of one group shows in the cells of another."""
    parts = {"one": merge_incomplete(HOLES[:60]), "two": merge_incomplete(HOLES[60:])}
    found = complete_groups(parts, "impute", seed=4)
    together = complete(merge_incomplete(HOLES), "impute", seed=4)
    expected = together.rows[together.row_of]
    np.testing.assert_array_equal(found["one"].rows[found["one"].row_of], expected[:60])
    np.testing.assert_array_equal(found["two"].rows[found["two"].row_of], expected[60:])
    dropped = complete_groups(parts, "drop", seed=4)
    for name, part in parts.items():
        assert_same(dropped[name], part.complete_examples())
    whole = {"one": merge_rows(ROWS[:60]), "two": merge_rows(ROWS[60:])}
    for name, data in complete_groups(whole, "impute", seed=4).items():
        assert_same(data, whole[name])

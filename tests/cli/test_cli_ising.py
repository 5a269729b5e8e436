"""`mnlearn ising`: tables, figures and a model of a questionnaire, and what it refuses."""

import errno
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from command import refuse, succeed
from command_folder import save_named
from made_random import random_data
from mnlearn.cli import main
from mnlearn.data.examples import load_dataset
from mnlearn.drawing import ising_folder
from mnlearn.learning.ising.comparison import compare
from mnlearn.learning.ising.resampling import bootstrap, drop_cases

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture(autouse=True)
def pictures(request):
    """Pictures are rendered in tests of pictures only."""
    if request.node.name != "test_ising_writes_tables_figures_and_a_model":
        request.getfixturevalue("sketched")


def test_ising_writes_tables_figures_and_a_model():
    line = "ising named.csv --gamma 0 --merge or --bootstraps 5"
    result = succeed(f"{line} --out net --threads 1")
    succeed(f"{line} --out again --threads 2")
    a, b = ({p.name: p.read_bytes() for p in Path(out).iterdir()} for out in ("net", "again"))
    assert a == b
    files = ["edges.csv", "model.npz", "summary.json", "thresholds.csv", "weights.csv"]
    files += ["centrality.csv", "differences_edges.csv", "differences_strength.csv"]
    drawn = ("network", "stability", "centrality", "differences")
    files += [f"{name}.{kind}" for name in drawn for kind in ("pdf", "png")]
    assert sorted(path.name for path in Path("net").iterdir()) == sorted(files)
    edges = pd.read_csv("net/edges.csv")
    matrix = pd.read_csv("net/weights.csv", index_col=0)
    found = edges[edges["weight"] != 0]
    assert len(found) == np.count_nonzero(np.triu(matrix)) > 0
    for edge in found.itertuples():
        assert matrix.loc[edge.source, edge.target] == edge.weight
        mean = (edge.in_regression_of_source + edge.in_regression_of_target) / 2
        assert edge.weight == pytest.approx(mean, rel=1e-14)
    assert edges["bootstrap_share"].between(0, 1).all()
    assert result.stdout.splitlines()[-1].startswith(f"{len(found)} edges; net holds")
    thresholds = pd.read_csv("net/thresholds.csv")
    assert thresholds["variable"].tolist() == list("abcdef") == matrix.index.tolist()
    summary = json.loads(Path("net/summary.json").read_text(encoding="utf-8"))
    assert summary["settings"]["gamma"] == 0
    assert summary["n_edges"] == len(found)
    succeed("score net/model.npz d.data")


def test_ising_in_the_other_coding_and_without_bootstrap():
    succeed("ising named.csv --out a --gamma 0 --bootstraps 0")
    succeed("ising named.csv --out b --gamma 0 --bootstraps 0 --coding -1/1")
    a, b = (pd.read_csv(f"{folder}/weights.csv", index_col=0) for folder in "ab")
    np.testing.assert_allclose(b, a / 4)
    of_a, of_b = (pd.read_csv(f"{folder}/thresholds.csv")["threshold"] for folder in "ab")
    np.testing.assert_allclose(of_b, of_a / 2 + a.to_numpy().sum(axis=1) / 4)
    assert not Path("a/stability.png").exists()
    assert "bootstrap_share" not in pd.read_csv("a/edges.csv")


@pytest.fixture
def estimates(monkeypatch):
    """What each run hands over to be drawn and written, which takes most of its time."""
    found = []
    monkeypatch.setattr(ising_folder, "write_folder", lambda _, estimate: found.append(estimate))
    return found


def test_resamples_are_estimated_with_the_settings_of_the_network(estimates):
    save_named(random_data(5).rows, "abcdef", "other.csv")
    line = "ising named.csv --compare other.csv --out net --gamma 1 --merge or --seed 4"
    succeed(f"{line} --bootstraps 3 --case-drops 2 --permutations 9")
    (found,) = estimates
    data, how = found.data, {"gamma": 1.0, "merge": "or", "seed": 4}
    expected = bootstrap(data, 3, **how).weights
    np.testing.assert_array_equal(found.stability.weights, expected)
    for other in ({"gamma": 0.25}, {"merge": "and"}, {"seed": 20}):
        assert not np.array_equal(bootstrap(data, 3, **{**how, **other}).weights, expected), other
    for measure, correlation in drop_cases(data, 2, **how).correlation.items():
        np.testing.assert_array_equal(found.cases.correlation[measure], correlation)
    groups = {"named": data, "other": load_dataset(Path("other.csv"))}
    pd.testing.assert_frame_equal(found.comparison.edges, compare(groups, 9, **how).edges)


def write_groups(**noise):
    """In each group b is the opposite of a in so many rows; c depends on neither."""
    rng = np.random.default_rng(4)
    for name, share in noise.items():
        rows = rng.integers(0, 2, (300, 3))
        rows[:, 1] = rows[:, 0] ^ (rng.random(300) < share)
        pd.DataFrame(rows, columns=list("abc")).to_csv(f"{name}.csv", index=False)


def test_ising_counts_the_edges_that_differ(estimates):
    write_groups(one=0.1, two=0.9)
    line = "ising one.csv --compare two.csv --out net --bootstraps 0 --permutations"
    enough, few = succeed(f"{line} 79"), succeed(f"{line} 58")
    assert "1 edge differs at 0.05 after Holm's correction." in enough.stdout
    edges = estimates[0].comparison.edges
    differing = edges[edges["p_holm"] <= 0.05]
    assert differing[["source", "target"]].to_numpy().tolist() == [["a", "b"]]
    # 3 edges of the least p-value 1 / 60 are just at the level.
    assert "cannot reach" not in enough.stderr
    assert "cannot reach 0.05 for an edge: take --permutations 60." in few.stderr
    assert "cannot reach" not in succeed(f"{line} 59").stderr


def test_ising_counts_the_edges_of_each_set_of_three_groups():
    write_groups(one=0.1, two=0.9, three=0.1)
    line = "ising one.csv --compare two.csv --compare three.csv --out net --bootstraps 0"
    printed = succeed(f"{line} --permutations 79").stdout.splitlines()
    ends = "at 0.05 after Holm's correction."
    assert [text.removesuffix(ends) for text in printed if text.endswith(ends)] == [
        "all: 1 edge differs ",
        "one – two: 1 edge differs ",
        "one – three: 0 edges differ ",
        "two – three: 1 edge differs ",
    ]
    tests = pd.read_csv("net/comparison_tests.csv").set_index(["groups", "test"])
    for (groups, _), row in tests.iterrows():
        corrected = "" if row["p"] == row["p_holm"] else f", {row['p_holm']:.4f} after Holm's"
        assert any(
            text.startswith(f"{groups}: ") and f"p = {row['p']:.4f}{corrected}" in text
            for text in printed
        )


def test_groups_of_items_may_name_those_that_are_left_out():
    Path("groups.csv").write_text(
        "item,group\n" + "".join(f"{v},g\n" for v in "abcdef"), encoding="utf-8"
    )
    succeed("ising named.csv --groups groups.csv --leave-out f --bootstraps 0 --out net")
    fault = "groups.csv, line 7: the data have no item 'f'"
    pd.read_csv("named.csv").drop(columns="f").to_csv("five.csv", index=False)
    refuse("ising five.csv --groups groups.csv --bootstraps 0 --out other", fault)


def test_a_network_without_edges_has_no_correlations():
    printed = succeed("ising named.csv --gamma 99 --case-drops 2 --bootstraps 0 --out net").stdout
    assert printed.count("0.00, because no correlation is defined") == 3


def test_ising_warns_of_the_smallest_penalty(estimates):
    """With fewer rows than items the path ends early, and some items are explained only there."""
    rows = np.random.default_rng(0).integers(0, 2, (20, 24))
    pd.DataFrame(rows).add_prefix("x").to_csv("wide.csv", index=False)
    result = succeed("ising wide.csv --out net --bootstraps 0 --gamma 0")
    assert "the smallest penalty of the path was chosen for x20." in result.stderr
    assert "smallest penalty" not in succeed("ising named.csv --out net --bootstraps 0").stderr


def test_ising_leaves_out_what_never_varies():
    rows = ["a,b,c,d", *(f"{k % 2},1,{k % 2},{int(k == 3)}" for k in range(40))]
    Path("constant.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    result = succeed("ising constant.csv --out net --bootstraps 3")
    assert "no edges for what has a value fewer than 2 times: b, d." in result.stderr
    edges = pd.read_csv("net/edges.csv")
    assert edges[["source", "target"]].to_numpy().tolist() == [["a", "c"]]
    assert json.loads(Path("net/summary.json").read_text(encoding="utf-8"))["dropped"] == ["b", "d"]
    refuse("ising d.data --out net --gamma -1", "gamma: expected a number of at least 0")


def test_ising_compares_groups_and_leaves_nothing_old_behind():
    rows = random_data(5, n_examples=90).rows
    save_named(rows, "abcdef", "other.csv")
    Path("groups.csv").write_text(
        "item,group\n" + "".join(f"{v},g{v > 'c'}\n" for v in "abcdef"), encoding="utf-8"
    )
    full = "ising named.csv --out net --bootstraps 3 --case-drops 1 --compare other.csv"
    result = succeed(f"{full} --permutations 9 --groups groups.csv")
    assert "named – other: difference of global strength" in result.stdout
    assert (
        "Holm's correction cannot reach 0.05 for an edge: take --permutations 300." in result.stderr
    )
    summary = json.loads(Path("net/summary.json").read_text(encoding="utf-8"))
    assert sorted(summary["cs_coefficient"]) == ["edges", "expected_influence", "strength"]
    assert summary["files"] == sorted(path.name for path in Path("net").iterdir())
    tests = pd.read_csv("net/comparison_tests.csv")
    assert tests["test"].tolist() == ["global strength", "largest edge difference"]
    centrality = pd.read_csv("net/centrality.csv")
    assert centrality["group"].tolist() == 3 * ["gFalse"] + 3 * ["gTrue"]
    Path("net/notes.txt").write_text("mine", encoding="utf-8")
    Path("new").mkdir()
    Path("new/stability.png").write_text("mine", encoding="utf-8")  # not written by an earlier run
    succeed("ising named.csv --out net --bootstraps 0")
    succeed("ising named.csv --out new --bootstraps 0")
    kept = {path.name for path in Path("net").iterdir()} - {"notes.txt"}
    assert kept == {path.name for path in Path("new").iterdir()} - {"stability.png"}
    assert (
        Path("net/notes.txt").read_text(encoding="utf-8")
        == Path("new/stability.png").read_text(encoding="utf-8")
        == "mine"
    )


def test_groups_in_one_file_are_compared_like_those_of_two():
    people = pd.read_csv("named.csv").assign(sex="named")
    others = pd.DataFrame(random_data(5).rows, columns=list("abcdef"))
    others.to_csv("other.csv", index=False)
    pd.concat([people, others.assign(sex="other")]).to_csv("both.csv", index=False)
    options = "--bootstraps 0 --permutations 9"
    one = succeed(f"ising both.csv --compare-by sex --out one {options}")
    succeed(f"ising named.csv --compare other.csv --out two {options}")
    for name in ("comparison_tests.csv", "comparison_edges.csv"):
        assert Path("one", name).read_bytes() == Path("two", name).read_bytes()
    # The network is that of all people.
    summary = json.loads(Path("one/summary.json").read_text(encoding="utf-8"))
    assert summary["n_examples"] == len(people) + len(others)
    assert "named – other" in one.stdout
    # Groups stand in the order of the states of a variable, not of the rows.
    turned = pd.read_csv("both.csv")[::-1].reset_index(drop=True)
    turned.to_csv("turned.csv", index=False)
    third = succeed(f"ising turned.csv --compare-by sex --out three {options}")
    assert third.stdout.replace("three", "one") == one.stdout
    other = json.loads(Path("two/summary.json").read_text(encoding="utf-8"))
    assert (summary["settings"]["compare"], other["settings"]["compare"]) == ([], ["other"])
    gap = pd.read_csv("both.csv", dtype=object)
    gap.loc[[3, len(people) + 2], "b"] = ""
    gap.to_csv("gap.csv", index=False)
    refuse("ising gap.csv --compare-by sex --out net", "gap.csv, line 5, column 'b': is missing")
    dropped = succeed(f"ising gap.csv --compare-by sex --missing drop --out net {options}")
    assert f"gap.csv, group other: dropped 1 of {len(others)} examples." in dropped.stderr
    # Cells are filled in from all groups together, whichever files they are in.
    for name, own in gap.groupby("sex"):
        own.drop(columns="sex").to_csv(f"{name}_gap.csv", index=False)
    names = "ising named_gap.csv --compare other_gap.csv"
    for line, out in (("ising gap.csv --compare-by sex", "four"), (names, "five")):
        filled = succeed(f"{line} --missing impute --out {out} {options}")
        assert "filled in missing cells of 1 of" in filled.stderr
    tables = [pd.read_csv(f"{out}/comparison_edges.csv") for out in ("four", "five")]
    np.testing.assert_array_equal(*(table["p"] for table in tables))
    np.testing.assert_array_equal(*(table["difference"] for table in tables))
    refuse("ising both.csv --compare-by sex --compare other.csv --out net", "no --compare.")


def test_ising_refuses_groups_that_are_not_those_of_the_items():
    for text, message in [
        (
            "name,group\na,g\n",
            "g.csv, line 1: expected the columns item, group and perhaps colour.",
        ),
        ("item,group\nz,g\n", "g.csv, line 2: the data have no item 'z'."),
        ("item,group\na,g\na,g\n", "g.csv, line 3: item 'a' is named twice."),
        ("item,group\na,g,h\n", "g.csv, line 2: expected 2 values, got 3."),
        ("item,group\na,\n", "g.csv, line 2: item 'a' has no group."),
        ("item,group,colour\na,g,nope\n", "expected a colour such as #56B4E9, got 'nope'."),
        (
            "item,group\na,g\n",
            "expected a group for each item, lacks b, c, d, e, f; give each a line, or take",
        ),
        (f"item,group\na,g\nb,{'g' * 140_000}\n", "g.csv, line 3: is not CSV: field larger than"),
    ]:
        Path("g.csv").write_text(text, encoding="utf-8")
        refuse("ising named.csv --out net --bootstraps 0 --groups g.csv", message)
    refuse("ising named.csv --out net --compare named.csv", "--compare: expected different files.")
    refuse("ising named.csv --out net --paired", "--paired: is not read without --compare")
    paired = "ising named.csv --compare other.csv --paired --missing drop --out net"
    refuse(paired, "--paired: expected --missing impute or refuse, got drop.")


def test_groups_are_read_before_the_network_is_learned(monkeypatch):
    def fail(*_given):
        raise AssertionError("learning began")

    monkeypatch.setattr("mnlearn.learning.ising.estimation.learn_ising", fail)
    Path("g.csv").write_text("item,group\na,g\n", encoding="utf-8")
    refuse("ising named.csv --out net --groups g.csv", "g.csv: expected a group for each item")


def test_ising_notes_how_the_data_were_read():
    Path("sex.csv").write_text("a,sex,age\n" + "1,m,1\n0,f,2\n1,f,3\n0,m,4\n" * 9, encoding="utf-8")
    succeed("ising sex.csv --states sex=m,f --leave-out age --bootstraps 0 --out net")
    settings = json.loads(Path("net/summary.json").read_text(encoding="utf-8"))["settings"]
    assert settings["states"] == {"sex": ["m", "f"]}
    assert settings["leave_out"] == ["age"]


def test_a_run_that_fails_leaves_the_folder_as_it_was(monkeypatch):
    succeed("ising named.csv --out net --gamma 0 --bootstraps 0")
    before = {path.name: path.read_bytes() for path in Path("net").iterdir()}

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("mnlearn.models.io.native.write_npz", fail)
    again = CliRunner().invoke(
        main, ["ising", "named.csv", "--out", "net", "--bootstraps", "0", "--coding", "-1/1"]
    )
    assert again.exit_code == 1
    assert {path.name: path.read_bytes() for path in Path("net").iterdir()} == before


def test_missing_cells_are_dropped_from_the_file_that_has_them():
    Path("x.csv").write_text("a,b\n0,1\n1,0\n0,0\n1,1\n", encoding="utf-8")
    Path("y.csv").write_text("a,b\n0,\n,0\n,1\n1,\n", encoding="utf-8")
    refuse("ising x.csv --compare y.csv --missing drop --out net", "y.csv: each row has a missing")


@pytest.mark.parametrize("name", ["edges.csv", "summary.json", "model.npz", "stability.png"])
@pytest.mark.parametrize("out", [".", "net"])
def test_ising_replaces_no_file_of_a_person(name, out):
    Path("net").mkdir()
    Path(out, name).write_text("my notes", encoding="utf-8")
    progress = refuse(f"ising named.csv --out {out}", f"{name}: is not of an earlier `mnlearn")
    assert not progress


@pytest.mark.nightly
def test_ratings_and_words_keep_their_states(estimates):
    rng = np.random.default_rng(2)
    mood = rng.integers(1, 5, 300)
    sleep = np.where(rng.random(300) < 0.7, mood, rng.integers(1, 5, 300))
    land = np.where(rng.random(300) < 0.7, np.array(list("xyzx"))[mood - 1], "y")
    table = pd.DataFrame({"mood": mood, "sleep": sleep, "land": land})
    table.to_csv("rated.csv", index=False)
    line = "ising rated.csv --bootstraps 0 --out net"
    printed = succeed(f"{line} --threads 1").stdout.splitlines()
    assert printed[0].startswith("+")
    assert "mood – sleep" in printed[0]
    # The size of a table has no sign.
    assert any(text.startswith(" 0.") and text.endswith("– land") for text in printed)
    succeed(f"{line} --ordered none")
    ordered, unordered = (found.network for found in estimates)
    assert ordered.scores.scored.tolist() == [True, True, False]
    assert not unordered.signed.any()
    refuse(f"{line} --ordered mood,slep", "ordered: 'slep' is no variable; there are mood")
    coding = "coding: expected 0/1, because mood has more than two states, got '-1/1'."
    refuse(f"{line} --coding -1/1", coding)
    groups = table.assign(sex=np.arange(300) % 2)
    groups.to_csv("sexes.csv", index=False)
    succeed("ising sexes.csv --compare-by sex --permutations 2 --bootstraps 0 --out two")
    tests = estimates[-1].comparison.tests
    assert tests["value"].between(0, 3).all()


def test_ising_replaces_its_own_files_only():
    for bootstraps in (3, 0):
        succeed(f"ising named.csv --out net --bootstraps {bootstraps}")
    assert not Path("net/stability.png").exists()
    Path("net/stability.png").write_text("mine", encoding="utf-8")
    refuse("ising named.csv --out net", "stability.png: is not of an earlier `mnlearn ising`")

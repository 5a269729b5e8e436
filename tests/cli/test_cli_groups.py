"""Variables with several values from files to models, by the commands."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from command import mean, numbers, refuse, succeed
from made_data import assert_same, examples
from mnlearn.data.examples import load_dataset
from mnlearn.methods import learner_names, load_learner
from mnlearn.models.io.formats import load_model
from mnlearn_studies.datasets.prepare import load_own

COLOURS, SIZES = ("red", "green", "blue"), ("S", "M", "L", "XL")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a categorical file: each colour depends on the size."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    size = rng.integers(0, 4, 400)
    colour = np.where(rng.random(400) < 0.8, size % 3, rng.integers(0, 3, 400))
    lines = [
        f"{COLOURS[c]},{SIZES[s]},{'yes' if s > 1 else 'no'}\n"
        for c, s in zip(colour, size, strict=True)
    ]
    Path("c.csv").write_text("colour,size,big\n" + "".join(lines), encoding="utf-8")
    succeed("convert c.csv c.npz --categories codes.json")
    succeed("convert c.npz hot.csv")


def test_groups_of_rows_that_are_left():
    lines = Path("hot.csv").read_text(encoding="utf-8").splitlines()
    gap = [*lines[:3], "?" + lines[3][1:], *lines[4:]]
    Path("gap.csv").write_text("\n".join(gap) + "\n", encoding="utf-8")
    Path("rest.csv").write_text("\n".join([*lines[:3], *lines[4:]]) + "\n", encoding="utf-8")
    succeed("fit lem --train rest.csv --groups names --out rest.npz")
    line = "fit lem --train gap.csv --groups names --na ? --out left.npz"
    succeed(f"{line} --missing drop --valid gap.csv")
    assert Path("left.npz").read_bytes() == Path("rest.npz").read_bytes()
    refuse(line, "gap.csv, line 4, column 'colour=")


def test_a_tree_of_categories():
    succeed("fit lem --train c.npz --out tree.npz")
    model = load_model(Path("tree.npz"))
    assert model.variables.groups == ((0, 1, 2), (3, 4, 5, 6))
    assert numbers("info tree.npz --json")["n_groups"] == 2
    # One-hot columns with declared groups are the same data.
    succeed("fit lem --train hot.csv --groups names --out same.npz")
    succeed("fit lem --train hot.csv --groups 4-7,1-3 --valid hot.csv --out too.npz")
    assert Path("same.npz").read_bytes() == Path("tree.npz").read_bytes()
    assert Path("too.npz").read_bytes() == Path("tree.npz").read_bytes()
    succeed("fit junction_tree --train c.npz --out junction.npz")
    assert load_model(Path("junction.npz")).variables.groups == model.variables.groups
    succeed("fit lem --train hot.csv --out plain.npz")
    assert load_model(Path("plain.npz")).variables.groups == ()
    succeed("convert tree.npz tree.ac")
    succeed("convert tree.npz tree.mn")
    ll = mean("tree.npz c.npz --metric ll")
    assert ll == pytest.approx(mean("tree.ac hot.csv --metric ll"))
    assert ll == pytest.approx(mean("tree.mn hot.csv --metric ll"))
    # Ruling out states that no row has cannot lower the likelihood of these data here.
    assert ll > mean("plain.npz hot.csv --metric ll")
    assert mean("tree.npz c.npz --metric pll") <= 0.0
    succeed("sample tree.npz --rows 300 --out drawn.csv")
    drawn = examples(load_dataset("drawn.csv"))
    for group in model.variables.groups:
        assert (drawn[:, group].sum(axis=1) == 1).all()
    Path("ask.csv").write_text("*,*,*,0,1,0,0,*\n1,0,0,*,*,*,*,1\n", encoding="utf-8")
    text = succeed("query tree.npz --evidence ask.csv").stdout
    first = [float(word) for word in text.splitlines()[-2].split(",")]
    assert sum(first[:3]) == pytest.approx(1.0)
    assert first[1] == max(first[:3])


def test_other_learners_see_binary_columns():
    succeed("fit dtsl --train c.npz --out grouped.npz")
    succeed("fit dtsl --train hot.csv --out plain.npz")
    assert Path("grouped.npz").read_bytes() == Path("plain.npz").read_bytes()


def test_groups_that_cannot_be_declared():
    wrong = "expected exactly one 1 in the columns 1, 2, which are one group, got none."
    hot = Path("hot.csv").read_text(encoding="utf-8")
    blue = next(n for n, line in enumerate(hot.splitlines(), start=1) if line.startswith("0,0,1"))
    refuse("fit lem --train hot.csv --groups 1-2 --out m.npz", f"hot.csv, line {blue}: {wrong}")
    # Rows that are dropped count as lines.
    Path("holes.csv").write_text(hot.replace("\n", "\n,0,1,0,0,1,0,1\n", 1), encoding="utf-8")
    refuse(
        "convert holes.csv m.npz --groups 1-2 --missing drop",
        f"holes.csv, line {blue + 1}: {wrong}",
    )
    Path("bare.csv").write_text(hot.partition("\n")[2], encoding="utf-8")
    refuse("convert bare.csv m.npz --groups 1-2", f"bare.csv, line {blue - 1}: {wrong}")
    # An .npz file has no lines.
    succeed("convert hot.csv hot.npz")
    refuse("convert hot.npz m.npz --groups 1-2", f"hot.npz, row {blue - 1}: {wrong}")
    refuse("fit lem --train hot.csv --groups some --out m.npz", "hot.csv, groups: expected `names`")
    refuse("convert hot.csv b.csv --groups names", "b.csv: expected a file that ends in .npz")
    succeed("fit lem --train hot.csv --out plain.npz")
    refuse(
        "convert plain.npz b.npz --groups names",
        "--groups: is not read for plain.npz, which is a model",
    )
    # The mapping of categories is not kept either.
    refuse("convert c.csv m.npz --categories new.json --groups 1-99", "c.csv, groups, group 1: ")
    refuse("convert c.csv hot.csv/m.npz --categories new.json", "hot.csv/m.npz: cannot be written")
    succeed("convert hot.csv b.npz --groups names")
    assert Path("b.npz").read_bytes() == Path("c.npz").read_bytes()


def test_own_data_with_categories_or_groups():
    own = load_own({"train": "c.csv", "categories": True}, seed=0)
    others = load_own({"train": "hot.csv", "groups": "names"}, seed=0)
    for one, other in zip(own, others, strict=True):
        assert_same(one, other)
        assert one.groups == ((0, 1, 2), (3, 4, 5, 6))


def test_learners_that_read_no_groups_say_so(tmp_path):
    """Their models give probability to rows with no value or several."""
    columns = ["age=low", "age=mid", "age=high"]
    rows = np.eye(3, dtype=int)[np.random.default_rng(0).integers(0, 3, 60)]
    pd.DataFrame(rows, columns=columns).assign(b=rows[:, 0]).to_csv("g.csv", index=False)
    data = mn.read_data("g.csv", groups="names")
    silent = set()
    for name in learner_names():
        settings = " --set n_generated=100" if name == "gssl" else ""
        if load_learner(name).network == "required":
            settings += " --network dn.npz"
            succeed("fit dn_tree --train g.csv --out dn.npz")
        said = succeed(f"fit {name} --train g.csv --groups names{settings} --out m.npz").stderr
        model = mn.load("m.npz")
        if "takes the columns of a group as separate variables" not in said:
            silent.add(name)
            exclusive = model.probability({"age=low": 1, "age=mid": 1})
            assert exclusive == pytest.approx(0.0, abs=1e-12), name
    assert silent == {"junction_tree", "lem", "tree_bag"}
    with pytest.warns(UserWarning, match="chow_liu takes the columns of a group as separate"):
        mn.ChowLiu().fit(data)

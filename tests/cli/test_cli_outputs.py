"""No command writes over a file that it reads."""

import os
from pathlib import Path

import pytest

from command import refuse, succeed
from mnlearn.drawing.ising_folder import FILES

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("fit dn2mn --train d.data --network dn.npz --out dn.npz", "dn.npz"),
        ("fit dtsl --train d.npz --out ./d.npz", "d.npz"),
        ("fit dtsl --train d.data --out a.npz --trace d.data", "d.data"),
        ("fit dtsl --train d.data --valid v.data --out a.npz --trace v.data", "v.data"),
        ("fit dtsl --train d.data --valid v.data --grid grid.yaml --out a.npz --trace grid.yaml",
         "grid.yaml"),
        ("impute d.data --out d.data", "d.data"),
        ("convert named.csv folder/../named.csv", "folder/../named.csv"),
        ("convert m.npz m.npz", "m.npz"),
        ("score m.npz d.data --per-example d.data", "d.data"),
        ("score m.npz d.data --per-example m.npz", "m.npz"),
        ("score m.npz d.data --metric cmll --groups groups.json --per-example groups.json",
         "groups.json"),
        ("query m.npz --evidence evidence --out evidence", "evidence"),
        ("query m.npz --evidence evidence --out m.npz", "m.npz"),
        ("sample model.csv --rows 2 --out model.csv", "model.csv"),
        ("ising folder/edges.csv --out folder", "folder/edges.csv"),
        ("ising named.csv --compare folder/edges.csv --out folder", "folder/edges.csv"),
        ("ising named.csv --groups folder/edges.csv --out folder", "folder/edges.csv"),
    ],
)  # fmt: skip
def test_an_output_that_is_an_input_is_refused(line, name):
    for made in ("folder/edges.csv", "codes.csv", "model.csv"):
        Path(made).write_bytes(Path("named.csv").read_bytes())
    refuse(line, f"{name}: is read by this command")


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_another_name_of_an_input_is_refused(link):
    link("d.data", "other.data")
    refuse(
        "impute d.data --out other.data",
        "other.data: is read by this command as d.data; expected another file to write.",
    )


def test_the_weights_of_a_d_dnnf_are_an_output_too():
    Path("a.nnf.csv").write_bytes(Path("named.csv").read_bytes())
    refuse("convert a.nnf.csv a.nnf", "a.nnf.csv: is read by this command;")


def test_an_earlier_output_is_written_over():
    for _ in range(2):
        succeed("impute d.data --out a.data")
        succeed("score m.npz d.data --per-example a.csv")


@pytest.mark.usefixtures("sketched")
def test_the_files_of_ising_are_known():
    succeed("ising d.data --out o --bootstraps 2 --case-drops 2 --compare v.data --permutations 2")
    assert {path.name for path in Path("o").iterdir()} == set(FILES)


@pytest.mark.parametrize("line", ["fit acmn --train d.data", "weights m.npz d.data"])
@pytest.mark.parametrize(
    ("name", "held"),
    [("a.csv", "the edges"), ("a.GraphML", "the edges"), ("a.nnf", "a circuit for other programs")],
)
def test_learning_refuses_files_that_cannot_be_read_as_a_model(line, name, held):
    suffix = Path(name).suffix.lower()
    progress = refuse(f"{line} --out {name}", f"{name}: a {suffix} file holds {held}")
    assert not progress


@pytest.mark.parametrize("name", ["d.data/x.npz", "/proc/x.npz", "/proc/none/x.npz"])
def test_a_place_that_cannot_be_written_is_found_before_learning(name):
    progress = refuse(f"fit atomic --train d.data --out {name}", f"{name}: cannot be written: ")
    assert not progress
    refuse(f"fit atomic --train d.data --out a.npz --trace {name}.csv", "cannot be written: ")


def test_folders_of_an_output_are_not_made_for_a_command_that_is_refused():
    refuse("fit atomic --train none.data --out new/deep/a.npz", "none.data: ")
    succeed("fit atomic --train d.data --out new/deep/a.npz")
    assert Path("new/deep/a.npz").exists()

"""The archive of the record: its metadata describe files that are there."""

import json
import runpy
import subprocess
from urllib.parse import unquote

import pytest

from workflow_tree import ROOT

IS_CHECKOUT = (ROOT / ".git").exists()


@pytest.mark.skipif(not IS_CHECKOUT, reason="the files of a commit are packed")
def test_the_crate_says_what_made_each_figure(tmp_path):
    archive = runpy.run_path(str(ROOT / "workflow/archive.py"))
    commit = archive["export"](tmp_path / "crate")
    archive["describe"](tmp_path / "crate", commit).metadata.write(tmp_path / "crate")
    graph = json.loads((tmp_path / "crate/ro-crate-metadata.json").read_text("utf-8"))["@graph"]
    entities = {entity["@id"]: entity for entity in graph}

    main = "workflow/Snakefile"
    root = entities["./"]
    assert root["identifier"] == commit
    assert root["mainEntity"] == {"@id": main}
    assert root["license"].endswith("/MIT")
    assert "ComputationalWorkflow" in entities[main]["@type"]
    files = [path for path, entity in entities.items() if "File" in entity["@type"]]
    files = [unquote(path) for path in files]
    assert all((tmp_path / "crate" / path).exists() for path in files)
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-tree", "-r", "--name-only", "HEAD"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert set(files) >= set(listed.stdout.split("\n")) - {""}

    actions = {e["name"]: e for e in graph if e["@type"] == "CreateAction"}
    assert len(actions) >= 7
    frontier = actions["Frontier: tractable models on the 20 datasets"]
    assert frontier["description"] == "`mnlearn study frontier`"
    made = {result["@id"] for result in frontier["result"]}
    figures = {f"results/frontier/figures/{p.name}" for p in
               (ROOT / "results/frontier/figures").glob("*.png")}  # fmt: skip
    assert figures <= made
    assert all(entities[path]["name"] for path in made)

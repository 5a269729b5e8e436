"""The list of studies that come with mnlearn follows from their files."""

import pytest

from mnlearn_studies.study import definition
from mnlearn_studies.study.definition import paper_title, shipped_studies, studies_of_papers
from mnlearn_studies.study.folders import source_folder

KEY = 'reproduces: {authors: "Chow & Liu", year: 1968, subject: trees}\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the study demo, and the same for papers of 1968 and of no paper."""
    workflow, source = tmp_path / "workflow", source_folder() / "workflow"
    text = (source / "studies/demo.yaml").read_text("utf-8")
    listed = text.replace("listed: false\n", "")
    assert listed != text
    (workflow / "studies").mkdir(parents=True)
    for name, content in {"demo": text, "a": listed, "b": KEY + listed, "c": KEY + text}.items():
        (workflow / "studies" / f"{name}.yaml").write_text(content, "utf-8")
    monkeypatch.setattr(definition, "source_folder", lambda: tmp_path)
    return tmp_path


def test_papers_come_first_and_studies_without_records_are_left_out(folder):
    assert list(shipped_studies()) == ["b", "a"]
    assert {name: paper_title(s) for name, s in studies_of_papers().items()} == {
        "b": "Chow & Liu 1968, trees"
    }


def test_papers_are_in_the_order_of_their_years():
    years = [study.content["reproduces"]["year"] for study in studies_of_papers().values()]
    assert len(years) == 5
    assert years == sorted(years)
    assert list(shipped_studies())[5:] == ["discrete", "dtsl_tuning", "frontier", "seeds"]

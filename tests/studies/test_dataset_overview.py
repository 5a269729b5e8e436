"""The list of all known datasets."""

from mnlearn_studies.plan.dataset_overview import dataset_lines, dataset_rows, unavailable_line


def test_datasets_are_shown_with_estimates(tmp_path):
    rows = dataset_rows(tmp_path)
    assert {"nltcs", "grid"} <= {row["name"] for row in rows}
    assert all(row["estimates"]["dtsl"]["seconds"] > 0 for row in rows)
    lines = dataset_lines(rows)
    assert len(lines) == len(rows) + 3
    assert lines[-1].endswith("from the recorded study dtsl.")
    assert unavailable_line(rows).startswith("traffic, temperature: no public copy was found")
    assert lines[0].split()[:3] == ["name", "label", "vars"]

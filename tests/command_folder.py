"""The folder in which tests run commands: data, models and broken files."""

from made_random import random_data, random_dependency_network, random_network
from mnlearn.data.dataset import merge_rows
from mnlearn.data.text_tables import save_text
from mnlearn.models.io.formats import save_model
from mnlearn.variables.schema import binary_schema


def save_named(rows, names, path):
    """Write rows as text below the names of their variables."""
    save_text(merge_rows(rows, schema=binary_schema(names)), path)


def fill_folder(tmp_path, monkeypatch):
    """Write data (`d*`), models (`m*`, `dn*`) and broken files; make the folder the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MNLEARN_DATA_MIRROR", raising=False)
    save_text(random_data(0), "d.data")
    save_text(random_data(1), "v.data")
    random_data(0).save("d.npz")
    save_text(random_data(0, n_vars=5), "d5.data")
    random_data(0, n_vars=5).save("d5.npz")
    named = random_data(0)
    save_named(named.rows[named.row_of], "abcdef", "named.csv")
    save_model(random_network(0), "m.npz")
    save_model(random_network(0), "m.mn")
    save_model(random_dependency_network(0, n_vars=6), "dn.npz")
    (tmp_path / "folder").mkdir()
    texts = {
        "file": "x",
        "empty": "",
        "ragged": "0,1\n0,1\n0\n",
        "fractions": "0,1\n0,0.5\n",
        "evidence": "*,0,1,0,1,0\n0,0,1,0,1,0\n*,*,1,0,1,*\n*,0,1,0,1,0\n",
        "evidence5": "*,0,1,0,1\n",
        "evidence3": "*,0,1,0,1,0\n*,0,3,0,1,0\n",
        "evidence_gap": "*,0,1,0,1,0\n\n",
        "evidence_first": "2,2,2,2,2,2\n*,0,1,0,1,0\n",
        "grid.yaml": "kappa: [0.01, 0.1]\nfeature_mode: [prune, nonzero]\nsd: [0.5, 1]\n",
        "list.yaml": "[1]\n",
        "broken.yaml": "a: [1\nb: {\n",
        "infinite.yaml": "max_iterations: .inf\n",
        "none.yaml": "kappa: []\n",
        "unknown.yaml": "kapa: [0.1]\n",
        "groups.json": "[[0, 1, 2], [3, 4, 5]]",
        "twice.json": "[[0, 1, 1]]",
        "range.json": "[[9]]",
        "flat.json": "[1, 2]",
        "letters.json": '[["a"]]',
        "broken.json": "{",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    return tmp_path

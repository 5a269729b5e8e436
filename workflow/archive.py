"""Pack the checkout with its record for an archive that gives DOIs: `make archive`.

The archive is an RO-Crate, a folder whose `ro-crate-metadata.json` says what its files are. It has
all files that git keeps: the code, the results, the digests of the data (`workflow/datasets.tsv`)
and the versions of all packages (`requirements.lock`). It does not have the data themselves.
"""

import io
import shutil
import subprocess
import tarfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml
from rocrate.model.computationalworkflow import ComputationalWorkflow
from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from mnlearn_studies.study.definition import load_studies

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build"
MAIN = "workflow/Snakefile"
# What the files are that somebody looks for first.
NAMES = {
    "config.yaml": "What a run computes",
    "requirements.lock": "Versions and digests of all packages",
    "environment.yml": "The same environment for conda",
    "workflow/datasets.tsv": "The benchmark datasets: sizes, addresses and digests",
    "workflow/published.tsv": "The numbers that the papers print",
    "results/RECORD.md": "Commit, machines, versions and hours of the record",
    "results/FIDELITY.md": "How closely the record reproduces the papers",
    "results/conclusions.md": "Which conclusions of the papers survive a good optimiser",
    "results/CLAIMS.md": "From claim to command, minutes and file",
}
FORMATS = {".md": "text/markdown", ".csv": "text/csv", ".png": "image/png"}


def export(folder: Path) -> str:
    """Write the files of the last commit to an empty folder; return the commit."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    git = ["git", "-C", str(ROOT)]
    packed = subprocess.run([*git, "archive", "HEAD"], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    found = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return found.stdout.strip()


def describe(folder: Path, commit: str) -> ROCrate:
    """Return the crate of a folder of exported files."""
    crate = ROCrate(folder, init=True)
    citation = yaml.safe_load((folder / "CITATION.cff").read_text("utf-8"))
    crate.name = citation["title"]
    crate.description = " ".join(str(citation["abstract"]).split())
    crate.datePublished = str(citation["date-released"])
    crate.license = "https://spdx.org/licenses/" + str(citation["license"])
    crate.keywords = citation["keywords"]
    crate.root_dataset["version"] = version("mnlearn")
    crate.root_dataset["identifier"] = commit
    crate.creator = [
        crate.add(ContextEntity(crate, f"#author-{n}", {"@type": "Organization", **author}))
        for n, author in enumerate(citation["authors"], start=1)
    ]
    crate.delete(crate.get(MAIN))
    crate.mainEntity = main = crate.add(
        ComputationalWorkflow(crate, folder / MAIN, MAIN, properties={"name": citation["title"]})
    )
    main["programmingLanguage"] = crate.add(
        ContextEntity(
            crate,
            "https://w3id.org/workflowhub/workflow-ro-crate#snakemake",
            {"@type": "ComputerLanguage", "name": "Snakemake", "version": version("snakemake")},
        )
    )
    for path, name in NAMES.items():
        crate.get(path)["name"] = name
    for study in sorted(path.parent.name for path in (folder / "results").glob("*/scores.csv")):
        describe_study(crate, folder, study)
    return crate


def describe_study(crate: ROCrate, folder: Path, name: str) -> None:
    """Say what made the results of a study, and what its tables and figures are."""
    study = load_studies([name], folder / "workflow")[name]
    command = f"mnlearn study {name}"
    results: list[Any] = []
    for kind, suffixes in (("tables", (".md", ".csv")), ("figures", (".png",))):
        for product in study.content[kind]:
            for suffix in suffixes:
                file = crate.get(f"results/{name}/{kind}/{product['name']}{suffix}")
                if file is not None:
                    file["name"] = str(product.get("title", product["name"]))
                    file["encodingFormat"] = FORMATS[suffix]
                    results.append(file)
    crate.add(
        ContextEntity(
            crate,
            f"#{name}",
            {
                "@type": "CreateAction",
                "name": str(study.content["title"]),
                "description": f"`{command}`",
                "instrument": crate.mainEntity,
                "object": [crate.get("config.yaml"), crate.get("workflow/datasets.tsv")],
                "result": results,
            },
        )
    )


if __name__ == "__main__":
    name = f"mnlearn-{version('mnlearn')}"
    target = BUILD / "archive" / name
    made = export(target)
    describe(target, made).metadata.write(target)
    packed = shutil.make_archive(str(BUILD / name), "zip", target.parent, name)
    size = Path(packed).stat().st_size / 1e6
    print(f"{Path(packed).relative_to(ROOT)}: {size:.1f} MB, commit {made}")

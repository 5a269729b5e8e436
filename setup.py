"""Builds of the package: what studies need of this repository travels in the wheel.

The files keep their places below `mnlearn_studies/study_files/`, so that they find each other as
in a checkout. Where `make wheel` has compiled kernels, they travel too, in a wheel for this
platform. `pyproject.toml` has all other settings.
"""

import os
import shutil
import sysconfig
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
PLACE = Path("mnlearn_studies", "study_files")
KERNELS = Path("mnlearn", "kernels", "compiled")
# Relative to the repository.
STUDY_FILES = (
    "config.yaml",
    "docs/methods/*.md",
    "workflow/Snakefile",
    "workflow/*.tsv",
    "workflow/jobs.sh",
    "workflow/peers/*.R",
    "workflow/profiles/*/config.yaml",
    "workflow/rules/*.smk",
    "workflow/studies/*.yaml",
)
COMPILED = ROOT / "build/compiled"
# The address of the repository, for the links of the package. The sources do not know it.
ADDRESS = os.environ.get("MNLEARN_REPOSITORY", "").rstrip("/")


def study_files() -> list[str]:
    """Return the files of the repository that studies need, relative to it."""
    found = [path for pattern in STUDY_FILES for path in ROOT.glob(pattern)]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def compiled() -> list[str]:
    """Return the files of compiled kernels, relative to their folder."""
    found = [path for path in COMPILED.rglob("*") if path.is_file()]
    return sorted(path.relative_to(COMPILED).as_posix() for path in found)


def links() -> dict[str, str]:
    """Return the links of the package; none if the address of the repository is not given."""
    if not ADDRESS:
        return {}
    pages = {"Repository": "", "Documentation": "/tree/main/docs", "Issues": "/issues"}
    pages["Changelog"] = "/blob/main/CHANGELOG.md"
    return {name: f"{ADDRESS}{page}" for name, page in pages.items()}


class BuildPackage(build_py):
    """Copies the files of studies into the package; an editable one reads them in their places."""

    def run(self) -> None:
        """Build the package."""
        super().run()
        if self.editable_mode:
            return
        # What an earlier build left here would be packed too.
        for place in (PLACE, KERNELS):
            shutil.rmtree(Path(self.build_lib, place), ignore_errors=True)
        for target, source in self._copies().items():
            Path(target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)

    def get_source_files(self) -> list[str]:
        """Return the files that a distribution of the sources has to have."""
        return [*super().get_source_files(), *study_files()]

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return the files that a build writes."""
        own = [] if self.editable_mode else [*self._copies()]
        return [*super().get_outputs(include_bytecode), *own]

    def _copies(self) -> dict[str, Path]:
        files = {PLACE / name: ROOT / name for name in study_files()}
        files |= {KERNELS / name: COMPILED / name for name in compiled()}
        return {str(Path(self.build_lib, target)): source for target, source in files.items()}


class Package(Distribution):
    """The package, which is for one platform and version of Python if it has compiled kernels."""

    def has_ext_modules(self) -> bool:
        """Tell whether there is something compiled."""
        return bool(compiled())


system = sysconfig.get_platform()
# The kernels call nothing but the mathematical functions of the C library.
tag = system.replace("linux-", "manylinux_2_28_") if compiled() else ""
setup(
    cmdclass={"build_py": BuildPackage},
    distclass=Package,
    options={"bdist_wheel": {"plat_name": tag}} if tag else {},
    project_urls=links(),
)

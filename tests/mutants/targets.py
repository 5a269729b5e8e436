"""Which modules are mutated, and which files of tests are run against their mutants."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Target:
    """Modules of the package that share tests.

    modules : patterns of files below src/mnlearn or src/mnlearn_studies.
    own : of kernels only, files and folders of the quick tests of these kernels by themselves,
        which are run first, and without `conftest.py`.
    tests : files, folders and single tests below tests; those that call a changed function are run.
    compiled : of kernels only, files and folders below tests; they are run with compiled kernels
        against the mutants that the other tests do not notice.
    """

    group: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    compiled: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    def files(self):
        """Return the files of the modules, without those that hold nothing."""
        found = {p for each in self.modules for p in (ROOT / "src").glob(f"mnlearn*/{each}")}
        return sorted(p for p in found if len(p.read_text().splitlines()) > 5)


# Without compilation the others of their file take minutes.
_QUICK = (
    "the_bound_of_a_gain_is_that_of_the_least_curvature",
    "gains_are_within_their_bounds",
)

TARGETS = (
    Target(
        "kernels",
        ("kernels/circuits/*.py",),
        (
            *("kernels/circuits", "inference/circuits/test_circuits.py"),
            *("inference/circuits/test_circuit_evidence.py", "models/test_tree_circuits.py"),
        ),
        (
            *("kernels/circuits", "inference/circuits", "learning/circuits"),
            "models/test_tree_circuits.py",
        ),
        own=("kernels/circuits",),
    ),
    Target(
        "kernels",
        ("kernels/sampling/*.py", "kernels/arithmetic/logistic.py"),
        # Samplers that are not compiled take minutes in most tests.
        ("kernels/arithmetic", "kernels/sampling", "inference/test_inference.py"),
        ("kernels/arithmetic", "kernels/sampling", "inference", "scoring"),
        own=("kernels/sampling", "kernels/arithmetic"),
    ),
    Target(
        "kernels",
        ("kernels/trees.py", "kernels/conversion.py", "kernels/feature_trees.py"),
        (
            *("kernels/test_trees.py", "kernels/conversion", "models/test_feature_trees.py"),
            "learning/test_conversion_of_states.py",
        ),
        (
            *("kernels/test_trees.py", "kernels/conversion"),
            *("learning/test_conversion_of_states.py", "models"),
            *("scoring/test_scores.py", "learning/test_mixtures.py"),
        ),
        own=("kernels/test_trees.py", "kernels/conversion"),
    ),
    Target(
        "kernels",
        ("kernels/likelihood/*.py", "kernels/search/*.py", "kernels/l1_logistic/*.py"),
        (
            *("kernels/likelihood", "kernels/search", "kernels/l1_logistic"),
            "kernels/sampling/test_terms.py",
            *(f"learning/features/test_bottom_up.py::test_{name}" for name in _QUICK),
            "learning/test_logistic_learning.py",
        ),
        (
            *("kernels/likelihood", "kernels/search", "kernels/l1_logistic", "learning/weights"),
            *("learning/features", "learning/test_logistic_learning.py"),
            "learning/test_optimise.py",
        ),
        own=(
            *("kernels/likelihood", "kernels/search", "kernels/l1_logistic"),
            "kernels/sampling/test_terms.py",
        ),
    ),
    Target(
        "kernels",
        ("kernels/lem/*.py",),
        ("kernels/lem",),
        ("kernels/lem", "learning/lem", "models/test_feature_trees.py"),
        own=("kernels/lem",),
    ),
    Target(
        "scores",
        ("scoring/*.py", "inference/score.py"),
        ("scoring", "inference", "models", "learning/test_missing_cells.py"),
    ),
    Target("models", ("models/*.py",), ("models", "scoring/test_scores.py")),
    Target(
        "claims",
        ("report/claims/*.py", "report/statistics.py"),
        ("report/claims", "report/test_statistics.py"),
    ),
    Target(
        "files",
        ("runtime/atomic.py", "runtime/files.py", "runtime/decompression.py", "runtime/arrays.py"),
        ("runtime", "cli/test_bad_inputs.py", "data"),
    ),
    Target("files", ("runtime/yaml_files.py", "runtime/names.py"), ("runtime", "data")),
    Target(
        "files",
        ("models/io/*.py", "models/io/libra/*.py"),
        ("models", "cli/test_bad_inputs.py", "api/test_user_warnings.py"),
    ),
    Target(
        "files",
        ("data/*.py", "learning/checkpoints.py"),
        ("data", "learning/test_checkpoints.py", "learning/test_missing_cells.py"),
    ),
)

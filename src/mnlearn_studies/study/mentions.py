"""What tables, figures and claims of a study name: there must be such methods and quantities.

A name that is misspelt would otherwise show as an empty cell, like a number that is not computed
yet.
"""

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import pandas as pd

from mnlearn.runtime.errors import InputError
from mnlearn.scoring.metrics import METRIC_NAMES, find_metric
from mnlearn_studies.datasets.sample_names import base_of
from mnlearn_studies.study.reading import hint, place_name, suggestion, walk

Options = Mapping[str, Any]

# Quantities that `study.gather` can make for any method; others depend on the study.
_COMMON = (
    *METRIC_NAMES,
    *(
        f"{score}_{more}"
        for score in METRIC_NAMES
        for more in ("monte_carlo_error", "partition_mean", "partitions")
    ),
    *("validation", "n_features", "n_features_generated", "mean_length", "n_vars", "n_nodes"),
    *("seconds_tuning", "seconds_tuning_and_files", "seconds_inference", "mean_seconds_weights"),
    *("seconds_structure", "seconds_features", "seconds_weights"),
    *("seconds_learn", "seconds_learn_and_files", "peak_memory_mib"),
    *(f"seconds_{part}_{end}" for part in ("learn", "tuning") for end in ("min", "max")),
)
# Each has one number per share of the queried variables.
_OF_QUERIES = (
    *("cll", "cmll", "cll_sampled", "cmll_sampled", "cmll_beliefs", "converged_beliefs"),
    *("seconds", "seconds_single", "seconds_beliefs"),
)


def check_methods(name: str, content: Mapping[str, Any]) -> None:
    """Refuse a study that names a method it does not have, in a list, table, figure or claim."""
    for method, entry in content["methods"].items():
        find_metric(entry.get("criterion", "pll"), f"study {name}, method {method}, criterion")
    for key, method in _listed_methods(content):
        if method not in content["methods"]:
            hint = suggestion(method, content["methods"])
            raise InputError(f"study {name}, {key}: no method {method!r}{hint}")
    _check_pairs(name, content)
    for method in content.get("timed_search", []):
        if method not in content.get("timed", []):
            raise InputError(f"study {name}, timed_search: expected {method!r} under timed too.")
    sampled = content.get("queries", {}).get("sampled", {"methods": []})
    known = [*content["methods"], *sampled["methods"]]
    for kind in ("tables", "figures", "claims"):
        for entry in content[kind]:
            if kind == "figures" and entry["kind"] == "structure":
                _check_structure(name, entry, content["datasets"])
            for place, method in _methods_in(entry):
                if method not in known:
                    where = place_name(name, kind, entry, place)
                    raise InputError(f"{where}: no method {method!r}{suggestion(method, known)}")


def _listed_methods(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in ("timed", "timed_search"):
        yield from ((key, method) for method in content.get(key, []))
    for key in ("paired", "divergences"):
        yield from ((key, method) for pair in content.get(key, []) for method in pair)
    yield from (("queries.methods", m) for m in content.get("queries", {}).get("methods", []))
    for key in ("methods", "timed"):
        found = content.get("likelihoods", {}).get(key, [])
        yield from ((f"likelihoods.{key}", method) for method in found)
    for kind, methods in content.get("records", {}).items():
        yield from ((f"records.{kind}", method) for method in methods)
    for way, entry in content.get("cmll", {}).get("also", {}).items():
        yield from ((f"cmll.also.{way}.methods", method) for method in entry["methods"])


def _check_pairs(name: str, content: Mapping[str, Any]) -> None:
    """Refuse a table of differences between methods that the study does not pair."""
    paired = [tuple(pair) for pair in content.get("paired", [])]
    for table in content["tables"]:
        if table["kind"] != "paired" or not isinstance(table.get("against"), list):
            continue
        for other in table["against"]:
            pair = table.get("method"), other
            if all(one in content["methods"] for one in pair) and pair not in paired:
                where = place_name(name, "tables", table)
                raise InputError(f"{where}: expected [{pair[0]}, {pair[1]}] under the key paired.")


def _check_structure(name: str, figure: Options, datasets: Collection[str]) -> None:
    """Refuse a figure of a structure that does not say which, since the workflow records it."""
    where = place_name(name, "figures", figure)
    for key in ("dataset", "method"):
        if not isinstance(figure.get(key), str):
            raise InputError(f"{where}: expected the key {key!r}.")
    base = base_of(figure["dataset"])
    if base not in datasets:
        raise InputError(f"{where}: no dataset {base!r}{suggestion(base, datasets)}")


def _methods_in(entry: Options) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the methods of the study that a table, figure or claim names, with their places."""
    for place, options in walk(entry):
        # Papers have names of their own for methods.
        if "study" not in options:
            lists = [options.get(key, []) for key in ("against", "methods")]
            listed = [name for names in lists if isinstance(names, list) for name in names]
            for name in [options.get("method"), *listed]:
                if isinstance(name, str):
                    yield place, name


def named_methods(entry: Options) -> set[str]:
    """Return the methods of the study that a table, figure or claim names."""
    return {name for _, name in _methods_in(entry)}


def named_datasets(entry: Options, datasets: Collection[str]) -> list[str]:
    """Return the datasets that a table, figure or claim names, or else all."""
    one = [entry["dataset"]] if "dataset" in entry else datasets
    return list(entry.get("datasets", one))


def check_sources(
    study: str,
    content: Mapping[str, Any],
    kind: str,
    entry: Options,
    *,
    scores: pd.DataFrame,
    published: pd.DataFrame,
    is_recorded: Callable[[str], bool],
) -> None:
    """Refuse a table or figure with a quantity that there is not, or that no paper has.

    Details of learners are known only from scores. So a quantity is refused if its method has
    scores, no method has the quantity, and no step of a study could make it.
    """
    found, scored = set(scores["quantity"]), set(scores["method"])
    possible = [*found, *_possible_quantities(content)]
    for place, options in walk(entry):
        where = place_name(study, kind, entry, place)
        if "study" in options:
            _check_published(options, published, where)
            continue
        method, quantity = options.get("method"), options.get("quantity")
        if not isinstance(quantity, str) or method not in scored or quantity in possible:
            continue
        near = hint(quantity, possible)
        if near or not is_recorded(quantity):
            end = near or f"; expected one of {', '.join(sorted(found))}."
            raise InputError(f"{where}: no quantity {quantity!r}{end}")


def check_spelling(study: str, content: Mapping[str, Any], kind: str, entry: Options) -> None:
    """Refuse a quantity that is one letter off what a study can have, before it has any scores."""
    possible = list(_possible_quantities(content))
    for place, options in walk(entry):
        quantity = options.get("quantity")
        # Papers and axes have names of their own for quantities.
        is_own = "method" in options and "study" not in options and isinstance(quantity, str)
        if not is_own or quantity in possible:
            continue
        meant = next((known for known in possible if _is_slip(str(quantity), known)), None)
        if meant is not None:
            where = place_name(study, kind, entry, place)
            raise InputError(f"{where}: no quantity {quantity!r}; did you mean {meant!r}?")


def _is_slip(name: str, known: str) -> bool:
    """Tell whether a letter is one too much, lacks, or is another one."""
    same = difflib.SequenceMatcher(None, name.lower(), known, autojunk=False).get_matching_blocks()
    return sum(block.size for block in same) >= max(len(name), len(known)) - 1


def _check_published(options: Options, published: pd.DataFrame, where: str) -> None:
    """Refuse a published source of which nothing is published, if anything is."""
    if published.empty:
        return
    left = published
    for key in ("study", "table", "method", "quantity"):
        if key in options:
            given, known = str(options[key]), list(dict.fromkeys(left[key]))
            if given not in known:
                raise InputError(f"{where}: no published {key} {given!r}{suggestion(given, known)}")
            left = left[left[key] == given]


def _possible_quantities(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the quantities that records of a study can have, without the details of learners."""
    methods = content.get("methods", {})
    yield from _COMMON
    for name in content.get("cmll", {}).get("also", {}):
        yield from (f"cmll_{name}", f"cmll_{name}_monte_carlo_error", f"seconds_inference_{name}")
    for other in methods:
        yield f"kl_to_{other}"
        yield from (f"{score}_less_{other}" for score in METRIC_NAMES)
    # Figures name the quantities of all shares at once.
    yield from _OF_QUERIES
    for percentage in content.get("queries", {}).get("percentages", []):
        yield from (f"{name}_q{percentage}" for name in _OF_QUERIES)
    for entry in methods.values():
        for grid in (entry.get("grid", {}), *entry.get("exceptions", {}).values()):
            for parameter, values in grid.items():
                yield f"chosen_{parameter}"
                yield from (f"chosen_{parameter}_{value}" for value in values)

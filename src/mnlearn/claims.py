"""Claims of a paper, each evaluated on our numbers: reproduced, not reproduced, or why unknown."""

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mnlearn.data.registry import load_registry
from mnlearn.errors import InputError
from mnlearn.files import write_text
from mnlearn.products import check_kind, option
from mnlearn.published import Number, numbers, paired, source, tidy_scores
from mnlearn.statistics import geometric_mean, wilcoxon
from mnlearn.study import Study
from mnlearn.tables.formats import to_markdown
from mnlearn.tables.table import Cell, Row, Table, significant

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
UNKNOWN = "cannot be checked yet"
DOCUMENTED = "documented"

LEGEND = {
    REPRODUCED: "our number agrees within the tolerance that the study states for the claim",
    NOT_REPRODUCED: "it does not; the difference says by how much",
    UNKNOWN: "something is missing: a method, a dataset that has not been scored, a measurement",
    DOCUMENTED: "a statement on the data or the set-up that our code or data follow; no number",
}


@dataclass(frozen=True)
class Outcome:
    """What our numbers say about a claim.

    ours : as text, empty if there is nothing to say. difference : ours less published, as text.
    reason : why it cannot be checked. n_datasets : how many datasets it rests on.
    """

    verdict: str
    ours: str = ""
    difference: str = ""
    reason: str = ""
    n_datasets: int | None = None


@dataclass(frozen=True)
class Claim:
    """A claim of a study with its outcome."""

    id: int
    kind: str
    statement: str
    published: str
    outcome: Outcome
    note: str = ""


@dataclass(frozen=True)
class Evidence:
    """What claims are evaluated on; scores are the study's own, tidy."""

    study: Study
    scores: pd.DataFrame
    published: pd.DataFrame


Entry = Mapping[str, Any]
Kind = Callable[[Entry, Evidence], Outcome]


def _where(entry: Entry, evidence: Evidence) -> str:
    return f"study {evidence.study.name}, claim {entry['id']}"


def _numbers(entry: Entry, evidence: Evidence, key: str) -> dict[str, Number]:
    where = _where(entry, evidence)
    spec = source(option(entry, key, where), f"{where}, {key}")
    return numbers(evidence.scores, evidence.published, spec)


def _published(entry: Entry, evidence: Evidence) -> float:
    value = entry["published"]
    if isinstance(value, str):
        raise InputError(f"{_where(entry, evidence)}, published: expected a number, got {value!r}.")
    return float(value)


def _datasets(entry: Entry, evidence: Evidence) -> list[str]:
    return list(entry.get("datasets", evidence.study.datasets))


def _pairs(
    entry: Entry, evidence: Evidence, as_printed: bool = True
) -> tuple[list[float], list[float], list[str]]:
    """Return the values of `a` and `b` on the claim's datasets, and the datasets without them."""
    datasets = _datasets(entry, evidence)
    a, b = _numbers(entry, evidence, "a"), _numbers(entry, evidence, "b")
    found = paired(a, b, datasets, as_printed)
    missing = [d for d in datasets if d not in {name for name, _, _ in found}]
    return [x for _, x, _ in found], [y for _, _, y in found], missing


def _incomplete(ours: str, n: int, missing: list[str]) -> Outcome:
    total = n + len(missing)
    reason = f"{n} of {total} datasets scored; missing: {', '.join(missing)}"
    return Outcome(UNKNOWN, ours, "", reason, n)


def _judge(entry: Entry, ours: float, theirs: float, tolerance: float) -> str:
    """Return the verdict on a number.

    `accept` in the entry: within (the default), at_least, or at_most; each gives way by the
    tolerance.
    """
    accept = entry.get("accept", "within")
    difference = round(ours - theirs, 12)
    accepted = {
        "within": abs(difference) <= tolerance,
        "at_least": difference >= -tolerance,
        "at_most": difference <= tolerance,
    }
    if accept not in accepted:
        raise InputError(f"claim {entry['id']}, accept: expected one of {', '.join(accepted)}.")
    return REPRODUCED if accepted[accept] else NOT_REPRODUCED


def _count(entry: Entry, evidence: Evidence, count: int, n: int, missing: list[str]) -> Outcome:
    """Return the outcome of a number of datasets; `tolerance` is in datasets."""
    if missing:
        return _incomplete(f"{count} of {n}", n, missing)
    theirs = _published(entry, evidence)
    verdict = _judge(entry, count, theirs, float(entry.get("tolerance", 0)))
    return Outcome(verdict, f"{count} of {n}", f"{count - theirs:+g}", n_datasets=n)


def wins(entry: Entry, evidence: Evidence) -> Outcome:
    """Count the datasets on which `a` is better than `b` (lower: true if lower is better)."""
    a, b, missing = _pairs(entry, evidence)
    sign = -1 if entry.get("lower") else 1
    count = sum(sign * x > sign * y for x, y in zip(a, b, strict=True))
    return _count(entry, evidence, count, len(a), missing)


def best_of(entry: Entry, evidence: Evidence) -> Outcome:
    """Count the datasets on which one of the columns named in `best` is the best of `columns`.

    Ties for the best place count. Values are compared at the coarsest printed precision. lower :
    true if lower is better.
    """
    where = _where(entry, evidence)
    specs = option(entry, "columns", where)
    best = option(entry, "best", where)
    found = {
        str(spec["name"]): numbers(evidence.scores, evidence.published, source(spec, where))
        for spec in specs
    }
    for name in best:
        if name not in found:
            raise InputError(f"{where}, best: no column is named {name!r}.")
    datasets = _datasets(entry, evidence)
    complete = [d for d in datasets if all(d in column for column in found.values())]
    count = 0
    for dataset in complete:
        row = {name: column[dataset] for name, column in found.items()}
        decimals = min((n.decimals for n in row.values() if n.decimals is not None), default=12)
        values = {name: round(number.value, decimals) for name, number in row.items()}
        choose = min if entry.get("lower") else max
        count += choose(values[name] for name in best) == choose(values.values())
    missing = [d for d in datasets if d not in complete]
    return _count(entry, evidence, count, len(complete), missing)


def near(entry: Entry, evidence: Evidence) -> Outcome:
    """Count the datasets on which `a` and `b` differ by less than `bound`, nats per variable."""
    bound = float(option(entry, "bound", _where(entry, evidence)))
    a, b = _numbers(entry, evidence, "a"), _numbers(entry, evidence, "b")
    n_vars = {name: benchmark.n_vars for name, benchmark in load_registry().items()}
    datasets = _datasets(entry, evidence)
    found = paired(a, b, [d for d in datasets if d in n_vars], as_printed=False)
    count = sum(abs(x - y) / n_vars[d] < bound for d, x, y in found)
    missing = [d for d in datasets if d not in {name for name, _, _ in found}]
    return _count(entry, evidence, count, len(found), missing)


def inside(entry: Entry, evidence: Evidence) -> Outcome:
    """Count the datasets on which `a` is at least `low` and at most `high`."""
    where = _where(entry, evidence)
    low, high = float(option(entry, "low", where)), float(option(entry, "high", where))
    found = _numbers(entry, evidence, "a")
    datasets = _datasets(entry, evidence)
    present = [d for d in datasets if d in found]
    count = sum(low <= found[d].value <= high for d in present)
    return _count(entry, evidence, count, len(present), [d for d in datasets if d not in found])


def ratio(entry: Entry, evidence: Evidence) -> Outcome:
    """Average the ratio of `a` to `b` over datasets; mean: arithmetic (the default), geometric."""
    a, b, missing = _pairs(entry, evidence, as_printed=False)
    return _mean_ratio(entry, evidence, a, b, missing)


def speedup(entry: Entry, evidence: Evidence) -> Outcome:
    """Average how many times less time `a` takes than `b`; at least the published is accepted."""
    a, b, missing = _pairs(entry, evidence, as_printed=False)
    return _mean_ratio({"accept": "at_least", **entry}, evidence, b, a, missing)


def _mean_ratio(
    entry: Entry, evidence: Evidence, above: list[float], below: list[float], missing: list[str]
) -> Outcome:
    if not above:
        return _incomplete("", 0, missing)
    ratios = np.array([x / y if y else 0.0 for x, y in zip(above, below, strict=True)])
    if ratios.min() <= 0:
        return Outcome(UNKNOWN, reason="a ratio is not positive", n_datasets=len(ratios))
    mean = float(geometric_mean(ratios) if entry.get("mean") == "geometric" else ratios.mean())
    if missing:
        return _incomplete(significant(mean), len(above), missing)
    theirs = _published(entry, evidence)
    verdict = _judge(entry, mean, theirs, float(entry.get("tolerance", 0)))
    return Outcome(verdict, significant(mean), _signed(mean - theirs), n_datasets=len(above))


def _signed(value: float) -> str:
    return ("-" if value < 0 else "+") + significant(abs(value))


def trend(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare whether means of a quantity rise or fall over `groups` of variants as printed.

    method, quantity : what is averaged, over all datasets that have all variants and all variants
    of a group. published : the printed means in the order of the groups, as text.
    """
    where = _where(entry, evidence)
    groups = option(entry, "groups", where)
    scores = evidence.scores
    scores = scores[
        (scores["method"] == option(entry, "method", where))
        & (scores["quantity"] == option(entry, "quantity", where))
    ]
    table = scores.pivot_table("value", "dataset", "variant")
    names = [name for group in groups for name in group]
    if any(name not in table.columns for name in names):
        return _incomplete("", 0, _datasets(entry, evidence))
    table = table[names].dropna()
    missing = [d for d in _datasets(entry, evidence) if d not in table.index]
    means = [float(table[group].to_numpy().mean()) for group in groups] if len(table) else []
    ours = "; ".join(significant(mean) for mean in means)
    if missing:
        return _incomplete(ours, len(table), missing)
    theirs = [float(part) for part in str(entry["published"]).split(";")]
    same = list(np.argsort(means)) == list(np.argsort(theirs))
    return Outcome(REPRODUCED if same else NOT_REPRODUCED, ours, "", n_datasets=len(table))


def distribution(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare on how many datasets `a` has each of `values`; `tolerance` is in datasets."""
    where = _where(entry, evidence)
    found = _numbers(entry, evidence, "a")
    datasets = _datasets(entry, evidence)
    present = [found[d].value for d in datasets if d in found]
    counts = [present.count(float(v)) for v in option(entry, "values", where)]
    ours = "; ".join(map(str, counts))
    missing = [d for d in datasets if d not in found]
    if missing:
        return _incomplete(ours, len(present), missing)
    theirs = [int(part) for part in str(entry["published"]).split(";")]
    off = max(abs(a - b) for a, b in zip(counts, theirs, strict=True))
    verdict = REPRODUCED if off <= float(entry.get("tolerance", 0)) else NOT_REPRODUCED
    return Outcome(verdict, ours, "", n_datasets=len(present))


def value(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare one number, that of `a` on `dataset`, within `tolerance`."""
    dataset = str(option(entry, "dataset", _where(entry, evidence)))
    found = _numbers(entry, evidence, "a")
    if dataset not in found:
        return _incomplete("", 0, [dataset])
    ours, theirs = found[dataset].value, _published(entry, evidence)
    verdict = _judge(entry, ours, theirs, float(entry.get("tolerance", 0)))
    return Outcome(verdict, f"{ours:.4g}", _signed(ours - theirs), n_datasets=1)


def p_value(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare by Wilcoxon's signed-rank test whether `a` is better than `b`.

    Reproduced if ours is significant at `level` (0.05) when the published p is, in favour of
    `a`, and not significant when that is not.
    """
    a, b, missing = _pairs(entry, evidence)
    if missing:
        return _incomplete("", len(a), missing)
    sign = -1 if entry.get("lower") else 1
    result = wilcoxon(sign * np.array(a), sign * np.array(b))
    theirs, level = _published(entry, evidence), float(entry.get("level", 0.05))
    favours = result.wins > result.losses
    agrees = (result.p <= level and favours) if theirs <= level else result.p > level
    direction = "in favour" if favours else "not in favour"
    return Outcome(
        REPRODUCED if agrees else NOT_REPRODUCED,
        f"p {significant(result.p)}, {result.wins} to {result.losses} {direction}",
        _signed(result.p - theirs),
        n_datasets=result.n,
    )


def setting(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare a setting of the study, at the dotted `path`, with `expected`.

    An entry with `documented` instead says in words how data or code follow the statement.
    """
    if "documented" in entry:
        return Outcome(DOCUMENTED, str(entry["documented"]))
    where = _where(entry, evidence)
    path = str(option(entry, "path", where))
    expected = option(entry, "expected", where)
    found: Any = evidence.study.content
    for key in path.split("."):
        if not isinstance(found, dict) or key not in found:
            return Outcome(NOT_REPRODUCED, "not set", reason=f"the study has no {path}")
        found = found[key]
    same = found == expected
    listed = list(found.values()) if isinstance(found, dict) else found
    ours = "; ".join(map(str, listed)) if isinstance(listed, list) else str(listed)
    verdict = REPRODUCED if same else NOT_REPRODUCED
    if same or not isinstance(found, int | float) or not isinstance(expected, int | float):
        return Outcome(verdict, ours, "same" if same else "other")
    return Outcome(verdict, ours, f"{found - expected:+g}")


def unavailable(entry: Entry, evidence: Evidence) -> Outcome:
    """Say what checking the claim `needs`."""
    return Outcome(UNKNOWN, reason=f"needs {option(entry, 'needs', _where(entry, evidence))}")


KINDS: dict[str, Kind] = {
    "wins": wins,
    "best_of": best_of,
    "near": near,
    "inside": inside,
    "ratio": ratio,
    "value": value,
    "trend": trend,
    "distribution": distribution,
    "wilcoxon": p_value,
    "speedup": speedup,
    "setting": setting,
    "unavailable": unavailable,
}


def evaluate(study: Study, scores: pd.DataFrame, published: pd.DataFrame) -> list[Claim]:
    """Evaluate the claims of a study, in its order.

    Raises
    ------
    InputError
        A claim is of an unknown kind, or lacks an option of its kind.

    """
    own = tidy_scores(scores[scores["study"] == study.name])
    evidence = Evidence(study, own, published)
    claims = []
    for entry in study.content["claims"]:
        check_kind(study, "claims", entry, KINDS)
        outcome = KINDS[entry["kind"]](entry, evidence)
        claims.append(
            Claim(
                int(entry["id"]),
                str(entry["kind"]),
                str(entry["statement"]),
                _published_text(entry, evidence),
                outcome,
                str(entry.get("note", "")),
            )
        )
    return claims


def _published_text(entry: Entry, evidence: Evidence) -> str:
    if entry["kind"] in ("wins", "best_of", "near", "inside"):
        return f"{entry['published']} of {len(_datasets(entry, evidence))}"
    return str(entry["published"])


def to_csv(claims: list[Claim]) -> str:
    """Return one row per claim."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    header = "id kind statement published ours verdict difference reason n_datasets note"
    writer.writerow(header.split())
    for claim in claims:
        o = claim.outcome
        n_datasets = "" if o.n_datasets is None else o.n_datasets
        head = (claim.id, claim.kind, claim.statement, claim.published)
        writer.writerow([*head, o.ours, o.verdict, o.difference, o.reason, n_datasets, claim.note])
    return text.getvalue()


def to_text(study: Study, claims: list[Claim]) -> str:
    """Return the claims as Markdown: how many of each verdict, the table, legend and remarks."""
    counts = {v: sum(c.outcome.verdict == v for c in claims) for v in LEGEND}
    shown = ", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n)
    lines = [f"# Claims: {study.content['title']}", ""]
    if not claims:
        return "\n".join([*lines, "This study states no claims."]) + "\n"
    lines += [f"{len(claims)} claims: {shown}.", "", to_markdown(_table(claims))]
    lines += [f"- **{verdict}**: {text}." for verdict, text in LEGEND.items() if counts[verdict]]
    remarks = [f"{claim.id}. {claim.note}" for claim in claims if claim.note]
    if remarks:
        lines += ["", "## Remarks", "", "\n\n".join(remarks)]
    return "\n".join(lines) + "\n"


def _table(claims: list[Claim]) -> Table:
    rows = []
    for claim in claims:
        outcome = claim.outcome
        verdict = outcome.verdict + (f" ({outcome.reason})" if outcome.reason else "")
        texts = (claim.statement, claim.published, outcome.ours, outcome.difference, verdict)
        rows.append(Row((Cell(str(claim.id)), *map(Cell, texts))))
    columns = ("id", "claim", "published", "ours", "difference", "verdict")
    return Table(columns, (columns,), "rlllll", tuple(rows))


def write_claims(
    study: Study, scores: pd.DataFrame, published: pd.DataFrame, path_md: Path, path_csv: Path
) -> None:
    """Evaluate the claims of a study and write them for readers and for programs.

    Raises
    ------
    InputError
        See `evaluate`.

    """
    claims = evaluate(study, scores, published)
    write_text(path_md, to_text(study, claims))
    write_text(path_csv, to_csv(claims))

"""The Adult data: 15 attributes, or a binary column for each value; numbers cut into four bins.

Numbers are cut at the quartiles of all rows; capital gain and loss, mostly 0, at 0 and at the
terciles of what is above.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.variables.schema import Schema, Variable, binary_schema

_SEED = 20102
_N_TEST, _N_VALID = 7_327, 5_000
_QUARTILES, _TERCILES = (0.25, 0.5, 0.75), (1 / 3, 2 / 3)
_MISSING = "?"

# The attributes in the order of the files; of a number, how it is cut; of a nominal attribute, the
# values that the description of the data declares.
_ATTRIBUTES: dict[str, str] = {
    "age": "quartiles",
    "workclass": "Private,Self-emp-not-inc,Self-emp-inc,Federal-gov,Local-gov,State-gov,"
    "Without-pay,Never-worked",
    "fnlwgt": "quartiles",
    "education": "Bachelors,Some-college,11th,HS-grad,Prof-school,Assoc-acdm,Assoc-voc,9th,"
    "7th-8th,12th,Masters,1st-4th,10th,Doctorate,5th-6th,Preschool",
    "education-num": "quartiles",
    "marital": "Married-civ-spouse,Divorced,Never-married,Separated,Widowed,"
    "Married-spouse-absent,Married-AF-spouse",
    "occupation": "Tech-support,Craft-repair,Other-service,Sales,Exec-managerial,Prof-specialty,"
    "Handlers-cleaners,Machine-op-inspct,Adm-clerical,Farming-fishing,Transport-moving,"
    "Priv-house-serv,Protective-serv,Armed-Forces",
    "relationship": "Wife,Own-child,Husband,Not-in-family,Other-relative,Unmarried",
    "race": "White,Asian-Pac-Islander,Amer-Indian-Eskimo,Other,Black",
    "sex": "Female,Male",
    "capital-gain": "terciles",
    "capital-loss": "terciles",
    "hours": "quartiles",
    "country": "United-States,Cambodia,England,Puerto-Rico,Canada,Germany,"
    "Outlying-US(Guam-USVI-etc),India,Japan,Greece,South,China,Cuba,Iran,Honduras,Philippines,"
    "Italy,Poland,Jamaica,Vietnam,Mexico,Portugal,Ireland,France,Dominican-Republic,Laos,Ecuador,"
    "Taiwan,Haiti,Columbia,Hungary,Guatemala,Nicaragua,Scotland,Thailand,Yugoslavia,El-Salvador,"
    "Trinadad&Tobago,Peru,Hong,Holand-Netherlands",
    "cls": "<=50K,>50K",
}


def build_adult(files: Sequence[bytes]) -> Mapping[str, Dataset]:
    """Return the splits as 125 binary columns; a missing value is 0 in all columns of a nominal
    attribute.
    """
    attributes = _read_attributes(files)
    rows = [cells[:, None] == np.array(known) for _, cells, known, _ in attributes]
    names = [f"{name}={state}" for name, _, _, shown in attributes for state in shown]
    return _split(np.hstack(rows), binary_schema(names))


def build_adult_groups(files: Sequence[bytes]) -> Mapping[str, Dataset]:
    """Return the splits as 15 variables; missing values are a state of their own."""
    variables, states = [], []
    for name, cells, known, shown in _read_attributes(files):
        missing = [_MISSING] if (cells == _MISSING).any() else []
        variables.append(Variable(name, (*shown, *missing)))
        states.append((cells[:, None] == np.array([*known, *missing])).argmax(axis=1))
    schema = Schema(tuple(variables))
    return _split(schema.rows(np.stack(states, axis=1)), schema)


def _read_attributes(files: Sequence[bytes]) -> list[tuple[str, NDArray, list[str], list[str]]]:
    """Return of each attribute its name, its cells, its values, and what these are called."""
    table = _read(files)
    attributes = []
    for column, (name, values) in enumerate(_ATTRIBUTES.items()):
        cells = table[:, column]
        if values in ("quartiles", "terciles"):
            numbers = cells.astype(np.float64)
            cells = np.searchsorted(_edges(numbers, values), numbers).astype(str)
            known = ["0", "1", "2", "3"]
            attributes.append((name, cells, known, [f"bin{k}" for k in known]))
        else:
            known = values.split(",")
            attributes.append((name, cells, known, known))
    return attributes


def _edges(numbers: NDArray[np.float64], how: str) -> NDArray[np.float64]:
    if how == "quartiles":
        return np.quantile(numbers, _QUARTILES)
    return np.concatenate([[0.0], np.quantile(numbers[numbers > 0], _TERCILES)])


def _read(files: Sequence[bytes]) -> NDArray[np.str_]:
    lines = [line for content in files for line in content.decode("ascii").splitlines()]
    # The second file begins with a remark, and has a full stop after each class.
    rows = [line.rstrip(".").split(", ") for line in lines if line and not line.startswith("|")]
    return np.array(rows)


def _split(rows: NDArray, schema: Schema) -> Mapping[str, Dataset]:
    """Return the splits: of the rows in a random order, test, then training, then validation."""
    rows = rows[np.random.Generator(np.random.PCG64(_SEED)).permutation(len(rows))]
    parts = {
        "train": rows[_N_TEST:-_N_VALID],
        "valid": rows[-_N_VALID:],
        "test": rows[:_N_TEST],
    }
    return {split: merge_rows(part, schema=schema) for split, part in parts.items()}

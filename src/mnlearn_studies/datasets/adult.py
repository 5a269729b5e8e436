"""The Adult data: binary columns for the values of its 15 attributes, numbers cut into four bins.

The bins of a number are cut at the quartiles of all rows; capital gain and loss, which are mostly
0, at 0 and at the terciles of what is above. A value belongs to the bin whose number is the number
of cuts below it.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset

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
    blocks, names = _encode(files, with_missing=False)
    return _split(blocks, names, grouped=False)


def build_adult_groups(files: Sequence[bytes]) -> Mapping[str, Dataset]:
    """Return the splits with one group of columns for each attribute.

    An attribute with missing values has a column for them too.
    """
    blocks, names = _encode(files, with_missing=True)
    return _split(blocks, names, grouped=True)


def _encode(
    files: Sequence[bytes], with_missing: bool
) -> tuple[list[NDArray[np.bool_]], list[str]]:
    """Return the columns of each attribute, shape (n_rows, n_values), and their names."""
    table = _read(files)
    blocks, names = [], []
    for column, (attribute, values) in enumerate(_ATTRIBUTES.items()):
        cells = table[:, column]
        if values in ("quartiles", "terciles"):
            numbers = cells.astype(np.float64)
            found = np.searchsorted(_edges(numbers, values), numbers).astype(str)
            known = ["0", "1", "2", "3"]
            shown = [f"bin{k}" for k in known]
        else:
            found, known = cells, values.split(",")
            known += [_MISSING] * (with_missing and bool((cells == _MISSING).any()))
            shown = known
        blocks.append(found[:, None] == np.array(known))
        names += [f"{attribute}={value}" for value in shown]
    return blocks, names


def _edges(numbers: NDArray[np.float64], how: str) -> NDArray[np.float64]:
    """Return the cuts between the bins of a number."""
    if how == "quartiles":
        return np.quantile(numbers, _QUARTILES)
    return np.concatenate([[0.0], np.quantile(numbers[numbers > 0], _TERCILES)])


def _read(files: Sequence[bytes]) -> NDArray[np.str_]:
    """Return the cells of both files, shape (n_rows, n_attributes)."""
    lines = [line for content in files for line in content.decode("ascii").splitlines()]
    # The second file begins with a remark, and has a full stop after each class.
    rows = [line.rstrip(".").split(", ") for line in lines if line and not line.startswith("|")]
    return np.array(rows)


def _split(
    blocks: Sequence[NDArray[np.bool_]], names: Sequence[str], grouped: bool
) -> Mapping[str, Dataset]:
    """Return the splits: of the rows in a random order, test, then training, then validation."""
    ends = np.cumsum([block.shape[1] for block in blocks]).tolist()
    spans = [range(end - block.shape[1], end) for end, block in zip(ends, blocks, strict=True)]
    rows = np.hstack(blocks)
    rows = rows[np.random.Generator(np.random.PCG64(_SEED)).permutation(len(rows))]
    parts = {
        "train": rows[_N_TEST:-_N_VALID],
        "valid": rows[-_N_VALID:],
        "test": rows[:_N_TEST],
    }
    groups = spans if grouped else ()
    return {
        split: Dataset.from_arrays(part, names=names).with_groups(groups)
        for split, part in parts.items()
    }

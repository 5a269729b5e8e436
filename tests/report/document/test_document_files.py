"""Files of a study that a page reads: what is refused."""

import pytest

from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.document.files import read_claims


@pytest.mark.parametrize("text", ["id\n1\n", "id,kind\n1," + "a" * 140_000 + "\n"])
def test_damaged_claims_are_refused(tmp_path, text):
    path = tmp_path / "claims.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=r"claims\.csv: expected the claims of a study"):
        read_claims(path)

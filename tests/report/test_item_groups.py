"""Groups of items in a file: its forms, and the colours of groups."""

import pytest

from made_data import write
from mnlearn.drawing.item_groups import colour_groups, read_item_groups
from mnlearn.runtime.errors import InputError


@pytest.mark.parametrize(
    "content",
    [
        "item,group\na,x\nb,y\n",
        "group,item\ny,b\nx,a\n",
        "Item;Group;Color\na;x;\nb;y;\n",
        "\ufeffitem\tgroup\na\tx\n\nb\ty\n",
    ],
)
def test_forms_of_the_file(tmp_path, content):
    found = read_item_groups(write(tmp_path / "g.csv", content), ["a", "b"])
    assert found.group == ("x", "y")


def test_colours_of_the_file_stay(tmp_path):
    path = write(tmp_path / "g.csv", "item,group,colour\na,x,red\nb,y,\n")
    assert read_item_groups(path, ["a", "b"]).colour_of["x"] == "red"


def test_twelve_groups_have_different_colours():
    found = colour_groups([str(k) for k in range(12)])
    assert len(set(found.colours)) == 12


@pytest.mark.parametrize("content", ["item\na\n", "item,item\na,b\n", "item,group,size\na,x,1\n"])
def test_other_columns_are_refused(tmp_path, content):
    with pytest.raises(InputError, match=r"g\.csv, line 1: expected the columns item, group and"):
        read_item_groups(write(tmp_path / "g.csv", content), ["a"])

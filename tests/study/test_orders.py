"""Orders and seals: which files are older than what they are to be made by."""

import json
import os

import pytest

from mnlearn_studies.plan.orders import Orders

CONTENT = {"content": 1}


def set_time(path, moment):
    os.utime(path, (moment, moment))


@pytest.fixture
def made(tmp_path):
    """A folder of results in which a table was made by an order, and a run has sealed it."""
    orders = Orders(tmp_path)
    order = orders.write("s/tables/t", CONTENT, ["csv", "md"])
    set_time(order, 1e9)
    (tmp_path / "s/tables").mkdir(parents=True)
    for suffix in ("csv", "md"):
        path = tmp_path / f"s/tables/t.{suffix}"
        path.write_text(suffix)
        set_time(path, 1e9 + 1)
    orders.seal()
    return tmp_path


def is_current(results, content=CONTENT, **more):
    """Whether, to a new run, the files were made by the order, as Snakemake sees it.

    Snakemake takes no order for newer that is the same as before.
    """
    order = Orders(results, **more).write("s/tables/t", content, ["csv", "md"])
    same = json.loads(order.read_text()) == {"made_by": CONTENT, "number": 0}
    moment = order.stat().st_mtime_ns
    newer = any(p.stat().st_mtime_ns < moment for p in (results / "s/tables").iterdir())
    assert newer or same
    return same


def test_what_was_made_by_its_order_is_current(made):
    assert is_current(made)
    for path in (made / "s/tables").iterdir():
        path.touch()  # The same content with another time.
    assert is_current(made)


def test_another_content_of_the_order_or_of_a_file_is_not_current(made):
    assert not is_current(made, {"content": 2})
    # It was made by the order before, whatever its time.
    assert not is_current(made, {"content": 2})


def test_a_file_that_was_restored_is_not_current(made):
    (made / "s/tables/t.md").write_text("older")
    assert not is_current(made)


def test_a_missing_or_damaged_seal_says_nothing(made):
    seal = made / "orders/s/tables/t.seal"
    for damage in (lambda: seal.write_text("{"), lambda: seal.write_text("[]"), seal.unlink):
        damage()
        assert not is_current(made)


def test_a_damaged_order_is_written_again(made):
    order = made / "orders/s/tables/t.order"
    before = order.read_bytes()
    order.write_text("{")
    assert Orders(made).write("s/tables/t", CONTENT, ["csv", "md"]).read_bytes() == before


def test_an_order_that_comes_back_is_the_same(made):
    """So Snakemake, which compares digests too, makes nothing again."""
    order = made / "orders/s/tables/t.order"
    before = order.read_bytes()
    Orders(made).write("s/tables/t", {"content": 2}, ["csv", "md"])
    assert order.read_bytes() != before
    Orders(made).write("s/tables/t", CONTENT, ["csv", "md"])
    assert order.read_bytes() == before


def test_a_run_seals_only_what_it_has_made(made):
    (made / "s/tables/t.md").write_text("older")
    orders = Orders(made)
    orders.write("s/tables/t", CONTENT, ["csv", "md"])
    orders.seal()
    assert not is_current(made)


def test_a_job_leaves_orders_as_they_are(made):
    (made / "s/tables/t.md").write_text("older")
    assert is_current(made, plans=False)
    assert not is_current(made)

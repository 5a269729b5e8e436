"""The order of grid points, and the point that each one starts at."""

import itertools

from mnlearn.learning.grid_order import Path, falling, order_points, rising


def test_stronger_penalties_come_first():
    grid = {"mode": ["a", "b"], "l1": [1, 5, 10], "sd": [1.0, None, 0.1]}
    points = order_points(("mode", "l1", "sd"), grid, Path())
    assert len(points) == 18
    by_place = {point.place: point for point in points}
    seen = set()
    for point in points:
        assert point.start is None or point.start in seen
        seen.add(point.place)

    def start(mode, l1, sd):
        (point,) = (p for p in points if p.values == (mode, l1, sd))
        return None if point.start is None else by_place[point.start].values

    assert start("b", 10, 0.1) is None
    assert start("b", 1, 0.1) == ("b", 5, 0.1)
    assert start("a", 10, 1.0) == ("a", 10, 0.1)
    assert start("a", 10, None) == ("a", 10, 1.0)
    assert start("a", 5, None) == ("a", 10, None)
    assert all(point.same_features == (point.start is not None) for point in points)


def test_places_are_those_of_the_grid_as_given():
    grid = {"l1": [5, 1], "sd": [1.0, 0.1]}
    points = order_points(("l1", "sd"), grid, Path())
    given = list(itertools.product(grid["l1"], grid["sd"]))
    assert [given[point.place] for point in points] == [point.values for point in points]
    assert sorted(point.place for point in points) == list(range(4))


def test_steps_between_features_follow_those_of_the_penalty():
    grid = {"n": [10, 20], "threshold": [1, 2], "l1": [1, 5]}
    path = Path(penalty=(falling("l1"),), features=(falling("threshold"), rising("n")))
    points = order_points(("n", "threshold", "l1"), grid, path)
    values = {point.place: point.values for point in points}
    starts = {p.values: (values.get(p.start), p.same_features) for p in points}
    assert starts[10, 2, 5] == (None, False)
    assert starts[10, 1, 5] == ((10, 2, 5), False)
    assert starts[20, 2, 5] == ((10, 2, 5), False)
    assert starts[20, 1, 5] == ((20, 2, 5), False)
    assert starts[20, 1, 1] == ((20, 1, 5), True)
    families = {point.family for point in points}
    assert families == {(10, 1), (10, 2), (20, 1), (20, 2)}


def test_without_a_path_the_order_is_that_of_the_grid():
    grid = {"kappa": [0.1, 1.0, 0.01]}
    points = order_points(("kappa",), grid, None)
    assert [point.values for point in points] == [(0.1,), (1.0,), (0.01,)]
    assert all(point.start is None for point in points)


def test_points_are_left_out_and_the_others_keep_their_places():
    grid = {"n": [1, 2], "threshold": [1, 5], "l1": [1.0, 10.0]}
    path = Path(features=(falling("threshold"), rising("n")))
    names = ("n", "threshold", "l1")
    points = order_points(names, grid, path)
    left = order_points(names, grid, path, [{"n": 2, "threshold": 1}])
    assert left == [point for point in points if point.values[:2] != (2, 1)]
    assert len(left) == 6

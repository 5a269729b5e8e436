"""The seconds that cells took."""

from mnlearn_studies.records.files import sum_seconds


def test_each_model_is_scored_on_each_partition_and_by_each_way_of_inference():
    partitions = {"cmll": {"partitions": [-1.0, -2.0, -3.0]}}
    chosen = {"parameters": {"l1": 1}, "seconds_inference": 2.0, "scores": partitions}
    variants = {
        "": {**chosen, "seconds_inference_bp": 0.25},
        "same": {"parameters": {"l1": 1}, "seconds_inference": 2.0, "scores": {}},
        "other": {"parameters": {"l1": 5}, "seconds_inference": 0.5, "scores": {}},
    }
    cell = {"seconds_tuning": 7.0, "variants": variants}
    assert sum_seconds([cell]) == (7.0, 6.75)
    assert sum_seconds([cell, {"seconds_tuning": 1.0, "variants": {}}]) == (8.0, 6.75)

from memorata.engine.graph.communities import FoundPath, PathStep


def test_a_path_reads_as_it_was_walked() -> None:
    steps = (
        PathStep("belongs_to", forward=True, weight=1.0, entity="fleet", memory=None),
        PathStep("mentions", forward=False, weight=1.0, entity=None, memory="m1"),
    )
    assert str(FoundPath("UAV-001", steps, 0.7225)) == "UAV-001 —belongs_to→ fleet ←mentions— m1"

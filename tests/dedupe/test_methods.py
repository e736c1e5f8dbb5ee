import pytest

from memorata.dedupe import Method, method_for
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import parameters_of


@pytest.mark.parametrize("count", [0, 1, 999, 1_000, 10_000])
def test_small_stores_compare_all_pairs(count: int) -> None:
    assert method_for(count) is Method.MATRIX


@pytest.mark.parametrize("count", [10_001, 100_000, 10_000_000])
def test_large_stores_compare_candidates(count: int) -> None:
    assert method_for(count) is Method.LSH


def test_the_caller_can_force_a_method_by_name_or_value() -> None:
    assert method_for(5, "lsh") is Method.LSH
    assert method_for(10**6, Method.MATRIX) is Method.MATRIX


def test_the_limit_moves_and_declares_itself() -> None:
    assert method_for(5, matrix_limit=4) is Method.LSH
    assert method_for(5, matrix_limit=5) is Method.MATRIX
    assert [parameter.name for parameter in parameters_of(method_for)] == ["matrix_limit"]


@pytest.mark.parametrize("count", [-1, 1.5, None, "10", True, float("nan")])
def test_a_count_is_a_whole_number(count: int) -> None:
    with pytest.raises(InvalidArgument, match="count must be"):
        method_for(count)
    with pytest.raises(InvalidArgument, match="matrix_limit must be"):
        method_for(1, matrix_limit=count)


@pytest.mark.parametrize("force", ["dbscan", "", "LSH", 1, True])
def test_an_unknown_method_is_refused(force: str) -> None:
    with pytest.raises(InvalidArgument, match="force must be one of 'matrix', 'lsh'"):
        method_for(10, force)

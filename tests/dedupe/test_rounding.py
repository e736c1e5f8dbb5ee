from memorata.dedupe import ROUNDING


def test_decimal_differences_that_floats_overshoot_are_within_it() -> None:
    gap = 0.9 - 0.7
    assert gap > 0.2
    assert gap <= 0.2 + ROUNDING


def test_a_difference_that_anyone_would_print_is_not_rounding() -> None:
    gap = 0.900001 - 0.7
    assert gap > 0.2 + ROUNDING

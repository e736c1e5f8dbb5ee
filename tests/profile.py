"""How much is tested: little every day, more before a release, most by an attack."""

import os


def chosen(daily: int, thorough: int, attack: int | None = None) -> int:
    """Return how many rounds or seconds the run is to take: `make test`, `test-thorough` or `attack`."""
    if attack is not None and os.environ.get("MEMORATA_ATTACK"):
        return attack
    return thorough if os.environ.get("MEMORATA_TEST_PROFILE") == "thorough" else daily

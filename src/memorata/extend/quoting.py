"""Memories quoted in prompts as data that gives no instructions."""

from memorata.service.data_rows import recalled_block, row

__all__ = [
    "recalled_block",
    "row",
]

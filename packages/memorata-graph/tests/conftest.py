"""The command line, run inside the process of a test."""

from memorata.testing.commands import cli, commands_are_made_once, home, tea, tea_database

__all__ = ["cli", "commands_are_made_once", "home", "tea", "tea_database"]

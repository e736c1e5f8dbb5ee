"""The settings of a process: environment, settings file and defaults."""

from memorata.engine.settings import Settings

__all__ = ["Settings"]

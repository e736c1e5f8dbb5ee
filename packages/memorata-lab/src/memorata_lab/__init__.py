"""The lab of Memorata: data sets and metrics, tuning, experiments, and replay of the log of recalls."""

from typing import TYPE_CHECKING

from memorata.extend import on_demand

if TYPE_CHECKING:
    from memorata_lab.learn.experiments import Experiments

__getattr__, __dir__ = on_demand(__name__, {".learn.experiments": ("Experiments",)})

__all__ = ["Experiments"]

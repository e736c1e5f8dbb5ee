"""The environment of a process, loaded by itself: folders of a person, and the threads of numpy."""

from memorata._environment import ONE_THREAD, at_home, data_folder, make_folder

__all__ = [
    "ONE_THREAD",
    "at_home",
    "data_folder",
    "make_folder",
]

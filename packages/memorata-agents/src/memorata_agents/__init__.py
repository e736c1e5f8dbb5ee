"""How do programs that were written for something else use it? One module for each of them.

An adapter translates names and types, and has no logic of its own: what it does is the engine's. None of the
frameworks is needed to import this package; a module names the ``pip install`` it lacks.
"""

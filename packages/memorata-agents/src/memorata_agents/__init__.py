"""How do agents use it? Hooks for coding agents, readers of other tools' files, and a module a framework.

An adapter of a framework translates names and types, and has no logic of its own: the engine does the work.
None of the frameworks is needed to import this package; a module names the ``pip install`` it lacks.
"""

"""The names that satellites use beside those of :mod:`memorata`, by subject.

A satellite is a distribution of its own in `packages/`. It imports from `memorata`, from the modules of this
package and from `memorata.testing`, and from nothing else of the engine; import-linter checks that. What a
satellite adds is declared as an entry point, and loaded when its name is asked for:

=======================  ===================================================================================
group                    value of an entry point
=======================  ===================================================================================
``memorata.commands``    a package with the tables `COMMANDS` and `GROUPS`: a group of the command line
``memorata.importers``   by the name of a format of files, its `FileFormat`
``memorata.embedders``   by a name or form of specifications, a function of it and `Resources`: a `Choice`
``memorata.rerankers``   the same, that returns a re-ranker
``memorata.extractors``  by the form of specifications, a function of it and a key that returns the role; so
                         ``anchors``, ``classifiers``, ``summarisers`` and ``judges``
``memorata.legs``        by name, a function of a recipe, a context, and the slots and scores of the best
                         candidates, which returns more candidates
``memorata.stores``      by the scheme of an address, a function of it and `StoreOptions` that opens a store
``memorata.routes``      a router of FastAPI, for the server
``memorata.recipes``     a mapping of names of recipes to what each sets
``memorata.pages``       a module with `ROUTES` and `PAGES`, beside ``templates`` and ``static``, for the page
``memorata.tools``       a sequence of tools for agents, for the MCP server
``memorata.tool_sets``   by name, a module with `TOOLS` and `INSTRUCTIONS`, served in place of all other tools
=======================  ============================================================================
"""

from memorata._frozen import frozen
from memorata._on_demand import on_demand
from memorata._satellites import declared, loaded, missing

__all__ = ["declared", "frozen", "loaded", "missing", "on_demand"]

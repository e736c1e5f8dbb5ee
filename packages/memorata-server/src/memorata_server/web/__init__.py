"""The web page: search with live controls, and everything there is to see of a memory, in a browser.

Pages are rendered on the server and work without scripts; htmx makes them live. Nothing is loaded from
elsewhere, so they work offline.
"""

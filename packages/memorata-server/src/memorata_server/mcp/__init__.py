"""How do agents reach it? The Model Context Protocol, over standard input and output or HTTP.

The protocol is spoken by the official SDK; this room says which tools there are, what they answer, and how
what was remembered comes back as data. Nothing here loads the engine before a tool needs it, so that a client
that starts the server has its list of tools at once.
"""

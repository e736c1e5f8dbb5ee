"""Memory for coding agents: hooks that a background process answers.

Claude Code, Codex and Cursor run a command at fixed points of a session. Ours hands the event to one process
per user, which holds the memory open, and prints its answer: a briefing when a session starts, what is
remembered when a prompt is sent. What was said is captured when the agent stops.
:mod:`memorata_agents.hooks.client` is that command and loads the standard library alone, since the agent
waits.
"""

"""What the command line, HTTP, MCP and the pages share: formats of files, JSON forms, import, jobs, keys."""

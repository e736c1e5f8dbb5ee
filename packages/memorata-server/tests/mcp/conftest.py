from tests.interfaces.mcp import call, engine, fail, say, talk

__all__ = ["call", "engine", "fail", "say", "talk"]

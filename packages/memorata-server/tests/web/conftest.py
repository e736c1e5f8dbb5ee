from tests.interfaces.web import client, empty, engine, token

__all__ = ["client", "empty", "engine", "token"]

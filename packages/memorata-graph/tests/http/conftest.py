from tests.interfaces.http import client, engine, open_client, tea

__all__ = ["client", "engine", "open_client", "tea"]

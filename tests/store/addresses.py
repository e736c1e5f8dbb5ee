"""Addresses of databases with a part of them changed, whatever form they are given in."""

from urllib.parse import quote, urlencode

from psycopg import connect
from psycopg.conninfo import conninfo_to_dict

PASSWORD = "hunter2"
"""That of every user whom tests make; a server that asks for none does not look at it."""


def changed(url: str, setting: str = "", **parts: str) -> str:
    """Return an address with other parts (user, dbname, …), and with a setting such as ``jit=off``."""
    known = {name: str(value) for name, value in conninfo_to_dict(url).items() if value is not None} | parts
    if setting:
        known["options"] = f"-c{setting} {known.get('options', '')}".strip()
    return f"postgresql://?{urlencode(known, quote_via=quote)}"


def with_password(url: str) -> tuple[str, str]:
    """Return an address with a password, and the password: its own, if it has one."""
    password = str(conninfo_to_dict(url).get("password") or PASSWORD)
    return changed(url, password=password), password


def outside(url: str, user: str) -> str:
    """Return the address of a schema as a user who may look for it there, and in no other."""
    schema = str(conninfo_to_dict(url)["options"]).partition("search_path=")[2].partition(",")[0]
    with connect(url, autocommit=True) as connection:
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {user}")
    # Before version 15 everybody may make tables in the schema public.
    return changed(as_user(url, user), options=f"-csearch_path={schema}")


def as_user(url: str, user: str) -> str:
    """Return an address as a user whom a test has made."""
    return changed(url, user=user, password=PASSWORD)

"""The ports of a database, and the store that works over them."""

from memorata.store.address import ServerAddress, address_of, is_address, shown
from memorata.store.database import DatabaseInfo, Dialect, Rows, Session, Statement
from memorata.store.dialects import StoreOptions
from memorata.store.rows import LARGEST, NAMESPACE_COLUMNS, NO_MEMORY, SLOTS
from memorata.store.store import MEMORY_BUDGET, Store

__all__ = [
    "LARGEST",
    "MEMORY_BUDGET",
    "NAMESPACE_COLUMNS",
    "NO_MEMORY",
    "SLOTS",
    "DatabaseInfo",
    "Dialect",
    "Rows",
    "ServerAddress",
    "Session",
    "Statement",
    "Store",
    "StoreOptions",
    "address_of",
    "is_address",
    "shown",
]

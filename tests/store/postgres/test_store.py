"""The store on a server keeps every promise of the contract."""

from memorata.store.conformance import StoreConformance


class TestServer(StoreConformance):
    """The whole suite, on the fixture ``store`` of this folder."""

"""The databases for rooms: a file, and a PostgreSQL server for tests."""

import pytest

from attention.classroom.store import Store, sqlite
from tests.sweep import sweep


@pytest.fixture(params=sweep(["sqlite", "postgresql"], quick=["sqlite"]))
def address(request, tmp_path):
    """The address of an empty database, of each kind in turn."""
    return sqlite(tmp_path) if request.param == "sqlite" else request.getfixturevalue("postgres").new()


@pytest.fixture
def store(address):
    """The rooms in such a database."""
    store = Store(address)
    yield store
    store.close()

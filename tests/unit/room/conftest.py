"""The databases in which rooms are kept: a file, and a PostgreSQL of the tests' own."""

import pytest

from attention.room.store import sqlite
from tests import services


@pytest.fixture(scope="session")
def postgres():
    if services.find("initdb") is None:
        pytest.skip(services.MISSING.format("PostgreSQL"))
    with services.postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    """The address of an empty database, of each kind in turn."""
    return sqlite(tmp_path) if request.param == "sqlite" else request.getfixturevalue("postgres").new()

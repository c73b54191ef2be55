"""Small problems run best on one thread; tests of threading choose for themselves."""

from collections.abc import Iterator

import pytest

import continua as ct


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = ct.threads()
    ct.set_threads(1)
    yield
    ct.set_threads(before)

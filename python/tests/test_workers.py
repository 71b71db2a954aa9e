"""The processes of a sweep."""

import os

import pytest

from tailback import workers


@pytest.mark.parametrize("own", [None, "glibc.malloc.arena_max=4"])
def test_processes_hold_their_memory_in_large_pages_unless_the_user_tunes_it(own, monkeypatch):
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    if own is not None:
        monkeypatch.setenv("GLIBC_TUNABLES", own)
    with workers.pool(1) as executor:
        inside = executor.submit(os.getenv, "GLIBC_TUNABLES").result()
    assert inside == (own or "glibc.malloc.hugetlb=1")
    assert os.environ.get("GLIBC_TUNABLES") == own

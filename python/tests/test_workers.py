"""The processes of a sweep."""

import os

import pytest

from tailback.sweeps import workers


@pytest.mark.parametrize(
    ("name", "set_to", "own"),
    [
        ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", None),
        ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", "glibc.malloc.arena_max=4"),
        ("OPENBLAS_NUM_THREADS", "1", None),
        ("OPENBLAS_NUM_THREADS", "1", "2"),
    ],
)
def test_processes_have_large_pages_and_no_threads_of_numpy_unless_the_user_says_otherwise(
    name, set_to, own, monkeypatch
):
    monkeypatch.delenv(name, raising=False)
    if own:
        monkeypatch.setenv(name, own)
    with workers.pool(1) as executor:
        inside = executor.submit(os.getenv, name).result()
    assert inside == (own or set_to)
    assert os.environ.get(name) == own

"""Threads of linear algebra."""

from __future__ import annotations

from threadpoolctl import threadpool_limits


def one_thread() -> threadpool_limits:
    """Limit linear algebra to one thread, until the end of a `with`.

    Several wait for each other by running, and each product of a role is so small that they do little else.
    """
    import scipy.linalg  # noqa: F401 (a limit holds for libraries that are loaded, and it has one of its own)

    return threadpool_limits(1)

"""One thread for linear algebra while hcpinn computes: matrices of a few hundred rows are factorised and
multiplied several times faster by one than by several, which mostly wait for one another."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from threadpoolctl import threadpool_limits

_lock = threading.Lock()
_inside = 0
_limit: threadpool_limits | None = None


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within the block, BLAS uses one thread.

    The limit counts for the whole process. Blocks of several threads may overlap, as those of a solution and
    of its reference do: the last one to end restores what was there before the first.
    """
    global _inside, _limit
    with _lock:
        if not _inside:
            _limit = threadpool_limits(1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside and _limit is not None:
                _limit.restore_original_limits()
                _limit = None

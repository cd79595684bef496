"""BLAS has one thread while something computes, and its former number afterwards."""

import threading

import scipy.linalg  # noqa: F401 - brings a BLAS of its own
import threadpoolctl

from hcpinn.machine.threads import one_blas_thread


def counts():
    return {i["num_threads"] for i in threadpoolctl.threadpool_info() if i["user_api"] == "blas"}


def test_blocks_that_overlap_leave_the_number_of_threads_as_it_was():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = counts()
        begun, over = threading.Event(), threading.Event()

        def first():
            with one_blas_thread():
                begun.set()
                over.wait(10)

        other = threading.Thread(target=first)
        other.start()
        begun.wait(10)
        with one_blas_thread():
            over.set()
            other.join()
            assert counts() == {1}
        assert counts() == before

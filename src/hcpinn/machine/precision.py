"""Double precision inside hcpinn that leaves the caller's JAX settings alone."""

import contextlib
from collections.abc import Iterator

import jax


@contextlib.contextmanager
def double() -> Iterator[None]:
    """Within the block, allow float64 and compute matrix products in full precision.

    With TF32 products on a GPU, quasi-Newton stages stall at an error of one.
    """
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        yield

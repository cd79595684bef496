"""Double precision inside hcpinn, without touching the caller's JAX settings."""

import contextlib
from collections.abc import Iterator

import jax


@contextlib.contextmanager
def double() -> Iterator[None]:
    """Allow float64 and forbid reduced-precision matrix products within the block only.

    TF32 products freeze quasi-Newton stages at an error of one, so a GPU is asked
    for full float32 products as well.
    """
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        yield

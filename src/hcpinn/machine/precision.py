"""Double precision inside hcpinn that leaves the caller's JAX settings alone."""

import contextlib
from collections.abc import Iterator

import jax

from .processes import check_devices


@contextlib.contextmanager
def double() -> Iterator[None]:
    """Within the block, allow float64, compute matrix products in full precision, and draw as ever.

    It is entered before anything computes, so it also says what would keep JAX from computing here.
    With TF32 products on a GPU, quasi-Newton stages stall at an error of one. Random numbers are those of
    JAX's own default, whichever generator the caller has chosen.
    """
    check_devices()
    precise = jax.enable_x64(True), jax.default_matmul_precision("highest")
    random = jax.default_prng_impl("threefry2x32"), jax.threefry_partitionable(True)
    with precise[0], precise[1], random[0], random[1]:
        yield

"""Operations read off a trace are those that a reader of the formula would count."""

import jax
import jax.numpy as jnp
import pytest

from hcpinn.speed import Operations, operations

SCALAR = jax.ShapeDtypeStruct((), jnp.float64)
MATRIX = jax.ShapeDtypeStruct((3, 5), jnp.float64)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x * x + 2 * x, Operations(arithmetic=3)),
        (lambda x: x**5, Operations(arithmetic=3)),
        (lambda x: jnp.tanh(x) / x, Operations(functions=2)),
        (lambda x: 1.0 * x, Operations()),
    ],
)
def test_a_formula_takes_what_it_says(function, expected):
    assert operations(function, SCALAR) == expected


def test_the_same_operation_counts_once_and_an_unused_one_not_at_all():
    def function(x, y):
        unused = jnp.sin(x)  # noqa: F841
        return x * y + jax.checkpoint(lambda a, b: a * b)(y, x)

    assert operations(function, SCALAR, SCALAR) == Operations(arithmetic=2)


def test_sizes_count():
    assert operations(lambda x: x + 1, MATRIX) == Operations(arithmetic=15)
    assert operations(lambda x: jnp.sum(x, axis=0), MATRIX) == Operations(arithmetic=10)
    assert operations(lambda x: x.T @ x, MATRIX) == Operations(products=2 * 5 * 5 * 3)


def test_a_loop_is_refused():
    with pytest.raises(ValueError, match="scan"):
        operations(lambda x: jax.lax.scan(lambda c, _: (c + 1, None), x, length=3)[0], SCALAR)


def test_operations_add_up():
    assert Operations(1, 2, 3) + Operations(4, 5, 6).times(2) == Operations(9, 12, 15)

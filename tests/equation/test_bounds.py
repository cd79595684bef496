"""Bounds hold every value in between, and close on it where the interval does."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hcpinn.equation.bounds import Real, exactly
from hcpinn.equation.program import Program
from hcpinn.machine.precision import double

FUNCTIONS = {
    "arithmetic": lambda t: t / (t * t + 1e-3) + 1 / (2 + t) - t**3 + (1 + t) ** -2 + t**0.5,
    "elementary": lambda t: jnp.log(1 + t) * jnp.tan(t) + jnp.sinh(t) / jnp.cosh(t) + jnp.arctan(5 * t),
    "waves": lambda t: jnp.sin(40 * t) * jnp.cos(7 * t - 1) + jnp.sinc(4 * t),
    "switches": lambda t: jnp.where(t < 0.5, jnp.sin(7 * t), jnp.sign(t - 0.6)) + jnp.floor(3 * t) + (5 * t) % 0.7,
    "kinks": lambda t: jnp.maximum(t, 0.3) * jnp.abs(t - 0.4) + jnp.clip(t, 0.2, 0.8) + jnp.heaviside(t - 0.3, 0.5),
    "sigmoids": lambda t: jax.scipy.special.erf(3 * t - 1) + jax.nn.sigmoid(9 * t) + jnp.tanh((t - 0.2) / 0.01),
    "complex": lambda t: jnp.abs(jnp.exp(7j * t) * (1 + t)) + jnp.real((1 + 2j * t) ** 3 / (1 + 1j * t)),
    "slopes": lambda t: jax.grad(lambda s: jnp.cosh(s) ** 2.5 / (1 + jnp.exp(-5 * s)))(t),
    "tables": lambda t: jnp.interp(t, jnp.array([0.0, 0.2, 1.0]), jnp.array([0.0, 3.0, 1.0])),
    "spiky tables": lambda t: jnp.interp(t, jnp.linspace(0, 1, 501), jnp.where(jnp.arange(501) == 123, 9.0, jnp.arange(501) % 7)),
    "entries": lambda t: jnp.array([0.0, 2.0, -1.0, 5.0])[(4 * t).astype(int)],
    "loops": lambda t: jax.lax.fori_loop(0, 5, lambda n, s: s + jnp.exp(-((t - n / 5) ** 2) * 90), 0.0 * t)
    + jnp.polyval(jnp.array([1.0, -2.0, 0.5]), t),
    "choices": lambda t: jax.lax.cond(t > 0.4, lambda: jnp.sin(9 * t), lambda: t**2)
    + jnp.piecewise(t, [t < 0.5, t > 0.7], [1.0, lambda t: 3 * t, 0.0])
    + jnp.select([t < 0.3, t < 0.6], [0.0, t], 2.0),
    "angles": lambda t: jnp.arctan2(t - 0.5, 0.2 - t) + jnp.arctanh(t - 0.5),
    "products": lambda t: jnp.dot(jnp.array([1.0, -3.0, 2.0]), jnp.sin(jnp.array([3.0, 5.0, 9.0]) * t))
    + jnp.sum(jnp.cumsum(jnp.stack([t, -t, t**2])) @ jnp.array([[1.0, -1.0], [2.0, 0.5], [-1.0, 1.0]])),
    "sums": lambda t: jnp.sum(jnp.cos(jnp.arange(5) * t) * jnp.arange(1.0, 6.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_bounds_hold_every_value_and_close_on_it(name):
    function = FUNCTIONS[name]
    rng = np.random.default_rng(0)
    ends = np.sort(rng.uniform(0.01, 0.99, (200, 2)), axis=1)
    with double():
        program = Program(function, 0.5)
        (wanted,) = program.outputs
        (found,) = program.run({program.inputs[0]: Real(*ends.T)}, [wanted.name])
        (exact,) = program.run({program.inputs[0]: exactly(ends[:, 0])}, [wanted.name])
        values = np.asarray(jax.vmap(jax.vmap(function))(np.linspace(*ends.T, 64)))
    assert isinstance(found, Real)
    assert isinstance(exact, Real)
    room = 1e-12 * np.abs(values).max()
    assert (values.min(0) >= found.low - room).all()
    assert (values.max(0) <= found.high + room).all()
    assert np.allclose(exact.low, values[0], rtol=0, atol=room)
    assert np.allclose(exact.high, values[0], rtol=0, atol=room)

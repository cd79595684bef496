"""Plain JAX: nested `jax.grad` of a scalar function, mapped over the points; ten steps are one program."""

import jax
import jax.numpy as jnp
import numpy as np
from common import DEPTH, MODES, RATE, WIDTH, serve


def make(points, order, precision):
    if precision == "float64":
        jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    dtype = jnp.dtype(precision)
    sizes = [2 + 2 * MODES, *[WIDTH] * DEPTH, 1]
    keys = jax.random.split(jax.random.key(0), len(sizes))
    glorot = jax.nn.initializers.glorot_normal()
    layers = [
        (glorot(k, (a, b), dtype), jnp.zeros(b, dtype))
        for k, a, b in zip(keys, sizes[:-1], sizes[1:], strict=False)
    ]
    rng = np.random.default_rng(0)
    t = jnp.asarray(rng.random(points), dtype)
    x = jnp.asarray(2 * rng.random(points) - 1, dtype)
    k = jnp.pi * jnp.arange(1, MODES + 1, dtype=dtype)

    def u(layers, t, x):
        hidden = jnp.concatenate([jnp.stack([t, jnp.ones_like(t)]), jnp.cos(k * x), jnp.sin(k * x)])
        for weight, bias in layers[:-1]:
            hidden = jnp.tanh(hidden @ weight + bias)
        weight, bias = layers[-1]
        return jnp.exp(-t) * x**2 * jnp.cos(jnp.pi * x) + t * (hidden @ weight + bias)[0]

    u_t = jax.grad(u, 1)
    u_xx = jax.grad(jax.grad(u, 2), 2)
    u_xxxx = jax.grad(jax.grad(u_xx, 2), 2)

    def residual(layers, t, x):
        value = u(layers, t, x)
        r = u_t(layers, t, x) - 1e-3 * u_xx(layers, t, x) + 5 * (value**3 - value)
        return r + 1e-7 * u_xxxx(layers, t, x) if order == 4 else r

    def loss(layers):
        return jnp.mean(jax.vmap(lambda t, x: residual(layers, t, x))(t, x) ** 2)

    def step(layers, _):
        value, gradient = jax.value_and_grad(loss)(layers)
        return jax.tree.map(lambda p, g: p - jnp.asarray(RATE, dtype) * g, layers, gradient), value

    block = 10
    run = jax.jit(lambda layers: jax.lax.scan(step, layers, length=block))
    state = [layers]

    def steps(count):
        for _ in range(-(-count // block)):
            state[0], losses = run(state[0])
        return float(np.asarray(losses)[-1])

    return steps


if __name__ == "__main__":
    serve(make)

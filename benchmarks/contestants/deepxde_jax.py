"""DeepXDE on its JAX backend, driven through its own `Model`: one compiled call per step.

As `deepxde_pytorch.py`; its derivatives are nested `jax.grad`. The backend also needs flax.
"""

import os

os.environ["DDE_BACKEND"] = "jax"

import contextlib
import sys

with contextlib.redirect_stdout(sys.stderr):
    import deepxde as dde
import jax
import jax.numpy as jnp
from common import DEPTH, MODES, RATE, WIDTH, serve


def make(points, order, precision):
    with contextlib.redirect_stdout(sys.stderr):
        return _make(points, order, precision)


def _make(points, order, precision):
    if precision == "float64":
        jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    dde.config.set_default_float(precision)
    dde.config.set_random_seed(0)
    geometry = dde.geometry.GeometryXTime(dde.geometry.Interval(-1, 1), dde.geometry.TimeDomain(0, 1))

    def residual(inputs, u):
        u_t = dde.grad.jacobian(u, inputs, i=0, j=1)[0]
        u_xx = dde.grad.hessian(u, inputs, i=0, j=0)
        r = u_t - 1e-3 * u_xx[0] + 5 * (u[0] ** 3 - u[0])
        if order == 4:
            r = r + 1e-7 * dde.grad.hessian(u_xx, inputs, i=0, j=0)[0]
        return r

    data = dde.data.TimePDE(geometry, residual, [], num_domain=points, train_distribution="pseudo")
    network = dde.nn.FNN([2 + 2 * MODES, *[WIDTH] * DEPTH, 1], "tanh", "Glorot normal")
    k = jnp.pi * jnp.arange(1, MODES + 1)

    def features(inputs):
        x, t = inputs[..., :1], inputs[..., 1:]
        phase = x * k.astype(x.dtype)
        return jnp.concatenate([t, jnp.ones_like(t), jnp.cos(phase), jnp.sin(phase)], -1)

    def output(inputs, y):
        x, t = inputs[..., :1], inputs[..., 1:]
        return jnp.exp(-t) * x**2 * jnp.cos(jnp.pi * x) + t * y

    network.apply_feature_transform(features)
    network.apply_output_transform(output)
    model = dde.Model(data, network)
    model.compile("sgd", lr=RATE, verbose=0)
    model.train_state.set_data_train(*model.data.train_next_batch(None))
    state = model.train_state

    def steps(count):
        with contextlib.redirect_stdout(sys.stderr):
            for _ in range(count):
                model._train_step(state.X_train, state.y_train, state.train_aux_vars)
            losses = model._outputs_losses(True, state.X_train, state.y_train, state.train_aux_vars)[1]
        return float(losses[0])

    return steps


if __name__ == "__main__":
    serve(make)

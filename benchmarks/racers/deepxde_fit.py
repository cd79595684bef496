"""DeepXDE identifies λ₁ and λ₂ of uₜ + λ₁ u uₓ = λ₂ uₓₓ from scattered values, on its PyTorch backend.

    python deepxde_fit.py DATA.npz SECONDS

As in its documentation on inverse problems: `dde.Variable`s trained along with the network by Adam, then by
L-BFGS, on residual, initial, boundary and observed values together. λ₂ is positive, as e to a variable.
"""

import os

os.environ["DDE_BACKEND"] = "pytorch"

import contextlib
import json
import sys
import time

with contextlib.redirect_stdout(sys.stderr):
    import deepxde as dde
    import torch
import numpy as np

began, limit = time.perf_counter(), float(sys.argv[2])


class Clock(dde.callbacks.Callback):
    """Ends the training when its time is up."""

    def on_epoch_end(self):
        if time.perf_counter() - began > limit:
            self.model.stop_training = True


def main():
    dde.config.set_default_float("float64")
    dde.config.set_random_seed(0)
    torch.set_num_threads(1)
    with np.load(sys.argv[1]) as file:
        points, values = np.stack([file["x"], file["t"]], axis=1), file["u"][:, None]
    l1, log_l2 = dde.Variable(0.5), dde.Variable(float(np.log(0.02)))
    geometry = dde.geometry.GeometryXTime(dde.geometry.Interval(-1, 1), dde.geometry.TimeDomain(0, 1))

    def residual(inputs, u):
        u_x = dde.grad.jacobian(u, inputs, i=0, j=0)
        u_t = dde.grad.jacobian(u, inputs, i=0, j=1)
        u_xx = dde.grad.hessian(u, inputs, i=0, j=0)
        return u_t + l1 * u * u_x - torch.exp(log_l2) * u_xx

    conditions = [
        dde.icbc.DirichletBC(geometry, lambda _: 0.0, lambda _, on: on),
        dde.icbc.IC(geometry, lambda x: -np.sin(np.pi * x[:, :1]), lambda _, on: on),
        dde.icbc.PointSetBC(points, values),
    ]
    data = dde.data.TimePDE(
        geometry, residual, conditions, num_domain=4000, num_boundary=200, num_initial=200, anchors=points
    )
    model = dde.Model(data, dde.nn.FNN([2, *[20] * 4, 1], "tanh", "Glorot normal"))
    unknowns = [l1, log_l2]
    model.compile("adam", lr=1e-3, external_trainable_variables=unknowns, verbose=0)
    model.train(iterations=5000, display_every=10**9, callbacks=[Clock()], verbose=0)
    while time.perf_counter() - began < limit:
        dde.optimizers.set_LBFGS_options()
        dde.optimizers.config.LBFGS_options["iter_per_step"] = 20
        dde.optimizers.config.LBFGS_options["fun_per_step"] = 25
        model.compile("L-BFGS", external_trainable_variables=unknowns, verbose=0)
        before = model.train_state.step
        model.train(display_every=10**9, callbacks=[Clock()], verbose=0)
        if model.train_state.step - before < 20:  # it has converged, by its own account
            break
    return {
        "l1": float(l1),
        "l2": float(torch.exp(log_l2)),
        "steps": int(model.train_state.step),
        "version": dde.__version__,
    }


with contextlib.redirect_stdout(sys.stderr):
    found = main()
print(json.dumps(found))

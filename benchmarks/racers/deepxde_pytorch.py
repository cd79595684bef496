"""DeepXDE on its PyTorch backend: Adam, then L-BFGS, the pair its documentation recommends.

Adam: rate 10⁻³, as in its Allen–Cahn example; L-BFGS with its default settings. Feature and output
transforms carry the embedding and the exact data. Points as its own sampler places them.
"""

import os

os.environ["DDE_BACKEND"] = "pytorch"

import contextlib
import sys

with contextlib.redirect_stdout(sys.stderr):
    import deepxde as dde
    import torch
import numpy as np
from common import Race

race = Race()


def main():
    task, options = race.task, race.options
    dde.config.set_default_float("float64")
    dde.config.set_random_seed(options.seed)
    geometry = dde.geometry.GeometryXTime(
        dde.geometry.Interval(task.lower, task.upper), dde.geometry.TimeDomain(0, task.horizon)
    )

    def residual(inputs, u):
        parts = [u, dde.grad.jacobian(u, inputs, i=0, j=1)]
        f = u
        for _ in range(task.order):
            f = dde.grad.jacobian(f, inputs, i=0, j=0)
            parts.append(f)
        return task.residual(*parts)

    data = dde.data.TimePDE(geometry, residual, [], num_domain=options.points)
    network = dde.nn.FNN(race.sizes, "tanh", "Glorot normal")
    k = task.wave * torch.arange(1, options.modes + 1)

    def features(inputs):
        x, s = inputs[:, :1], inputs[:, 1:] / task.horizon
        return task.inputs(torch, s, x, k.to(x))

    def output(inputs, y):
        x, s = inputs[:, :1], inputs[:, 1:] / task.horizon
        return task.trial(torch, s, x, y)

    network.apply_feature_transform(features)
    network.apply_output_transform(output)
    model = dde.Model(data, network)

    class Check(dde.callbacks.Callback):
        def on_epoch_end(self):
            if race.due() and race.check(lambda t, x: self.model.predict(_columns(x, t))):
                self.model.stop_training = True

    model.compile("adam", lr=1e-3, verbose=0)
    model.train(iterations=options.adam_steps, display_every=10**9, callbacks=[Check()], verbose=0)
    while not race.over:
        dde.optimizers.set_LBFGS_options()
        # Of the 1,000 iterations between two looks at the clock.
        dde.optimizers.config.LBFGS_options["iter_per_step"] = 20
        dde.optimizers.config.LBFGS_options["fun_per_step"] = 25
        model.compile("L-BFGS", verbose=0)
        before = model.train_state.step
        model.train(display_every=10**9, callbacks=[Check()], verbose=0)
        if model.train_state.step - before < 20:  # it has converged, by its own account
            break


def _columns(*columns):
    return np.concatenate(columns, 1)


with contextlib.redirect_stdout(sys.stderr):
    report = race.report

    def aloud(*arguments):
        with contextlib.redirect_stdout(sys.__stdout__):
            return report(*arguments)

    race.report = aloud
    main()

"""jinns: Adam, then its own self-scaled Broyden method, the kind of optimiser its documentation recommends.

Adam: rate 10⁻³, times 0.9 every 2,000 steps, a fifth of the others' Adam steps, since the second stage is
the stronger one. Input and output transforms carry the embedding and the exact data; the points are those
of the plain racers. The error is checked by jinns' validation step every 50 iterations, inside its compiled
loop, and so counts: it is one forward pass over the grid.
"""

import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import jinns
import numpy as np
import optax
from common import Race
from jinns.solver import GetJinnsVariableName
from jinns.validation import AbstractValidationModule

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")
warnings.filterwarnings("ignore", category=UserWarning)

race = Race()
task = race.task


def callback_value(params, loss, batch):
    return loss(params, batch)[0]


def callback_gradient(params, loss, batch):
    return jax.grad(lambda p: loss(p, batch)[0])(params)


class Equation(jinns.loss.PDENonStatio):
    def equation(self, t_x, u, params):
        t, x = t_x[0], t_x[1]
        f = lambda t, x: u(jnp.stack([t, x]), params)[0]
        parts = [f(t, x), jax.grad(f, 0)(t, x)]
        for _ in range(task.order):
            f = jax.grad(f, 1)
            parts.append(f(t, x))
        return task.residual(*parts)[None]


class Check(AbstractValidationModule):
    """The error on the grid, and whether the race is over."""

    u: jinns.nn.AbstractPINN
    grid: jax.Array
    values: jax.Array
    call_every: int = eqx.field(kw_only=True, default=50)

    def __call__(self, params):
        found = jax.vmap(lambda place: self.u(place, params)[0])(self.grid)
        error = jnp.linalg.norm(found - self.values) / race.size
        over = jax.experimental.io_callback(report, jax.ShapeDtypeStruct((), bool), error)
        return self, over, error, False


def report(error):
    return np.asarray(race.report(race.seconds(), float(error)))


def main():
    options = race.options
    k = task.wave * jnp.arange(1, options.modes + 1)

    def features(inputs, params):
        return task.inputs(jnp, inputs[0] / task.horizon, inputs[1], k)

    def exact(inputs, output, params):
        return task.trial(jnp, inputs[0] / task.horizon, inputs[1], output)

    inner = [
        part
        for _ in range(options.depth - 1)
        for part in ((eqx.nn.Linear, options.width, options.width), (jnp.tanh,))
    ]
    network, start = jinns.nn.PINN_MLP.create(
        key=jax.random.key(options.seed),
        eqx_list=(
            (eqx.nn.Linear, race.sizes[0], options.width),
            (jnp.tanh,),
            *inner,
            (eqx.nn.Linear, options.width, 1),
        ),
        eq_type="PDENonStatio",
        input_transform=features,
        output_transform=exact,
    )
    parameters = jinns.parameters.Params(nn_params=start, eq_params={})
    loss = jinns.loss.LossPDENonStatio(
        u=network,
        dynamic_loss=Equation(),
        loss_weights=jinns.loss.LossWeightsPDENonStatio(dyn_loss=1.0),
        params=parameters,
    )
    t, x = race.points()
    data = jinns.data.CubicMeshPDENonStatio(
        key=jax.random.key(options.seed),
        n=options.points,
        nb=None,
        ni=1,
        dim=1,
        min_pts=(task.lower,),
        max_pts=(task.upper,),
        tmin=0.0,
        tmax=task.horizon,
    )
    data = eqx.tree_at(lambda d: d.domain, data, jnp.asarray(np.concatenate([t, x], 1)))
    grid = jnp.asarray(np.concatenate([race.grid_t, race.grid_x], 1))
    check = Check(u=network, grid=grid, values=jnp.asarray(race.values.ravel()))

    def solve(parameters, steps, optimiser, **extra):
        return jinns.solve(
            n_iter=steps,
            init_params=parameters,
            data=data,
            loss=loss,
            optimizer=optimiser,
            validation=check,
            verbose=False,
            **extra,
        )[0]

    adam = optax.adam(optax.exponential_decay(1e-3, 2_000, 0.9))
    parameters = solve(parameters, max(options.adam_steps // 5, 1), adam)
    if race.over:
        return
    solve(
        parameters,
        200_000,
        jinns.optimizers.scale_by_SSBroyden_family(),
        extra_optax_args_and_kwargs={
            "value": GetJinnsVariableName("train_loss_value"),
            "grad_pt": GetJinnsVariableName("grads"),
            "value_fn": callback_value,
            "grad_fn": callback_gradient,
            "loss": GetJinnsVariableName("loss"),
            "batch": GetJinnsVariableName("batch"),
        },
    )


main()

"""jinns, a JAX library of PINNs: its `PINN_MLP`, `LossPDENonStatio` and `solve`; ten steps are one program.

Input and output transforms carry the embedding and the exact initial data, so network, loss and points are
those of everyone. The derivatives are nested `jax.grad`, as in the dynamic losses that come with jinns.
`jinns.solve` compiles anew at each call, so a block of ten of its iterations is compiled once, from
outside.
"""

import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import jinns
import optax
from common import DEPTH, MODES, RATE, WIDTH, serve


def make(points, order, precision):
    if precision == "float64":
        jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    warnings.filterwarnings("ignore", message="Initial condition wasn't provided")
    k = jnp.pi * jnp.arange(1, MODES + 1)

    def features(inputs, params):
        t, x = inputs[0], inputs[1]
        return jnp.concatenate([jnp.stack([t, jnp.ones_like(t)]), jnp.cos(k * x), jnp.sin(k * x)])

    def exact(inputs, output, params):
        t, x = inputs[0], inputs[1]
        return jnp.exp(-t) * x**2 * jnp.cos(jnp.pi * x) + t * output

    hidden = [part for _ in range(DEPTH - 1) for part in ((eqx.nn.Linear, WIDTH, WIDTH), (jnp.tanh,))]
    network, start = jinns.nn.PINN_MLP.create(
        key=jax.random.key(0),
        eqx_list=(
            (eqx.nn.Linear, 2 + 2 * MODES, WIDTH),
            (jnp.tanh,),
            *hidden,
            (eqx.nn.Linear, WIDTH, 1),
        ),
        eq_type="PDENonStatio",
        input_transform=features,
        output_transform=exact,
    )
    parameters = jinns.parameters.Params(nn_params=start, eq_params={})
    loss = jinns.loss.LossPDENonStatio(
        u=network,
        dynamic_loss=_equation(order),
        loss_weights=jinns.loss.LossWeightsPDENonStatio(dyn_loss=1.0),
        params=parameters,
    )
    data = jinns.data.CubicMeshPDENonStatio(
        key=jax.random.key(1),
        n=points,
        nb=None,
        ni=1,
        dim=1,
        min_pts=(-1.0,),
        max_pts=(1.0,),
        tmin=0.0,
        tmax=1.0,
    )
    block = 10

    @jax.jit
    def run(parameters):
        found = jinns.solve(
            n_iter=block,
            init_params=parameters,
            data=data,
            loss=loss,
            optimizer=optax.sgd(RATE),
            verbose=False,
            ahead_of_time=False,
        )
        return found[0], found[1][-1]

    state = [parameters]

    def steps(count):
        for _ in range(-(-count // block)):
            state[0], value = run(state[0])
        return float(value)

    return steps


def _equation(order):
    class AllenCahn(jinns.loss.PDENonStatio):
        def equation(self, t_x, u, params):
            value = lambda t, x: u(jnp.stack([t, x]), params)[0]
            t, x = t_x[0], t_x[1]
            u_xx = jax.grad(jax.grad(value, 1), 1)
            here = value(t, x)
            r = jax.grad(value, 0)(t, x) - 1e-3 * u_xx(t, x) + 5 * (here**3 - here)
            if order == 4:
                r = r + 1e-7 * jax.grad(jax.grad(u_xx, 1), 1)(t, x)
            return r[None]

    return AllenCahn()


if __name__ == "__main__":
    serve(make)

"""Plain JAX, in the manner of jaxpi: nested `jax.grad`, Adam with a decaying rate, then L-BFGS, all compiled.

Adam: rate 10⁻³, times 0.9 every 2,000 steps; 50 steps are one program. L-BFGS: optax's, memory 50, zoom line
search; 10 steps are one program. Fixed points.
"""

import jax
import jax.numpy as jnp
import optax
from common import Race

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")
race = Race()


def main():
    task, options = race.task, race.options
    keys = jax.random.split(jax.random.key(options.seed), len(race.sizes))
    glorot = jax.nn.initializers.glorot_normal()
    layers = [
        (glorot(key, (a, b), jnp.float64), jnp.zeros(b))
        for key, a, b in zip(keys, race.sizes[:-1], race.sizes[1:], strict=False)
    ]
    t, x = (jnp.asarray(p[:, 0]) for p in race.points())
    k = task.wave * jnp.arange(1, options.modes + 1)

    def u(layers, t, x):
        s = t / task.horizon
        hidden = task.inputs(jnp, s, x, k)
        for weight, bias in layers[:-1]:
            hidden = jnp.tanh(hidden @ weight + bias)
        weight, bias = layers[-1]
        return task.trial(jnp, s, x, (hidden @ weight + bias)[0])

    def residual(layers, t, x):
        parts, f = [u(layers, t, x), jax.grad(u, 1)(layers, t, x)], u
        for _ in range(task.order):
            f = jax.grad(f, 2)
            parts.append(f(layers, t, x))
        return task.residual(*parts)

    def loss(layers):
        return jnp.mean(jax.vmap(lambda t, x: residual(layers, t, x))(t, x) ** 2)

    predict = jax.jit(jax.vmap(u, (None, 0, 0)))
    over = lambda layers: race.due() and race.check(lambda t, x: predict(layers, t[:, 0], x[:, 0]))

    adam = optax.adam(optax.exponential_decay(1e-3, 2_000, 0.9))

    def first(carry, _):
        layers, state = carry
        value, gradient = jax.value_and_grad(loss)(layers)
        updates, state = adam.update(gradient, state)
        return (optax.apply_updates(layers, updates), state), value

    block = 50
    run = jax.jit(lambda carry: jax.lax.scan(first, carry, length=block))
    carry = (layers, adam.init(layers))
    for _ in range(options.adam_steps // block):
        carry, values = run(carry)
        jax.block_until_ready(values)
        if over(carry[0]):
            return
    lbfgs = optax.lbfgs(memory_size=50)
    value_and_gradient = optax.value_and_grad_from_state(loss)

    def second(carry, _):
        layers, state = carry
        value, gradient = value_and_gradient(layers, state=state)
        updates, state = lbfgs.update(gradient, state, layers, value=value, grad=gradient, value_fn=loss)
        return (optax.apply_updates(layers, updates), state), value

    run = jax.jit(lambda carry: jax.lax.scan(second, carry, length=10))
    carry = (carry[0], lbfgs.init(carry[0]))
    while not race.over:
        carry, values = run(carry)
        jax.block_until_ready(values)
        over(carry[0])


main()

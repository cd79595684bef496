"""Trained functions on curved domains: prescribed values hold, all else is left to a penalty."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from hcpinn.errors import MethodError
from hcpinn.machine.precision import double
from hcpinn.objective import penalty_terms
from hcpinn.trial import Trial

RING = hc.Disk() - hc.Disk((0.3, 0.1), 0.4)


def rim(t, x, y):
    return jnp.cos(x + 2 * t) + y


def moving_hole(t, x, y):
    return rim(t, x, y) + t * x


def declared(**more):
    settings = {
        "domain": RING,
        "horizon": 1.0,
        "boundary": {"disk": hc.Dirichlet(rim), "disk2": hc.Dirichlet(moving_hole)},
        "rhs": lambda u: u.laplacian,
        "initial": lambda x, y: rim(0.0, x, y),
    }
    return hc.Problem(**(settings | more))


def trial_of(problem, **more):
    parts = {"lift": hc.Decay(0.5), "gate": hc.LinearGate(), "embedding": hc.Plain(), "network": hc.MLP(8, 1)}
    return Trial(problem, **(parts | more))


def random_parameters(trial):
    return jax.tree.map(lambda a: 3 * a, trial.init(jax.random.key(0)))


@pytest.mark.parametrize("order", [1, 2])
def test_values_on_all_parts_and_the_start_hold_for_any_network(order):
    data = {"disk": rim, "disk2": moving_hole}
    more = {}
    if order == 2:
        data["disk2"] = rim
        velocity = lambda x: -2 * jnp.sin(x)
        more = {"order": 2, "velocity": velocity, "boundary": hc.Dirichlet(rim)}
    with double():
        trial = trial_of(declared(**more))
        own, rng = random_parameters(trial), np.random.default_rng(0)
        for part in RING.parts:
            points = np.column_stack([rng.random(200), RING.on(part, rng.random((200, 1)))])
            wanted = np.asarray(data[part](*points.T))
            assert np.abs(np.asarray(trial(own, jnp.asarray(points)))[:, 0] - wanted).max() < 1e-13
        inside = np.column_stack([np.zeros(200), RING.inside(rng.random((200, 2)))])
        found = np.asarray(trial(own, jnp.asarray(inside)))[:, 0]
        assert np.abs(found - np.asarray(rim(*inside.T))).max() < 1e-13


def test_a_penalty_measures_the_conditions_that_do_not_hold():
    with double():
        problem = declared(
            boundary={"disk": hc.Robin(lambda t, x: t * x, value=2.0, slope=0.5), "disk2": hc.Dirichlet(rim)}
        )
        trial = trial_of(problem)
        assert trial.left_open == (("boundary", None),)
        (term,) = penalty_terms(trial, [hc.BoundaryPenalty(points=40)])
        block, own = term.block(trial, 0), random_parameters(trial)
        found = np.asarray(term.mismatch(trial, own, block, {}))[:, 0]
        points = np.asarray(block.fixed[0].coordinates)
        slope = jax.vmap(jax.grad(lambda p: trial(own, p[None])[0, 0]))(jnp.asarray(points))
        outer = np.hypot(*points[:, 1:].T) > 0.999
        normal = points[:, 1:]  # on the unit circle
        wanted = 2 * np.asarray(trial(own, jnp.asarray(points)))[:, 0] + 0.5 * (slope[:, 1:] * normal).sum(1)
        wanted = np.where(outer, wanted - points[:, 0] * points[:, 1], 0.0)
        assert outer.sum() == pytest.approx(40 / 1.4, abs=2)  # by length
        assert np.allclose(found, wanted, atol=1e-12)


def test_what_does_not_fit_a_curved_domain_is_said():
    with pytest.raises(MethodError, match="walls of a box, but problem lives on a curved domain"):
        trial_of(declared(), embedding=hc.Even())
    with pytest.raises(MethodError, match="gate does not vanish on the part 'disk'"):
        trial_of(declared(), gate=hc.CustomGate(lambda t: t))
    with pytest.raises(MethodError, match="lift does not carry the Dirichlet data on the part 'disk'"):
        trial_of(declared(), lift=hc.CustomLift(lambda x, y: rim(0.0, x, y)))


def test_named_methods_take_a_penalty_where_slopes_are_prescribed():
    from hcpinn.catalog import find_method

    assert find_method("expert", declared()).penalties == ()
    slopes = find_method("expert", declared(boundary=hc.Neumann(0.0), initial=1.0))
    assert slopes.penalties == (hc.BoundaryPenalty(),)
    assert isinstance(slopes.embedding, hc.Plain)

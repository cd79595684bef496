"""Importing costs nothing, changes nothing, and every public name is there."""

import ast
import contextlib
import inspect
import itertools
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare


def run(script):
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_importing_loads_none_of_the_heavy_packages():
    loaded = run("import sys, hcpinn; print(*{m.partition('.')[0] for m in sys.modules})")
    assert not {"jax", "jaxlib", "numpy", "scipy", "matplotlib", "equinox", "optax", "rich", "typer"} & set(
        loaded
    )


def documented(kind):
    """The names that the docstrings of a class speak of."""
    texts = [inspect.getdoc(kind) or "", inspect.getdoc(kind.__init__) or ""]
    for base in kind.__mro__[:-1]:
        with contextlib.suppress(OSError, TypeError):
            [tree] = ast.parse(textwrap.dedent(inspect.getsource(base))).body
            texts += [
                ast.unparse(a.target)
                for a, b in itertools.pairwise(getattr(tree, "body", []))
                if isinstance(a, ast.AnnAssign) and isinstance(b, ast.Expr)
            ]
    return " ".join(texts)


def test_every_public_class_says_what_its_arguments_are():
    kinds = [getattr(hc, name) for name in hc.__all__]
    missing = {}
    for kind in (k for k in kinds if inspect.isclass(k) and not issubclass(k, Exception)):
        names = [n for n in inspect.signature(kind.__init__).parameters if n != "self"]
        if lacking := [n for n in names if not re.search(rf"\b{n}\b", documented(kind))]:
            missing[kind.__name__] = lacking
    assert missing == {}


def test_the_command_line_waits_with_heavy_packages_until_it_needs_them():
    loaded = run("import sys, hcpinn.cli.commands; print(*{m.partition('.')[0] for m in sys.modules})")
    assert not {"jax", "scipy", "matplotlib", "equinox", "optax"} & set(loaded)


IMPORT_EVERYTHING = """
import os, jax, jax.numpy as jnp
before, environment = dict(jax.config.values), dict(os.environ)
import hcpinn
for name in hcpinn.__all__:
    getattr(hcpinn, name)
changed = [name for name, value in jax.config.values.items() if before.get(name) != value]
print(changed or "unchanged", dict(os.environ) == environment, jnp.ones(1).dtype)
"""


def test_importing_everything_changes_no_setting():
    assert run(IMPORT_EVERYTHING) == ["unchanged", "True", "float32"]


def test_solving_changes_no_setting_and_needs_none():
    before, environment = dict(jax.config.values), dict(os.environ)
    stages = (hc.Adam(steps=2), hc.Adam(steps=2, precision="float64"))
    method = hc.Method(network=hc.MLP(6, 1), embedding=hc.Fourier(1), points=128, stages=stages)
    with jax.enable_x64(False):
        problem = declare(rhs=lambda u: -u)
        solution = hc.solve(problem, method, reference=False)
        assert solution(0.5, np.linspace(-1, 1, 3)).dtype == np.float64
        assert jnp.ones(1).dtype == jnp.float32
    assert jax.config.values == before
    assert dict(os.environ) == environment


@pytest.mark.parametrize("name", hc.__all__)
def test_every_public_name_resolves_and_says_what_it_is(name):
    thing = getattr(hc, name)
    assert (thing.__doc__ or "").strip()
    assert name in dir(hc)


def test_everything_a_method_or_problem_is_made_of_is_public():
    from hcpinn import descent, objective, problem, trial

    parts = (
        *(trial.Lift, trial.Gate, trial.Embedding, trial.Network),
        *(objective.Penalty, objective.WeightRule, objective.Batches),
        *(descent.Stage, descent.Schedule, descent.Resampling, descent.Curriculum),
    )
    for room in (trial, objective, descent, problem):
        for name, thing in vars(room).items():
            if (
                isinstance(thing, type)
                and issubclass(thing, parts)
                and not getattr(thing, "__abstractmethods__", ())
            ):
                assert name in hc.__all__, f"{name} can be used in a Method but is not public"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="slove"):
        hc.slove  # type: ignore[attr-defined]  # noqa: B018


def test_the_version_is_a_version():
    assert all(part.isdigit() for part in hc.__version__.split(".")[:2])


def test_every_dependency_has_an_upper_bound():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert [wanted for wanted in project["dependencies"] if "<" not in wanted] == []

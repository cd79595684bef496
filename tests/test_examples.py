"""Examples and documentation: every program runs, and what a solution says of itself is true.

Programs in the documentation run with small budgets: their code is checked, not their figures.
"""

import dataclasses
import importlib.util
import inspect
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import pytest

import hcpinn as hc

ROOT = Path(__file__).parent.parent
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [
    page.relative_to(ROOT).as_posix()
    for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")))
    if "\n```python\n" in page.read_text()
]
SMALL = hc.Method(
    name="small",
    embedding=hc.Fourier(4),
    network=hc.MLP(16, 2),
    points=512,
    stages=(hc.Adam(steps=2000, rate=1e-2),),
)
EXAMPLES = {
    "burgers": SMALL,
    "fisher_kpp": dataclasses.replace(SMALL, embedding=hc.Plain()),
    "stirring": dataclasses.replace(
        SMALL, embedding=hc.Fourier(1), points=1024, stages=(hc.Broyden(steps=300),)
    ),
}


@pytest.fixture
def little_effort(monkeypatch):
    """References that are good to a few digits."""
    solve_reference = hc.solve_reference

    def rough(problem, **grid):
        return solve_reference(problem, **{"times": 21, "points": 65, **grid}, tolerance=1e-3)

    monkeypatch.setattr(hc, "solve_reference", rough)
    monkeypatch.setattr("hcpinn.solving.references.solve_reference", rough)


def load_example(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def relative(values, exact):
    return np.linalg.norm(values - exact) / np.linalg.norm(exact)


@pytest.fixture(params=EXAMPLES)
def solved(request, little_effort, tmp_path, capsys):
    example = load_example(request.param)
    solution = example.main(EXAMPLES[request.param], tmp_path)
    return example, solution, tmp_path, capsys.readouterr().out


def test_an_example_finds_its_solution_at_a_small_budget_and_says_how_well(solved):
    example, solution, folder, printed = solved
    times, *space = solution.reference.times, *solution.reference.coordinates
    exact = solution.reference.values["u"]
    points = np.stack(np.meshgrid(times, *space, indexing="ij"), axis=-1).reshape(-1, 1 + len(space))
    lift = np.asarray(solution.function.trial.lift(jnp.asarray(points))).reshape(exact.shape)
    error = relative(solution.on_grid(times, *space)["u"], exact)

    assert error < 0.05
    assert error < 0.2 * relative(lift, exact)  # training did the work, not the lift
    assert solution.verdict.error == pytest.approx(error)
    assert solution.verdict.converged == (error <= 1e-3)
    assert str(solution.verdict) in printed
    started = solution(0.0, *np.meshgrid(*space, indexing="ij"))
    np.testing.assert_allclose(started, exact[0], rtol=0, atol=1e-14)
    assert {p.name for p in folder.iterdir()} >= {"fields.png", "slices.png"}
    assert all(name in printed for name in (p.name for p in folder.iterdir()))
    if hasattr(example, "error"):
        assert example.error(solution) == pytest.approx(error, rel=0.2)  # by the closed form


def blocks(page):
    """Line, language and content of every fenced block of a page."""
    text = (ROOT / page).read_text()
    return [(text.count("\n", 0, m.start()) + 1, m[1], m[2]) for m in FENCE.finditer(text)]


def programs(page):
    """Line and code of each Python block, with the error that a text block after it announces."""
    found = blocks(page)
    for (line, language, code), (_, after, said) in zip(found, [*found[1:], (0, "", "")], strict=True):
        if language == "python":
            announced = after == "text" and re.match(r"\w+Error: ", said)
            yield line, code, " ".join(said.split()) if announced else None


def shortened(method):
    """The method with a small network or few features, few points, and a few steps."""
    if isinstance(method, hc.Evolution):
        return dataclasses.replace(method, features=32)
    network = hc.MLP(4, 1) if isinstance(method.network, hc.MLP) else method.network
    stages = (hc.Adam(steps=10),)
    return dataclasses.replace(method, network=network, points=64, stages=stages, growth=None)


@pytest.fixture(scope="module")
def known():
    """Solutions that one program has computed and that serve the others."""
    return {}


@pytest.fixture
def small_budgets(monkeypatch, little_effort, known):
    """Let the programs of a page work for a moment only."""
    solve, solve_batch = hc.solve, hc.solve_batch

    def short_solve(problem, method=None, **options):
        inspect.signature(solve).bind(problem, method, **options)
        if not isinstance(method, hc.Method | hc.Evolution):
            method = hc.find_method(method or "evolve", problem)
        method = shortened(method)
        if isinstance(problem, hc.Problem) and problem.open:
            return solve(problem, method, accuracy=0.1, reference=False)
        if "out" in options:
            limit = {"max_seconds": 60.0} if "max_seconds" in options else {}
            return solve(problem, method, **{**options, **limit, "reference": False})
        wanted = {"reference": options.get("reference", True)}
        key = (id(problem), method, options.get("seed", 0), *wanted.values())
        if key not in known:
            known[key] = solve(problem, method, **wanted)
        return known[key]

    def short_solve_batch(runs, **options):
        return solve_batch([dataclasses.replace(r, method=shortened(r.method)) for r in runs], **options)

    fit = hc.fit
    monkeypatch.setattr(hc, "fit", lambda *given, **options: fit(*given, **{"starts": 1, **options}))
    monkeypatch.setattr(hc, "solve", short_solve)
    monkeypatch.setattr(hc, "solve_batch", short_solve_batch)


@pytest.mark.parametrize("page", PAGES)
def test_the_programs_of_a_page_run(page, small_budgets, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("results").symlink_to(ROOT / "results")
    names = {}
    with jax.enable_x64(False):  # as a user has it, not as the other tests do
        for line, code, error in programs(page):
            program = compile("\n" * line + code, page, "exec")
            if error is None:
                exec(program, names)
                continue
            with pytest.raises(hc.HcpinnError) as raised:
                exec(program, names)
            assert f"{raised.type.__name__}: {raised.value}" == error
    plt.close("all")

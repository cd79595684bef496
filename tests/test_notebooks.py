"""The notebooks in examples/ run from top to bottom, and what they show is HTML."""

import ast
import json
from pathlib import Path

import pytest

import hcpinn as hc

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"


@pytest.fixture
def quickly(monkeypatch):
    """Few features and no reference: what runs is checked here, not how well."""
    solve = hc.solve
    little = hc.Evolution(features=16)
    monkeypatch.setattr(hc, "solve", lambda p, **options: solve(p, little, **{**options, "reference": False}))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_its_objects(path, quickly, monkeypatch, capsys):
    monkeypatch.chdir(FOLDER)
    names, shown = {}, []
    book = json.loads(path.read_text())
    assert all(not cell.get("outputs") for cell in book["cells"])
    for cell in book["cells"]:
        if cell["cell_type"] != "code":
            continue
        *statements, last = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(statements, []), path.name, "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), path.name, "eval"), names))
        else:
            exec(compile(ast.Module([last], []), path.name, "exec"), names)
    pages = [thing._repr_html_() for thing in shown if isinstance(thing, hc.Problem | hc.Solution)]
    assert any("<math" in page for page in pages)
    assert any("data:image/png;base64" in page for page in pages)
    assert all("<script" not in page for page in pages)

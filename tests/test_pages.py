"""Pages generated from data say what the data say."""

import importlib.util
import sys
from pathlib import Path

import pytest

import hcpinn

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
DOCS = BENCHMARKS.parent / "docs"
PAGES = (
    "speed_page", "theory_page", "expert_page", "evolve_page", "shapes_page", "trust_page", "families_page", "fit_page",
)  # fmt: skip
SEVERAL = "paper_page", "walls_page", "films"
"""Those that write more than one page."""

pytestmark = pytest.mark.skipif(not BENCHMARKS.exists(), reason="this copy has no documentation")


@pytest.fixture(scope="module")
def made():
    """The programs that write pages."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        for name in (
            "pages",
            "campaign",
            "trained_again",
            "above_published",
            "paper_page_tables",
            *PAGES,
            *SEVERAL,
        ):
            spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
            found[name] = importlib.util.module_from_spec(spec)
            patch.setitem(sys.modules, name, found[name])
            spec.loader.exec_module(found[name])
    return found


@pytest.mark.parametrize("name", PAGES)
def test_tables_are_those_of_the_files(made, name):
    page = made[name].PAGE.read_text("utf-8")
    assert made["pages"].filled(page, made[name].sections()) == page, f"Run: python benchmarks/{name}.py"


@pytest.mark.parametrize("name", SEVERAL)
def test_tables_of_several_pages_are_those_of_the_files(made, name):
    for path, sections in made[name].sections().items():
        page = path.read_text("utf-8")
        assert made["pages"].filled(page, sections) == page, f"Run: python benchmarks/{name}.py"


def test_every_figure_has_been_drawn(made):
    images = made["speed_page"].IMAGES
    for path in made["speed_page"].files("growth"):
        assert (images / f"{path.stem}.png").exists()
    assert (images / "paper-errors.png").exists()


def test_every_published_error_stands_in_the_tables(made):
    paper = made["paper_page"]
    page = (DOCS / "paper" / "tables.md").read_text("utf-8")
    rows = paper.reproduced_rows(paper.all_tables(paper.Store(paper.STORE).records()))
    errors = {figure for row in rows for name, figure in row.published.items() if name.startswith("rel_l2")}
    assert not [error for error in errors if paper.number(error) not in page]


def test_the_page_on_the_outcome_is_short():
    assert len((DOCS / "paper.md").read_text("utf-8").split()) <= 1500


def test_the_reference_lists_every_public_name(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import api_page

    listed = {line.rpartition(".")[2] for line in api_page.sections().splitlines() if line.startswith(":::")}
    guests = [importlib.import_module(name) for name in api_page._GUESTS]
    assert {"hcpinn.study", "hcpinn.theory"} <= {guest.__name__ for guest in guests}
    assert {*hcpinn.__all__, *(name for guest in guests for name in api_page.public(guest))} <= listed


def test_a_page_without_its_sections_is_refused(made):
    with pytest.raises(SystemExit, match="bench"):
        made["pages"].filled("# Speed\n", {"bench": "text"})

"""The page on speed says what the files of results say."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def writer():
    path = ROOT / "benchmarks" / "speed_page.py"
    if not path.exists():
        pytest.skip("benchmarks are not part of this copy")
    spec = importlib.util.spec_from_file_location("speed_page", path)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(path.parent)
        spec.loader.exec_module(module)
    return module


def test_tables_on_the_page_are_those_of_the_files(writer):
    page = writer.PAGE.read_text("utf-8")
    assert writer.filled(page) == page, "Run: python benchmarks/speed_page.py"


def test_every_figure_has_been_drawn(writer):
    for path in writer.files("growth"):
        assert (writer.IMAGES / f"{path.stem}.png").exists()


def test_a_page_without_its_sections_is_refused(writer):
    with pytest.raises(SystemExit, match="bench"):
        writer.filled("# Speed\n")

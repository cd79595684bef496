"""An installed package adds methods, studies and pages to hcpinn, in the way hcpinn's own papers do."""

import re
from pathlib import Path

import pytest

import hcpinn as hc
from command_line import hcpinn
from declarations import declare
from hcpinn.catalog import METHODS, extensions
from hcpinn.errors import HcpinnError
from hcpinn.study import Store, find_study, named_studies, write_report
from hcpinn.study.results import state
from small_studies import record

PACKAGE = '''
import dataclasses
import hcpinn as hc
from hcpinn.catalog import Extension, Switches
from hcpinn.study import Section, Study
from hcpinn.study.page import StudyPage

def tiny(problem):
    """A network of one layer."""
    return hc.Method(name="tiny", network=hc.MLP(4, 1), stages=(hc.Broyden(steps=5),))

def deep(name, problem):
    return dataclasses.replace(tiny(problem), name=name, network=hc.MLP(4, len(name.split("+")) + 1))

def first():
    """A study of somebody else's."""
    problem = hc.find_problem("advection")
    runs = (hc.Run(problem, hc.find_method("tiny", problem)),)
    return Study("first", "The first study", (Section("one", "One", runs),), page="theirs")

class Page(StudyPage):
    def notes(self):
        return ["A note of theirs."]

EXTENSION = Extension(
    methods={"tiny": tiny},
    switches=(Switches(about="Deeper ones", parts={"wide": "more", "long": "longer"}, make=deep),),
    studies=lambda: {"first": first},
    pages={"theirs": Page},
)
'''


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that is installed for as long as a test runs."""
    (tmp_path / "somebodys.py").write_text(PACKAGE)
    facts = tmp_path / "somebodys-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: somebodys\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[hcpinn.extensions]\nsomebodys = somebodys:EXTENSION\n")
    monkeypatch.syspath_prepend(tmp_path)
    extensions.cache_clear()
    yield tmp_path
    extensions.cache_clear()


def test_methods_of_a_package_are_found_by_name_and_by_switches(package):
    assert "tiny" in METHODS
    assert hc.find_method("tiny", declare()).network == hc.MLP(4, 1)
    assert hc.find_method("long+wide", declare()).network == hc.MLP(4, 3)
    with pytest.raises(HcpinnError, match="no method 'tinny'. Did you mean 'tiny'"):
        hc.find_method("tinny", declare())


def test_studies_and_pages_of_a_package_are_found_by_name(package, tmp_path):
    assert named_studies()["first"].__doc__ == "A study of somebody else's."
    study = find_study("first")
    store = Store.make(tmp_path / "store")
    state(store, study)
    store.keep(record())
    text = write_report(store.folder).read_text()
    assert "<h1>The first study</h1>" in text
    assert '<p class="note">A note of theirs.</p>' in text


def test_commands_list_what_packages_add(package):
    words = " ".join(hcpinn("methods")[1].split())
    assert "tiny A network of one layer." in words
    assert "Deeper ones are named by their switches" in words
    assert "wide more" in words
    assert re.search(r"first\s+A study of somebody else's\.", hcpinn("study", "--list")[1])


def test_without_packages_there_are_hcpinns_own_extensions_alone():
    assert "tiny" not in METHODS
    assert {"expert", "quick", "paper", "baseline"} <= set(METHODS)
    with pytest.raises(KeyError):
        METHODS["tiny"]


def test_nothing_outside_papers_names_the_paper_its_authors_or_its_rows():
    source = Path(hc.__file__).parent
    names = r"(?i)\bhao|hao2026|(?<!on )\bpaper\b|published|ablation|\bpbc\b|\bic[12]\b|\brba\b"
    for path in source.rglob("*"):
        if path.suffix in (".py", ".pyi", ".html") and "papers" not in path.relative_to(source).parts:
            assert not re.search(names, path.read_text("utf-8")), path

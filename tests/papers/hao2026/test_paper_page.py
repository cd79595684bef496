"""The paper's page: its claims, its published figures, its theory, in a file and in a browser."""

import dataclasses
import json

import numpy as np
import pytest
from PIL import Image

import page_checks
from browser import Browser
from hcpinn.catalog import find_method, find_problem
from hcpinn.descent import with_budget
from hcpinn.descent.runs import Run
from hcpinn.errors import FileError
from hcpinn.solving import solve_batch
from hcpinn.study import Store, find_study, read_results, run_key, write_report, write_tables
from hcpinn.study.record import record_of
from hcpinn.study.report import page_text
from hcpinn.study.results import state
from hcpinn.trial import MLP
from recorded import record

ADVECTION = [
    record("advection", "paper", 10.0 ** (seed - 3), l1=0.1, seed=seed, c=40, horizon=0.5) for seed in (0, 1)
]
RECORDS = [
    record("allen-cahn-1", "pbc+ic1+sa", 1e-3, l1=5e-4),
    record("allen-cahn-1", "pbc+ic1", 2e-3, l1=1e-3, together=4),
    record("allen-cahn-1", "pbc", 0.99, l1=0.99),
    record("allen-cahn-1", "baseline", reason="The loss became <infinite> & lost."),
    *ADVECTION,
]

THEORY = {
    "problem": "advection",
    "findings": {
        "status": "in part",
        "uneven": True,
        "better_conditioned": False,
        "reasons": ["It is.", "It is not."],
    },
    "trace_share": {"initial": 0.25},
    "eigenvalues": [3.0, 2, 1, 1, 0],
}


def made(place, *records):
    """A store of the paper's study with these records."""
    store = Store.make(place)
    state(store, find_study("ablation-allen-cahn-1"))
    for found in records:
        store.keep(found)
    return store


def page(store):
    return page_text(read_results(store), figures=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A store with made-up figures, one run that was really trained, and theory's numbers."""
    place = tmp_path_factory.mktemp("store")
    store = made(place, *RECORDS)
    advection = find_problem("advection")
    method = with_budget(find_method("pbc+ic1", advection), steps=(4, 0), points=64)
    run = Run(advection, dataclasses.replace(method, network=MLP(4, 1)))
    (solution,) = solve_batch([run], progress=False)
    facts = {
        "key": run_key(run),
        "trained_together": 1,
        "commit": "0123abc",
        "finished": "2026-01-01T00:00:00",
    }
    store.keep(record_of(solution, **facts), solution)
    theory = place / "theory" / "advection"
    theory.mkdir(parents=True)
    (theory.parent / "table.md").write_text("| problem | rank |\n| --- | --- |\n| advection | 12 |\n")
    (theory / "theory.json").write_text(json.dumps(THEORY))
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(theory / "spectra.png")
    return place


@pytest.fixture(scope="module")
def written(folder, tmp_path_factory):
    return write_report(folder, tmp_path_factory.mktemp("page") / "page.html")


@pytest.fixture(scope="module")
def browser(written, tmp_path_factory):
    opened = Browser(tmp_path_factory.mktemp("profile"))
    opened.window(1300)
    opened.open(written)
    yield opened
    opened.close()


def test_the_page_has_every_part_and_needs_nothing_else(written):
    text = written.read_text()
    for part in ("overview", "claims", "ablation-allen-cahn-1", "advection-by-speed", "theory", "provenance"):
        assert f'<section id="{part}"' in text
    page_checks.check_whole(text)
    assert written.stat().st_size < 5e6


def test_the_page_says_what_failed_what_is_missing_and_where_it_comes_from(written):
    text = written.read_text()
    assert "The loss became &lt;infinite&gt; &amp; lost." in text
    assert "Not yet run. Published figures" in text
    for fact in (
        "cpu: test",
        "0.10.2",
        "0123abc",
        "2026-01-01",
        "trace share › initial",
        "advection: It is not.",
        "<td>advection</td><td>12</td>",
        "5 values from 0 to 3.00",
    ):
        assert fact in text
    assert "Solutions that could not be drawn" not in text


def test_claims_whose_seeds_overlap_say_so_and_the_rule_is_on_the_page(tmp_path):
    store = made(tmp_path)
    for method, errors in (("pbc+ic1", (1e-3, 2e-3, 6e-3)), ("pbc+ic2", (5e-3, 7e-3, 9e-3))):
        for seed, error in enumerate(errors):
            store.keep(record("allen-cahn-1", method, error, l1=error, seed=seed))
    store.keep(record("allen-cahn-1", "pbc", 0.9, l1=0.9))
    text = page(store)
    assert 'data-status="seeds-overlap" id="claim-fast-decay-allen-cahn-1"' in text
    assert (
        '<li class="tie"><span class="unseen">undecided: </span>allen-cahn-1: pbc+ic1 2.00e-3 (1.00e-3 to '
        in text
    )
    assert "<b>0 of 1</b> comparisons hold; in 1 the seeds overlap; 1 more is not yet run" in text
    assert "Claims over several seeds" in text
    assert "1 of 3 published rows that was run has one seed so far" in text


def test_tables_are_written_in_three_formats(folder, tmp_path):
    names = {path.name for path in write_tables(folder, tmp_path)}
    assert {"ablation-allen-cahn-1.md", "ablation-allen-cahn-1.csv", "ablation-allen-cahn-1.tex"} <= names
    assert "ablation-gray-scott.md" not in names
    assert "8.29e-4 | 1.00e-3 | 1.2" in (tmp_path / "ablation-allen-cahn-1.md").read_text()


def test_a_study_whose_runs_all_failed_has_a_page_too(tmp_path):
    text = page(made(tmp_path, RECORDS[3]))
    assert "1 failed" in text
    assert "0 of 0" in text


def test_a_damaged_theory_file_is_named(tmp_path):
    store = made(tmp_path, RECORDS[0])
    (tmp_path / "theory").mkdir()
    for text, why in (
        ('{"a": ', "it is not JSON"),
        ('{"problem": "advection", "findings": 5}', "of another kind"),
        ('{"problem": "advection", "findings": {"reasons": 5}}', "of another kind"),
        ('{"problem": [], "findings": {}}', "of another kind"),
    ):
        (tmp_path / "theory" / "half.json").write_text(text)
        with pytest.raises(FileError, match=rf"half\.json is damaged: .*({why})"):
            page(store)


def test_theory_elsewhere_is_not_shown(tmp_path):
    store = made(tmp_path / "store", RECORDS[0])
    (tmp_path / "secret.json").write_text('{"password": "hidden"}')
    (tmp_path / "store" / "theory").mkdir()
    (tmp_path / "store" / "theory" / "a.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(FileError, match=r"a\.json is a link, and links .* are not followed"):
        page(store)


def test_the_page_loads_offline_and_the_browser_has_nothing_to_say(browser):
    assert browser.run("document.title") == "Stiff PDEs with exact initial data"
    assert all(url.startswith(("file:", "data:")) for url in browser.requests)
    assert browser.messages == []


def test_claims_are_chosen_by_their_finding(browser):
    browser.click(".chips button[value='holds']")
    visible = "Array.from(document.querySelectorAll('.claim')).filter((c) => c.checkVisibility()).map((c) => c.dataset.status)"
    assert set(browser.run(visible)) == {"holds"}
    browser.click(".chips button[value='']")
    assert len(browser.run(visible)) > 30


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_schemes(browser, scheme):
    browser.media(prefers_color_scheme=scheme)
    assert browser.run(page_checks.CONTRAST) >= 4.5
    assert browser.messages == []

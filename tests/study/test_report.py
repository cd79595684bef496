"""`hcpinn report`: what the page holds, what it does with bad folders, and how the page behaves in a browser."""

import dataclasses
import io
import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from browser import Browser
from hcpinn.catalog import find_method, find_problem
from hcpinn.cli import main
from hcpinn.descent import with_budget
from hcpinn.descent.runs import Run
from hcpinn.errors import FileError
from hcpinn.solving import solve_batch
from hcpinn.study import Store, run_key
from hcpinn.study.picture import small_png, to_svg
from hcpinn.study.record import record_of
from hcpinn.study.report import page, write_report, write_tables
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A store with made-up figures, one run that was really trained, and theory's numbers."""
    place = tmp_path_factory.mktemp("store")
    store = Store.make(place)
    for made in RECORDS:
        store.keep(made)
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
    assert text.count("<h1>") == 1
    for part in ("overview", "claims", "ablation-allen-cahn-1", "advection-by-speed", "theory", "provenance"):
        assert f'<section id="{part}"' in text
    addresses = re.findall(r'(?:src|href)="([^"#][^"]{0,30})', text)
    assert addresses
    assert all(address.startswith("data:") for address in addresses)
    assert not re.search(r"url\((?!#)|@import|<link(?! rel=\"icon\")", text)
    names = re.findall(r'\sid="([^"]+)"', text)
    assert len(names) == len(set(names))
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    assert used <= set(names)
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
    store = Store.make(tmp_path)
    for method, errors in (("pbc+ic1", (1e-3, 2e-3, 6e-3)), ("pbc+ic2", (5e-3, 7e-3, 9e-3))):
        for seed, error in enumerate(errors):
            store.keep(record("allen-cahn-1", method, error, l1=error, seed=seed))
    store.keep(record("allen-cahn-1", "pbc", 0.9, l1=0.9))
    text = page(store, figures=False)
    assert 'data-status="seeds-overlap" id="claim-fast-decay-allen-cahn-1"' in text
    assert (
        '<li class="tie"><span class="unseen">undecided: </span>allen-cahn-1: pbc+ic1 2.00e-3 (1.00e-3 to '
        in text
    )
    assert "<b>0 of 1</b> comparisons hold; in 1 the seeds overlap; 1 more is not yet run" in text
    assert "Claims over several seeds" in text
    assert "1 of 3 published rows that was run has one seed so far" in text


def test_device_time_is_shared_by_runs_that_trained_together(folder):
    records = [r for r in Store(folder).records() if r.trained_together == 4]
    from hcpinn.study.provenance import origin

    assert origin(records).seconds == pytest.approx(120.0 / 4)


def test_tables_are_written_in_three_formats(folder, tmp_path):
    names = {path.name for path in write_tables(folder, tmp_path)}
    assert {"ablation-allen-cahn-1.md", "ablation-allen-cahn-1.csv", "ablation-allen-cahn-1.tex"} <= names
    assert "ablation-gray-scott.md" not in names
    assert "8.29e-4 | 1.00e-3 | 1.2" in (tmp_path / "ablation-allen-cahn-1.md").read_text()


def test_a_folder_that_is_no_store_is_refused(tmp_path):
    with pytest.raises(FileError, match="There is no folder"):
        write_report(tmp_path / "missing")
    with pytest.raises(FileError, match="is not a study's folder"):
        write_report(tmp_path)
    Store.make(tmp_path)
    with pytest.raises(FileError, match="holds no finished run yet"):
        write_report(tmp_path)
    marker = tmp_path / "store.json"
    marker.write_text(marker.read_text().replace('"version": 1', '"version": 99'))
    with pytest.raises(FileError, match="version 99"):
        write_report(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["store.json"]


def test_the_command_writes_page_and_tables_and_refuses_other_folders(folder, tmp_path, monkeypatch, capsys):
    wanted = [str(folder), "--out", str(tmp_path / "p.html"), "--tables", str(tmp_path / "t"), "--no-figures"]
    monkeypatch.setattr("sys.argv", ["hcpinn", "report", *wanted])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert "<figure" not in (tmp_path / "p.html").read_text().partition("theory-title")[0]
    assert (tmp_path / "t" / "advection-by-speed.csv").exists()
    monkeypatch.setattr("sys.argv", ["hcpinn", "report", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "is not a study's folder" in capsys.readouterr().err.replace("\n", " ")


def test_a_study_whose_runs_all_failed_has_a_page_too(tmp_path):
    store = Store.make(tmp_path)
    store.keep(RECORDS[3])
    text = page(store)
    assert "1 failed" in text
    assert "0 of 0" in text


def test_a_damaged_theory_file_is_named(tmp_path):
    store = Store.make(tmp_path)
    store.keep(RECORDS[0])
    (tmp_path / "theory").mkdir()
    (tmp_path / "theory" / "half.json").write_text('{"a": ')
    with pytest.raises(FileError, match=r"half\.json is damaged"):
        page(store, figures=False)


def test_pictures_keep_their_pixels_in_256_colours():
    colours = np.arange(200, dtype=np.uint8).repeat(600).reshape(200, 200, 3)
    stream = io.BytesIO()
    Image.fromarray(colours).save(stream, format="PNG")
    small = small_png(stream.getvalue())
    assert len(small) <= len(stream.getvalue())
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(small)).convert("RGB")), colours)


def test_a_figure_takes_the_colours_of_the_page_and_is_closed():
    figure, axes = plt.subplots()
    axes.plot([0, 1], [0, 1], color="black")
    svg = to_svg(figure, "a name")
    assert "currentColor" in svg
    assert "#000000" not in svg
    assert all(name.startswith("a-name-") for name in re.findall(r'\sid="([^"]+)"', svg))
    assert not plt.fignum_exists(figure.number)


def test_small_numbers_on_an_axis_keep_their_digits():
    figure, axes = plt.subplots()
    axes.set_yticks([0.0, 0.00025], ["0", "0.00025"])
    assert "0.00025</text>" in to_svg(figure, "small")


TABLE = "#ablation-allen-cahn-1"


def shown(browser):
    return browser.run(
        f"Array.from(document.querySelectorAll('{TABLE} tbody tr')).filter((r) => !r.hidden).map((r) => r.cells[0].textContent)"
    )


def test_the_page_loads_offline_and_the_browser_has_nothing_to_say(browser):
    assert browser.run("document.title") == "Stiff PDEs with exact initial data"
    assert all(url.startswith(("file:", "data:")) for url in browser.requests)
    assert browser.messages == []


def test_headings_sort_up_and_down_with_what_is_missing_last(browser):
    assert shown(browser)[0] == "pbc+ic1+sa"
    heading = f"{TABLE} th:nth-child(3)"  # our relative L2 errors
    browser.click(f"{heading} button")
    assert shown(browser)[:3] == ["pbc+ic1+sa", "pbc+ic1", "pbc"]
    browser.press("Enter")  # the button has the focus
    assert browser.run(f"document.querySelector('{heading}').getAttribute('aria-sort')") == "descending"
    assert shown(browser)[:3] == ["pbc", "pbc+ic1", "pbc+ic1+sa"]
    assert len(shown(browser)) == 12


def test_rows_are_filtered_by_words_and_by_verdict(browser):
    browser.click(f"{TABLE} input")
    browser.type("pbc sa")
    assert sorted(shown(browser)) == ["pbc+ic1+sa", "pbc+ic2+sa", "pbc+sa"]
    assert browser.run(f"document.querySelector('{TABLE} output').textContent") == "3 of 12 rows"
    browser.run(
        f"(() => {{ const s = document.querySelector('{TABLE} select'); s.value = 'converged'; s.dispatchEvent(new Event('change')); }})()"
    )
    assert shown(browser) == ["pbc+ic1+sa"]


def test_claims_are_chosen_by_their_finding(browser):
    browser.click(".chips button[value='holds']")
    visible = "Array.from(document.querySelectorAll('.claim')).filter((c) => c.checkVisibility()).map((c) => c.dataset.status)"
    assert set(browser.run(visible)) == {"holds"}
    browser.click(".chips button[value='']")
    assert len(browser.run(visible)) > 30


def test_figures_enlarge_turn_and_close_by_mouse_and_keys(browser):
    title = "document.querySelector('dialog p').textContent"
    browser.click("figure button")
    assert browser.run("document.querySelector('dialog').open && !!document.querySelector('dialog svg')")
    first = browser.run(title)
    larger = (
        "document.querySelector('dialog svg').clientWidth > document.querySelector('figure svg').clientWidth"
    )
    assert browser.run(larger)
    browser.press("ArrowRight")
    assert browser.run(title) != first
    browser.press("Escape")
    assert not browser.run("document.querySelector('dialog').open")
    assert browser.run("document.activeElement.closest('figure') !== null")


CONTRAST = """
(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor); if (c[3] !== 0) return c; } };
  return Math.min(...Array.from(document.querySelectorAll("p, th, td, li, h1, h2, h3, a, summary, figcaption, label, .badge, button, code"))
    .filter((e) => e.checkVisibility()).map((e) => {
      const [a, b] = [light(parts(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x);
      return (a + 0.05) / (b + 0.05);
    }));
})()
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_schemes_and_fits_a_phone(browser, scheme):
    browser.media(prefers_color_scheme=scheme)
    ground = browser.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (min(ground) > 128) == (scheme == "light")
    assert browser.run(CONTRAST) >= 4.5
    browser.window(390, 800)
    assert browser.run("document.documentElement.scrollWidth") <= 390
    assert browser.run("!document.querySelector('nav details').open")
    browser.window(1300)
    assert browser.messages == []

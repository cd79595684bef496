"""The documentation as a reader's browser shows it: whole, legible, and without dead links."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from browser import Browser
from page_checks import contrast

ROOT = Path(__file__).parents[1]
SEEN = ("index", "tutorial", "gallery", "guides/waves", "api")
"""Pages that are looked at in every width and scheme."""

pytestmark = pytest.mark.skipif(not (ROOT / "mkdocs.yml").exists(), reason="this copy has no documentation")

LETTERS = contrast(
    ".md-content :is(p, th, td, li, h1, h2, h3, a:not(.headerlink), figcaption, code, pre span), .md-tabs__link, .md-footer a"
)
SPILLED = """
Array.from(document.querySelectorAll(".md-content *")).filter((e) => e.checkVisibility() && !e.closest("iframe, .md-clipboard, annotation"))
  .filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && ["auto", "scroll", "hidden"].includes(getComputedStyle(e).overflowX)
     && !(e.matches(".md-typeset__scrollwrap, .md-typeset__table, table")) || e.getBoundingClientRect().right > innerWidth + 1 && !e.closest("table, .md-typeset__scrollwrap > *"))
  .map((e) => e.tagName + "." + e.className + ": " + e.textContent.trim().slice(0, 60)).slice(0, 5)
"""
"""What is cut off or sticks out; wide tables may be scrolled."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    return folder


def test_no_link_inside_the_site_is_dead(site):
    pages = {path: path.read_text("utf-8") for path in site.rglob("*.html") if path.name != "404.html"}
    places = {path: set(re.findall(r'\s(?:id|name)="([^"]+)"', text)) for path, text in pages.items()}
    dead = []
    for path, text in pages.items():
        for address in re.findall(r'(?:href|src)="([^"]*)"', text):
            if re.match(r"[a-z]+:", address):
                continue
            file, _, place = unquote(address).partition("#")
            target = (path.parent / file.partition("?")[0]).resolve() if file else path
            target = target / "index.html" if target.is_dir() else target
            shown = (
                not place or re.fullmatch(r"gh-\w+-mode-only|__.*", place) or place in places.get(target, ())
            )
            if not target.exists() or not shown:
                dead.append((path.relative_to(site).as_posix(), address))
    assert not dead


def test_the_home_page_evaluates_a_solution_and_moves_it_in_time(site, tmp_path):
    known = json.loads((ROOT / "benchmarks" / "results" / "live.json").read_text("utf-8"))
    browser = Browser(tmp_path / "profile")
    try:
        browser.media(prefers_reduced_motion="reduce")
        browser.open(site / "index.html")
        found = browser.run(f"{json.dumps(known['rows'])}.map(([t, x]) => hcpinnValue(t, x))")
        errors = [abs(value - u) for value, (_, _, u) in zip(found, known["rows"], strict=True)]
        assert max(errors) < 2e-3 * known["most"]
        drawn = []
        for t in (10, 50):
            browser.run(
                f"(() => {{ const s = document.querySelector('[data-live] input'); s.value = {t}; "
                "s.dispatchEvent(new Event('input')); })()"
            )
            assert browser.run("document.querySelector('[data-live] output').textContent") == f"t = {t}.0"
            drawn.append(browser.run("document.querySelector('[data-live] canvas').toDataURL()"))
        assert drawn[0] != drawn[1]
        assert not [message for message in browser.messages if "/live/" in str(message)]
    finally:
        browser.close()


def test_pages_fit_and_can_be_read_in_light_and_dark_wide_and_narrow(site, tmp_path):
    browser = Browser(tmp_path / "profile")
    try:
        for scheme in ("light", "dark"):
            browser.media(prefers_color_scheme=scheme)
            browser.open(site / "index.html")
            browser.run("localStorage.clear()")  # where the page keeps the scheme it found
            for width in (1440, 400):
                browser.window(width)
                for name in SEEN:
                    browser.open(site / f"{name}.html")
                    seen = f"{name}, {scheme}, {width} px"
                    assert (browser.run("document.body.dataset.mdColorScheme") == "slate") == (
                        scheme == "dark"
                    )
                    assert browser.run("document.documentElement.scrollWidth") <= width, seen
                    assert browser.run(SPILLED) == [], seen
                    assert browser.run(LETTERS) >= 4.5, seen
        for path in site.rglob("*.html"):
            browser.window(1440)
            browser.open(path)
            assert browser.run(SPILLED) == [], path
            browser.window(400)
            assert browser.run("document.documentElement.scrollWidth") <= 400, path
        assert all(address.startswith(("file:", "data:", "blob:")) for address in browser.requests)
    finally:
        browser.close()

"""What every page of a study has to meet."""

import re

_CONTRAST = """
(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor); if (c[3] !== 0) return c; } };
  return Math.min(...Array.from(document.querySelectorAll("SELECTOR"))
    .filter((e) => e.checkVisibility() && e.textContent.trim()).map((e) => {
      const [text, under] = [parts(getComputedStyle(e).color), ground(e)];
      const shown = text.slice(0, 3).map((v, i) => v * (text[3] ?? 1) + under[i] * (1 - (text[3] ?? 1)));
      const [a, b] = [light(shown), light(under)].sort((x, y) => y - x);
      return (a + 0.05) / (b + 0.05);
    }));
})()
"""


def contrast(selector):
    """The smallest contrast between a text and its ground, for a browser to find."""
    return _CONTRAST.replace("SELECTOR", selector)


CONTRAST = contrast("p, th, td, li, h1, h2, h3, a, summary, figcaption, label, .badge, button, code")


def check_whole(text):
    """A page needs nothing from elsewhere, and each of its links leads to one place on it."""
    assert text.count("<h1>") == 1
    addresses = re.findall(r'(?:src|href)="([^"#][^"]{0,30})', text)
    assert addresses
    assert all(address.startswith("data:") for address in addresses)
    assert not re.search(r"url\((?!#)|@import|<link(?! rel=\"icon\")", text)
    names = re.findall(r'\sid="([^"]+)"', text)
    assert len(names) == len(set(names))
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', text)) <= set(names)

"""Claims on the paper's page, as HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from ...study.elements import anchor
from .findings import Claim, ClaimCase, Finding, Status

Weighed = tuple[Claim, Finding, Finding]
"""A claim, what was found for it, and what the published figures say."""


def claims(findings: Sequence[Weighed]) -> str:
    """All claims by topic, with buttons that choose them by their finding."""
    counts = Counter(found.status for _, found, _ in findings)
    topics: dict[str, list[str]] = {}
    for claim, found, published in findings:
        topics.setdefault(claim.topic, []).append(_card(claim, found, published))
    parts = "".join(
        f'<section><p class="topic">{topic}</p><div class="claims">{"".join(cards)}</div></section>'
        for topic, cards in topics.items()
    )
    about = (
        '<p class="about">Each claim is broken down into comparisons of relative L2 errors: of several '
        "fields the largest, over seeds the median. An error counts as lower if it is lower by a tenth or "
        "more and the seeds agree. Where they overlap (≶), nothing is decided, and the comparison does not "
        'count as holding; <a href="#reading">the rule in full</a>. The same comparisons are put to the '
        "published figures.</p>"
    )
    return f'{about}{_chips(counts)}<div class="topics">{parts}</div>'


def _card(entry: Claim, found: Finding, published: Finding) -> str:
    """A claim with its finding, and the comparisons folded in."""
    total, failing = len(found.cases), found.decided - found.holding
    parts = "".join(
        f'<i class="{name}" style="width:{100 * count / total:.1f}%"></i>'
        for name, count in (("yes", found.holding), ("tie", found.overlapping), ("no", failing))
        if count
    )
    bar = f'<div class="bar" aria-hidden="true">{parts}</div>' if parts else ""
    if found.run:
        said = f"<b>{found.holding} of {found.run}</b> comparisons hold{found.reservations}"
    else:
        said = f"{total} {'comparison is' if total == 1 else 'comparisons are'} not yet run"
    if found.run and found.other_settings:
        said += ". Some runs have other settings than the paper's, so this is not about its claim yet"
    theirs = (
        f" In the published figures {published.holding} of {published.decided} hold."
        if published.decided
        else ""
    )
    cases = "".join(map(_case, found.cases))
    return (
        f'<article class="card claim" data-status="{anchor(found.status.value)}" id="claim-{entry.name}">'
        f'<span class="badge {anchor(found.status.value)}">{found.label}</span><h3>{escape(entry.title)}</h3>'
        f"<p>{escape(entry.statement)}</p>"
        f'{bar}<p class="found">{said}.{theirs}</p>'
        f"<details><summary>Comparisons</summary><p class=found>Criterion: {escape(entry.criterion)}</p>"
        f'<ul class="cases">{cases}</ul></details></article>'
    )


def _case(case: ClaimCase) -> str:
    if case.holds is None:
        mark, word = ("tie", "undecided: ") if case.overlap else ("open", "not run: ")
    else:
        mark, word = ("yes", "holds: ") if case.holds else ("no", "does not hold: ")
    return f'<li class="{mark}"><span class="unseen">{word}</span>{escape(case.text)}</li>'


def _chips(counts: Mapping[Status, int]) -> str:
    """Buttons that choose claims by their finding."""
    total = sum(counts.values())
    buttons = [f'<button type="button" value="" aria-pressed="true">all {total}</button>']
    buttons += [
        f'<button type="button" value="{anchor(status.value)}" aria-pressed="false">'
        f"{status.value} {counts[status]}</button>"
        for status in Status
        if counts.get(status)
    ]
    return f'<div class="chips" role="group" aria-label="Show claims by finding">{"".join(buttons)}</div>'

"""A page of HTML that shows a function beside its derivative, linked statement by statement.

Contract: the page is one text, which loads nothing; all that comes from the user is escaped. It works with
the keyboard, in light and dark, and shows everything when scripts are off.
"""

from __future__ import annotations

import difflib
import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .highlight import html_lines

__all__ = ["Listing", "Stored", "page", "page_in_frame"]


@dataclass(frozen=True)
class Listing:
    """A text with a title; `links` are the user's statements, by their first lines, that its lines belong to;
    `first` is the number of its first line.
    """

    title: str
    source: str
    links: Mapping[int, int]
    first: int = 1


@dataclass(frozen=True)
class Stored:
    """A value that is kept for the reverse sweep: its name, the expression that makes it, whether a loop
    keeps one a turn, and the user's statements, by line, that make it and whose adjoints read it.
    """

    name: str
    made_by: str
    is_per_turn: bool
    line: int | None
    readers: tuple[int, ...]


def page(
    title: str,
    sides: Sequence[Listing],
    stored: Sequence[Stored],
    called: Sequence[Listing],
    stages: Sequence[Listing],
) -> str:
    """The page; `called` are the functions that the derivative calls."""
    name = html.escape(title)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{name}</title>
<style>{STYLE}</style>
</head>
<body>
<header><h1>{name}</h1>
<p class="help">Point at a line, or walk with <kbd>↑</kbd> <kbd>↓</kbd>, to see what belongs to it on the
other side; click it, or press <kbd>Enter</kbd>, to keep it marked; <kbd>Esc</kbd> lets go.</p></header>
<main>
<div class="sides">{"".join(_listing(side, "side") for side in sides)}</div>
{_stored(stored)}
{_called(called)}
{_stages(stages)}
</main>
<script>{SCRIPT}</script>
</body>
</html>
"""


def page_in_frame(text: str, height: int = 640) -> str:
    """The page for a notebook: its style and script stay inside."""
    return (
        f'<iframe title="derivative" style="width:100%;height:{height}px;border:0" '
        f'sandbox="allow-scripts" srcdoc="{html.escape(text)}"></iframe>'
    )


def _listing(listing: Listing, kind: str, new: frozenset[int] = frozenset()) -> str:
    lines = html_lines(listing.source.rstrip("\n"))
    rows = "".join(_row(listing, k, line, k in new) for k, line in enumerate(lines, 1))
    return (
        f'<section class="{kind}" aria-label="{html.escape(listing.title)}">'
        f"<h2>{html.escape(listing.title)}</h2><div class=\"code\" role=\"list\">{rows}</div></section>"
    )


def _row(listing: Listing, number: int, line: str, is_new: bool) -> str:
    link = listing.links.get(number)
    attributes = f' data-s="{link}" tabindex="-1"' if link is not None else ""
    classes = f'line{" new" if is_new else ""}{" linked" if link is not None else ""}'
    shown = listing.first + number - 1
    text = f"<i>{shown}</i><code>{line or ' '}</code>"
    return f'<div role="listitem" class="{classes}"{attributes}>{text}</div>'


def _stored(stored: Sequence[Stored]) -> str:
    if not stored:
        return '<section class="stored"><h2>Stored for the way back</h2><p>Nothing.</p></section>'
    rows = []
    for value in stored:
        made = html_lines(value.made_by)[0] if value.made_by else "an argument"
        often = "each turn of its loop" if value.is_per_turn else "once"
        readers = ", ".join(_reference(line) for line in value.readers) or "the result"
        made_at = _reference(value.line) if value.line is not None else ""
        rows.append(
            f"<tr><td><code>{html.escape(value.name)}</code></td><td><code>{made}</code> {made_at}</td>"
            f"<td>{often}</td><td>{readers}</td></tr>"
        )
    return (
        '<section class="stored"><h2>Stored for the way back</h2><div class="wide"><table><thead><tr>'
        "<th>value</th><th>made by</th><th>how often</th><th>read by the derivative of</th></tr></thead>"
        f'<tbody>{"".join(rows)}</tbody></table></div></section>'
    )


def _called(called: Sequence[Listing]) -> str:
    if not called:
        return ""
    texts = "".join(
        f"<details><summary><code>{html.escape(listing.title)}</code></summary>{_listing(listing, 'helper')}"
        "</details>"
        for listing in called
    )
    return f'<section class="called"><h2>What it calls</h2>{texts}</section>'


def _reference(line: int) -> str:
    return f'<button type="button" class="to" data-s="{line}">line {line}</button>'


def _stages(stages: Sequence[Listing]) -> str:
    options = "".join(
        f'<option value="{k}">{k + 1}. {html.escape(stage.title)}</option>' for k, stage in enumerate(stages)
    )
    texts, before = [], ""
    for stage in stages:
        texts.append(_listing(stage, "stage", _new_lines(before, stage.source)))
        before = stage.source
    return (
        f'<section class="stages"><h2>The way there</h2><div class="steps" hidden>'
        '<button type="button" id="before" aria-label="previous stage">&lsaquo;</button>'
        f'<select id="stage" aria-label="stage">{options}</select>'
        '<button type="button" id="after" aria-label="next stage">&rsaquo;</button>'
        '<span class="help">lines that the pass made or changed are marked</span></div>'
        f'{"".join(texts)}</section>'
    )


def _new_lines(before: str, after: str) -> frozenset[int]:
    """The numbers of the lines that are not in the text before."""
    old, new = before.splitlines(), after.splitlines()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    spans = [range(j1 + 1, j2 + 1) for tag, _, _, j1, j2 in matcher.get_opcodes() if tag != "equal"]
    return frozenset(k for span in spans for k in span) if before else frozenset()


POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

STYLE = """
:root { color-scheme: light dark; --back: #fbfaf8; --panel: #fff; --ink: #24221f; --soft: #77716a;
  --edge: #e4dfd8; --on: #fff0b8; --pin: #ffdd75; --new: #e3f3e3; --keyword: #8a3fa0; --comment: #4c7a3f;
  --string: #9a5b13; --number: #1d6b80; --name: #1f4fa3; --focus: #1f4fa3; }
@media (prefers-color-scheme: dark) { :root { --back: #191816; --panel: #211f1d; --ink: #e9e4dc;
  --soft: #a29a8f; --edge: #393530; --on: #4a4020; --pin: #6b5a1d; --new: #23382a; --keyword: #d59be6;
  --comment: #93c47d; --string: #e2ab6b; --number: #7fc8dc; --name: #8fb4f5; --focus: #8fb4f5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
header, main { max-width: 1500px; margin: 0 auto; padding: 0 1.25rem; }
h1 { font: 600 1.35rem/1.3 ui-monospace, monospace; margin: 1.1rem 0 0.2rem; overflow-wrap: anywhere; }
h2 { font-size: 0.85rem; font-weight: 600; color: var(--soft); margin: 0; padding: 0.5rem 0.8rem;
  border-bottom: 1px solid var(--edge); }
.help { color: var(--soft); font-size: 0.85rem; margin: 0 0 0.9rem; }
.steps .help { margin: 0; }
kbd { font: 0.8rem ui-monospace, monospace; border: 1px solid var(--edge); border-radius: 3px;
  padding: 0 0.25em; }
.sides { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); gap: 1rem; align-items: start; }
section { background: var(--panel); border: 1px solid var(--edge); border-radius: 6px; overflow: hidden;
  margin-bottom: 1rem; }
.sides .code { max-height: 68vh; }
.code { overflow: auto; padding: 0.4rem 0; font: 13.5px/1.55 ui-monospace, "SF Mono", Consolas, monospace; }
.line { display: flex; min-width: max-content; padding-right: 1rem; border-left: 3px solid transparent; }
.line i { flex: none; width: 3.2em; text-align: right; padding-right: 1.1em; color: var(--soft);
  font-style: normal; user-select: none; }
.line code { font: inherit; white-space: pre; }
.linked { cursor: pointer; }
.new { background: var(--new); }
.on { background: var(--on); }
.pinned { background: var(--pin); border-left-color: var(--focus); }
.line:focus-visible, button:focus-visible, select:focus-visible { outline: 2px solid var(--focus);
  outline-offset: -2px; }
.keyword { color: var(--keyword); } .comment { color: var(--comment); } .string { color: var(--string); }
.number { color: var(--number); } .name { color: var(--name); font-weight: 600; }
.stored p { margin: 0; padding: 0.5rem 0.8rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { text-align: left; padding: 0.3rem 0.8rem; border-bottom: 1px solid var(--edge);
  vertical-align: top; }
tr:last-child td { border-bottom: 0; }
th { color: var(--soft); font-weight: 500; }
td code { font: 13px ui-monospace, monospace; }
button, select { font: inherit; font-size: 0.85rem; color: inherit; background: var(--back); cursor: pointer;
  border: 1px solid var(--edge); border-radius: 4px; padding: 0.1rem 0.5rem; }
.steps { display: flex; gap: 0.4rem; align-items: center; padding: 0.5rem 0.8rem; flex-wrap: wrap; }
.steps[hidden] { display: none; }
summary { cursor: pointer; padding: 0.3rem 0.8rem; }
summary:focus-visible { outline: 2px solid var(--focus); outline-offset: -2px; }
.helper { border: 0; border-radius: 0; margin: 0; }
.helper h2 { display: none; }
.stage { border: 0; border-radius: 0; margin: 0; }
.stepped .stage h2 { display: none; }
@media (max-width: 800px) { .sides { grid-template-columns: minmax(0, 1fr); }
  .sides .code { max-height: 45vh; } }
"""

SCRIPT = """
"use strict";
const all = (query, root = document) => [...root.querySelectorAll(query)];
let pinned = null;
const mark = (name, id) => all(".line[data-s]").forEach(
  line => line.classList.toggle(name, id !== null && line.dataset.s === id));
const hover = id => mark("on", id);
const pin = (id, from) => {
  pinned = id === pinned && from ? null : id;
  mark("pinned", pinned);
  if (pinned === null) return;
  const own = from && from.closest("section");
  all(".side").filter(side => side !== own).forEach(side => {
    const first = side.querySelector(`.line[data-s="${pinned}"]`);
    const box = side.querySelector(".code");
    if (first) box.scrollTop += first.getBoundingClientRect().top - box.getBoundingClientRect().top - 40;
  });
};
all(".code").forEach(box => { const first = box.querySelector(".linked"); if (first) first.tabIndex = 0; });
all(".line.linked").forEach(line => {
  line.addEventListener("mouseenter", () => hover(line.dataset.s));
  line.addEventListener("mouseleave", () => hover(null));
  line.addEventListener("focus", () => hover(line.dataset.s));
  line.addEventListener("blur", () => hover(null));
  line.addEventListener("click", () => pin(line.dataset.s, line));
  line.addEventListener("keydown", event => {
    const lines = all(".line.linked", line.closest(".code"));
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" || event.key === " ") pin(line.dataset.s, line);
    else if (step) {
      const next = lines[lines.indexOf(line) + step];
      if (next) { line.tabIndex = -1; next.tabIndex = 0; next.focus(); }
    } else return;
    event.preventDefault();
  });
});
all("button.to").forEach(button => button.addEventListener("click", () => {
  pin(button.dataset.s, null);
  document.querySelector(".sides").scrollIntoView({ block: "nearest" });
}));
document.addEventListener("keydown", event => {
  if (event.key === "Escape" && pinned !== null) pin(pinned, document.body);
});
const stages = all(".stage"), chooser = document.getElementById("stage");
const show = k => {
  if (k < 0 || k >= stages.length) return;
  chooser.value = k;
  stages.forEach((stage, i) => { stage.hidden = i !== k; });
};
if (stages.length) {
  document.querySelector(".stages").classList.add("stepped");
  document.querySelector(".steps").hidden = false;
  chooser.addEventListener("change", () => show(Number(chooser.value)));
  document.getElementById("before").addEventListener("click", () => show(Number(chooser.value) - 1));
  document.getElementById("after").addEventListener("click", () => show(Number(chooser.value) + 1));
  show(0);
}
"""

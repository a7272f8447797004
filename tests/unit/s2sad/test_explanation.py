"""Explanations as text, in colours, and as a page: what it holds, and what it does in a browser."""

from __future__ import annotations

import html.parser
import importlib.util
import io
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad.tools.highlight import for_terminal, html_lines

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def settle(x: Any, steps: int, w: float = 0.5) -> Any:
    """Text with </script><b>markup</b> & "quotes"."""
    total = 0.0
    for i in range(steps):
        if i % 2 == 0:  # noqa: SIM108
            x = x * np.sin(x) + w
        else:
            x = np.tanh(
                x * w
            )  # fmt: skip
        total = total + np.sum(x * x)
    scale = np.exp(-total)
    return scale * np.sum(x) / (1.0 + total)


FIRST = settle.__code__.co_firstlineno


def explained(form: str = "grad") -> Any:
    return s2sad.explain(settle, np.ones(3), 4, 0.3, form=form)


class Reader(html.parser.HTMLParser):
    """Collects the elements of a page, and notes those that are not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.lines: list[tuple[dict[str, str | None], str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "br", "img"):
            self.open.append(tag)
        if "line" in (dict(attrs).get("class") or "").split():
            self.lines.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "code" in self.open[-2:] and "td" not in self.open:
            self.lines[-1] = self.lines[-1][0], self.lines[-1][1] + data


# ---------------------------------------------------------------- text


def test_text_and_colours() -> None:
    found = explained()
    out = io.StringIO()
    found.show(out)
    assert out.getvalue() == f"{found}\n" and "\x1b" not in out.getvalue()

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TERM", "xterm")
        patch.delenv("NO_COLOR", raising=False)
        found.show(terminal)
        assert re.sub("\x1b\\[[0-9;]*m", "", terminal.getvalue()) == out.getvalue()
        assert "\x1b[35mdef\x1b[0m \x1b[34;1msettle_grad\x1b[0m" in terminal.getvalue()
        patch.setenv("NO_COLOR", "1")
        plain = Terminal()
        found.show(plain)
        assert plain.getvalue() == out.getvalue()


TEXTS = ["", "x = (", "'''a\nb''' + 1.5e3 # c\n", "def f():\n\treturn 'x<y'\n", "é = '…'; y"]


@pytest.mark.parametrize("text", TEXTS)
def test_colours_keep_the_text(text: str) -> None:
    assert re.sub("\x1b\\[[0-9;]*m", "", for_terminal(text)) == text
    joined = re.sub("<[^>]*>", "", "\n".join(html_lines(text)))
    assert html.unescape(joined) == text


# ---------------------------------------------------------------- the page


def test_the_page_is_whole_and_loads_nothing() -> None:
    text = explained().html()
    page = Reader(text)
    assert page.open == []
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _ in page.found}
    assert not any({"src", "href", "onclick"} & attributes.keys() for _, attributes in page.found)
    assert "http://" not in text and "https://" not in text and text.count("</script>") == 1
    assert "<b>markup" not in text and text.count("<script>") == 1
    assert ("html", {"lang": "en"}) in page.found


def test_lines_are_linked_statement_by_statement() -> None:
    found = explained()
    lines = Reader(found.html()).lines
    own = found.original.count("\n") + 1
    function, derivative = lines[:own], lines[own : own + found.derivative.source.count("\n")]
    assert "\n".join(text for _, text in function) == found.original
    assert "\n".join(text for _, text in derivative) + "\n" == found.derivative.source
    by_text = {text.strip(): attributes.get("data-s") for attributes, text in function}
    for statement, expected in (
        ("x = x * np.sin(x) + w", ["x_1 = np.sin(x)", "# x = x * np.sin(x) + w"]),
        ("scale = np.exp(-total)", ["scale = np.exp(-total)", "# scale = np.exp(-total)"]),
        ("for i in range(steps):", ["for i in range(steps):"]),
        ("x * w", []),
    ):
        link = by_text[statement]
        linked = [text.strip() for attributes, text in derivative if attributes.get("data-s") == link]
        assert set(expected) <= set(linked), (statement, linked)
    assert by_text["x * w"] == by_text["x = np.tanh("] is not None


def test_what_is_stored() -> None:
    text = explained().html()
    rows = re.findall(r"<tr><td><code>(.*?)</code></td><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td></tr>", text)
    found = {name: tuple(re.sub("<[^>]*>", "", cell) for cell in cells) for name, *cells in rows}
    assert found["x_1"] == (f"np.sin(x) line {FIRST + 5}", "each turn of its loop", f"line {FIRST + 5}")
    assert found["scale"] == (f"np.exp(-total) line {FIRST + 11}", "once", f"line {FIRST + 11}")
    assert "Nothing." in s2sad.explain(lambda x: 3.0 * x, 1.0, form="jvp").html()


def falling(x: Any, n: int) -> Any:
    return x if n < 2 else falling(x, n - 1) * np.sin(falling(x, n - 2))


def broadcast(a: Any, b: Any) -> Any:
    return np.sum(a * b * np.asarray(b.tolist())) + falling(a[0], 4)


def test_the_page_shows_what_the_derivative_calls() -> None:
    text = s2sad.explain(broadcast, np.ones(3), np.ones((3, 3))).html()
    page = Reader(text)
    assert page.open == []
    called = re.findall(r"<summary><code>(.*?)</code></summary>", text)
    assert called[0] == "falling_fprop" and {"unbroadcast", "unit_cotangent"} <= {*called}
    lines = [line for _, line in page.lines]
    assert any(line.startswith("def falling_fprop") for line in lines)
    assert "def unit_cotangent(out: Any) -> Any:" in lines and len(set(called)) == len(called)
    assert "<h2>What it calls" not in s2sad.explain(lambda x: 3.0 * x, 1.0).html()


@pytest.mark.parametrize("form", ["value_and_grad", "vjp", "jvp"])
def test_pages_of_other_forms(form: str) -> None:
    found = explained(form)
    assert Reader(found.html()).open == [] and found.derivative.function.__name__ in found.html()


def test_pages_of_lambdas_methods_and_libraries() -> None:
    class Model:
        def loss(self, x: float) -> float:
            return x * x

    for f, args in ((lambda x: (x, x * 2)[1], (1.0,)), (Model().loss, (2.0,)), (np.sin, (1.0,))):
        assert Reader(s2sad.explain(f, *args).html()).open == []
    assert Reader(s2sad.explain(settle).html()).open == []


def test_notebooks_show_the_page_in_a_frame() -> None:
    found = explained()
    frame = Reader(found._repr_html_())
    ((tag, attributes),) = frame.found
    assert tag == "iframe" and attributes["srcdoc"] == found.html()
    assert attributes["sandbox"] == "allow-scripts"


# ---------------------------------------------------------------- in a browser


def why_no_browser() -> str:
    """The reason why the tests in a browser are skipped; empty where they run."""
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed (pip install playwright)"
    return "" if BROWSER else "no Chromium on the path (apt install chromium)"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if why_no_browser():
        pytest.skip(why_no_browser())
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """The page in a browser in which no request leaves and no script fails."""
    (tmp_path / "page.html").write_text(explained().html())
    page, complaints = browser.new_page(), list[str]()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: complaints.append(request.url))
    page.goto((tmp_path / "page.html").as_uri())
    yield page
    page.close()
    assert complaints == [(tmp_path / "page.html").as_uri()]


def marked(page: Any, mark: str, side: int) -> list[str]:
    rows = page.locator(f".side >> nth={side} >> .line.{mark} code")
    return [text.strip() for text in rows.all_text_contents()]


def test_pointing_and_clicking(opened: Any) -> None:
    line = opened.locator(".side >> nth=0 >> .line", has_text="x = x * np.sin(x) + w")
    line.hover()
    assert marked(opened, "on", 0) == ["x = x * np.sin(x) + w"]
    assert "x_1 = np.sin(x)" in marked(opened, "on", 1) and not marked(opened, "pinned", 1)
    line.click()
    opened.locator("h1").hover()
    assert not marked(opened, "on", 1) and "# x = x * np.sin(x) + w" in marked(opened, "pinned", 1)
    opened.locator(".side >> nth=1 >> .line", has_text="# scale = np.exp(-total)").click()
    assert marked(opened, "pinned", 0) == ["scale = np.exp(-total)"]
    opened.keyboard.press("Escape")
    assert not marked(opened, "pinned", 0)
    opened.locator("button.to").first.click()
    assert marked(opened, "pinned", 0)


def test_keys(opened: Any) -> None:
    opened.keyboard.press("Tab")
    first = marked(opened, "on", 0)
    opened.keyboard.press("ArrowDown")
    second = marked(opened, "on", 0)
    assert first and second and first != second
    opened.keyboard.press("Enter")
    assert marked(opened, "pinned", 0) == second
    opened.keyboard.press("ArrowUp")
    assert marked(opened, "on", 0) == first and marked(opened, "pinned", 0) == second


def test_stages(opened: Any) -> None:
    shown = opened.locator(".stage:visible")
    assert shown.count() == 1 and shown.first.get_attribute("aria-label") == "desugar_attributes"
    opened.locator("#after").click()
    assert shown.first.get_attribute("aria-label") == "check_syntax"
    opened.locator("#before").click()
    opened.locator("#before").click()
    assert shown.first.get_attribute("aria-label") == "desugar_attributes"
    opened.locator("#stage").select_option(index=14)
    assert shown.count() == 1 and shown.first.get_attribute("aria-label") == "to_anf"
    assert opened.locator(".stage:visible .line.new").count() > 0


def test_light_dark_and_narrow(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(explained().html())
    backs = []
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme, viewport={"width": 390, "height": 800})
        page.goto((tmp_path / "page.html").as_uri())
        backs.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.close()
    assert backs[0] != backs[1]

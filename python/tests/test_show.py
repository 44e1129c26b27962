"""How things look, and that what the documentation says runs."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
import slopp
from conftest import NAMES, rows

#: The possible world that is nearest to one that is not.
NEAREST = slopp.example().explain([[0, 0, 1, 0]])[0]["nearest"][0]
ROOT = Path(__file__).parents[2]


def test_pictures():
    psdd = slopp.example()
    html = psdd._repr_html_()
    assert "<svg " in html and "certificate" in html and "possible worlds" in html
    assert psdd.vtree._repr_svg_().startswith("<svg ")
    assert "X1" in psdd.vtree.picture() and psdd.vtree.dot().startswith("digraph")
    assert psdd.dot().startswith("digraph")
    assert "Circuit of 4 variables" in html
    large = slopp.learn(slopp.configurations(2000), world="closed")
    assert "Summary of a circuit" in large.svg()
    assert "Vtree of 24 variables" in large._repr_html_()
    assert "Circuit of 3 variables" in slopp.Rules(["a -> b", "exactly(1, a, c)"]).compile()._repr_html_()
    nothing = slopp.Rules(["a", "!a"]).compile()
    assert nothing.model_count() == 0 and "<svg" in nothing._repr_html_()


@pytest.mark.parametrize("show,expected", [
    (lambda p: p.mpe(), "P = "),
    (lambda p: p.top_worlds(2), "<th>X1</th>"),
    (lambda p: p.marginals(), "<td>X1</td>"),
    (lambda p: p.rules(), "<th>rule</th>"),
    (lambda p: p.explain([[0, 0, 1, 0]]), "<th>conflict</th>"),
    (lambda p: p.explain([[0, 0, 1, 0]], k=2), f"<td>P = {NEAREST.probability:.4g}, P = "),
    (lambda p: p.origin, "<table>"),
    (lambda p: slopp.diff(p, "X1 -> X2"), "only_first"),
    (lambda p: slopp.Records({"<b>": [1, 0]}), "&lt;b&gt;"),
    (lambda p: slopp.PSDD(), "not fitted"),
    (lambda p: slopp.PSDD().fit(rows(1)), "certificate"),
    (lambda p: slopp.learn(rows(1), learner="slopp-bag"), "<b>Mixture</b>"),
    (lambda p: slopp.learn(rows(1), learner="slopp-bag"), "<th>weight</th>"),
    (lambda p: slopp.learn(rows(1), learner="learnspn"), "a sum-product network"),
    (lambda p: slopp.Rules(["a -> b"]), "<td>a -&gt; b</td>"),
    (lambda p: slopp.Rules(["a -> b"]).compile(), "<td>worlds</td><td>3</td>"),
    (lambda p: slopp.Records(rows(1)).describe(), "share of true"),
    (lambda p: slopp.curve(rows(1, 200), points=2), "Log-likelihood against size"),
    (lambda p: slopp.Rows(), "<table>"),
])
def test_tables(show, expected):
    assert expected in show(slopp.example())._repr_html_()


def test_charts_of_rows():
    rows = slopp.Rows(slopp.Values(missing=x / 10, first=x, second=2.0 * x) for x in range(3))
    picture = rows.chart("missing", "loss")
    assert picture.startswith("<svg") and picture._repr_svg_() == picture
    for words in ("missing", "loss", "first", "second"):
        assert words in picture
    for wrong in (rows, slopp.Rows()):
        with pytest.raises(slopp.errors.ArgumentError, match="no 'nope' in the rows"):
            wrong.chart("nope")


def test_words():
    assert repr(slopp.example()) == "Psdd(4 variables, 13 elements, 15 parameters)"
    assert repr(slopp.Vtree("(a,b)")) == "Vtree('(a,b)')"
    assert repr(slopp.Records(rows(1), names=NAMES)).startswith("Records(60 of 6 variables")
    assert repr(slopp.Rules("a -> b")) == "Rules(['a -> b'])"


@pytest.mark.parametrize("module", [m.name for m in pkgutil.iter_modules(slopp.__path__) if m.name != "_slopp"])
def test_docstrings(module):
    assert doctest.testmod(importlib.import_module(f"slopp.{module}")).failed == 0


def test_docstring_of_the_package():
    assert doctest.testmod(slopp).attempted > 0 and doctest.testmod(slopp).failed == 0


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.S)


@pytest.mark.parametrize("page", ["README.md", "docs/guide/python.md", "docs/guide/coming-from.md"])
def test_examples_of_pages(page, tmp_path, monkeypatch):
    """The examples of a page, run one after the other as people would."""
    monkeypatch.chdir(tmp_path)
    found = blocks(page)
    assert found
    scope = {}
    for block in found:
        exec(compile(block, page, "exec"), scope)


def test_everything_public_is_documented():
    for name in slopp.__all__:
        thing = getattr(slopp, name)
        assert name.startswith("_") or not callable(thing) or thing.__doc__, name
        if isinstance(thing, type):
            for method, value in vars(thing).items():
                assert method.startswith("_") or not callable(value) or value.__doc__, f"{name}.{method}"


def test_stubs_name_what_the_compiled_half_has():
    import ast

    from slopp import _slopp

    stub = ast.parse((ROOT / "python/slopp/_slopp.pyi").read_text())
    for node in stub.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            told = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            told |= {part.target.id for part in node.body if isinstance(part, ast.AnnAssign)}
            there = {name for name in vars(getattr(_slopp, node.name)) if not name.startswith("_")}
            assert {name for name in told if not name.startswith("_")} == there, node.name
        elif isinstance(node, ast.FunctionDef):
            assert callable(getattr(_slopp, node.name))


class Screen:
    """A stream that is, or is not, a terminal."""

    def __init__(self, tty):
        self.tty, self.text = tty, ""

    def isatty(self):
        return self.tty

    def write(self, text):
        self.text += text

    def flush(self):
        pass


STAGES = [("growing", 0, 2), ("growing", 1, 2), ("merging", 0, 3), ("merging", 9, 3)]


def shown(monkeypatch, tty, tqdm=None):
    import sys

    from slopp._show import Bar

    screen = Screen(tty)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setitem(sys.modules, "tqdm", tqdm)
    bar = Bar()
    for stage in STAGES:
        bar(*stage)
    bar.close()
    return screen.text


def test_a_bar_elsewhere_is_a_line_per_stage(monkeypatch):
    """Logs and pipes get neither carriage returns nor escapes."""
    assert shown(monkeypatch, tty=False) == "growing\nmerging\n"


def test_a_bar_on_a_terminal_is_one_line_that_is_gone(monkeypatch):
    text = shown(monkeypatch, tty=True)
    assert "merging: 3 of 3" in text and "\n" not in text and text.endswith("\r\x1b[K")


def test_the_bar_of_tqdm(monkeypatch):
    import types

    made = []

    class Tqdm:
        def __init__(self, total, desc, leave):
            self.n, self.told = 0, (desc, total)
            made.append(self)

        def update(self, n):
            self.n += n

        def close(self):
            self.closed = True

    shown(monkeypatch, tty=True, tqdm=types.SimpleNamespace(tqdm=Tqdm))
    assert [(bar.told, bar.n, bar.closed) for bar in made] == [(("growing", 2), 1, True), (("merging", 3), 3, True)]


def test_the_bar_of_a_notebook(monkeypatch):
    from slopp import _show

    pages = []

    class Handle:
        def update(self, html):
            pages.append(html._repr_html_())

    def display(html, display_id):
        pages.append(html._repr_html_())
        return Handle()

    monkeypatch.setattr(_show, "_notebook_display", lambda: display)
    bar = _show.Bar()
    for stage in STAGES:
        bar(*stage)
    bar.close()
    assert "<progress value='1' max='2'>" in pages[1] and "merging: 3 of 3" in pages[3] and pages[4] == ""

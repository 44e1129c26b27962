"""How things look, and that what the documentation says runs."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
import slopp
from conftest import NAMES, rows

ROOT = Path(__file__).parents[2]


def test_pictures():
    psdd = slopp.example()
    html = psdd._repr_html_()
    assert "<svg " in html and "certificate" in html and "possible worlds" in html
    assert psdd.vtree._repr_svg_().startswith("<svg ")
    assert "X1" in psdd.vtree.picture() and psdd.vtree.dot().startswith("digraph")
    assert psdd.dot().startswith("digraph")
    large = slopp.learn(slopp.configurations(2000), world="closed")
    assert "<svg " not in large._repr_html_() and "<svg " in large.svg()


@pytest.mark.parametrize("show,expected", [
    (lambda p: p.mpe(), "P = "),
    (lambda p: p.top_worlds(2), "<th>X1</th>"),
    (lambda p: p.marginals(), "<td>X1</td>"),
    (lambda p: p.rules(), "<th>rule</th>"),
    (lambda p: p.explain([[0, 0, 1, 0]]), "<th>conflict</th>"),
    (lambda p: p.origin, "<table>"),
    (lambda p: slopp.diff(p, "X1 -> X2"), "only_first"),
    (lambda p: slopp.Records({"<b>": [1, 0]}), "&lt;b&gt;"),
    (lambda p: slopp.PSDD(), "not fitted"),
    (lambda p: slopp.PSDD().fit(rows(1)), "certificate"),
    (lambda p: slopp.learn(rows(1), learner="slopp-bag"), "<b>Mixture</b>"),
])
def test_tables(show, expected):
    assert expected in show(slopp.example())._repr_html_()


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
        if isinstance(node, ast.ClassDef):
            told = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            told |= {part.target.id for part in node.body if isinstance(part, ast.AnnAssign)}
            there = {name for name in vars(getattr(_slopp, node.name)) if not name.startswith("_")}
            assert {name for name in told if not name.startswith("_")} == there, node.name
        elif isinstance(node, ast.FunctionDef):
            assert callable(getattr(_slopp, node.name))

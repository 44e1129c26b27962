"""The notebooks of examples/ run from the top, and show pictures."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("nbclient")
EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))
from run import run  # noqa: E402


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(path):
    outputs = [output for cell in run(path).cells for output in cell.get("outputs", [])]
    shown = [kind for output in outputs for kind in output.get("data", {})]
    assert "text/html" in shown
    assert "image/svg+xml" in shown

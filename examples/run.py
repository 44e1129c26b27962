"""Runs every notebook of this folder from the top, and keeps its output: python examples/run.py"""

from pathlib import Path

import nbformat
from nbclient import NotebookClient


def run(path: Path) -> nbformat.NotebookNode:
    """The notebook with its output; a cell that fails is an error."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False).execute()
    return notebook


if __name__ == "__main__":
    for path in sorted(Path(__file__).parent.glob("*.ipynb")):
        nbformat.write(run(path), path)
        print(path.name)

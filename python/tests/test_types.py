"""Type checkers: what they know of results, and what they refuse."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")
TYPED = Path(__file__).with_name("typed.py")


def mypy(path):
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file", "", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=path.parent)
    # Packages beside, which need not have types, are not what is tested.
    return [line for line in (done.stdout + done.stderr).splitlines() if "typed" in line or "wrong" in line]


def test_types_of_results():
    assert mypy(TYPED) == []
    runpy.run_path(str(TYPED))


def test_what_type_checkers_refuse(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text('import slopp\nslopp.learn([[1]], wrold="open")\nslopp.learn([[1]], world="ajar")\n'
                     'slopp.learn([[1]], learner="learnspn").mpe\nslopp.learn([[1]]).mpe() + 1\n'
                     'slopp.learn([[1]]).nope()\nslopp.nope\n')
    found = mypy(wrong)
    assert [line.split(":")[1] for line in found if "error" in line][:1] == ["2"]
    assert {line.split(":")[1] for line in found if "error" in line} == {"2", "3", "4", "5", "6", "7"}

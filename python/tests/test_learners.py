"""What type checkers know of the learners is a file, written from the table of the library.

After a change of the table, `SLOPP_BLESS=1 pytest python/tests/test_learners.py` writes it anew: read the difference.
"""

import inspect
import os
import re
import typing
from pathlib import Path

import pytest
import slopp
from slopp import _learners, _slopp, errors, learning

FILE = Path(__file__).parents[1] / "slopp" / "_learners.py"

HEAD = '''"""Learners and their options for type checkers: written by test_learners.py from the table of the library."""

from __future__ import annotations

from typing import Final, Literal, TypedDict
'''


def literal(words):
    """An alias of words, in lines that are short enough."""
    lines, line = [], "Literal["
    for i, word in enumerate(words):
        text = f'"{word}"' + ("]" if i + 1 == len(words) else ", ")
        if len(line) + len(text) > 90:
            lines.append(line.rstrip())
            line = "    "
        line += text
    return "\n".join([*lines, line])


def text():
    """The file that the table gives."""
    parts = [HEAD, "#: The names of all learners.", f"LearnerName = {literal(slopp.LEARNERS)}", "",
             "#: The default learner.", f'DEFAULT: Final = "{slopp.LEARNERS[0]}"', ""]
    for kind in ("Psdd", "Deterministic", "Circuit", "Mixture", "Spn"):
        names = [entry["name"] for entry in _slopp.LEARNERS if entry["makes"] == kind]
        parts += [f"#: Those that make a `{kind}`.", f"{kind}Learner = {literal(names)}", ""]
    for option in _slopp.OPTIONS:
        if option["words"]:
            parts += [f"#: {option['about']}.", f"{option['name'].capitalize()} = {literal(list(option['words']))}", ""]
    parts += ["", "class Options(TypedDict, total=False):", '    """The options of some learners."""', ""]
    for option in _slopp.OPTIONS:
        kind = option["name"].capitalize() if option["words"] else option["kind"]
        parts.append(f"    {option['name']}: {kind} | None")
    return "\n".join(parts) + "\n"


def test_the_file_is_what_the_table_gives():
    if os.environ.get("SLOPP_BLESS"):
        FILE.write_text(text(), encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == text(), "if that is meant: SLOPP_BLESS=1 pytest " + __file__


def test_nothing_is_written_down_twice():
    assert slopp.LEARNERS == [entry["name"] for entry in _slopp.LEARNERS]
    assert typing.get_args(_learners.LearnerName) == tuple(slopp.LEARNERS)
    assert set(learning.OPTIONS) == set(_learners.Options.__annotations__) <= set(learning.Settings.__annotations__)
    assert inspect.signature(slopp.learn).parameters["learner"].default == slopp.LEARNERS[0]
    lines = inspect.getsource(learning).splitlines()
    named = [line for line in lines for entry in _slopp.LEARNERS if f'"{entry["name"]}"' in line]
    # The default, and a method for vtrees of the same name as a learner in a docstring.
    assert all("learner" in line and '"slopp"' in line or '"chow-liu"' in line for line in named), named


def value_of(option):
    """A value that an option may have."""
    return next(iter(option["words"]), {"int": 3, "float": 2.5, "bool": True}.get(option["kind"]))


@pytest.mark.parametrize("entry", _slopp.LEARNERS, ids=slopp.LEARNERS)
def test_options_of_the_table_are_taken_and_others_refused(entry):
    cells = [[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1]] * 12
    learner = entry["name"]
    for option in _slopp.OPTIONS:
        name, value = option["name"], value_of(option)
        if name in entry["options"]:
            assert isinstance(slopp.learn(cells, learner=learner, **{name: value}), getattr(slopp, entry["makes"]))
            with pytest.raises(errors.LearnError, match=f"^{name}= is \"nonsense\", but must be"):
                slopp.learn(cells, learner=learner, **{name: "nonsense"})
        else:
            with pytest.raises(errors.LearnError, match=f"^{name}= belongs to .*, not to {re.escape(learner)}; choose"):
                slopp.learn(cells, learner=learner, **{name: value})

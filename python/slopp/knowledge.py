"""Knowledge: rules, the diagrams they compile to, and comparisons of what is possible."""

from __future__ import annotations

import difflib
import pathlib
import tempfile
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from . import _slopp
from ._arguments import counted, limit, whole
from ._arguments import path as a_path
from ._columns import Columns, Group
from ._show import DRAWABLE, Progress, Rows, Values, card, listening, table
from .errors import ArgumentError, FormulaError, NamesError, VtreeError
from .records import Path
from .vtree import Vtree

if TYPE_CHECKING:
    from .circuit import Psdd


class Conflict(list[str]):
    """Rules that contradict each other."""

    #: Whether all are needed: without any of them the others can hold. Otherwise that was not proved.
    minimal: bool
    #: Whether no fewer rules contradict each other; otherwise that was not proved.
    smallest: bool

    def __init__(self, rules: Iterable[str] = (), minimal: bool = False, smallest: bool = False):
        super().__init__(rules)
        self.minimal, self.smallest = minimal, smallest


class Rules:
    """Formulas that hold together: one text with a formula per line, or a list of formulas.

    >>> rules = Rules(["exactly(1, red, green)", "red -> hot"])
    >>> rules.names
    ['red', 'green', 'hot']
    >>> rules.compile().model_count()
    3
    """

    def __init__(self, rules: str | Iterable[str], names: Sequence[str] | None = None):
        self._read(rules, None if names is None else list(names), [])

    def _read(self, rules: str | Iterable[str], names: list[str] | None, groups: list[Group]) -> None:
        lines = list(rules) if isinstance(rules, Iterable) else [rules]
        text = rules if isinstance(rules, str) or not all(isinstance(r, str) for r in lines) else "\n".join(lines)
        if not isinstance(text, str):
            raise ArgumentError(f"rules are {rules!r}, but must be a text with a formula per line, or a list of such")
        if not isinstance(rules, str):
            # In a text a rule goes on in the next line after an operator; in a list it would swallow the next rule.
            for i, line in enumerate(lines, 1):
                try:
                    _slopp.Rules.parse(line, names, groups)
                except FormulaError as error:
                    raise FormulaError(f"rule {i} of the list: {error}") from None
        self._rules = _slopp.Rules.parse(text, names, groups)
        self._text = text

    @classmethod
    def _over(cls, rules: str | Iterable[str], columns: Columns) -> Rules:
        """Over the variables of columns, whose values they name."""
        self = cls.__new__(cls)
        self._read(rules, columns.variables, columns.groups)
        return self

    @classmethod
    def _of(cls, rules: _slopp.Rules) -> Rules:
        self = cls.__new__(cls)
        self._rules = rules
        self._text = "\n".join(text for _, text in rules.lines)
        return self

    @classmethod
    def read(cls, path: Path, names: Sequence[str] | None = None) -> Rules:
        """From a file: text with a formula per line, or DIMACS."""
        return cls._of(_slopp.Rules.read(a_path("path", path), None if names is None else list(names)))

    def write(self, path: Path) -> None:
        """Into a file with a formula per line."""
        self._rules.write(a_path("path", path))

    def cnf(self) -> str:
        """DIMACS clauses, with the names in a comment."""
        return self._rules.cnf()

    @property
    def names(self) -> list[str]:
        """The names of the variables."""
        return self._rules.names

    @property
    def formulas(self) -> list[str]:
        """The rules as they were written."""
        return [text for _, text in self._rules.lines]

    def broken_by(self, records: Any) -> list[list[str]]:
        """The rules that each record breaks by its known cells; of a frame, columns without a rule may be anything."""
        from ._align import with_variables

        formulas = self.formulas
        found = self._rules.broken_by(with_variables(records, self.names)._records)
        return [[formulas[i] for i in broken] for broken in found]

    def conflict(self) -> Conflict | None:
        """Rules that contradict each other, if no world obeys all: a list that says how few they are.

        >>> found = Rules(["a -> b", "c | d", "a & !b"]).conflict()
        >>> found, found.smallest
        (['a -> b', 'a & !b'], True)
        """
        found = self._rules.conflict()
        if found is None:
            return None
        rules, minimal, smallest = found
        return Conflict((self.formulas[i] for i in rules), minimal, smallest)

    def entails(self, formula: str) -> bool:
        """Whether a formula holds in every world that obeys the rules."""
        return _entails(self, formula)

    def compile(self, vtree: Vtree | str | None = None, *, search: int = 0, max_nodes: int | None = None,
                max_memory: int | None = None, progress: Progress = None) -> Sdd:
        """A diagram on a vtree, also as a text such as "((a,b),c)"; without one, on one for the rules, improved by
        `search` moves.

        It stops with a `TooLargeError` above this many nodes or megabytes (4096 by default).
        """
        vtree = None if vtree is None else self._vtree(vtree)
        with listening(progress) as callback:
            on = None if vtree is None else vtree._vtree
            return Sdd._of(self._rules.compile(on, whole("search", search), limit("max_nodes", max_nodes),
                                               limit("max_memory", max_memory), callback))

    def _vtree(self, vtree: Any) -> Vtree:
        """A vtree over the names of the rules."""
        if isinstance(vtree, str):
            vtree = Vtree(vtree)
        if not isinstance(vtree, Vtree):
            raise ArgumentError(f'vtree is {vtree!r}, but must be a Vtree, or a text such as "((a,b),c)"')
        if more := [name for name in vtree.names if name not in self.names]:
            raise VtreeError(f"the vtree has {', '.join(more[:5])}, which no rule mentions; "
                             "Rules(..., names=vtree.names) makes rules about all variables of the vtree")
        return vtree if vtree.names == self.names else Vtree(str(vtree), self.names)

    def __len__(self) -> int:
        return len(self._rules.lines)

    def __eq__(self, other: object) -> bool:
        """Whether the same rules are written over the same names; `equivalent` asks whether they say the same."""
        return isinstance(other, Rules) and (self.names, self.formulas) == (other.names, other.formulas)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Rules({self.formulas!r})"

    def __reduce__(self) -> Any:
        return Rules, (self._text, self.names)

    def _repr_html_(self) -> str:
        facts = f"{counted(len(self), 'rule')} over {counted(len(self.names), 'variable')}"
        return card("Rules", facts, table(enumerate(self.formulas, 1), ("", "rule")))


class Sdd:
    """A sentential decision diagram: a formula in a form that counts its worlds."""

    def __init__(self, *_: Any, **__: Any):
        raise ArgumentError('an Sdd is not made by hand: Rules("a -> b").compile() makes one, Sdd.read("it.sdd") reads '
                            "one")

    def __eq__(self, other: object) -> bool:
        """Whether the same worlds are written on the same vtree."""
        return isinstance(other, Sdd) and self.names == other.names and self.vtree == other.vtree and equivalent(
            self, other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder, name) for name in ("it.sdd", "it.vtree")]
            self.write(files[0])
            self.vtree.write(files[1])
            return _unpickled, (*(file.read_bytes() for file in files), self.names)

    _sdd: _slopp.Sdd

    @classmethod
    def _of(cls, sdd: _slopp.Sdd) -> Sdd:
        self = cls.__new__(cls)
        self._sdd = sdd
        return self

    @classmethod
    def read(cls, path: Path, vtree: Path | Vtree | None = None, names: Sequence[str] | None = None) -> Sdd:
        """From an .sdd file, as libsdd and PySDD write it, with its .vtree file, or the `Vtree` it was compiled on."""
        known = None if names is None else list(names)
        if not isinstance(vtree, Vtree):
            on = None if vtree is None else a_path("vtree", vtree)
            return cls._of(_slopp.Sdd.read(a_path("path", path), on, known))
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "it.vtree")
            vtree.write(file)
            return cls._of(_slopp.Sdd.read(a_path("path", path), file, vtree.names if known is None else known))

    def write(self, path: Path) -> None:
        """Into an .sdd file, names and vtree in comments; `sdd.vtree.write` writes the vtree for other tools."""
        self._sdd.write(a_path("path", path))

    @property
    def names(self) -> list[str]:
        """The names of the variables."""
        return self._sdd.names

    @property
    def vtree(self) -> Vtree:
        """The vtree."""
        return Vtree._of(self._sdd.vtree)

    @property
    def size(self) -> Values[int]:
        """How large it is."""
        return Values(zip(("decisions", "elements"), self._sdd.size, strict=True))

    def model_count(self) -> int:
        """How many worlds satisfy it, exactly."""
        return self._sdd.model_count()

    def entails(self, formula: str) -> bool:
        """Whether a formula holds in every world that satisfies it."""
        return _entails(self, formula)

    def psdd(self) -> Psdd:
        """The PSDD in which all these worlds are equally probable."""
        from .model import wrap

        return wrap(self._sdd.psdd())  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"Sdd({counted(len(self.names), 'variable')}, {counted(self.size['elements'], 'element')})"

    def svg(self, limit: int = 300) -> str:
        """A picture: in full up to `limit` nodes and elements; above, or if no world is left, the vtree."""
        return drawn(self.psdd(), limit) if self.model_count() else self.vtree.svg()

    def _repr_html_(self) -> str:
        facts = {"variables": len(self.names), **self.size, "worlds": self.model_count()}
        return card("Sdd", "a sentential decision diagram", table(facts.items()), picture=self._drawing())

    def _drawing(self) -> str:
        """The picture of its card."""
        return self.svg(DRAWABLE)


def _unpickled(sdd: bytes, vtree: bytes, names: list[str]) -> Sdd:
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder, name) for name in ("it.sdd", "it.vtree")]
        files[0].write_bytes(sdd)
        files[1].write_bytes(vtree)
        return Sdd.read(files[0], files[1], names)


def drawn(circuit: Any, limit: int) -> str:
    """A picture of a circuit if it is small, else of its vtree, which people can still look at."""
    is_small = circuit.size["nodes"] + circuit.size["elements"] <= limit
    return circuit.svg(limit) if is_small else circuit.vtree.svg()  # type: ignore[no-any-return]


class Difference(Values[int]):
    """What two allow: how many worlds only the first, only the second and both do, with examples."""

    #: Some worlds that only the first allows, and some that only the second does.
    examples_first: Rows[Values[bool]]
    examples_second: Rows[Values[bool]]
    #: Columns of both with values that only one of them knows, which are impossible in the other.
    different_values: Rows[Values[Any]]


def diff(first: Any, second: Any, *, limit: int = 5) -> Difference:
    """The worlds that only one of two allows: models, diagrams, `Rules`, or formulas.

    Rules and diagrams may speak of different names as long as they share some, and then all of them count; a model says
    what there is, and a name that it does not have is an error. A column with several values has one of them in every
    world; a value that only one side knows is impossible in the other.
    """
    known = (_known(first, second), _known(second, first))
    names, (only_first, only_second, both), differ = _slopp.diff(*known, whole("limit", limit))
    found = Difference(only_first=only_first[0], only_second=only_second[0], both=both[0])
    found.examples_first, found.examples_second = (
        Rows(Values(zip(names, world, strict=True)) for world in part[1]) for part in (only_first, only_second)
    )
    found.different_values = Rows(
        Values(column=column, only_first=of_first, only_second=of_second) for column, of_first, of_second in differ
    )
    return found


def equivalent(first: Any, second: Any) -> bool:
    """Whether two allow the same worlds."""
    found = diff(first, second, limit=0)
    return bool(found["only_first"] == found["only_second"] == 0)


def _entails(knowledge: Rules | Sdd, formula: str) -> bool:
    return _slopp.entails(_known(knowledge), Rules([formula], knowledge.names)._rules)


def _known(knowledge: Any, other: Any = None) -> Any:
    if isinstance(knowledge, (str, list, tuple)):
        # A formula compared with a model is read by its columns: so `colour=red` is a category.
        columns = getattr(other, "columns", None)
        if columns is None or not all(isinstance(one, str) for one in knowledge):
            knowledge = Rules(knowledge)
        elif isinstance(knowledge, str):
            knowledge = Rules(columns.quoted(knowledge), other.names)
        else:
            knowledge = Rules([columns.quoted(formula) for formula in knowledge], other.names)
    for handle in ("_rules", "_sdd", "_model"):
        if hasattr(knowledge, handle):
            _check_names(knowledge, other)
            return getattr(knowledge, handle)
    raise ArgumentError(f"a model, an Sdd, Rules or a formula is needed, not {type(knowledge).__name__}")


def _check_names(knowledge: Any, model: Any) -> None:
    """Refuses names that the other model does not have: they are more likely misspelt than new."""
    if not hasattr(model, "_model"):
        return
    # Of a column that both have as one, each may know values of its own.
    columns, own = set(model.columns.categories), getattr(knowledge, "columns", ())
    shared = {variable for column in own if column.name in columns for variable in column.variables}
    for name in knowledge.names:
        if name not in model.names and name not in shared:
            near = difflib.get_close_matches(name, model.names, 1)
            raise NamesError(f'the model has no variable "{name}"; '
                             + (f'did you mean "{near[0]}"?' if near else ".names lists what it has"))

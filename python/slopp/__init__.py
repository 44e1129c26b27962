"""Learn and use Probabilistic Sentential Decision Diagrams (PSDDs).

    >>> import slopp
    >>> cars = slopp.configurations(2000, seed=1)
    >>> psdd = slopp.learn(cars, world="closed")
    >>> psdd.certificate
    'psdd'
    >>> 0 < psdd.prob("engine_electric | engine_hybrid", given="trim_luxury -> heated_seats") < 1
    True

`slopp.PSDD` is the same as an estimator of scikit-learn.
"""

import typing as _typing

from . import _slopp, errors
from ._arguments import whole as _whole
from ._columns import Column, Columns
from ._show import Rows, Values, World
from ._slopp import __version__
from .circuit import Circuit, Deterministic, Psdd, example, read
from .errors import SloppError
from .evaluation import Comparison, Fidelity, Score, compare
from .knowledge import Rules, Sdd, diff, equivalent
from .learning import LEARNERS, Curve, curve, distil, learn
from .mixture import Mixture
from .model import Model, Spn
from .records import Description, Records, configurations, rankings
from .vtree import Vtree

if _typing.TYPE_CHECKING:
    from .estimator import PSDD

__all__ = [
    "LEARNERS", "PSDD", "Circuit", "Column", "Columns", "Comparison", "Curve", "Description", "Deterministic",
    "Fidelity", "Mixture", "Model", "Psdd", "Records", "Rows", "Rules", "Score", "Sdd", "SloppError", "Spn", "Values",
    "Vtree", "World", "__version__", "compare", "configurations", "curve", "diff", "distil", "equivalent", "errors",
    "example", "learn", "rankings", "read", "set_threads",
]


def set_threads(threads: int) -> None:
    """Use this many threads, 0 for all cores; results are the same on any number."""
    _slopp.set_threads(_whole("threads", threads))


if not _typing.TYPE_CHECKING:
    def __getattr__(name: str) -> _typing.Any:
        # scikit-learn is optional and slow to import: only users of the estimator pay for it.
        if name == "PSDD":
            from .estimator import PSDD

            return PSDD
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

"""The estimator: learning and asking with the manners of scikit-learn, which need not be installed."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from types import MethodType, NoneType
from typing import Any

import numpy as np

from . import _encode, _frames
from ._arguments import whole
from ._columns import Columns, objects
from ._show import Values
from .errors import ArgumentError, ImpossibleError, LearnError, RecordsError
from .learning import as_records, learn
from .records import Records

try:
    from sklearn.base import BaseEstimator, DensityMixin
    from sklearn.exceptions import NotFittedError
    from sklearn.utils import ClassifierTags
    from sklearn.utils.validation import check_is_fitted, validate_data

    HAS_SKLEARN = True
except ImportError:
    HAS_SKLEARN = False

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """The model was not fitted."""

    class DensityMixin:  # type: ignore[no-redef]
        """A place for what scikit-learn adds."""

    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters by name."""

        @classmethod
        def _get_param_names(cls) -> list[str]:
            return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **params: Any) -> Any:
            for name, value in params.items():
                if name not in self._get_param_names():
                    raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}. "
                                     f"Valid parameters are: {self._get_param_names()}.")
                setattr(self, name, value)
            return self

        def __repr__(self) -> str:
            defaults = {name: p.default for name, p in inspect.signature(type(self).__init__).parameters.items()}
            told = (f"{name}={value!r}" for name, value in self.get_params().items() if value != defaults[name])
            return f"{type(self).__name__}({', '.join(told)})"


NO_TARGET = 'which column is to be predicted? PSDD(target="name"), or set_params(target="name"), also after fit'


class _IfTarget:
    """A method that is there if there is a target."""

    def __init__(self, method: Any):
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, estimator: Any, owner: Any) -> Any:
        if estimator is None:
            return self._method
        if estimator.target is None:
            raise AttributeError(NO_TARGET)
        return MethodType(self._method, estimator)


class PSDD(DensityMixin, BaseEstimator):  # type: ignore[misc]
    """A certified PSDD as a density estimator, and as a classifier for any of its columns.

    Parameters
    ----------
    learner : the learner, one of `slopp.LEARNERS`.
    effort : how much the learner slopp tries: "fast", "balanced" or "best".
    world : "open", everything is possible, or "closed", only what the records show.
    rules : formulas that the model obeys, with names of columns.
    vtree : a `Vtree`, a text such as "((a,b),c)", or a method such as "chow-liu".
    random_state : the seed of everything random; the same seed gives the same model.
    target : the column that `predict` and `predict_proba` are about: a name, or its place. It may be set after `fit`,
        because the model is one of all columns; without it there is neither method.
    binarize : numbers above this are true; without it cells must be Boolean or categorical.
    bins : how columns of numbers are cut, such as `{"age": 4}` or `{"age": "young:30:old"}`.
    categories : columns that are categorical even if they look Boolean.
    max_values : how many categories a column may have.
    closed : groups of columns that are closed in an open world, such as `["a,b"]`.
    missing : records with missing cells in `fit`: "reject", "drop", or "em".
    on_violation : records in `fit` that break a rule: "reject", "drop" or "repair".
    options : more options of the learner, by name.
    progress : `True` for a bar, or a function of stage, steps done and steps.

    Attributes
    ----------
    model_ : what was learned, a `slopp.Psdd` for most learners: it answers all questions.
    columns_ : the columns, with their categories.
    classes_ : the values of the target, sorted as scorers expect them, in the order of the column if they cannot be.
    """

    def __init__(self, learner: str = "slopp", effort: str = "fast", world: str = "open", rules: Any = None,
                 vtree: Any = None, random_state: Any = 0, *, target: str | int | None = None,
                 binarize: float | None = None, bins: Any = None, categories: Any = None,
                 max_values: int | None = None, closed: Any = None, missing: str = "reject",
                 on_violation: str = "reject",
                 options: Mapping[str, Any] | None = None, progress: Any = None):
        self.learner = learner
        self.effort = effort
        self.world = world
        self.rules = rules
        self.vtree = vtree
        self.random_state = random_state
        self.target = target
        self.binarize = binarize
        self.bins = bins
        self.categories = categories
        self.max_values = max_values
        self.closed = closed
        self.missing = missing
        self.on_violation = on_violation
        self.options = options
        self.progress = progress

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PSDD:
        """Learns from the rows of `X`, all columns; `y` is for scorers, and if there is a target must be its column."""
        table = self._table(X, reset=True)
        if isinstance(X, Records):
            # They know their columns better than their cells tell.
            records, table = as_records(X, self.bins, self.categories, self.max_values), X._table
            records = records if sample_weight is None else records.reweighted(sample_weight)
        else:
            records = Records(table, weights=sample_weight, binarize=self.binarize, bins=self.bins,
                              categories=self.categories, max_values=self.max_values)
        if len(records) == 0:
            raise RecordsError("Found array with 0 sample(s) while a minimum of 1 is required: there are no records "
                               "to learn from, or all have weight zero")
        if records.has_missing and self.missing == "reject":
            raise LearnError('Input X contains NaN: cells are missing, and the learner needs complete records. '
                             'missing="em" learns the structure from complete records and the parameters from all, '
                             '"drop" leaves them out; in score_samples and predict_proba cells may be missing anyway')
        if not isinstance(self.options, (Mapping, NoneType)):
            raise ArgumentError(f"options is {self.options!r}, but must be a dict of options of the learner by name")
        options = dict(self.options or {})
        # What a learner does not have is left to it only where somebody set it, so that it can refuse.
        if self.learner == "slopp" or self.effort != "fast":
            options.setdefault("effort", self.effort)
        if self.learner not in ("learnspn", "slopp-em") or self.world != "open":
            options.setdefault("world", self.world)
        if y is not None and self.target is not None:
            self._check_target(X if isinstance(X, Records) else table, y, records.columns)
        self.model_ = learn(records, learner=self.learner, vtree=self.vtree, rules=self.rules, missing=self.missing,
                            on_violation=self.on_violation, closed=self.closed or (), seed=_seed(self.random_state),
                            progress=self.progress, **options)
        self.columns_ = records.columns
        self._like = dataclasses.replace(table, rows=0, matrix=None, columns=None, index=None)
        return self

    @property
    def classes_(self) -> np.ndarray:
        """The values of the target, sorted as scorers expect them, in the order of the column if they cannot be."""
        if self.target is None or not hasattr(self, "columns_"):
            raise AttributeError(NO_TARGET if self.target is None else "there are no classes before fit")
        column = self.columns_[self._place()]
        if column.categories is None:
            return np.array([False, True])
        categories = [column.categories[i] for i in _order(column.categories)]
        # NumPy would make texts of numbers beside texts, and numbers of intervals.
        alike = {type(category) for category in categories} <= {str} or all(
            isinstance(category, (int, float)) for category in categories)
        return np.array(categories) if alike else objects(categories)

    def score_samples(self, X: Any) -> np.ndarray:
        """The log-likelihood of each row; −∞ if it is impossible. NaN is summed out."""
        records = self._records(X)
        return self.model_.log_likelihoods(records)  # type: ignore[no-any-return]

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log-likelihood of the rows."""
        return float(np.mean(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """Rows drawn at random, as what the model was fitted to: an array, or a frame or a dict of its columns."""
        self._check_fitted()
        count = whole("n_samples", n_samples, 1)
        worlds = self.model_._model.sample(count, self.model_._event(None), _seed(random_state))
        if self._like.kind == "array":
            return worlds if self.columns_.is_plain else Values(self.columns_.decode(worlds))
        return _frames.in_kind(self._like, self.columns_.decode(worlds), self.columns_)

    @_IfTarget
    def predict_proba(self, X: Any) -> np.ndarray:
        """The exact probability of each of `classes_` given the other columns of each row.

        `X` has all columns, of which that of the target is not looked at, or, as a frame, may lack that one. Other
        cells may be missing. A row that is impossible whatever the target has NaN.
        """
        records, place = self._without_target(X)
        categories = self.columns_[self._place()].categories
        values = np.array([[0.0], [1.0]]) if categories is None else np.eye(len(place))[_order(categories)]
        cells = records.to_numpy().astype(np.float64)
        logs = np.empty((len(cells), len(values)))
        for i, value in enumerate(values):
            cells[:, place.start:place.stop] = value
            logs[:, i] = self.model_.log_likelihoods(records._with(cells))
        with np.errstate(invalid="ignore"):
            shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]

    @_IfTarget
    def predict(self, X: Any) -> np.ndarray:
        """The most probable value of the target given the other columns of each row."""
        shares = self.predict_proba(X)
        impossible = np.isnan(shares).any(axis=1)
        if impossible.any():
            raise ImpossibleError(
                f"{int(impossible.sum())} rows are impossible whatever the target, the first is row "
                f"{int(impossible.argmax())}; predict_proba gives NaN there, model_.explain tells why, "
                'and world="open" makes everything possible'
            )
        return self.classes_[shares.argmax(axis=1)]  # type: ignore[no-any-return]

    # Parts of the above.

    def _check_target(self, X: Any, y: Any, columns: Columns) -> None:
        """Refuses a `y` that is not the column of the target: nothing would be learned from it."""
        place = self._place(columns)
        column, variables = columns[place], columns.places()[place]
        own = X.to_numpy() if isinstance(X, Records) else _encode.encode(X, columns, self.binarize)
        own = own[:, variables.start:variables.stop].astype(np.float64)
        values = np.asarray(y)
        for binarize in (self.binarize, None):
            with contextlib.suppress(RecordsError):
                told = _frames.read({column.name: values.reshape(-1) if values.size == len(values) else values})
                cells = _encode.encode(told, Columns([column]), binarize).astype(np.float64)
                if cells.shape == own.shape and np.array_equal(cells, own, equal_nan=True):
                    return
        raise ArgumentError(f'y is not the column "{column.name}" of X, which is the target: a PSDD is learned from '
                            "all columns, that of the target among them. Put y into X as that column, or leave y out")

    def _place(self, columns: Columns | None = None) -> int:
        """Which column the target is."""
        names, target = (columns or self.columns_).names, self.target
        if isinstance(target, str) and target in names:
            return names.index(target)
        if isinstance(target, (int, np.integer)) and -len(names) <= target < len(names):
            return int(target) % len(names)
        raise RecordsError(f"there is no column {target!r} to predict; the columns are {', '.join(names)}")

    def _without_target(self, X: Any) -> tuple[Records, range]:
        self._check_fitted()
        place = self._place()
        table = _frames.read(_frames.by_known_columns(X, self.columns_))
        name = self.columns_.names[place]
        variables = self.columns_.places()[place]
        if table.names is None or name not in self.columns_.names:
            return self._records(X), variables
        if name in table.names:
            table = self._table(X, reset=False).by_column()
            assert table.names is not None and table.columns is not None
            # What stands in the column of the target is not looked at, be it known or not.
            others = [i for i, other in enumerate(table.names) if other != name]
            table = dataclasses.replace(table, names=[table.names[i] for i in others],
                                        columns=[table.columns[i] for i in others])
        rest = Columns([column for column in self.columns_ if column.name != name])
        cells = _encode.encode(table, rest, self.binarize).astype(np.float64)
        unknown = np.full((table.rows, len(variables)), np.nan)
        cells = np.hstack([cells[:, :variables.start], unknown, cells[:, variables.start:]])
        return Records(cells, names=self.columns_.variables), variables

    def _records(self, X: Any) -> Records:
        self._check_fitted()
        table = self._table(X, reset=False)
        return Records(table, columns=self.columns_, binarize=self.binarize)

    def _table(self, X: Any, *, reset: bool) -> _frames.Table:
        """`X` as a table, checked in the way of scikit-learn."""
        if isinstance(X, Records):
            X = X.to_dict()
        if not reset:
            X = _frames.by_known_columns(X, self.columns_)
        if HAS_SKLEARN and not _frames.is_frame(X):
            X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan",
                              accept_sparse=["csr", "csc", "coo"])
            if X.dtype.kind == "O":
                X = X.astype(np.float64)
            return _frames.read(X)
        table = _frames.read(X)
        if HAS_SKLEARN and hasattr(X, "columns") and hasattr(X, "shape"):
            validate_data(self, X, reset=reset, skip_check_array=True)
        elif reset:
            self.n_features_in_ = table.width
        elif table.width != self.n_features_in_:
            raise RecordsError(f"X has {table.width} features, but {type(self).__name__} is expecting "
                               f"{self.n_features_in_} features as input")
        for count, what in ((table.rows, "sample"), (table.width, "feature")):
            if count == 0:
                raise RecordsError(f"Found array with 0 {what}(s) (shape=({table.rows}, {table.width})) while a "
                                   "minimum of 1 is required")
        return table

    def _check_fitted(self) -> None:
        if HAS_SKLEARN:
            check_is_fitted(self, "model_")
        elif not hasattr(self, "model_"):
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate "
                                 "arguments before using this estimator.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.target is not None:
            # Scorers such as roc_auc ask for probabilities of classifiers only.
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        tags.input_tags.allow_nan = self.missing != "reject"
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags

    def _repr_html_(self) -> str:
        card = self.model_._repr_html_() if hasattr(self, "model_") else "not fitted"
        return f"<div><code>{self!r}</code></div>{card}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _order(categories: Sequence[Any]) -> list[int]:
    """The places of categories as NumPy sorts them; as they are if they cannot be compared."""
    places = list(range(len(categories)))
    with contextlib.suppress(TypeError):
        places.sort(key=categories.__getitem__)
    return places


def _seed(random_state: Any) -> int:
    """A seed from what scikit-learn takes as one."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state)
    raise ValueError(f"random_state is {random_state!r}, but must be a whole number of at least 0, a generator of "
                     "NumPy or None")

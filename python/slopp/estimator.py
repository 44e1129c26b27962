"""The estimator: learning and asking by the interface of scikit-learn, which need not be installed."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, Literal, get_args

import numpy as np

from . import _encode, _frames
from ._arguments import Floats, whole
from ._columns import Columns, objects
from ._learners import DEFAULT, Effort, LearnerName
from ._restrictions import choice
from ._sklearn import (
    HAS_SKLEARN,
    NO_TARGET,
    BaseEstimator,
    ClassifierTags,
    DensityMixin,
    IfTarget,
    NotFittedError,
    check_is_fitted,
    validate_data,
)
from .errors import ArgumentError, ImpossibleError, LearnError, RecordsError
from .learning import TABLE, WorldName, as_records, learn
from .model import Model
from .records import Records, checked_weights, threshold

#: Arguments of learning that are parameters under another name.
OWN = {"seed": "random_state"}

IGNORED_Y = ("y is not looked at, because there is no target: a PSDD is learned from the columns of X. Put y into X as "
             "a column and name it, PSDD(target=...), or give weights as sample_weight=")


class PSDD(DensityMixin, BaseEstimator):  # type: ignore[misc]
    """A certified PSDD as a density estimator, and as a classifier for any of its columns.

    Columns of an array are called `x1`, `x2` and so on in rules, evidence and answers; places, as in `target=0`, count
    from 0 as everywhere in Python, so `target=0` is `x1`.

    Parameters
    ----------
    learner : the learner, one of `slopp.LEARNERS`.
    effort : how much the learner slopp tries: "fast", "balanced" or "best".
    world : "open", everything is possible, or "closed", only what the records show; that of the learner unless given.
    rules : formulas that the model obeys, with names of columns.
    vtree : a `Vtree`, a text such as "((a,b),c)", or a method such as "chow-liu".
    random_state : the seed of everything random; the same seed gives the same model.
    target : the column that `predict` and `predict_proba` are about: a name, a tuple where a frame has several levels
        of names, or its place counted from 0. It may be set after `fit`, because the model is one of all columns;
        without it there is neither method.
    binarize : numbers above this are true; without it cells must be Boolean or categorical.
    bins : how columns of numbers are cut, such as `{"age": 4}` or `{"age": "young:30:old"}`.
    categories : columns that are categorical even if they look Boolean.
    max_values : how many categories a column may have.
    closed : columns that are closed together in an open world, such as `["a", "b"]`, or a list of such groups.
    open : columns that stay open in a world that is otherwise closed.
    missing : records with missing cells in `fit`: "reject", "drop", or "em".
    on_violation : records in `fit` that break a rule: "reject", "drop" or "repair".
    options : more options of the learner, by name; `help(slopp.learn)` lists them.
    progress : `True` for a bar, or a function of stage, steps done and steps.

    Attributes
    ----------
    model_ : what was learned, a `slopp.Psdd` for most learners: it answers all questions.
    columns_ : the columns, with their categories.
    classes_ : the values of the target in the type of its column, sorted as scorers expect them, in the order of the
        column if they cannot be.
    """

    #: The learned model; its class says what it is.
    model_: Model
    #: The columns, with their categories.
    columns_: Columns

    def __init__(self, learner: LearnerName = DEFAULT, effort: Effort = "fast",
                 world: WorldName | None = None, rules: Any = None, vtree: Any = None,
                 random_state: Any = 0, *, target: str | int | tuple[Any, ...] | None = None,
                 binarize: float | None = None, bins: Any = None, categories: Any = None, max_values: int | None = None,
                 closed: Any = None, open: Any = None, missing: Literal["reject", "drop", "em"] = "reject",
                 on_violation: Literal["reject", "drop", "repair"] = "reject",
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
        self.open = open
        self.missing = missing
        self.on_violation = on_violation
        self.options = options
        self.progress = progress

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PSDD:
        """Learns from the rows of `X`, all columns, that of the target among them.

        Parameters
        ----------
        X : an array, a frame, a dict of columns, a list of dicts, or `Records`.
        y : for pipelines and scorers; with a target it must be its column, without one it is not looked at.
        sample_weight : how much each row counts; a weight of 2 is the row twice, 0 is none.
        """
        if self.world is not None:
            choice("world", self.world, ("open", "closed"))
        choice("effort", self.effort, get_args(Effort))
        if self.binarize is not None:
            threshold(self.binarize)
        table = self._table(X, reset=True)
        self._check_length(table.rows, y)
        if isinstance(X, Records):
            # They know their columns better than their cells show.
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
        if self.target is not None:
            place = self._place(records.columns, table)
            if y is not None:
                self._check_target(X if isinstance(X, Records) else table, y, records.columns, place)
        self.model_ = learn(records, learner=self.learner, vtree=self.vtree, rules=self.rules, missing=self.missing,
                            on_violation=self.on_violation, closed=self.closed, open=self.open,
                            seed=_seed(self.random_state), progress=self.progress, **self._options())
        self.columns_ = records.columns
        # What binarize= cuts is true or false, whatever the numbers were.
        names = records.columns.names
        self._truths = [np.bool_] * len(names) if self.binarize is not None else table.truths(names)
        self.model_._like = table.like()
        return self

    @property
    def classes_(self) -> np.ndarray:
        """The values of the target, sorted as scorers expect them, in the order of the column if they cannot be."""
        if self.target is None or not hasattr(self, "columns_"):
            raise AttributeError(NO_TARGET if self.target is None else "there are no classes before fit")
        column = self.columns_[self._place()]
        if column.categories is None:
            return np.array([0, 1], dtype=self._truths[self._place()])
        categories = [column.categories[i] for i in _order(column.categories)]
        # NumPy would turn numbers next to texts into texts, and intervals into numbers.
        alike = {type(category) for category in categories} <= {str} or all(
            isinstance(category, (int, float)) for category in categories)
        return np.array(categories) if alike else objects(categories)

    def score_samples(self, X: Any) -> Floats:
        """The log-likelihood of each row; −∞ if it is impossible. NaN is summed out."""
        records = self._records(X)
        return self.model_.log_likelihoods(records)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The mean log-likelihood of the rows, each counted by its weight."""
        logs = self.score_samples(X)
        return float(np.mean(logs) if sample_weight is None else _weighted_mean(logs, sample_weight))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """Rows drawn at random, as what the model was fitted to: an array, or a frame or a dict of its columns."""
        self._check_fitted()
        count = whole("n_samples", n_samples, 1)
        worlds = self.model_._model.sample(count, self.model_._event(None), _seed(random_state))
        return self.model_._tabled(worlds)

    @IfTarget
    def predict_proba(self, X: Any) -> Floats:
        """The exact probability of each of `classes_` given the other columns of each row.

        `X` has all columns, of which that of the target is not looked at, or, as a frame, may lack that one. Other
        cells may be missing. A row that is impossible whatever the target has NaN.
        """
        records, place = self._without_target(X)
        categories = self.columns_[self._place()].categories
        values = [[False], [True]] if categories is None else [[i == value for i in range(len(place))]
                                                               for value in _order(categories)]
        names = [self.columns_.variables[i] for i in place]
        events = [self.model_._model.event(list(zip(names, value, strict=True)), True) for value in values]
        logs = self.model_._model.joint_batch(events, records._records)
        with np.errstate(invalid="ignore"):
            shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]

    @IfTarget
    def predict(self, X: Any) -> np.ndarray:
        """The most probable value of the target given the other columns of each row.

        A row that is impossible whatever the target is an error, because no returned value could mean that;
        `predict_proba` has NaN there.
        """
        shares = self.predict_proba(X)
        impossible = np.isnan(shares).any(axis=1)
        if impossible.any():
            raise ImpossibleError(
                f"{int(impossible.sum())} rows are impossible whatever the target, the first is row "
                f"{int(impossible.argmax())}; predict_proba gives NaN there, model_.explain says why, "
                'and world="open" makes everything possible'
            )
        return self.classes_[shares.argmax(axis=1)]  # type: ignore[no-any-return]

    # Parts of the above.

    def _options(self) -> dict[str, Any]:
        """The options of the learner."""
        if not isinstance(self.options, (Mapping, NoneType)):
            raise ArgumentError(f"options is {self.options!r}, but must be a dict of options of the learner by name")
        options = dict(self.options or {})
        for name in options:
            if name in OWN or name in self._get_param_names():
                raise ArgumentError(f"options has {name!r}, which is a parameter of {type(self).__name__} itself: "
                                    f"{OWN.get(name, name)}=")
        # What a learner does not have is left to it only where somebody set it, so that it can refuse.
        entry = TABLE.get(self.learner)
        if self.effort != "fast" or (entry is not None and "effort" in entry["options"]):
            options["effort"] = self.effort
        if self.world is not None:
            options["world"] = self.world
        return options

    def _check_length(self, rows: int, y: Any) -> None:
        """Refuses a `y` of another length, and warns that nothing is learned from one without a target."""
        if y is None:
            return
        values = np.asarray(y)
        found = len(values) if values.ndim else 1
        if found != rows:
            raise RecordsError(f"Found input variables with inconsistent numbers of samples: {[rows, found]}")
        if self.target is None:
            warnings.warn(IGNORED_Y, stacklevel=3)

    def _check_target(self, X: Any, y: Any, columns: Columns, place: int) -> None:
        """Refuses a `y` that is not the column of the target: nothing would be learned from it."""
        column, variables = columns[place], columns.places()[place]
        own = X.to_numpy() if isinstance(X, Records) else _encode.encode(X, columns, self.binarize)
        own = own[:, variables.start:variables.stop].astype(np.float64)
        values = np.asarray(y)
        for binarize in (self.binarize, None):
            with contextlib.suppress(RecordsError):
                cells_of = _frames.read({column.name: values.reshape(-1) if values.size == len(values) else values})
                cells = _encode.encode(cells_of, Columns([column]), binarize).astype(np.float64)
                if cells.shape == own.shape and np.array_equal(cells, own, equal_nan=True):
                    return
        raise ArgumentError(f'y is not the column "{column.name}" of X, which is the target: a PSDD is learned from '
                            "all columns, that of the target among them. Put y into X as that column, or leave y out")

    def _place(self, columns: Columns | None = None, table: _frames.Table | None = None) -> int:
        """Which column the target is; in a frame whose columns are called by numbers, a number is a name first."""
        like = table or self.model_._like
        labels = {} if like is None else like.labels
        names: list[str] = (columns or self.columns_).names
        target: Any = self.target
        number = isinstance(target, (int, np.integer)) and not isinstance(target, bool)
        # Columns of pandas may be called by numbers, or by tuples where there are several levels of names.
        other = number or isinstance(target, tuple)
        named = next((name for name, label in labels.items() if other and label == target), target)
        if isinstance(named, str) and named in names:
            return names.index(named)
        if number and -len(names) <= target < len(names):
            return int(target) % len(names)
        raise RecordsError(f"there is no column {target!r} to predict; the columns are {', '.join(names)}"
                           + (f", at the places 0 to {len(names) - 1}" if number else ""))

    def _without_target(self, X: Any) -> tuple[Records, range]:
        self._check_fitted()
        place = self._place()
        X = _frames.unmasked(_plain_records(X))
        table = _frames.read(_frames.by_known_columns(X, self.columns_))
        name = self.columns_.names[place]
        variables = self.columns_.places()[place]
        if table.names is None:
            cells = _encode.encode(self._table(X, reset=False), self.columns_, self.binarize).astype(np.float64)
            # What stands in the column of the target is not looked at.
            cells[:, variables.start:variables.stop] = np.nan
            return Records(cells, names=self.columns_.variables), variables
        if name in table.names or (self._is_unnamed() and table.width == self.n_features_in_):
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
        X = _frames.unmasked(_plain_records(X))
        _frames.check_no_series(X)
        if hasattr(X, "collect_schema"):
            # A frame of polars; a lazy one is asked for its columns once only.
            X = X.lazy().collect()
        if not reset:
            X = _frames.by_known_columns(X, self.columns_)
        if HAS_SKLEARN and not _frames.is_frame(X):
            X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan",
                              accept_sparse=["csr", "csc", "coo"])
            if X.dtype.kind == "O":
                # What is not a number at all is a TypeError, as in scikit-learn; texts are reported below.
                with contextlib.suppress(ValueError):
                    X = X.astype(np.float64)
            return _frames.read(X)
        table = _frames.read(X)
        if HAS_SKLEARN and hasattr(X, "columns") and hasattr(X, "shape"):
            validate_data(self, X, reset=reset, skip_check_array=True)
        elif reset:
            self.n_features_in_ = table.width
            # Names that somebody gave, in the way of scikit-learn: without them it warns of a frame that has some.
            if table.names != _encode.numbered(table.width):
                self.feature_names_in_ = np.array(table.names, dtype=object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        elif table.width != self.n_features_in_:
            raise RecordsError(f"X has {table.width} features, but {type(self).__name__} is expecting "
                               f"{self.n_features_in_} features as input")
        for count, what in ((table.rows, "sample"), (table.width, "feature")):
            if count == 0:
                raise RecordsError(f"Found array with 0 {what}(s) (shape=({table.rows}, {table.width})) while a "
                                   "minimum of 1 is required")
        if not reset and self._is_unnamed() and not {*(table.names or ())} <= {*self.columns_.names}:
            # Fitted without names, so by position, as in scikit-learn, which has warned of a frame with names.
            if not (HAS_SKLEARN and hasattr(X, "shape")):
                warnings.warn(f"X has feature names, but {type(self).__name__} was fitted without feature names",
                              stacklevel=4)
            table = dataclasses.replace(table, names=list(self.columns_.names))
        return table

    def _is_unnamed(self) -> bool:
        """Whether what was fitted had no names but those that are made up: `x1`, `x2`, or the numbers of pandas."""
        names, width = self.columns_.names, len(self.columns_)
        return names in (_encode.numbered(width), [str(i) for i in range(width)])

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


def _plain_records(X: Any) -> Any:
    """Records as columns, or as an array if their names were made up; anything else as it is."""
    if not isinstance(X, Records):
        return X
    unnamed = X.columns.is_plain and X.names == _encode.numbered(len(X.names))
    return X.to_numpy() if unnamed else X.to_dict()


def _weighted_mean(logs: np.ndarray, sample_weight: Any) -> float:
    weights = checked_weights(sample_weight, len(logs))
    if weights.sum() == 0:
        raise RecordsError("all rows have weight zero, so they have no mean")
    # A row of weight zero does not count, also where it is impossible.
    return float(logs[weights > 0] @ weights[weights > 0] / weights.sum())


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
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        return whole("random_state", random_state)
    raise ArgumentError(f"random_state is {random_state!r}, but must be a whole number of at least 0, a generator of "
                        "NumPy or None")

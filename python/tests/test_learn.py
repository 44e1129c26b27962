"""Learning: every learner, rules, categories, missing cells, progress, interruption, threads."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest
import slopp
from conftest import NAMES, rows, table_of
from slopp.errors import FormulaError, LearnError, RecordsError

RECORDS = slopp.Records(rows(0, 300), names=NAMES)


@pytest.mark.parametrize("learner", slopp.LEARNERS)
def test_every_learner(learner, tmp_path):
    train, valid = RECORDS.split(0.8, 0.2)
    model = slopp.learn(train, learner=learner, valid=valid, seed=1)
    worlds = table_of(slopp.learn(RECORDS, learner="factorised")).worlds
    assert model.prob(records=worlds).sum() == pytest.approx(1)
    assert model.origin["learner"] and model.origin["seed"] == "1"
    assert pickle.loads(pickle.dumps(model)) == model
    path = tmp_path / {"spn": "m.spn", "mixture": "m.mix"}.get(model._model.kind, "m.psdd")
    model.write(path)
    assert slopp.read(path) == model
    assert model.marginals().keys() == set(NAMES)


def test_efforts_and_options():
    small = slopp.learn(RECORDS, max_elements=20)
    assert small.size["elements"] <= 20
    balanced = slopp.learn(RECORDS, effort="balanced")
    assert balanced.origin["effort"] == "balanced"
    vtree = slopp.Vtree.learn(RECORDS, "mi-top-down")
    assert slopp.learn(RECORDS, learner="slopp-tree", vtree=vtree).vtree == vtree
    assert slopp.learn(RECORDS, learner="slopp-tree", vtree="((a,b),((c,d),(e,f)))").vtree.depth == 3
    assert slopp.learn(RECORDS, learner="slopp-tree", vtree="balanced").origin["vtree"] == "balanced"
    refined = slopp.learn(RECORDS, learner="strudel", start=small, steps=5)
    assert refined.vtree == small.vtree


def test_the_facts_of_learning_are_told():
    with pytest.warns(UserWarning, match="10 records to choose by are too few for effort=\"best\""):
        slopp.learn(slopp.configurations(100), effort="best")


@pytest.mark.parametrize("options,match", [
    (dict(learner="nonsense"), "the learners are slopp"),
    (dict(effort="more"), "one of fast, balanced, best"),
    (dict(world="flat"), "one of open, closed"),
    (dict(colour="red"), "no learner has an option colour="),
    (dict(max_classes="many"), 'max_classes= is "many", but must be a whole number'),
    (dict(vtree="nonsense"), "there is no vtree method"),
    (dict(on_violation="shout"), "one of reject, drop, repair"),
    (dict(missing="shout"), "one of reject, drop, em"),
])
def test_bad_settings(options, match):
    with pytest.raises(LearnError, match=match):
        slopp.learn(RECORDS, **options)


@pytest.mark.parametrize("learner", ["slopp", "slopp-tree", "chow-liu", "learnpsdd", "slopp-bag"])
def test_rules(learner):
    rules = ["a -> b", "at_most(4, a, b, c, d, e, f)"]
    with pytest.raises(RecordsError, match="break a rule\n  record"):
        slopp.learn(RECORDS, learner=learner, rules=rules)
    for on_violation in ("drop", "repair"):
        model = slopp.learn(RECORDS, learner=learner, rules=rules, on_violation=on_violation)
        assert model.prob("a & !b") == 0
        assert model.prob("at_least(5, a, b, c, d, e, f)") == 0
    if learner != "slopp-bag":
        assert isinstance(model, slopp.Psdd) and model.entails(rules[1])


def test_every_broken_rule_is_told():
    """Up to five of each record and ten records, and how many more there are."""
    cells = np.zeros((12, 7), dtype=bool)
    cells[:, 0] = True
    cells[1, 2:] = True
    cells[2, 3:] = True
    cells[3] = False
    names = [*"abcdefg"]
    with pytest.raises(RecordsError) as told:
        slopp.learn(slopp.Records(cells, names=names), rules=[f"a -> {name}" for name in names[1:]])
    lines = str(told.value).split("\n  ")
    assert lines[0] == "11 of 12 records break a rule"
    assert lines[1] == "record 0 breaks a -> b; a -> c; a -> d; a -> e; a -> f; and 1 more rule"
    assert lines[2:4] == ["record 1 breaks a -> b", "record 2 breaks a -> b; a -> c"]
    assert lines[4].startswith("record 4 breaks") and lines[11].startswith("and 1 more\n") and len(lines) == 12


def test_rules_that_cannot_be():
    with pytest.raises(LearnError, match="contradict each other:\n  a\n  !a"):
        slopp.learn(RECORDS, rules=["a", "b | c", "!a"])
    with pytest.raises(FormulaError, match='no variable "aa"'):
        slopp.learn(RECORDS, rules="aa -> b")
    with pytest.raises(LearnError, match="sum-product network"):
        slopp.learn(RECORDS, learner="learnspn", rules="a | !a")


def test_repair_keeps_weights():
    weights = np.arange(1, 301, dtype=float)
    records = slopp.Records(rows(0, 300), names=NAMES, weights=weights)
    model = slopp.learn(records, rules="a -> c", on_violation="repair")
    assert float(model.origin["records"]) == weights.sum()
    dropped = slopp.learn(records, rules="a -> c", on_violation="drop")
    kept = ~(rows(0, 300)[:, 0] & ~rows(0, 300)[:, 2])
    assert float(dropped.origin["records"]) == weights[kept].sum()


@pytest.mark.parametrize("learner", ["slopp", "slopp-tree", "chow-liu", "slopp-em"])
@pytest.mark.parametrize("world", ["open", "closed"])
def test_categories(learner, world):
    random = np.random.default_rng(0)
    colours = random.choice(["red", "green", "blue"], 400)
    data = {"colour": colours, "size": random.choice([1, 2, 3, 4], 400).astype(object),
            "hot": (colours == "red") ^ (random.random(400) < 0.1)}
    options = {} if learner == "slopp-em" else {"world": world}
    model = slopp.learn(data, learner=learner, **options)
    assert model.names[:3] == ["colour=blue", "colour=green", "colour=red"]
    assert model.prob('exactly(1, "colour=blue", "colour=green", "colour=red")') == pytest.approx(1)
    assert model.prob({"hot": True}, given={"colour": "red"}) > 0.8
    assert model.prob("hot", given="colour=red") == model.prob({"hot": True}, given='"colour=red"')
    assert model.prob("colour=red | hot") == pytest.approx(1 - model.prob("!colour=red & !hot"))
    ruled = slopp.learn(data, learner=learner, rules="size=4 -> !colour=red", on_violation="drop", **options)
    assert ruled.prob("size=4 & colour=red") == 0
    assert set(model.sample(50, given={"hot": True})["colour"]) <= {"red", "green", "blue"}
    restored = pickle.loads(pickle.dumps(model))
    assert restored.columns == model.columns and restored.columns.categories["size"] == [1, 2, 3, 4]
    if isinstance(model, slopp.Psdd):
        assert model.mpe(given={"size": 3})["size"] == 3
    with pytest.raises(RecordsError, match="'pink', which was not seen in fit; known categories: blue, green, red"):
        model.log_likelihoods({"colour": ["pink"], "size": [1], "hot": [1]})
    with pytest.raises(slopp.errors.NamesError, match="no category 'pink'"):
        model.prob({"colour": "pink"})


def test_missing_cells():
    cells = rows(0, 300).astype(float)
    cells[np.random.default_rng(1).random(cells.shape) < 0.1] = np.nan
    with pytest.raises(LearnError, match='records miss cells.*missing="em".*missing="drop"'):
        slopp.learn(cells)
    dropped, em = slopp.learn(cells, missing="drop"), slopp.learn(cells, missing="em")
    assert em.vtree == dropped.vtree
    assert em.log_likelihoods(cells).sum() > dropped.log_likelihoods(cells).sum()
    with pytest.raises(LearnError, match="every record misses a cell"):
        slopp.learn([[1, np.nan], [np.nan, 0]], missing="drop")


def test_no_records():
    with pytest.raises(LearnError, match="no records"):
        slopp.learn(np.zeros((0, 3), dtype=bool))


def test_progress():
    told = []
    slopp.learn(slopp.configurations(20_000), effort="balanced", progress=lambda *stage: told.append(stage))
    assert told and all(isinstance(what, str) and 0 <= done and 0 <= steps for what, done, steps in told)


def test_progress_of_work_that_is_soon_done():
    """Every stage is heard of, however short, and the last one when it is done."""
    told = []
    slopp.learn(RECORDS, rules="a -> b", on_violation="drop", progress=lambda *stage: told.append(stage))
    stages = list(dict.fromkeys(what for what, _, _ in told))
    assert len(stages) >= 2 and stages[-1] == "conditioning on the rules"


class Stop(Exception):
    pass


def test_an_exception_of_the_callback_ends_learning():
    def stop(*_):
        raise Stop

    with pytest.raises(Stop):
        slopp.learn(slopp.configurations(50_000), effort="best", progress=stop)


@pytest.fixture
def interruptible():
    """Who runs tests in the background has Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_interruption(interruptible):
    """Ctrl-C while learning goes on ends it, and the process goes on."""
    begun = threading.Event()

    def interrupt():
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        slopp.learn(slopp.configurations(50_000), effort="best", progress=lambda *_: begun.set())
    thread.join()
    assert slopp.learn(RECORDS) == slopp.learn(RECORDS)


def test_threads_of_python():
    """The interpreter goes on while models learn and answer, and the answers do not depend on that."""
    expected = slopp.learn(RECORDS, seed=3)
    found = [None] * 8

    def work(i):
        found[i] = slopp.learn(RECORDS, seed=3)
        found[i].marginals(rows(i))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(model == expected for model in found)


@pytest.mark.parametrize("work", ["learn", "marginals"])
def test_the_interpreter_goes_on(work):
    """While work is done elsewhere, this thread gets turns; with the lock kept it would get two or three."""
    records = slopp.configurations(5000)
    model = slopp.learn(records)
    many = model.sample(300_000, seed=1)
    works = {
        "learn": lambda: slopp.learn(records, effort="balanced"),
        "marginals": lambda: model.marginals(many),
    }
    begun = threading.Event()

    def run_it():
        begun.set()
        works[work]()

    thread = threading.Thread(target=run_it)
    thread.start()
    begun.wait()
    turns = 0
    while thread.is_alive():
        time.sleep(0)
        turns += 1
    assert turns > 10


def run(code):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_same_bytes_on_any_number_of_threads():
    code = """
        import hashlib, slopp
        slopp.set_threads({threads})
        model = slopp.learn(slopp.configurations(3000, seed=2), effort="balanced")
        print(hashlib.sha256(model._model.to_bytes()).hexdigest())
    """
    assert run(code.format(threads=1)) == run(code.format(threads=3))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_after_a_fork():
    """A child has none of the threads of its parent, and makes its own."""
    out = run("""
        import os, sys, slopp
        model = slopp.learn(slopp.configurations(500))
        child = os.fork()
        if child == 0:
            again = slopp.learn(slopp.configurations(500))
            os._exit(0 if again == model else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert out.strip() == "0"


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory use is read from /proc")
@pytest.mark.parametrize("kept", ["nothing", "models", "records"])
def test_no_leak(kept):
    """A thousand fits, and memory stays where it was after the first hundred; where each leaves something, it grows."""
    out = run(f"""
        import pathlib, re, slopp
        import numpy as np
        cells = np.random.default_rng(0).random((500, 60)) < 0.5
        kept = dict(models=[], records=[], nothing=[])
        def peak():
            # That of resource.getrusage is at least the one of the process that started this one.
            return int(re.search(r"VmHWM:\\s*(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
        def fit():
            records = slopp.Records(cells)
            model = slopp.learn(records, learner="chow-liu")
            model.log_likelihoods(cells), model.marginals(cells[:50]), model.mpe(), model.rules(max_length=2)
            kept["{kept}"].append(dict(models=model, records=records, nothing=None)["{kept}"])
        for _ in range(100):
            fit()
        before = peak()
        for _ in range(1000):
            fit()
        print(peak() - before)
    """)
    assert (int(out) < 10_000) == (kept == "nothing"), f"{out} kB more after a thousand fits"


def test_a_file_with_categories_is_a_frame_with_them(tmp_path):
    """Columns with several values are known to the library: by whatever way they come, and in files."""
    rng = np.random.default_rng(3)
    colour = rng.choice(["blue", "red", "green"], 300)
    fast = (colour == "red") ^ (rng.random(300) < 0.1)
    path = tmp_path / "cars.csv"
    path.write_text("colour,fast\n" + "".join(f"{c},{int(f)}\n" for c, f in zip(colour, fast, strict=True)))
    read = slopp.Records.read(path)
    framed = slopp.Records({"colour": colour, "fast": fast})
    assert read.columns == framed.columns and read.names == framed.names
    for records in (read, framed):
        model = slopp.learn(records)
        assert int(model.model_count()) == 6
        assert model.entails("at_most(1, colour=red, colour=blue)")
        assert model.prob({"colour": "red"}) == pytest.approx(model.prob("colour=red"))
        model.write(tmp_path / "m.psdd")
        again = slopp.read(tmp_path / "m.psdd")
        assert again.columns == model.columns
        assert again.mpe(given={"colour": "red"})["fast"]
        assert b"c column" in (tmp_path / "m.psdd").read_bytes()


def test_values_of_evidence_are_read_as_people_write_them():
    model = slopp.learn(RECORDS)
    name = model.names[0]
    yes, no = model.prob({name: True}), model.prob({name: False})
    for value in (1, 1.0, np.True_, "yes", "1", "True"):
        assert model.prob({name: value}) == yes
    for value in (0, 0.0, np.False_, "no", "0", "false"):
        assert model.prob({name: value}) == no
    for value in (None, float("nan")):
        assert model.prob({name: value}) == pytest.approx(1.0)
    for value in (2, -1, 0.5, "maybe"):
        with pytest.raises(slopp.errors.NamesError, match="is Boolean"):
            model.prob({name: value})


def test_records_keep_weights_and_names_on_the_way():
    records = slopp.Records({"smoker": [1, 0], "b": [0, 1]}, weights=[99, 1])
    assert slopp.Records(records) == records and slopp.Records(records).total == 100
    assert slopp.Records(records, weights=[1, 3]).total == 4
    model = slopp.PSDD().fit(records).model_
    assert model.names == ["smoker", "b"]
    assert model.prob("smoker") > 0.9
    with pytest.raises(RecordsError, match="weights must be zero, or between"):
        slopp.Records({"a": [1, 0]}, weights=[1e308, 1])
    bag = slopp.learn(RECORDS, learner="slopp-bag", components=2, rules=[f"{NAMES[0]} | {NAMES[1]}"],
                      on_violation="drop")
    assert bag.origin["learner"] == "slopp-bag"
    mixed = slopp.Records({"a": np.array([np.int64(1), None, True], dtype=object)})
    assert mixed.has_missing and len(mixed) == 3


def test_a_sum_product_network_of_categories():
    colours = ["red", "green", "blue", "red"] * 50
    network = slopp.learn({"colour": colours, "hot": [colour == "red" for colour in colours]}, learner="learnspn")
    assert network.certificate == "spn"
    drawn = network.sample(200, seed=1)
    assert set(drawn["colour"]) <= {"red", "green", "blue"}
    total = sum(network.prob({"colour": colour}) for colour in ("red", "green", "blue"))
    assert total == pytest.approx(1)
    for rules in ("hot", ["hot"], slopp.Rules(["hot"])):
        with pytest.raises(slopp.errors.LearnError, match="cannot be conditioned on rules.*another learner"):
            slopp.learn({"hot": [0, 1], "old": [0, 1]}, learner="learnspn", rules=rules)
    with pytest.raises(slopp.errors.LearnError, match="only an open world.*leave closed= out"):
        slopp.learn({"hot": [0, 1], "old": [0, 1]}, learner="learnspn", closed=[["hot", "old"]])


def test_a_model_that_misses_a_dependence_is_told_by_a_warning():
    colors, fast = ["red", "blue", "grey"] * 200, [True, False, True, True, False, False] * 100
    records = slopp.Records({"color": colors, "fast": fast})
    strongest = records.describe().strongest_pairs
    assert [(pair["a"], pair["b"]) for pair in strongest] == [("color", "fast")]
    with pytest.warns(UserWarning, match=r"P\(fast \| color=(red|blue)\) is 0\.5000 by the model, but [01]\.0000 of"):
        wrong = slopp.learn(records, learner="factorised")
    found = wrong.fidelity(records)
    assert found["largest"] == pytest.approx(0.5, abs=0.01) and found["left_out"] == 0
    assert found["conditionals"] == 3 + 2 * 3
    assert found.worst[0]["records"] == 200 and found.worst[0]["conditional"].startswith("P(fast | ")
    assert "conditional" in found._repr_html_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        right = slopp.learn(records, learner="chow-liu")
    assert right.fidelity(records)["mean"] < 0.01 < found["mean"]

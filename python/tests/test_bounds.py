"""Counts without bounds, and Ctrl-C: an error, and soon."""

import os
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
import slopp
from conftest import rows
from slopp.errors import ArgumentError, LearnError, OutOfMemoryError, RecordsError

CELLS = rows(0)
EXAMPLE = slopp.example()


@pytest.mark.parametrize("act,error,match", [
    (lambda: EXAMPLE.sample(10**18), OutOfMemoryError, "1000000000000000000 worlds of 4 variables need"),
    (lambda: EXAMPLE.sample(10**14), OutOfMemoryError, "draw fewer at a time"),
    (lambda: slopp.PSDD().fit(CELLS).sample(10**17), MemoryError, "worlds of 6 variables"),
    (lambda: slopp.learn(CELLS, learner="slopp-em", components=10**12), LearnError, "components= is .*at most 4096"),
    (lambda: slopp.learn(CELLS, learner="slopp-bag", components=5000), LearnError, "components= is 5000.*at most 4096"),
    (lambda: slopp.configurations(10**12), RecordsError, "at most 1000000000"),
    (lambda: slopp.rankings(10**15), RecordsError, "at most 1000000000"),
    (lambda: slopp.distil(EXAMPLE, EXAMPLE.sample(50), samples=10**15), LearnError, "samples= is .*at most 1000000000"),
    (lambda: EXAMPLE.sample(2**70), ArgumentError, f"count is {2**70}, but must be a whole number of at most"),
    (lambda: EXAMPLE.top_worlds(10**30), ArgumentError, "k is 10+, but must be a whole number of at most"),
    (lambda: slopp.PSDD(random_state=2**70).fit(CELLS), ArgumentError, "random_state is .*at most 1844"),
    (lambda: slopp.PSDD(random_state="x").fit(CELLS), ValueError, "random_state is 'x'"),
    (lambda: EXAMPLE.worlds(limit=10**12), ArgumentError, "at most 10000000 worlds"),
])
def test_huge_counts_are_refused(act, error, match):
    with pytest.raises(error, match=match):
        act()


def test_rules_are_as_long_as_there_are_variables():
    assert EXAMPLE.rules(max_length=10**12) == EXAMPLE.rules(max_length=4)


def test_top_worlds_are_all_worlds():
    assert len(EXAMPLE.top_worlds(10**18)) == EXAMPLE.model_count()


def test_worlds_say_that_there_are_more():
    model = slopp.learn(np.eye(12, dtype=bool))
    with pytest.warns(UserWarning, match="only the first 1000 worlds are listed; limit=None lists all"):
        assert len(model.worlds()) == 1000
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(model.worlds(limit=None)) == 4096 == len(np.unique(model.worlds(limit=4096), axis=0))


@pytest.mark.skipif(os.name == "nt", reason="signals are those of Unix")
@pytest.mark.parametrize("work", [
    "slopp.example().sample(400_000_000)",
    "slopp.configurations(900_000_000)",
    "model.complete(unknown)",
    "model.marginals(some)",
])
def test_ctrl_c_is_seen_during_the_work(work):
    # The first array that comes back is asked for while the signal is pending.
    text = textwrap.dedent(f"""
        import numpy as np, os, signal, slopp, threading, time
        many = np.random.default_rng(0).random((100_000, 40))
        model = slopp.learn(slopp.Records(many[:500] > 0.5), max_classes=64)
        unknown = model.records(np.full((400_000, 40), np.nan))
        some = model.records(np.where(many < 0.02, np.nan, many > 0.5))
        seen = 0
        def handler(*_):
            global seen
            seen += 1
            # Only work that looks while it goes on sees two.
            if seen == 2:
                raise KeyboardInterrupt
        signal.signal(signal.SIGINT, handler)
        def interrupt():
            while True:
                time.sleep(0.05)
                os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt, daemon=True).start()
        try:
            # However soon one is done.
            while True:
                seen = 0
                {work}
        except KeyboardInterrupt:
            print("stopped", flush=True)
            os._exit(0)
    """)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert done.stdout == "stopped\n" and "Panic" not in done.stderr, done


def test_a_signal_during_the_first_array():
    # NumPy loads its interface for others when it is first needed, which a pending signal would break.
    text = textwrap.dedent("""
        import signal, slopp
        from slopp import _slopp
        seen = []
        signal.signal(signal.SIGINT, lambda *_: seen.append(1))
        model = _slopp.Model.example()
        event = model.event(None)
        signal.raise_signal(signal.SIGINT)
        print(model.sample(3, event, 0).shape)
    """)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert done.stdout == "(3, 4)\n", done

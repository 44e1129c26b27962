"""What the library says once: the same answers and refusals as those of the command line."""

import itertools
import math
import signal
import threading

import numpy as np
import pytest
import slopp
from slopp import errors

COLOURS = ["red", "green", "blue"]


def coloured(count=200, seed=0, colours=COLOURS):
    rng = np.random.default_rng(seed)
    hot = rng.integers(0, 2, count).astype(bool)
    return {"colour": [colours[i] for i in rng.integers(0, len(colours), count)], "hot": hot.tolist(),
            "wet": (~hot).tolist()}


@pytest.fixture(scope="module")
def model():
    return slopp.learn(coloured(), world="closed", seed=0)


def test_a_revision_by_a_formula_keeps_one_value_per_column(model):
    revised = model.revise(formula="hot & wet")
    assert revised.model_count() == model.model_count() + len(COLOURS)
    exactly = "exactly(1, " + ", ".join(f'"colour={colour}"' for colour in COLOURS) + ")"
    assert model.entails(exactly) and revised.entails(exactly)
    assert revised.prob("hot & wet") > 0


@pytest.mark.parametrize("ask", [
    lambda: slopp.equivalent("true", "true"),
    lambda: slopp.diff("true", "false"),
    lambda: slopp.Rules("true").entails("true"),
])
def test_rules_without_variables_have_no_worlds(ask):
    with pytest.raises(errors.FormulaError, match="name no variables"):
        ask()


def test_a_side_without_variables_has_those_of_the_other():
    assert slopp.diff("a | b", "true") == {"only_first": 0, "only_second": 1, "both": 3}


def test_columns_stay_where_neither_side_has_all_names():
    def base(data):
        return slopp.learn(data, world="closed", seed=0).base()

    first = base({"colour": COLOURS * 2, "hot": [True] * 3 + [False] * 3})
    second = base({"colour": COLOURS * 2, "wet": [True] * 3 + [False] * 3})
    assert slopp.diff(first, second) == {"only_first": 0, "only_second": 0, "both": 3 * 2 * 2}


def test_a_value_that_one_side_does_not_know_is_impossible_there():
    def base(colours):
        return slopp.learn({"colour": colours * 2, "hot": [True, False] * len(colours)}, world="open", seed=0)

    first, second = base(["red", "green", "blue"]), base(["red", "green", "grey"])
    for pair in ((first, second), (first.base(), second.base())):
        found = slopp.diff(*pair)
        assert found == {"only_first": 2, "only_second": 2, "both": 4}
        assert found.different_values == [{"column": "colour", "only_first": ["blue"], "only_second": ["grey"]}]
        assert all(world["colour=blue"] and not world["colour=grey"] for world in found.examples_first)


def test_what_has_nothing_in_common_is_not_compared():
    with pytest.raises(errors.NamesError, match="no variable in common"):
        slopp.diff("a | b", "c")


def test_bins_that_differ_are_not_compared():
    def cut(bins):
        data = {"age": list(range(100)), "hot": [True, False] * 50}
        return slopp.learn(slopp.Records(data, bins={"age": bins}), world="closed", seed=0)

    with pytest.raises(errors.NamesError, match="cut differently"):
        slopp.diff(cut(2).base(), cut(3).base())


def test_chains_of_rules_are_compared_on_a_vtree_of_their_own():
    def chain(step):
        order = [i * step % 41 for i in range(1, 41)]
        return "\n".join(f"x{a} <-> x{b}" for a, b in itertools.pairwise(order))

    assert slopp.diff(chain(7), chain(11), limit=0) == {"only_first": 0, "only_second": 0, "both": 2}


def test_models_over_other_names_are_not_multiplied_or_compared():
    rows = np.random.default_rng(0).integers(0, 2, (100, 3)).astype(bool)
    vtree = slopp.Vtree("((1,2),3)")

    def learned(names):
        return slopp.learn(slopp.Records(rows, names=names), learner="slopp-tree", seed=0,
                           vtree=slopp.Vtree(str(vtree), names))

    first, second = learned(["a", "b", "c"]), learned(["a", "x", "c"])
    for ask in (first.product, first.kl_divergence, lambda other: slopp.compare(first, other)):
        with pytest.raises(errors.NamesError, match='different variables.*"b".*"x"'):
            ask(second)
        ask(learned(["a", "b", "c"]))


def test_rules_tell_columns_by_their_own_values():
    data = {"colour": COLOURS * 10, "shape": ["round", "flat", "long"] * 10, "hot": [True, False] * 15}
    found = slopp.learn(data, world="closed", seed=0).rules()
    groups = [set(rule["literals"]) for rule in found if rule["kind"] == "exactly-one"]
    assert {f"colour={colour}" for colour in COLOURS} in groups or not groups
    assert all(len({name.split("=")[0] for name in group}) == 1 for group in groups)
    assert found.whole_base is True and found.model_count == found.allowed == 6


def test_rules_tell_how_much_of_the_base_they_say():
    psdd = slopp.example()
    short, long = psdd.rules(max_length=2), psdd.rules(max_length=4)
    assert (short.whole_base, long.whole_base) == (False, True)
    assert short.model_count == long.model_count == long.allowed == psdd.model_count() < short.allowed


def test_questions_that_contradict_themselves_have_probability_zero(model):
    example = slopp.example()
    network = slopp.learn(coloured(), learner="learnspn", seed=0)
    mixture = slopp.learn(coloured(), learner="slopp-bag", components=2, seed=0)
    assert example.prob("X1, !X1") == 0.0
    for one in (model, mixture, network):
        assert one.prob("hot, !hot") == 0.0
        assert one.log_probability("hot, !hot", given="wet") == -math.inf
        assert one.prob("colour=red, colour=blue") == 0.0
        np.testing.assert_array_equal(one.prob("hot, !hot", {"colour": ["red"], "hot": [None], "wet": [None]}), [0.0])


def test_what_is_given_may_not_contradict_itself(model):
    for ask in (model.prob, model.marginals):
        with pytest.raises(errors.FormulaError, match='"colour" is both "red" and "blue"'):
            ask(given="colour=red, colour=blue") if ask != model.prob else ask("hot", given="colour=red, colour=blue")
        with pytest.raises(errors.FormulaError, match="both true and false"):
            ask(given="hot, !hot") if ask != model.prob else ask("hot", given="hot, !hot")


def test_the_error_of_what_was_meant_is_told(model):
    for text, match in [("hot wet", "operator is missing"), ("hot | wte", '"wet"'), ("(hot", "parenthesis"),
                        ("hot → wte", '"wet"'), ("hot, wte", '"wet"')]:
        with pytest.raises(errors.FormulaError, match=match):
            model.prob(text)


def test_mixtures_are_conditioned_as_their_components():
    data = coloured(60, 3)
    mixture = slopp.learn(data, learner="slopp-bag", components=3, world="closed", seed=0)
    assert mixture.entails("hot ^ wet") and mixture.counterexample("hot ^ wet") is None
    world = mixture.counterexample("colour=red -> hot")
    assert world["colour"] == "red" and not world["hot"]
    given = mixture.given("colour=red | hot")
    assert given.prob("hot") == pytest.approx(mixture.prob("hot", given="colour=red | hot"))
    assert sum(weight for weight, _ in given.components) == pytest.approx(1.0)
    with pytest.raises(errors.ImpossibleError):
        mixture.given("hot & wet")


def hard(count):
    """A formula whose diagram is huge on the order of its names."""
    pairs = [f"(x{i} & y{i})" for i in range(count)]
    return " ^ ".join(pairs)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no such signals here")
def test_ctrl_c_ends_questions_about_formulas():
    count = 24
    names = [f"x{i}" for i in range(count)] + [f"y{i}" for i in range(count)]
    vtree = slopp.Vtree.shaped("right-linear", names)
    psdd = slopp.Rules("x0 | !x0", names).compile(vtree).psdd()
    asks = [
        lambda: psdd.prob(hard(count)),
        lambda: psdd.given(hard(count)),
        lambda: psdd.entails(hard(count)),
        lambda: psdd.revise(formula=hard(count), weight=1.0),
        lambda: slopp.diff(psdd, hard(count)),
    ]
    main = threading.main_thread().ident
    for ask in asks:
        timer = threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT))
        timer.start()
        # Left alone, each would end in TooLargeError.
        with pytest.raises(KeyboardInterrupt):
            ask()
        timer.join()

"""The same golden files as the tests of the library: circuits of other tools, with independent answers."""

import json

import numpy as np
import pytest
import slopp
from conftest import shared


def load(name):
    folder = shared("fixtures/zoo")
    vtree = folder / f"{name.split('.')[0]}.vtree"
    return slopp.read(folder / f"{name}.psdd", vtree if vtree.exists() else None)


def test_queries_of_the_zoo():
    golden = json.loads(shared("fixtures/zoo/golden_queries.json").read_text())
    for name, expected in golden.items():
        model = load(name)
        assert isinstance(model, slopp.Deterministic), name
        assert model.model_count() == int(expected["model_count"])
        assert model.entropy() == pytest.approx(expected["entropy"], abs=1e-5)
        evidence = {f"x{number}": value == 1 for number, value in expected["evidence"].items()}
        assert model.prob(evidence) == pytest.approx(expected["prob_evidence"])
        for given, key in ((None, "marginals"), (evidence, "cond_marginals")):
            found = model.marginals(given=given)
            for number, value in expected[key].items():
                assert found[f"x{number}"] == pytest.approx(value, abs=1e-9)
        for given, key in ((None, "mpe"), (evidence, "mpe_given_evidence")):
            assert model.mpe(given=given).log_probability == pytest.approx(expected[f"{key}_logprob"])


def test_likelihoods_of_the_zoo():
    golden = json.loads(shared("fixtures/zoo/golden_loglik.json").read_text())
    for name, expected in golden.items():
        model = load(name)
        for part in ("train", "valid", "test"):
            records = slopp.Records.read(shared(f"data/nltcs/nltcs.{part}.data.gz"))
            assert len(records) == expected[part]["N"]
            assert model.log_likelihoods(records).sum() == pytest.approx(expected[part]["LL"])
            # The same through an array.
            assert model.log_likelihoods(records.to_numpy()).sum() == pytest.approx(expected[part]["LL"])


def test_counts_of_diagrams():
    golden = json.loads(shared("fixtures/golden_counts.json").read_text())
    for name, expected in golden["sdd"].items():
        path = shared(f"fixtures/{name}")
        vtree = path.with_suffix(".vtree")
        sdd = slopp.Sdd.read(path, vtree if vtree.exists() else None)
        assert sdd.model_count() == int(expected["model_count"]), name


def test_the_paper():
    psdd = slopp.example()
    assert psdd.certificate == "psdd"
    assert psdd.names == ["X1", "X2", "X3", "X4"]
    assert psdd.log_likelihoods(np.array([[1, 0, 1, 0]])).shape == (1,)

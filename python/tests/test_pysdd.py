"""Files go both ways between slopp and PySDD, the package from PyPI."""

import itertools

import numpy as np
import pytest
import slopp

pysdd = pytest.importorskip("pysdd.sdd")

RULES = ["a -> b | c", "at_most(2, a, b, c, d)", "c <-> !e", "d | e"]
NAMES = ["a", "b", "c", "d", "e"]


def world_count(rules):
    compiled = slopp.Rules(rules, NAMES)
    worlds = np.array(list(itertools.product([0, 1], repeat=len(NAMES))))
    return sum(not broken for broken in compiled.broken_by(worlds))


@pytest.mark.parametrize("shape", ["balanced", "right-linear", "left-linear", "random"])
def test_from_slopp_to_pysdd(tmp_path, shape):
    vtree = slopp.Vtree.shaped(shape, NAMES, seed=3)
    sdd = slopp.Rules(RULES, NAMES).compile(vtree)
    sdd.vtree.write(tmp_path / "rules.vtree")
    sdd.write(tmp_path / "rules.sdd")
    theirs = pysdd.Vtree.from_file(str(tmp_path / "rules.vtree"))
    manager = pysdd.SddManager.from_vtree(theirs)
    node = manager.read_sdd_file(str(tmp_path / "rules.sdd").encode())
    assert manager.global_model_count(node) == sdd.model_count() == world_count(RULES)


def test_from_pysdd_to_slopp(tmp_path):
    vtree = pysdd.Vtree(var_count=5, var_order=[2, 1, 4, 5, 3], vtree_type="balanced")
    manager = pysdd.SddManager.from_vtree(vtree)
    a, b, c, d, e = (manager.literal(i) for i in range(1, 6))
    node = (~a | b | c) & (~c | ~e) & (c | e) & (d | e)
    node.save(str(tmp_path / "theirs.sdd").encode())
    vtree.save(str(tmp_path / "theirs.vtree").encode())
    sdd = slopp.Sdd.read(tmp_path / "theirs.sdd", tmp_path / "theirs.vtree", NAMES)
    assert sdd.model_count() == manager.global_model_count(node)
    assert slopp.equivalent(sdd, slopp.Rules(["a -> b | c", "c <-> !e", "d | e"], NAMES))
    # Weighted counting: the uniform PSDD of the diagram is theirs with all weights a half.
    counter = node.wmc(log_mode=False)
    for i in range(1, 6):
        counter.set_literal_weight(manager.literal(i), 0.8 if i == 2 else 0.5)
        counter.set_literal_weight(manager.literal(-i), 0.2 if i == 2 else 0.5)
    psdd = sdd.psdd()
    share = psdd.prob("b") * 0.8 + psdd.prob("!b") * 0.2
    assert counter.propagate() == pytest.approx(share * sdd.model_count() / 2**4)


def test_cnf(tmp_path):
    (tmp_path / "rules.cnf").write_text(slopp.Rules(["!a | b", "b | c", "!a | !c"], ["a", "b", "c"]).cnf())
    manager, node = pysdd.SddManager.from_cnf_file(str(tmp_path / "rules.cnf").encode())
    assert manager.global_model_count(node) == slopp.Rules.read(tmp_path / "rules.cnf").compile().model_count() == 4

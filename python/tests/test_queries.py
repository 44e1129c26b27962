"""Every query against brute force over all worlds."""

import math

import numpy as np
import pytest
import slopp
from conftest import NAMES, rows, table_of

FORMULAS = [
    ("a | c", lambda w: w["a"] or w["c"]),
    ("b -> (c ^ d)", lambda w: not w["b"] or w["c"] != w["d"]),
    ("at_most(2, a, b, c, d, e, f)", lambda w: sum(w.values()) <= 2),
    ("!(a <-> e) & b", lambda w: w["a"] != w["e"] and w["b"]),
    ("b, !e", lambda w: w["b"] and not w["e"]),
]
EVIDENCE = ["", "b", "b, !e", "!a, d"]


def incomplete(seed):
    cells = rows(seed + 100, 40).astype(float)
    cells[np.random.default_rng(seed).random(cells.shape) < 0.4] = np.nan
    return cells


def holds(table, text):
    literals = [part.strip() for part in text.split(",") if part.strip()]
    return table.where(lambda w: all(not w[x[1:]] if x[0] == "!" else w[x] for x in literals))


def test_all_worlds(psdd, table):
    assert isinstance(psdd, slopp.Psdd)
    assert table.p.sum() == pytest.approx(1)
    with np.errstate(divide="ignore"):
        expected = np.log(table.p)
    np.testing.assert_allclose(psdd.log_likelihoods(table.worlds), expected, atol=1e-9)
    np.testing.assert_allclose(psdd.prob(records=table.worlds), table.p, atol=1e-12)
    np.testing.assert_array_equal(psdd.possible(table.worlds), table.p > 0)
    assert psdd.model_count() == (table.p > 0).sum()
    assert psdd.entropy() == pytest.approx(table.entropy())
    found = {tuple(world) for world in psdd.worlds().tolist()}
    assert found == {tuple(world) for world in table.worlds[table.p > 0].tolist()}


def test_likelihoods_with_missing_cells(psdd, table):
    cells = incomplete(1)
    expected = [table.p[table.agreeing(row)].sum() for row in cells]
    np.testing.assert_allclose(np.exp(psdd.log_likelihoods(cells)), expected, atol=1e-12)


@pytest.mark.parametrize("text,formula", FORMULAS)
def test_formulas(psdd, table, text, formula):
    truth = table.where(formula)
    assert psdd.prob(text) == pytest.approx(table.p[truth].sum(), abs=1e-12)
    others = table.where(lambda w: w["d"] or not w["b"])
    expected = table.p[truth & others].sum() / table.p[others].sum()
    assert psdd.prob(text, given="d | !b") == pytest.approx(expected, abs=1e-12)
    assert psdd.entails(text) == bool(table.p[~truth].sum() == 0)
    if not psdd.entails(text):
        world = psdd.counterexample(text)
        assert not formula(world) and psdd.prob(world) > 0
    if not table.p[truth].any():
        with pytest.raises(slopp.errors.ImpossibleError):
            psdd.given(text)
        return
    given = psdd.given(text)
    assert isinstance(given, slopp.Psdd)
    np.testing.assert_allclose(table_of(given).p, table.given(truth).p, atol=1e-12)
    np.testing.assert_allclose(list(psdd.marginals(given=text).values()), table.given(truth).marginals(), atol=1e-9)
    best = psdd.mpe(given=text)
    assert formula(best)
    assert best.probability == pytest.approx(table.p[truth].max())


def test_formula_given_records(psdd, table):
    text, formula = FORMULAS[1]
    truth = table.where(formula)
    cells = incomplete(2)
    for row, answer in zip(cells, psdd.prob(text, cells), strict=True):
        agree = table.agreeing(row)
        both, total = table.p[agree & truth].sum(), table.p[agree].sum()
        assert math.isnan(answer) if total == 0 else answer == pytest.approx(both / total, abs=1e-12)
    for row, answer in zip(cells, psdd.prob("b, !e", cells), strict=True):
        agree = table.agreeing(row)
        both, total = table.p[agree & holds(table, "b, !e")].sum(), table.p[agree].sum()
        assert math.isnan(answer) if total == 0 else answer == pytest.approx(both / total, abs=1e-12)


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_evidence(psdd, table, evidence):
    given = table.given(holds(table, evidence))
    np.testing.assert_allclose(list(psdd.marginals(given=evidence).values()), given.marginals(), atol=1e-9)
    pairs = np.einsum("w,wi,wj->ij", given.p, given.worlds, given.worlds)
    np.testing.assert_allclose(psdd.pair_marginals(given=evidence), pairs, atol=1e-9)
    ranked = np.sort(np.where(holds(table, evidence), table.p, 0))[::-1]
    top = psdd.top_worlds(5, given=evidence)
    np.testing.assert_allclose([world.probability for world in top], ranked[ranked > 0][:5], atol=1e-12)
    assert psdd.mpe(given=evidence).probability == pytest.approx(ranked[0])
    drawn = psdd.sample(20_000, given=evidence, seed=3)
    assert psdd.possible(drawn).all()
    np.testing.assert_allclose(drawn.mean(axis=0), given.marginals(), atol=0.03)


def test_batches(psdd, table):
    cells = incomplete(3)
    marginals, (completions, logs) = psdd.marginals(cells), psdd.mpe(cells)
    top, drawn = psdd.top_worlds(2, cells), psdd.complete(cells, seed=1)
    for i, row in enumerate(cells):
        agree = np.where(table.agreeing(row), table.p, 0.0)
        if agree.sum() == 0:
            assert np.isnan(marginals[i]).all() and np.isnan(completions[i]).all() and np.isnan(drawn[i]).all()
            assert logs[i] == -math.inf and top[i] == []
            continue
        np.testing.assert_allclose(marginals[i], agree @ table.worlds / agree.sum(), atol=1e-9)
        assert math.exp(logs[i]) == pytest.approx(agree.max())
        known = ~np.isnan(row)
        for world in (completions[i], drawn[i]):
            np.testing.assert_array_equal(world[known], row[known])
            assert psdd.possible([world.astype(bool)])[0]
        expected = np.sort(agree[agree > 0])[::-1][:2]
        np.testing.assert_allclose([world.probability for world in top[i]], expected)


def test_records_or_given(psdd):
    for ask in (psdd.marginals, psdd.mpe, lambda cells, given: psdd.top_worlds(2, cells, given=given),
                lambda cells, given: psdd.prob("a", cells, given=given)):
        with pytest.raises(TypeError, match="not both"):
            ask(rows(1), given="b")


def test_nearest_explain_and_repair(psdd, table):
    possible = table.worlds[table.p > 0]
    worlds, distances = psdd.nearest(table.worlds)
    changes = (table.worlds[:, None, :] != possible[None, :, :]).sum(axis=2)
    np.testing.assert_array_equal(distances, changes.min(axis=1))
    np.testing.assert_array_equal((worlds != table.worlds).sum(axis=1), distances)
    repaired = psdd.repair(table.worlds)
    for i, (world, near) in enumerate(zip(table.worlds, changes, strict=True)):
        best = table.p[table.p > 0][near == near.min()].max()
        assert psdd.prob(records=[repaired[i]])[0] == pytest.approx(best)
        assert psdd.prob(records=[worlds[i]])[0] == pytest.approx(best)
        assert (repaired[i] != world).sum() == near.min()
    explained = psdd.explain(table.worlds)
    assert [row["record"] for row in explained] == np.flatnonzero(table.p == 0).tolist()
    for row in explained:
        conflict = row["conflict"]
        assert psdd.prob(conflict) == 0
        for name in conflict:
            assert psdd.prob({key: value for key, value in conflict.items() if key != name}) > 0


def test_information(psdd, table):
    def entropy(names):
        return table.over(names).entropy() if names else 0.0

    found = psdd.information(["a", "c"], ["d", "f"])
    joint = entropy(["a", "c", "d", "f"])
    assert found["entropy_first"] == pytest.approx(entropy(["a", "c"]))
    assert found["mutual_information"] == pytest.approx(entropy(["a", "c"]) + entropy(["d", "f"]) - joint, abs=1e-9)
    assert found["entropy_second_given_first"] == pytest.approx(joint - entropy(["a", "c"]), abs=1e-9)
    assert psdd.entropy_of(["b"]) == pytest.approx(entropy(["b"]))
    marginal = psdd.marginal(["b", "e"])
    np.testing.assert_allclose(table_of(marginal).p, table.over(["b", "e"]).p, atol=1e-12)


def test_marginal_map(psdd, table):
    found = psdd.marginal_map(["b", "c", "f"], given="d")
    joint = table.over(["b", "c", "f"])
    with_d = slopp_table(table, "d").over(["b", "c", "f"])
    assert found.is_exact
    assert found.probability == pytest.approx(with_d.p.max())
    assert joint.names == list(found)


def slopp_table(table, name):
    """Not normalised: the worlds in which a name holds."""
    from oracle import Table

    return Table(table.names, np.where(table.worlds[:, table.names.index(name)], table.p, 0.0))


def test_rules(psdd, table):
    rules = psdd.rules(max_length=6)
    text = [rule["rule"] for rule in rules]
    for formula in text:
        assert psdd.entails(formula), formula
    if rules.complete_to == 6:
        assert slopp.Rules(text or ["a | !a"], psdd.names).compile().model_count() == (table.p > 0).sum()
        assert slopp.equivalent(slopp.Rules(text, psdd.names) if text else slopp.Rules(["a | !a"], psdd.names), psdd)


def test_products_and_divergence():
    records = slopp.Records(rows(1), names=NAMES)
    vtree = slopp.Vtree.shaped("balanced", NAMES)
    p = slopp.learn(records, learner="slopp-tree", vtree=vtree)
    q = slopp.learn(slopp.Records(rows(2), names=NAMES), learner="slopp-tree", vtree=vtree)
    a, b = table_of(p).p, table_of(q).p
    product, log = p.product(q)
    assert math.exp(log) == pytest.approx((a * b).sum())
    np.testing.assert_allclose(table_of(product).p, a * b / (a * b).sum(), atol=1e-12)
    assert p.kl_divergence(q) == pytest.approx((a * np.log(a / b)).sum())


@pytest.mark.filterwarnings("ignore:records of weight")
def test_fit_and_em(psdd):
    cells = rows(9, 200)
    possible = psdd.possible(cells)
    fitted = psdd.fit(cells, pseudocount=0.5)
    again = psdd.em(cells, pseudocount=0.5)
    np.testing.assert_allclose(fitted.log_likelihoods(cells), again.log_likelihoods(cells), atol=1e-6)
    unsmoothed = psdd.fit(cells, pseudocount=0.0)
    best = unsmoothed.log_likelihoods(cells[possible]).sum()
    assert best >= psdd.log_likelihoods(cells[possible]).sum() - 1e-9
    added = unsmoothed.fit(cells[:10], pseudocount=0.0, add=True)
    assert isinstance(added, slopp.Psdd)


def test_revision():
    psdd = slopp.learn(slopp.Records(rows(1), names=NAMES), world="closed")
    table = table_of(psdd)
    impossible = table.worlds[table.p == 0][:2]
    revised = psdd.revise(impossible)
    after = table_of(revised)
    np.testing.assert_array_equal(after.p > 0, (table.p > 0) | (table.agreeing(impossible[0].astype(float)))
                                  | table.agreeing(impossible[1].astype(float)))
    without = psdd.revise(by_rule="a -> c")
    assert without.entails("a -> c") and isinstance(without, slopp.Psdd)
    wider = psdd.revise(formula="a & b & c & d & e & f", formula_weight=2.0)
    assert wider.prob(dict.fromkeys(NAMES, True)) > 0
    with pytest.raises(TypeError, match="one of them"):
        psdd.revise()


def test_noise(psdd, table):
    cells = rows(5, 10)
    flips = (table.worlds[None] != cells[:, None]).sum(axis=2)
    expected = np.log((table.p * 0.1**flips * 0.9 ** (len(NAMES) - flips)).sum(axis=1))
    np.testing.assert_allclose(psdd.log_likelihoods_noisy(cells, 0.1), expected)
    fit = psdd.fit_noise(cells)
    best = psdd.log_likelihoods_noisy(cells, fit["noise"]).mean()
    assert best == pytest.approx(fit["log_likelihood"])
    assert best >= psdd.log_likelihoods_noisy(cells, 0.2).mean() - 1e-6


def test_mixtures():
    records = slopp.Records(rows(1), names=NAMES)
    parts = [slopp.learn(records, learner=learner) for learner in ("slopp", "chow-liu", "factorised")]
    mixture = slopp.Mixture(zip([0.5, 0.3, 0.2], parts, strict=True))
    table = table_of(parts[0])
    table.p = sum(weight * table_of(part).p for weight, part in zip([0.5, 0.3, 0.2], parts, strict=True))
    np.testing.assert_allclose(mixture.prob(records=table.worlds), table.p, atol=1e-12)
    truth = table.where(FORMULAS[1][1])
    assert mixture.prob(FORMULAS[1][0]) == pytest.approx(table.p[truth].sum())
    expected = table.given(truth).marginals()
    np.testing.assert_allclose(list(mixture.marginals(given=FORMULAS[1][0]).values()), expected, atol=1e-9)
    posterior = mixture.component_posterior(table.worlds)
    np.testing.assert_allclose(posterior[:, 0], 0.5 * table_of(parts[0]).p / table.p, atol=1e-9)
    world, upper = mixture.mpe_bounds()
    assert world.log_probability <= math.log(table.p.max()) + 1e-12 <= upper + 1e-9
    with pytest.raises(slopp.errors.KindError, match="only a single circuit can answer mpe"):
        mixture.mpe()


def test_kinds_tell_what_they_cannot():
    records = slopp.configurations(500)
    published = slopp.learn(records, learner="slopp-kmeans", seed=1)
    network = slopp.learn(records, learner="learnspn")
    assert type(network) is slopp.Spn and not hasattr(network, "mpe")
    with pytest.raises(slopp.errors.KindError, match="sum-product network"):
        network.vtree
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        network.nonsense
    if type(published) is slopp.Circuit:
        with pytest.raises(slopp.errors.KindError, match="needs a deterministic circuit"):
            published.entropy()
        with pytest.raises(slopp.errors.CertificateError):
            published.certified()
    assert np.isfinite(network.log_likelihoods(records)).all()

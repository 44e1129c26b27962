//! The certificate: against all worlds, fast where pairs are many, and stopped where it costs too much.

mod against;

use against::{check_certificate, convert};
use slopp::circuit::Reason;
use slopp::learn::{LearnError, Refit};
use slopp::logic::{Limit, Limits};
use slopp::{Advice, Builder, Certified, Circuit, Lit, Model, Names, RecordsBuilder, Sharing, Var, Vtree};
use slopp_oracle::{Dice, Tree, layered};

#[test]
fn sets_of_nodes_are_judged_as_all_their_worlds_are() {
    let mut dice = Dice::new(7);
    let (mut exclusive, mut overlapping) = (0, 0);
    for round in 0..1500 {
        let tree = Tree::random(2 + dice.below(6), &mut dice);
        let overlap = [0.0, 0.02, 0.1, 0.4][round % 4];
        let oracle = layered(&tree, 2 + dice.below(5), overlap, &mut dice);
        let (circuit, ids) = convert(&oracle, &tree);
        check_certificate(&circuit, &ids, &oracle);
        *(if circuit.certify(&Limits::default()).is_ok() { &mut exclusive } else { &mut overlapping }) += 1;
    }
    assert!(exclusive > 500 && overlapping > 300, "{exclusive} exclusive, {overlapping} overlapping");
}

/// Layers of `width` exclusive nodes, of which none fixes a variable but for the lowest ones: each splits by its variable
/// into two nodes of the layer below, in an order of its own. With `twin`, two nodes of a low layer share a world.
fn shuffled(width: usize, depth: usize, twin: bool) -> Circuit {
    let mut dice = Dice::new(1);
    let bits = width.next_power_of_two().ilog2() as usize;
    let vars = depth + bits;
    let left = Vtree::right_linear(vars).to_string();
    let vtree: Vtree = format!("({left},{})", vars + 1).parse().unwrap();
    let mut builder = Builder::new(vtree.clone(), Sharing::Equal);
    let lit = |x: usize, value| Lit { var: Var(x as u32), value };
    let v = |x: usize| vtree.parent(vtree.leaf(Var(x as u32))).unwrap();
    let mut layer: Vec<_> = (0..width)
        .map(|i| {
            let mut below = builder.literal(lit(vars - 1, i & 1 == 1)).unwrap();
            for bit in 1..bits {
                let x = vars - 1 - bit;
                let prime = builder.literal(lit(x, i >> bit & 1 == 1)).unwrap();
                below = builder.sum(v(x), &[(prime, below, 0.0)]).unwrap();
            }
            below
        })
        .collect();
    for x in (0..depth).rev() {
        let mut orders = [0, 1].map(|_| {
            let mut order = layer.clone();
            (1..width).rev().for_each(|i| order.swap(i, dice.below(i + 1)));
            order
        });
        if twin && x == depth - 1 {
            orders[0][3] = orders[0][width - 5];
        }
        let primes = [false, true].map(|value| builder.literal(lit(x, value)).unwrap());
        let half = 0.5f64.ln();
        layer = (0..width)
            .map(|i| builder.sum(v(x), &[(primes[0], orders[0][i], half), (primes[1], orders[1][i], half)]).unwrap())
            .collect();
    }
    let top = builder.top(Var(vars as u32), [0.5f64.ln(); 2]).unwrap();
    let share = -(width as f64).ln();
    let elements: Vec<_> = layer.into_iter().map(|prime| (prime, top, share)).collect();
    let root = builder.sum(vtree.root(), &elements).unwrap();
    builder.finish(root).unwrap()
}

#[test]
fn a_layer_of_exclusive_nodes_needs_no_pairs() {
    // Pairs of nodes would be 100 · 99 / 2 in each of 40 layers.
    let few = Limits::default().with_nodes(1000);
    shuffled(100, 40, false).certify(&few).unwrap();
    let refusal = shuffled(100, 40, true).certify(&few).unwrap_err();
    let Reason::Overlap(overlap) = refusal.reason else { panic!("{}", refusal.reason) };
    let (i, j) = overlap.elements;
    let root = refusal.circuit.elements_of(overlap.node);
    let value = |k: usize| {
        let prime = root.clone().nth(k).unwrap().0.prime;
        let mut values = Vec::new();
        for id in refusal.circuit.ids() {
            values.push(match refusal.circuit.node(id) {
                slopp::Node::Literal(lit) => overlap.witness[lit.var.index()] == lit.value,
                slopp::Node::Top { .. } => true,
                slopp::Node::Sum { .. } => {
                    refusal.circuit.elements_of(id).any(|(e, _)| values[e.prime.index()] && values[e.sub.index()])
                }
            });
        }
        values[prime.index()]
    };
    assert!(i < j && !overlap.weak && value(i) && value(j), "{overlap}");
}

#[test]
fn what_is_not_proved_within_limits_is_told_and_stays_a_circuit() {
    let circuit = shuffled(100, 40, false);
    let refusal = circuit.clone().certify(&Limits { bytes: 1000, ..Limits::default() }).unwrap_err();
    assert_eq!(refusal.reason, Reason::Unproved(Limit::Bytes(1000)));
    assert_eq!(refusal.to_string(), "not proved to be a PSDD within 1 MB; allow more");
    let cancel = Limits { cancel: Some(std::sync::Arc::new(true.into())), ..Limits::default() };
    match Certified::new(circuit.clone(), &cancel) {
        Certified::Circuit(same, Reason::Unproved(Limit::Cancelled)) => assert_eq!(same, circuit),
        other => panic!("{other:?}"),
    }
    assert_eq!(circuit.overlaps(1, &cancel).stopped, Some(Limit::Cancelled));
    let error = LearnError::from(refusal);
    assert_eq!(error.to_string(), "not proved to be a PSDD within 1 MB; allow more");
    assert_eq!(error.advice(), [Advice::LargerLimits]);
}

#[test]
fn what_is_not_proved_stays_so_when_it_is_fitted() {
    let circuit = shuffled(100, 40, false);
    let limits = Limits { bytes: 1000, ..Limits::default() };
    let mut records = RecordsBuilder::new(Names::numbered(circuit.var_count()));
    records.push((0..circuit.var_count()).map(|i| (i == 0).then_some(true)), 50.0);
    let records = records.finish();
    let model = Model::new(records.names().clone(), Certified::new(circuit, &limits));
    // Without a prior elements are dropped, and what is left is looked at again.
    for pseudocount in [Some(1.0), Some(0.0)] {
        let how = Refit { pseudocount, steps: Some(1), limits: limits.clone(), ..Refit::default() };
        let fitted = model.refit(&records, &how, &()).unwrap();
        let circuit = fitted.model.circuit().unwrap();
        let is_unproved = matches!(circuit, Certified::Circuit(_, Reason::Unproved(Limit::Bytes(1000))));
        assert!(is_unproved, "{pseudocount:?}, {} dropped", fitted.dropped);
    }
}

//! The search for the rules of a circuit, step by step.

use super::prove::Prover;
use super::{BaseRule, BaseRules, RuleError, RuleKind, RuleSearch, clauses, groups, pairs};
use crate::circuit::{Circuit, Node};
use crate::data::MAX_PAIR_VARIABLES;

/// The rules of a circuit, none of which follows from the others as far as that can be decided.
pub(super) fn find(circuit: &Circuit, search: &RuleSearch) -> Result<BaseRules, RuleError> {
    let variables = circuit.var_count();
    if variables > MAX_PAIR_VARIABLES {
        return Err(RuleError::TooManyVariables { variables });
    }
    let marginals = marginals(circuit);
    let pairs = pairs::Pairs::of(circuit);
    let mut rules = pairs.literals_and_classes(&marginals);
    let binary = pairs.reduced();
    let exactly_one = groups::exactly_one(circuit, &pairs, &marginals);
    rules.extend(exactly_one.iter().map(|group| BaseRule::new(RuleKind::ExactlyOne, group.clone(), &marginals)));
    rules.extend(groups::binary(&pairs, &binary, &exactly_one, &marginals));
    let mut prover = Prover::new(&some_world(circuit));
    rules.iter().for_each(|rule| prover.add(&rule.to_clauses()));
    let longer = clauses::search(circuit, &pairs, &marginals, search);
    let mut complete_to = longer.complete_to;
    let mut kept = 0;
    for clause in longer.clauses {
        // What cannot be decided is kept: rules stay true, there may be one too many.
        if prover.is_implied(std::slice::from_ref(&clause), None) == Some(true) {
            continue;
        }
        if kept == search.most_clauses {
            complete_to = complete_to.min(clause.len() - 1);
            break;
        }
        kept += 1;
        prover.add(std::slice::from_ref(&clause));
        rules.push(BaseRule::new(RuleKind::Clause, clause, &marginals));
    }
    let mut is_minimal = true;
    let mut stays = vec![true; rules.len()];
    // The least readable first: where rules imply each other, the simpler ones stay.
    for i in (0..rules.len()).rev().filter(|&i| rules[i].kind >= RuleKind::ExactlyOne) {
        match prover.is_implied(&rules[i].to_clauses(), Some(i)) {
            Some(true) => {
                prover.drop(i);
                stays[i] = false;
            }
            Some(false) => {}
            None => is_minimal = false,
        }
    }
    let mut staying = stays.into_iter();
    rules.retain(|_| staying.next().unwrap_or(true));
    rules.sort_by(|a, b| {
        let length = |rule: &BaseRule| if rule.kind == RuleKind::Clause { rule.literals.len() } else { 0 };
        let first = (a.kind, length(a)).cmp(&(b.kind, length(b)));
        first.then(b.excluded.total_cmp(&a.excluded)).then_with(|| a.literals.cmp(&b.literals))
    });
    Ok(BaseRules { rules, complete_to, is_minimal })
}

/// The probability of *true* of every variable, from the flows of the circuit.
fn marginals(circuit: &Circuit) -> Vec<f64> {
    let mut flows = vec![0.0; circuit.nodes().len()];
    let mut marginals = vec![0.0; circuit.var_count()];
    flows[circuit.root().index()] = 1.0;
    for id in circuit.ids().rev() {
        let flow = flows[id.index()];
        match circuit.node(id) {
            Node::Literal(lit) => marginals[lit.var.index()] += flow * f64::from(lit.value),
            Node::Top { var, slot } => {
                marginals[var.index()] += flow * circuit.log_parameters().tops[slot as usize][1].exp();
            }
            Node::Sum { .. } => {
                // Files may have parameters that do not quite add up to one.
                let total: f64 = circuit.elements_of(id).map(|(_, theta)| theta.exp()).sum();
                for (element, theta) in circuit.elements_of(id) {
                    let used = flow * theta.exp() / total;
                    flows[element.prime.index()] += used;
                    flows[element.sub.index()] += used;
                }
            }
        }
    }
    marginals.into_iter().map(|p| p.min(1.0)).collect()
}

/// A possible world: the first of every sum.
fn some_world(circuit: &Circuit) -> Vec<bool> {
    let mut world = vec![false; circuit.var_count()];
    let mut stack = vec![circuit.root()];
    while let Some(id) = stack.pop() {
        match circuit.node(id) {
            Node::Literal(lit) => world[lit.var.index()] = lit.value,
            Node::Top { .. } => {}
            Node::Sum { start, .. } => {
                let element = circuit.elements()[start as usize];
                stack.extend([element.prime, element.sub]);
            }
        }
    }
    world
}

//! The distribution of some of the variables, as a circuit of its own.

use super::marginals::Posterior;
use super::{Evidence, QueryError};
use crate::circuit::{BuildError, Builder, Circuit, Node, NodeId, Sharing, merge_equal};
use crate::logspace::{LOG_ZERO, log_add};
use crate::var::Var;
use crate::vtree::{Step, Vtree, VtreeId};

/// The largest number of elements of a marginal.
const ELEMENT_LIMIT: usize = 20_000_000;

/// A node after other variables are summed out.
enum Rest {
    /// None of its variables are left.
    Nothing,
    /// The log-probabilities of *false* and *true* of the one variable that is left.
    Leaf([f64; 2]),
    /// Elements, not yet a node: they may only be needed as a part of mixtures.
    Sum(Vec<(NodeId, NodeId, f64)>),
}

impl Circuit {
    /// The distribution of the given variables, in this order, as a circuit on the rest of the vtree.
    ///
    /// `P(a) = Σ P(a,b)`. Where a side of a vtree node has no variable left, a sum becomes a mixture of its elements.
    /// So the result is a mixture in general, even of a deterministic circuit; [`Circuit::certify_deterministic`]
    /// decides. Size: at most, for every vtree node that is left, its nodes times the elements of the next one below.
    /// An error if a variable is unknown or given twice, or there are none.
    ///
    /// ```
    /// # use slopp::{Var, infer::Evidence};
    /// let psdd = slopp::example::psdd();
    /// let pair = psdd.marginal(&[Var(3), Var(0)])?;
    /// let evidence = Evidence::from_lits(4, [Var(3).is(true), Var(0).is(false)])?;
    /// let expected = psdd.log_evidence(&evidence)?;
    /// assert!((pair.log_probability(&[true, false])? - expected).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn marginal(&self, vars: &[Var]) -> Result<Circuit, QueryError> {
        self.marginal_given(vars, &Evidence::none(self.var_count()))
    }

    /// As [`Circuit::marginal`], given evidence, which may also be about the variables asked for.
    pub fn marginal_given(&self, vars: &[Var], evidence: &Evidence) -> Result<Circuit, QueryError> {
        let new = self.new_numbers(vars)?;
        let posterior = Posterior::new(self, evidence)?;
        let old = self.vtree();
        // The vtree node that replaces each old one, or `None` if no variable is left below it.
        let mut steps = Vec::new();
        let mut place: Vec<Option<usize>> = vec![None; old.node_count()];
        for &v in old.bottom_up() {
            place[v.index()] = match (old.leaf_var(v), old.children(v)) {
                (Some(var), _) => new[var.index()].map(|var| {
                    steps.push(Step::Leaf(var));
                    steps.len() - 1
                }),
                (_, Some([left, right])) => match (place[left.index()], place[right.index()]) {
                    (Some(_), Some(_)) => {
                        steps.push(Step::Join);
                        Some(steps.len() - 1)
                    }
                    (left, right) => left.or(right),
                },
                _ => unreachable!("a vtree node is a leaf or has children"),
            };
        }
        let vtree = Vtree::from_postfix(steps).expect("a vtree without some leaves is a vtree");
        let at = |v: VtreeId| place[v.index()].map(|step| vtree.bottom_up()[step]);
        let mut rests = Rests {
            builder: Builder::new(vtree.clone(), Sharing::Equal),
            rests: Vec::with_capacity(self.nodes().len()),
            made: vec![None; self.nodes().len()],
            place: self.ids().map(|id| at(self.vtree_of(id))).collect(),
            elements: 0,
        };
        for (id, node) in self.ids().zip(self.nodes()) {
            let rest = match *node {
                Node::Literal(lit) if at(self.vtree_of(id)).is_some() => {
                    Rest::Leaf([false, true].map(|x| if x == lit.value { 0.0 } else { LOG_ZERO }))
                }
                Node::Top { slot, .. } if at(self.vtree_of(id)).is_some() => {
                    Rest::Leaf(posterior.parameters.tops[slot as usize].map(f64::ln))
                }
                Node::Literal(_) | Node::Top { .. } => Rest::Nothing,
                Node::Sum { vtree: v, .. } => {
                    let sides = old.children(v).expect("sums are at inner nodes").map(|side| at(side).is_some());
                    let shares = &posterior.parameters.elements;
                    let used = self.element_range(id).filter(|&e| shares[e] > 0.0);
                    rests
                        .sum(sides, used.map(|e| (self.elements()[e].prime, self.elements()[e].sub, shares[e].ln())))?
                }
            };
            rests.rests.push(rest);
        }
        let root = rests.node(self.root())?;
        rests.builder.finish(root).map_err(too_large)
    }

    /// The new variable of each old one, `None` if it is summed out.
    fn new_numbers(&self, vars: &[Var]) -> Result<Vec<Option<Var>>, QueryError> {
        let mut new = vec![None; self.var_count()];
        for (i, &var) in vars.iter().enumerate() {
            self.check_var(var)?;
            if new[var.index()].replace(Var(i as u32)).is_some() {
                return Err(QueryError::RepeatedVariable { variable: var.number() });
            }
        }
        if vars.is_empty() { Err(QueryError::NoVariables) } else { Ok(new) }
    }
}

struct Rests {
    builder: Builder,
    rests: Vec<Rest>,
    made: Vec<Option<NodeId>>,
    place: Vec<Option<VtreeId>>,
    elements: usize,
}

impl Rests {
    /// The rest of a sum that has variables left on these sides.
    fn sum(
        &mut self,
        sides: [bool; 2],
        elements: impl Iterator<Item = (NodeId, NodeId, f64)>,
    ) -> Result<Rest, QueryError> {
        let mut leaf: Option<[f64; 2]> = None;
        let mut parts = Vec::new();
        for (prime, sub, log) in elements {
            match sides {
                [true, true] => parts.push((self.node(prime)?, self.node(sub)?, log)),
                [false, false] => return Ok(Rest::Nothing),
                [left, _] => match &self.rests[if left { prime } else { sub }.index()] {
                    Rest::Nothing => unreachable!("a side with variables left has something left"),
                    Rest::Leaf(logs) => {
                        let sum = leaf.get_or_insert([LOG_ZERO; 2]);
                        (0..2).for_each(|x| sum[x] = log_add(sum[x], log + logs[x]));
                    }
                    Rest::Sum(inner) => {
                        parts.extend(inner.iter().map(|&(p, s, theta)| (p, s, log + theta)));
                        // Merged at once, or equal elements of many parts would pile up.
                        if parts.len() > 2 * inner.len() + 1024 {
                            merge_equal(&mut parts, log_add);
                        }
                    }
                },
            }
        }
        merge_equal(&mut parts, log_add);
        self.elements += parts.len();
        if self.elements > ELEMENT_LIMIT {
            return Err(QueryError::TooLarge { what: "marginal", limit: ELEMENT_LIMIT });
        }
        Ok(match leaf {
            Some(logs) => Rest::Leaf(logs),
            None => Rest::Sum(parts),
        })
    }

    /// The new node for the rest of an old one.
    fn node(&mut self, old: NodeId) -> Result<NodeId, QueryError> {
        if let Some(made) = self.made[old.index()] {
            return Ok(made);
        }
        let v = self.place[old.index()].expect("only asked where variables are left");
        let made = match &self.rests[old.index()] {
            Rest::Nothing => unreachable!("only asked where variables are left"),
            Rest::Leaf([f, t]) => {
                let var = self.builder.vtree().leaf_var(v).expect("one variable is left at a leaf");
                match (*f > LOG_ZERO, *t > LOG_ZERO) {
                    (true, true) => {
                        let total = log_add(*f, *t);
                        self.builder.top(var, [f - total, t - total])
                    }
                    (_, value) => self.builder.literal(var.is(value)),
                }
            }
            Rest::Sum(elements) => {
                let total = elements.iter().fold(LOG_ZERO, |sum, e| log_add(sum, e.2));
                let parts: Vec<_> = elements.iter().map(|&(p, s, log)| (p, s, (log - total).min(0.0))).collect();
                self.builder.sum(v, &parts)
            }
        };
        let made = made.map_err(too_large)?;
        self.made[old.index()] = Some(made);
        Ok(made)
    }
}

fn too_large(_: BuildError) -> QueryError {
    QueryError::TooLarge { what: "marginal", limit: u32::MAX as usize }
}

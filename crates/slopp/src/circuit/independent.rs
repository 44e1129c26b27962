//! The base of a circuit with variables that know nothing of each other: a prior inside rules.

use super::{Circuit, Node, Weights};
use crate::logspace::log_sum;

impl Circuit {
    /// The same structure with other parameters: of independent variables with these probabilities of true, given the base
    /// of a deterministic circuit.
    pub(crate) fn independent(&self, trues: &[f64]) -> Circuit {
        let log = |trues: f64, value: bool| if value { trues.ln() } else { (-trues).ln_1p() };
        let mut parameters = Weights::zeros(self.log_parameters.tops.len(), self.elements.len());
        // The log-probability of what each node allows; children come first.
        let mut allowed: Vec<f64> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            allowed.push(match *node {
                Node::Literal(lit) => log(trues[lit.var.index()], lit.value),
                Node::Top { var, slot } => {
                    parameters.tops[slot as usize] = [false, true].map(|value| log(trues[var.index()], value));
                    0.0
                }
                Node::Sum { start, end, .. } => {
                    let range = start as usize..end as usize;
                    let parts = self.elements[range.clone()].iter();
                    let parts: Vec<f64> = parts.map(|e| allowed[e.prime.index()] + allowed[e.sub.index()]).collect();
                    let sum = log_sum(parts.iter().copied());
                    range.zip(parts).for_each(|(i, part)| parameters.elements[i] = part - sum);
                    sum
                }
            });
        }
        Circuit { log_parameters: parameters, counts: None, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use crate::example;

    #[test]
    fn worlds_of_the_base_have_the_shares_they_have_among_independent_variables() {
        let psdd = example::psdd();
        let trues = [0.1, 0.3, 0.6, 0.8];
        let circuit = psdd.independent(&trues);
        let worlds = (0..16).map(|i| (0..4).map(|bit| i >> bit & 1 == 1).collect::<Vec<bool>>());
        let alone =
            |world: &[bool]| -> f64 { world.iter().zip(trues).map(|(&x, p)| if x { p } else { 1.0 - p }).product() };
        let possible: Vec<Vec<bool>> = worlds.filter(|world| psdd.is_possible(world).unwrap()).collect();
        let total: f64 = possible.iter().map(|world| alone(world)).sum();
        for world in &possible {
            let found = circuit.log_probability(world).unwrap().exp();
            assert!((found - alone(world) / total).abs() < 1e-12, "{world:?}: {found}");
        }
    }
}

//! Sizes of a circuit, counted as the paper and as its peers count, and the check of its parameters.

use super::{Circuit, Node, NodeId};

/// How far the parameters of a sum may be from one in total: files with six decimals are within it.
pub const PARAMETER_TOLERANCE: f64 = 1e-5;

/// Sizes of a circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Nodes in memory: literals, ⊤ and sums.
    pub nodes: usize,
    /// Sum nodes.
    pub sums: usize,
    /// Elements of all sums: what peers call the size.
    pub elements: usize,
    /// ⊤ nodes.
    pub tops: usize,
    /// Literal nodes, all distinct.
    pub literals: usize,
    /// Parameters as peers count them: one per element and two per ⊤.
    pub parameters: usize,
    /// The size |C| of the paper's tables: sums + elements + ⊤ + distinct literals.
    pub size_paper: usize,
}

/// A sum whose parameters do not add up to one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterFault {
    /// The sum.
    pub node: NodeId,
    /// What its parameters add up to.
    pub total: f64,
}

impl Circuit {
    /// The sizes of this circuit.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats { nodes: self.nodes.len(), elements: self.elements.len(), ..Stats::default() };
        for node in &self.nodes {
            match node {
                Node::Literal(_) => stats.literals += 1,
                Node::Top { .. } => stats.tops += 1,
                Node::Sum { .. } => stats.sums += 1,
            }
        }
        stats.parameters = stats.elements + 2 * stats.tops;
        stats.size_paper = stats.sums + stats.elements + stats.tops + stats.literals;
        stats
    }

    /// The sums whose parameters are further from one in total than `tolerance`, usually [`PARAMETER_TOLERANCE`].
    pub fn parameter_faults(&self, tolerance: f64) -> Vec<ParameterFault> {
        let sums = self.ids().filter(|&id| matches!(self.node(id), Node::Sum { .. }));
        let totals =
            sums.map(|node| ParameterFault { node, total: self.elements_of(node).map(|(_, x)| x.exp()).sum() });
        totals.filter(|fault| (fault.total - 1.0).abs() > tolerance).collect()
    }

    /// The same circuit with the parameters of every sum divided by their total.
    pub fn renormalised(mut self) -> Circuit {
        for id in self.ids() {
            let range = self.element_range(id);
            let thetas = &mut self.log_parameters.elements[range];
            let total = crate::logspace::log_sum(thetas.iter().copied());
            thetas.iter_mut().for_each(|theta| *theta = (*theta - total).min(0.0));
        }
        self
    }
}

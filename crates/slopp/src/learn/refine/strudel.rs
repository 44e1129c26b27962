//! Strudel: splits where most records pass, by the most informative variable, without simulation.

use super::context::{Context, Informative};
use super::draft::{Draft, DraftId, Edge, Kind};
use super::{Growth, Refined, Stopping, USUAL_PSEUDOCOUNT, check_weight, given, start, while_growing};
use crate::certified::Certified;
use crate::circuit::{Certificate, Deterministic, Psdd, Smoothing};
use crate::heap::Scored;
use crate::learn::LearnError;
use crate::learn::error::{check, in_digits};
use crate::learn::grow::Database;
use crate::learn::hold_out::Parts;
use crate::learn::structure::Structure;
use crate::learn::task::{Learner, Task};
use crate::progress::Progress;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Strudel: keeps the base and the vtree of the model it starts from.
///
/// Each step splits the element that most records use. It splits by the variable in its [`Scope`] with the most mutual
/// information with the others over those records, and gives both sides their own copies of the nodes below, down to
/// [`Strudel::depth`]. Training likelihood never falls. The result is chosen by validation likelihood and certified.
/// Records that are impossible under the start are left out. Without validation records a tenth of the records is held
/// out by seed, and in the end the parameters are fitted to all records.
///
/// Cost of a step: a count of the pairs of variables of one scope over the rows of one element, 64 at a time, and the
/// rows and nodes on the way to the leaf of the variable. A prime that is a literal is never split, so on a
/// right-linear vtree only elements whose prime is ⊤ are.
///
/// ```
/// use slopp::learn::{Strudel, Task};
/// let records = slopp::example::records();
/// let start = slopp::Model::new(records.names().clone(), slopp::example::psdd());
/// let refined = Task { start: Some(&start), ..Task::new(&records) }.learn(&Strudel::default(), &())?.model;
/// assert!(refined.psdd().unwrap().entailed_by(&records)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Strudel {
    /// By which variables it splits.
    pub scope: Scope,
    /// The largest number of splits.
    pub steps: usize,
    /// How many levels of nodes below a split are copied for its two sides.
    pub depth: usize,
    /// The least number of splits between comparisons of the validation likelihood.
    pub check_every: usize,
    /// Stops after this many comparisons without improvement.
    pub patience: usize,
    /// The weight of the prior in records.
    pub pseudocount: f64,
}

impl Default for Strudel {
    fn default() -> Strudel {
        let (scope, pseudocount) = (Scope::Prime, USUAL_PSEUDOCOUNT);
        Strudel { scope, steps: 20_000, depth: 4, check_every: 50, patience: 6, pseudocount }
    }
}

/// By which variables Strudel splits an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// By variables of its prime: primes stay exclusive, and the result is a PSDD.
    #[default]
    Prime,
    /// By any of its variables, as published: elements stay exclusive, and the result is deterministic.
    Whole,
}

impl Learner for Strudel {
    fn name(&self) -> &'static str {
        "strudel"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let scope = match self.scope {
            Scope::Prime => "prime",
            Scope::Whole => "whole",
        };
        vec![
            ("pseudocount", in_digits(self.pseudocount)),
            ("scope", scope.to_owned()),
            ("depth", self.depth.to_string()),
            ("steps", self.steps.to_string()),
        ]
    }

    fn refines(&self) -> bool {
        true
    }

    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError> {
        let parts = task.parts()?;
        self.refine(task, &parts, progress)?.structure(&parts, self.pseudocount)
    }
}

impl Strudel {
    /// The circuit grown from a part of the records. Its start is made from all of them, since growth makes no world
    /// possible.
    pub(in crate::learn) fn refine(
        &self,
        task: &Task,
        parts: &Parts,
        progress: &dyn Progress,
    ) -> Result<Refined<Certified>, LearnError> {
        check_weight(self.pseudocount, task)?;
        if self.scope == Scope::Prime {
            let start = start(task)?;
            let Refined { circuit, steps } = self.grow::<Psdd>(&start, parts, progress)?;
            return Ok(Refined { circuit: circuit.into(), steps });
        }
        let whole = |start: &Deterministic| {
            let Refined { circuit, steps } = self.grow::<Deterministic>(start, parts, progress)?;
            Ok(Refined { circuit: Certified::new(circuit.into_circuit(), parts.limits()), steps })
        };
        match given(task)? {
            Some(given) => whole(given.deterministic().map_err(|reason| LearnError::NotDeterministic(reason.clone()))?),
            None => whole(&**start(task)?),
        }
    }

    fn grow<C: Certificate + AsRef<Deterministic>>(
        &self,
        start: &Deterministic,
        parts: &Parts,
        progress: &dyn Progress,
    ) -> Result<Refined<C>, LearnError> {
        let train = parts.train();
        check(train, start.vtree())?;
        let database = Database::new(train, start.vtree().clone());
        let mut growth = Greedy::new(start, &database, self.depth, self.scope);
        let smoothing = Smoothing::marginal(while_growing(self.pseudocount, parts), train);
        let &Strudel { steps, check_every, patience, .. } = self;
        let (valid, limits) = (parts.judge(), parts.limits());
        let stopping = Stopping { valid, limits, smoothing, steps, check_every, patience };
        stopping.grow(&mut growth, progress)
    }
}

/// A branch of a sum, scored by the weight of its rows when it was put on the heap; among equals, wider scopes come
/// first.
type Candidate = Scored<(Reverse<usize>, DraftId, usize)>;

struct Greedy<'a> {
    draft: Draft<'a>,
    context: Context<'a>,
    heap: BinaryHeap<Candidate>,
    /// Those without a variable to split by until they lose rows.
    parked: Vec<Candidate>,
    depth: usize,
    scope: Scope,
}

impl<'a> Greedy<'a> {
    fn new(start: &Deterministic, database: &'a Database<'a>, depth: usize, scope: Scope) -> Greedy<'a> {
        let mut draft = Draft::new(start, database.records);
        draft.find_terms();
        let (context, heap) = (Context::new(database), BinaryHeap::new());
        let mut greedy = Greedy { draft, context, heap, parked: Vec::new(), depth, scope };
        greedy.consider_from(0);
        greedy
    }

    /// Puts the branches of all nodes from `first` on on the heap.
    fn consider_from(&mut self, first: DraftId) {
        for node in first..self.draft.nodes.len() {
            if let Kind::Sum(branches) = &self.draft.nodes[node].kind {
                (0..branches.len()).for_each(|branch| self.consider(node, branch));
            }
        }
    }

    fn consider(&mut self, node: DraftId, branch: usize) {
        let used = self.draft.branch(Edge { node, branch, is_prime: true });
        let fixed = matches!(self.draft.nodes[used.prime].kind, Kind::Literal(_));
        // A single row cannot be split, nor can a literal if only primes are split.
        if used.rows.len() > 1 && !(fixed && self.scope == Scope::Prime) {
            let vars = self.draft.vtree.vars(self.draft.nodes[node].vtree).len();
            self.heap.push(Scored { score: used.count, tie: (Reverse(vars), node, branch) });
        }
    }

    /// Puts parked branches that have lost rows on the heap again.
    fn reconsider(&mut self) {
        for candidate in std::mem::take(&mut self.parked) {
            let Scored { score: flow, tie: (_, node, branch) } = candidate;
            match self.draft.branch(Edge { node, branch, is_prime: true }).count < flow {
                true => self.consider(node, branch),
                false => self.parked.push(candidate),
            }
        }
    }
}

impl Growth for Greedy<'_> {
    fn step(&mut self) -> bool {
        while let Some(candidate @ Scored { score: flow, tie: (_, node, branch) }) = self.heap.pop() {
            if self.draft.nodes[node].parents == 0 {
                continue;
            }
            let used = self.draft.branch(Edge { node, branch, is_prime: true });
            // Branches only lose rows, so the top of the heap with its present weight is the best of all.
            if used.count < flow {
                self.consider(node, branch);
                continue;
            }
            let scope = self.draft.nodes[node].vtree;
            let among = if self.scope == Scope::Prime { self.draft.nodes[used.prime].vtree } else { scope };
            let var = match self.context.most_informative(scope, among, &used.rows) {
                Informative::Most(var) => var,
                Informative::NotNow => {
                    self.parked.push(candidate);
                    continue;
                }
                // Dropped: constant columns stay constant when rows leave.
                Informative::Never => continue,
            };
            let first_new = self.draft.nodes.len();
            self.draft.split(node, branch, var, &mut Vec::new());
            let Kind::Sum(branches) = &self.draft.nodes[node].kind else { unreachable!("only sums have branches") };
            let sides = [branch, branches.len() - 1];
            for side in sides {
                self.draft.own(node, side, self.depth);
            }
            sides.into_iter().for_each(|side| self.consider(node, side));
            self.consider_from(first_new);
            self.reconsider();
            return true;
        }
        false
    }

    fn draft(&self) -> &Draft<'_> {
        &self.draft
    }
}

#[cfg(test)]
mod tests {
    use super::super::draft::DraftNode;
    use super::*;
    use crate::data::Records;
    use crate::learn::baseline;
    use crate::logic::Limits;
    use crate::names::Names;
    use crate::random::Random;
    use crate::vtree::Vtree;

    #[test]
    fn it_ends_when_no_split_is_left() {
        let mut parked = 0;
        for seed in 0..300 {
            // With few rows over few variables, columns are often independent until some rows have left.
            let mut random = Random::new(seed);
            let rows: Vec<Vec<bool>> =
                (0..6 + random.below(8)).map(|_| (0..5).map(|_| random.unit() < 0.5).collect()).collect();
            let train = Records::from_rows(Names::numbered(5), rows);
            let start = baseline::factorised(&train, Vtree::random(5, seed).into(), 1.0, &Limits::default()).unwrap();
            let database = Database::new(&train, start.vtree().clone());
            for scope in [Scope::Prime, Scope::Whole] {
                let mut greedy = Greedy::new(&start, &database, 1, scope);
                while greedy.step() {}
                parked += greedy.parked.len();
                for (node, DraftNode { vtree, kind, parents, .. }) in greedy.draft.nodes.iter().enumerate() {
                    let Kind::Sum(branches) = kind else { continue };
                    for used in branches.iter().filter(|used| *parents > 0 && used.rows.len() > 1) {
                        let prime = &greedy.draft.nodes[used.prime];
                        if scope == Scope::Prime && matches!(prime.kind, Kind::Literal(_)) {
                            continue;
                        }
                        let among = if scope == Scope::Prime { prime.vtree } else { *vtree };
                        let left = greedy.context.most_informative(*vtree, among, &used.rows);
                        assert!(!matches!(left, Informative::Most(_)), "seed {seed}, {scope:?}, node {node}: {left:?}");
                    }
                }
            }
        }
        assert!(parked > 0, "independent columns occur");
    }
}

//! LearnPSDD: split and clone operations, simulated before they are done.

use super::draft::{Draft, DraftId, Edge, Kind};
use super::split::{CopyPlan, Gain};
use super::{Growth, Refined, Stopping, USUAL_PSEUDOCOUNT, check_weight, start, while_growing};
use crate::circuit::{Psdd, Smoothing};
use crate::data::Records;
use crate::heap::Scored;
use crate::learn::LearnError;
use crate::learn::error::{check, check_numbers, check_validation, in_digits};
use crate::learn::grow::Database;
use crate::learn::separate::{Limits, Separating};
use crate::learn::structure::Structure;
use crate::learn::support::Support;
use crate::learn::task::{Learner, Task};
use crate::learn::vtree::pair_information;
use crate::progress::Progress;
use crate::var::Var;
use std::collections::BinaryHeap;

/// LearnPSDD: keeps the base and the vtree of the model it starts from.
///
/// Simulated gains of operations are exact, so the training likelihood only rises. The result is chosen by validation
/// likelihood and certified. Without validation records a tenth of the records is held out by seed, and in the end the
/// parameters are fitted to all records.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnPsdd {
    /// The largest number of operations.
    pub steps: usize,
    /// The gain that an operation needs for each element it adds, in nats.
    pub penalty: f64,
    /// How many levels of nodes an operation may copy.
    pub depth: usize,
    /// The least number of operations between comparisons of the validation likelihood.
    pub check_every: usize,
    /// Stops after this many comparisons without improvement.
    pub patience: usize,
    /// The weight of the prior in records.
    pub pseudocount: f64,
    /// The largest number of elements; a larger start stays as it is.
    pub max_elements: Option<usize>,
    /// The largest number of nodes of an inner vtree node; one that starts with more gets no new ones.
    pub max_classes: Option<usize>,
}

impl Default for LearnPsdd {
    fn default() -> LearnPsdd {
        LearnPsdd {
            steps: 20_000,
            penalty: 1.0,
            depth: 10,
            check_every: 50,
            patience: 6,
            pseudocount: USUAL_PSEUDOCOUNT,
            max_elements: None,
            max_classes: None,
        }
    }
}

impl Learner for LearnPsdd {
    fn name(&self) -> &'static str {
        "learnpsdd"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("pseudocount", in_digits(self.pseudocount)),
            ("penalty", in_digits(self.penalty)),
            ("depth", self.depth.to_string()),
            ("steps", self.steps.to_string()),
        ]
    }

    fn refines(&self) -> bool {
        true
    }

    fn max_elements(&self) -> Option<usize> {
        self.max_elements
    }

    fn within(&self, max_elements: usize) -> Option<Box<dyn Learner>> {
        Some(Box::new(LearnPsdd { max_elements: Some(max_elements), ..self.clone() }))
    }

    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError> {
        check_weight(self.pseudocount, task)?;
        self.refine(&*start(task)?, task, progress)
    }
}

impl LearnPsdd {
    /// The refined structure of a PSDD.
    pub(in crate::learn) fn refine(
        &self,
        start: &Psdd,
        task: &Task,
        progress: &dyn Progress,
    ) -> Result<Structure, LearnError> {
        let parts = task.parts()?;
        let growing = LearnPsdd { pseudocount: while_growing(self.pseudocount, &parts), ..self.clone() };
        let Refined { circuit, steps } =
            learn_psdd(start, parts.train(), parts.judge(), &growing, parts.limits(), progress)?;
        Refined { circuit: circuit.into(), steps }.structure(&parts, self.pseudocount)
    }
}

/// An operation: a branch of a sum split by a variable, or an edge with its own copy of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Operation {
    Copy(Edge),
    Split { node: DraftId, branch: usize, var: Var },
}

/// LearnPSDD from a PSDD, stopped by validation records if there are any.
pub(in crate::learn) fn learn_psdd(
    start: &Psdd,
    train: &Records,
    valid: Option<&Records>,
    config: &LearnPsdd,
    limits: &crate::logic::Limits,
    progress: &dyn Progress,
) -> Result<Refined, LearnError> {
    check(train, start.vtree())?;
    check_validation(train, valid)?;
    Support::closed().check_weight(config.pseudocount)?;
    check_numbers([("penalty", config.penalty)])?;
    let information = pair_information(train)?;
    let mutual_information = |a: Var, b: Var| information.at(a.index(), b.index());
    let database = Database::new(train, start.vtree().clone());
    let two = Limits { leaves: 2, min_records: 2.0, gain: 0.0, gain_per_parameter: 0.0 };
    let chooser = Separating::new(&database, two, &mutual_information);
    let mut search = Search {
        draft: Draft::new(start, train),
        database: &database,
        chooser,
        config,
        heap: BinaryHeap::new(),
        elements: start.elements().len() as f64,
        is_counted: true,
    };
    for node in 0..search.draft.nodes.len() {
        search.consider(node);
    }
    let &LearnPsdd { steps, check_every, patience, pseudocount, .. } = config;
    let smoothing = Smoothing::marginal(pseudocount, train);
    let stopping = Stopping { valid, limits, smoothing, steps, check_every, patience };
    stopping.grow(&mut search, progress)
}

struct Search<'s, 'r> {
    draft: Draft<'r>,
    database: &'s Database<'s>,
    chooser: Separating<'s>,
    config: &'s LearnPsdd,
    /// Operations with their gains per element when they were last simulated.
    heap: BinaryHeap<Scored<Operation>>,
    /// An upper bound on the elements of the draft.
    elements: f64,
    /// Whether the bound is exact.
    is_counted: bool,
}

impl Search<'_, '_> {
    /// Puts the operations that start at a node on the heap.
    fn consider(&mut self, node: DraftId) {
        if self.draft.nodes[node].parents == 0 {
            return;
        }
        let Kind::Sum(branches) = &self.draft.nodes[node].kind else { return };
        let vtree = self.draft.nodes[node].vtree;
        let mut operations = Vec::new();
        for (i, branch) in branches.iter().enumerate() {
            for is_prime in [true, false] {
                operations.push(Operation::Copy(Edge { node, branch: i, is_prime }));
            }
            if branch.rows.len() > 1 && matches!(self.draft.nodes[branch.prime].kind, Kind::Sum(_) | Kind::Top(..)) {
                let mut rows = branch.rows.clone();
                if let Some(var) = self.chooser.best_variable(self.database, vtree, &mut rows) {
                    operations.push(Operation::Split { node, branch: i, var });
                }
            }
        }
        for operation in operations {
            if let Some(score) = self.score(operation) {
                self.heap.push(Scored { score, tie: operation });
            }
        }
    }

    /// The present gain per element of an operation; `None` if it does not pay.
    fn score(&self, operation: Operation) -> Option<f64> {
        self.paying(operation).map(|(score, _)| score)
    }

    /// The same, and an upper bound on the elements that it adds.
    fn paying(&self, operation: Operation) -> Option<(f64, f64)> {
        let gain = self.simulate(operation)?;
        let elements = gain.elements.max(0.5);
        let score = gain.log_likelihood / elements;
        (gain.log_likelihood > self.config.penalty * elements).then_some((score, gain.elements.max(0.0)))
    }

    /// Whether this many more elements are allowed.
    fn has_room(&mut self, added: f64) -> bool {
        let max = self.config.max_elements.map_or(f64::INFINITY, |max| max as f64);
        if self.elements + added > max && !self.is_counted {
            // Operations may add fewer elements than bounded, and also remove some.
            self.elements = self.draft.element_count() as f64;
            self.is_counted = true;
        }
        self.elements + added <= max
    }

    fn simulate(&self, operation: Operation) -> Option<Gain> {
        let LearnPsdd { depth, penalty, .. } = *self.config;
        let draft = &self.draft;
        match operation {
            Operation::Copy(edge) => {
                let target = draft.target(edge);
                if draft.nodes[target].parents < 2 {
                    return None;
                }
                draft.plan_copy(target, &draft.branch(edge).rows, depth, penalty).map(|plan| plan.gain)
            }
            Operation::Split { node, branch, var } => {
                let mut gain = draft.plan_split(node, branch, var)?;
                if let Some(plan) = self.copy_after_split(node, branch, var) {
                    gain.log_likelihood += plan.gain.log_likelihood;
                    gain.elements += plan.gain.elements;
                }
                Some(gain)
            }
        }
    }

    /// The plan that gives the *true* side of a split its own sub.
    fn copy_after_split(&self, node: DraftId, branch: usize, var: Var) -> Option<CopyPlan> {
        let LearnPsdd { depth, penalty, .. } = *self.config;
        let branch = self.draft.branch(Edge { node, branch, is_prime: false });
        let is_true = |row: &&u32| self.draft.records.rows().bit(**row as usize, var.index());
        let rows: Vec<u32> = branch.rows.iter().filter(is_true).copied().collect();
        self.draft.plan_copy(branch.sub, &rows, depth, penalty)
    }

    /// Does an operation and returns the nodes it touched; `None`, without any change, if a vtree node would get too
    /// many nodes.
    fn apply_within_classes(&mut self, operation: Operation) -> Option<Vec<DraftId>> {
        let Some(most) = self.config.max_classes else { return Some(self.apply(operation)) };
        let before = self.draft.sum_counts();
        let edge = match operation {
            Operation::Copy(edge) => edge,
            Operation::Split { node, branch, .. } => Edge { node, branch, is_prime: true },
        };
        let grown = &self.draft.nodes[self.draft.target(edge)];
        if matches!(grown.kind, Kind::Sum(_)) && before[grown.vtree.index()] >= most {
            return None;
        }
        // The number of new nodes further down is known only after the split.
        let kept = self.draft.clone();
        let touched = self.apply(operation);
        let exceeds = |(&after, &before): (&usize, &usize)| after > before.max(most);
        if self.draft.sum_counts().iter().zip(&before).any(exceeds) {
            self.draft = kept;
            return None;
        }
        Some(touched)
    }

    fn apply(&mut self, operation: Operation) -> Vec<DraftId> {
        let LearnPsdd { depth, penalty, .. } = *self.config;
        let mut touched = Vec::new();
        match operation {
            Operation::Copy(edge) => {
                let target = self.draft.target(edge);
                let rows = self.draft.branch(edge).rows.clone();
                let plan = self.draft.plan_copy(target, &rows, depth, penalty).expect("just simulated");
                self.draft.copy(edge, &plan, &mut touched);
            }
            Operation::Split { node, branch, var } => {
                let plan = self.copy_after_split(node, branch, var);
                self.draft.split(node, branch, var, &mut touched);
                if let Some(plan) = plan {
                    self.draft.copy(Edge { node, branch, is_prime: false }, &plan, &mut touched);
                }
            }
        }
        touched.sort_unstable();
        touched.dedup();
        touched
    }
}

impl Growth for Search<'_, '_> {
    /// Does the best operation; `false` if none pays.
    fn step(&mut self) -> bool {
        while let Some(Scored { tie: operation, .. }) = self.heap.pop() {
            let (Operation::Copy(Edge { node, .. }) | Operation::Split { node, .. }) = operation;
            if self.draft.nodes[node].parents == 0 {
                continue;
            }
            let Some((score, added)) = self.paying(operation) else { continue };
            if self.heap.peek().is_some_and(|next| score < next.score - 1e-9) {
                self.heap.push(Scored { score, tie: operation });
                continue;
            }
            // Others may be smaller. Room hardly ever returns, so the operation is dropped.
            if !self.has_room(added) {
                continue;
            }
            let Some(touched) = self.apply_within_classes(operation) else { continue };
            self.elements += added;
            self.is_counted = false;
            touched.into_iter().for_each(|node| self.consider(node));
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
    use super::*;
    use crate::learn::{Factorised, SloppTree, baseline};
    use crate::names::Names;
    use crate::random::Random;
    use crate::vtree::Vtree;

    fn records(vars: usize, rows: usize, seed: u64) -> Records {
        let mut random = Random::new(seed);
        let rows: Vec<Vec<bool>> = (0..rows)
            .map(|_| {
                let kind = random.below(3);
                (0..vars).map(|i| random.unit() < if i % 3 == kind { 0.9 } else { 0.2 }).collect()
            })
            .collect();
        Records::from_rows(Names::numbered(vars), rows)
    }

    fn log_likelihood(psdd: &Psdd, records: &Records) -> f64 {
        let values = psdd.log_likelihoods(records).unwrap();
        values.iter().zip(records.weights()).map(|(ll, weight)| ll * weight).sum()
    }

    #[test]
    fn operations_gain_what_their_simulation_says_and_keep_base_and_certificate() {
        let mut operations = [0, 0];
        for seed in 0..12 {
            let train = records(7, 300, seed);
            let vtree = Vtree::random(7, seed).into();
            let task = Task { vtree: Some(&vtree), ..Task::closed(&train) };
            let start = match seed % 3 {
                0 => baseline::chow_liu(&train, 1.0, &crate::logic::Limits::default()).unwrap(),
                1 => task.learn(&Factorised::default(), &()).unwrap().model.into_psdd().unwrap(),
                _ => task.learn(&SloppTree::default(), &()).unwrap().model.into_psdd().unwrap(),
            };
            let start = start.fit(&train, &Smoothing::none()).unwrap().circuit;
            let config = LearnPsdd { penalty: 0.1, depth: 3, ..LearnPsdd::default() };
            let information = pair_information(&train).unwrap();
            let mutual_information = |a: Var, b: Var| information.at(a.index(), b.index());
            let database = Database::new(&train, start.vtree().clone());
            let limits = Limits { leaves: 2, min_records: 2.0, gain: 0.0, gain_per_parameter: 0.0 };
            let chooser = Separating::new(&database, limits, &mutual_information);
            let draft = Draft::new(&start, &train);
            let heap = BinaryHeap::new();
            let (elements, is_counted) = (0.0, true);
            let mut search =
                Search { draft, database: &database, chooser, config: &config, heap, elements, is_counted };
            (0..search.draft.nodes.len()).for_each(|node| search.consider(node));
            let mut before = log_likelihood(&start, &train);
            for _ in 0..15 {
                let Some(Scored { tie: operation, .. }) = search.heap.pop() else { break };
                let (Operation::Copy(Edge { node, .. }) | Operation::Split { node, .. }) = operation;
                if search.draft.nodes[node].parents == 0 || search.score(operation).is_none() {
                    continue;
                }
                let gain = search.simulate(operation).unwrap();
                let size = search.draft.finish(&Smoothing::uniform(1.0)).unwrap().elements().len() as f64;
                search.apply(operation).into_iter().for_each(|node| search.consider(node));
                operations[usize::from(matches!(operation, Operation::Split { .. }))] += 1;
                let smoothed = search.draft.finish(&Smoothing::uniform(1.0)).unwrap();
                assert!(smoothed.elements().len() as f64 <= size + gain.elements.max(0.0) + 1e-9, "size grows as said");
                let smoothed = smoothed.certify(&crate::logic::Limits::default()).expect("primes stay exclusive");
                assert_eq!(smoothed.model_count(), start.model_count(), "the base stays what it is");
                let psdd =
                    search.draft.finish(&Smoothing::none()).unwrap().certify(&crate::logic::Limits::default()).unwrap();
                let after = log_likelihood(&psdd, &train);
                assert!(
                    (after - before - gain.log_likelihood).abs() < 1e-6,
                    "{operation:?}: {before} {after} {gain:?}"
                );
                before = after;
            }
        }
        assert!(operations[0] > 10 && operations[1] > 10, "{operations:?}");
    }

    #[test]
    fn refinement_helps() {
        let (train, valid) = (records(9, 800, 1), records(9, 400, 2));
        let start = baseline::chow_liu(&train, 1.0, &crate::logic::Limits::default()).unwrap();
        let refined =
            learn_psdd(&start, &train, Some(&valid), &LearnPsdd::default(), &crate::logic::Limits::default(), &())
                .unwrap();
        assert!(refined.steps > 0);
        let gained = log_likelihood(&refined.circuit, &valid) - log_likelihood(&start, &valid);
        assert!(gained > 5.0, "{gained}");
    }
}

//! SLoPP with merged classes: a certified PSDD with shared nodes, on a right-linear vtree that it learns or on any
//! given vtree.
//!
//! A deterministic circuit sends every record to exactly one sum of each vtree node. So learning a circuit means to
//! choose, for every vtree node, a partition of the records into classes. Without merging, classes multiply, which is
//! the size problem of SLoPP as published. Here every layer has a bounded number of them:
//!
//! Boolean columns that exclude each other in the records are also tried as one column each, with two more values: that
//! none of them is true, and that several are, so that the world stays open. Of columns with several values a few orders
//! are tried, each by a quick run.
//!
//! 1. *Order*: depth-first through the Chow-Liu tree from its centre, small subtrees first, the values of one column
//!    adjacent. It defines the vtree.
//! 2. *Start*, top-down: the classes of a layer are split by value, and the parts are merged ([`Start`]).
//! 3. *Sweeps*, bottom-up: classes are formed again by the exact likelihood of their records below.
//! 4. *Clones*: edges into shared classes get their own copies where the exact gain is worth it.
//! 5. *Parameters*: smoothed towards the marginals, with a chosen weight.
//!
//! All choices are made by the likelihood of validation records. The left child of every vtree node is one variable, so
//! primes are its literals or ⊤ and therefore exclusive. The result is certified all the same.
//!
//! On a given vtree of any other shape, clusters are the leaves of decision trees, and classes are merged if the
//! literals that separate their primes agree (`scopes.rs`). LearnPSDD's operations replace sweeps and clones. If only
//! few elements are allowed, a Chow-Liu tree on its own vtree, refined by these operations, is tried too.

mod agglomerate;
mod chosen;
mod clones;
mod config;
mod forest;
mod general;
mod grow;
mod layers;
mod order;
mod scopes;
mod search;
mod surrogate;
mod sweep;
mod view;

pub(super) use self::chosen::Chosen;
pub use self::config::{Effort, Slopp, Start};
pub(super) use self::order::ranked_vtrees;

use self::chosen::Classes;
use self::forest::{Edges, Forest};
use self::grow::Tree;
use self::layers::Line;
use self::order::few_orders;
use self::search::Search;
use super::LearnError;
use super::error::{check, check_records};
use super::hold_out::{FEW_JUDGES, Parts};
use super::task::Task;
use super::vtree::{ChowLiuTree, Columns, pairs, spanning_tree};
use crate::circuit::Psdd;
use crate::data::{Choice, SymmetricMatrix};
use crate::progress::Progress;
use crate::var::Var;
use rayon::prelude::*;
use std::sync::Arc;

/// The weight of the prior while structures are compared by the training records.
const TYPICAL_PSEUDOCOUNT: f64 = 2.0;

/// Up to this many variables the information of all pairs is copied into a full square, here of 128 MB.
const DENSE: usize = 4096;

/// Up to this many distinct records several orders of columns with several values are tried.
const FEW_RECORDS: usize = 20_000;

/// The result of SLoPP before support is applied.
pub(super) struct LearnedSlopp {
    /// The PSDD.
    pub(super) psdd: Psdd,
    /// The best or given weight of the prior in records.
    pub(super) pseudocount: f64,
}

/// The PSDD of the fast effort before support is applied, fitted to all training records.
pub(super) fn learn(task: &Task, config: &Slopp, progress: &dyn Progress) -> Result<LearnedSlopp, LearnError> {
    find(task, config, progress)?.learned(task, config)
}

/// The structure that best explains the records to choose by, with the fast effort.
///
/// Cost: linear in the distinct records times variables times classes, and in the square of the variables.
pub(super) fn find(task: &Task, config: &Slopp, progress: &dyn Progress) -> Result<Chosen, LearnError> {
    let (train, variables) = (task.train, task.train.var_count());
    match task.vtree {
        Some(vtree) => check(train, vtree)?,
        None => check_records(train)?,
    }
    config.check(variables, task.support)?;
    let parts = &task.parts()?;
    let part = parts.train();
    let columns = Columns::new(train.names());
    progress.begin("counting pairs", 1);
    let (line, pairs) = match task.vtree {
        None => (None, pairs(part)?),
        Some(vtree) => {
            let pairs = pairs(part)?;
            // On a vtree that is right-linear over variables, each is a column by itself.
            let variables = Columns::of_variables(variables);
            let found = columns.found(part, &pairs);
            let mut all = [found, Some(columns.clone()), Some(variables)].into_iter().flatten();
            match all.find_map(|columns| Some((columns.order_of(vtree)?, columns))) {
                Some((order, columns)) => (Some(Line { vtree: vtree.clone(), columns, order }), pairs),
                None => return general::find(parts, vtree, config, progress),
            }
        }
    };
    if let Some(line) = line {
        let information = line.columns.information_of(&pairs);
        let has_found = !line.columns.groups().is_empty();
        let chosen = along(parts, line, &information, config, progress);
        return if has_found { chosen.judged(parts, config) } else { Ok(chosen) };
    }
    let free = Free { parts, information: columns.information_of(&pairs), columns };
    // How many elements and nodes the circuit has inside such a column is only known once it is built.
    let may_group = config.max_elements.is_none() && !config.capped;
    let found = if may_group { free.columns.found(part, &pairs) } else { None };
    let found = found.map(|columns| Free { parts, information: columns.information_of(&pairs), columns });
    // A quick run of both shows whether it is worth a full one.
    let found = found.filter(|found| found.quick(found.usual(), config) > free.quick(free.usual(), config));
    let found = found.map(|found| found.run(config, progress).judged(parts, config)).transpose()?;
    let best = free.run(config, progress).or_clearly_better(found, task, config)?;
    best.or(general::find_tree(parts, config, progress)?, task, config)
}

/// Columns whose order is free.
struct Free<'a> {
    parts: &'a Parts<'a>,
    columns: Columns,
    information: SymmetricMatrix,
}

impl Free<'_> {
    /// The usual order.
    fn usual(&self) -> Vec<Var> {
        self.columns.along(&ChowLiuTree::new(&self.information))
    }

    fn along(&self, order: Vec<Var>, config: &Slopp, progress: &dyn Progress) -> Chosen {
        let vtree = Arc::new(self.columns.right_linear(&order));
        along(self.parts, Line { vtree, columns: self.columns.clone(), order }, &self.information, config, progress)
    }

    /// The log-likelihood per record to choose by of a quick run.
    fn quick(&self, order: Vec<Var>, config: &Slopp) -> f64 {
        let starts = vec![Start::Whole(1.0)];
        let config = Slopp { starts, sweeps: 1, clone_depth: 0, max_elements: None, ..config.clone() };
        self.along(order, &config, &()).log_likelihood
    }

    /// The structure along the usual order; of a few orders the best by a quick run, if columns have several values.
    fn run(&self, config: &Slopp, progress: &dyn Progress) -> Chosen {
        let is_judged = self.parts.judge().is_some_and(|judge| judge.total() >= FEW_JUDGES);
        if self.columns.are_variables() || !is_judged || self.parts.train().len() > FEW_RECORDS {
            return self.along(self.usual(), config, progress);
        }
        let orders = few_orders(&self.columns, &self.information).into_par_iter();
        let tried: Vec<(f64, Vec<Var>)> = orders.map(|order| (self.quick(order.clone(), config), order)).collect();
        let best = tried.into_iter().reduce(|a, b| if b.0 > a.0 { b } else { a });
        self.along(best.expect("the usual order").1, config, progress)
    }
}

/// The structure on a line of columns that best explains the records to choose by.
fn along(
    parts: &Parts<'_>,
    line: Line,
    information: &SymmetricMatrix,
    config: &Slopp,
    progress: &dyn Progress,
) -> Chosen {
    let order = &line.order;
    let between = |i: usize, j: usize| information.at(order[i].index(), order[j].index());
    let edges = spanning_tree(order.len(), between);
    let mended = mended(&edges, order.len(), between);
    let choices: Vec<Choice> = order.iter().map(|&column| line.columns.at(column).clone()).collect();
    let search = Search::new(parts.train(), parts.judge(), &choices, config);
    let found = search.run(&Tree { information: &between, edges: &edges, mended: &mended }, progress);
    let search::Candidate { layers, log_likelihood, pseudocount, start } = found;
    Chosen { classes: Classes::Layers(layers, line), start, pseudocount, log_likelihood }
}

/// The edges that replace each position in the tree of those after it.
fn mended(edges: &[(usize, usize)], len: usize, between: impl Fn(usize, usize) -> f64) -> Vec<Edges> {
    let edges = edges.iter().copied();
    if len > DENSE {
        return Forest::new(len, edges, between).mended();
    }
    // Lines are read again and again, so they must be contiguous.
    let lines: Vec<f64> = (0..len * len).map(|at| between(at / len, at % len)).collect();
    Forest::new(len, edges, |i: usize, j: usize| lines[i * len + j]).mended()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Records;
    use crate::learn::judge::score;
    use crate::names::Names;
    use crate::random::Random;
    use crate::vtree::Vtree;

    /// Noisy copies of the variable before.
    fn chain(vars: usize, rows: usize, seed: u64) -> Records {
        let mut random = Random::new(seed);
        let mut row = || {
            let mut last = false;
            let mut next = |_| {
                last ^= random.unit() < 0.3;
                last
            };
            (0..vars).map(&mut next).collect::<Vec<bool>>()
        };
        Records::from_rows(Names::numbered(vars), (0..rows).map(|_| row()))
    }

    /// Records of two kinds, in blocks: every other column follows the one before it, or its opposite.
    pub(super) fn switch(vars: usize, rows: usize, seed: u64) -> Records {
        let mut random = Random::new(seed);
        let mut row = || {
            let (kind, mut last) = (random.below(2) == 0, false);
            let mut next = |i: usize| {
                last = if random.unit() < 0.15 { random.below(2) == 0 } else { last != (kind && i.is_multiple_of(2)) };
                last
            };
            (0..vars).map(&mut next).collect::<Vec<bool>>()
        };
        Records::from_rows(Names::numbered(vars), (0..rows).map(|_| row()))
    }

    #[test]
    fn the_best_start_and_the_best_refinement_are_returned_on_any_vtree() {
        let (mut chosen, mut refined) = (0, 0);
        for seed in 0..6 {
            let (train, valid) = (switch(8, 400, seed), switch(8, 200, 100 + seed));
            let vtree = Arc::new(if seed % 2 == 0 { Vtree::balanced(8) } else { Vtree::random(8, seed) });
            let task = Task { valid: Some(&valid), vtree: Some(&vtree), ..Task::new(&train) };
            let found = |penalties: &[f64], clone_depth: usize| {
                let starts = penalties.iter().copied().map(Start::Whole).collect();
                find(&task, &Slopp { starts, clone_depth, ..Slopp::default() }, &()).unwrap().log_likelihood
            };
            let [one, other, both] = [&[1.0][..], &[0.3], &[1.0, 0.3]].map(|penalties| found(penalties, 0));
            assert!(both >= one && both <= one.max(other), "seed {seed}: {both} of {one} and {other}");
            chosen += usize::from(other > one && both == other);
            let deep = found(&[1.0], Slopp::default().clone_depth);
            assert!(deep >= one, "seed {seed}: {deep} {one}");
            refined += usize::from(deep > one + 0.01);
        }
        assert!(chosen > 1 && refined > 2, "{chosen} {refined}");
    }

    #[test]
    fn a_structure_is_judged_by_the_likelihood_of_its_circuit() {
        let (train, valid) = (chain(6, 200, 1), chain(6, 100, 2));
        for vtree in [None, Some(Vtree::balanced(6)), Some(Vtree::left_linear(6)), Some(Vtree::random(6, 3))] {
            let vtree = vtree.map(Arc::new);
            let task = Task { valid: Some(&valid), vtree: vtree.as_ref(), ..Task::new(&train) };
            for starts in [vec![], vec![Start::Tree], vec![Start::Window(0.2)]] {
                let config = Slopp { starts, ..Slopp::default() };
                let found = find(&task, &config, &()).unwrap();
                let judged = found.log_likelihood;
                let psdd = found.learned(&task, &config).unwrap().psdd;
                assert!((score(&**psdd, &valid).unwrap() - judged).abs() < 1e-9);
            }
        }
    }
}

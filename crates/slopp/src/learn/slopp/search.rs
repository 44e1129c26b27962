//! The search for the best structure along an order: starts, sweeps and clones, each judged by validation records.

use super::clones::{self, Cloning};
use super::grow::{self, Tree};
use super::layers::{Layer, Layers, Prior};
use super::view::View;
use super::{Slopp, Start, TYPICAL_PSEUDOCOUNT, sweep};
use crate::data::{Cells, Choice, Records};
use crate::learn::hold_out::FEW_JUDGES;
use crate::progress::Progress;
use rayon::prelude::*;

/// Sweeps, and comparisons of clones, end after this many without improvement.
const PATIENCE: [usize; 2] = [2, 8];

/// The gain that a parameter beyond the first of a class needs in a sweep, as a share of that of the class.
const PER_PARAMETER: f64 = 1.0;

/// A search for the best structure along an order.
pub(super) struct Search<'a> {
    config: &'a Slopp,
    view: View,
    judge: Judges<'a>,
    prior: Prior,
    /// `½ ln N`.
    unit: f64,
    max_elements: usize,
    /// What every structure that was compared is worth.
    #[cfg(test)]
    looks: std::sync::Mutex<Vec<f64>>,
}

/// The records to choose by, along the order.
struct Judges<'a> {
    cells: Vec<Cells<'a>>,
    weights: &'a [f64],
    total: f64,
    /// Whether they are few, or the training records themselves.
    are_poor: bool,
}

/// A structure with its score.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) layers: Layers,
    pub(super) log_likelihood: f64,
    pub(super) pseudocount: f64,
    pub(super) start: Start,
}

impl<'a> Search<'a> {
    /// Without records to choose by, the training records judge.
    pub(super) fn new(
        train: &'a Records,
        judge: Option<&'a Records>,
        order: &[Choice],
        config: &'a Slopp,
    ) -> Search<'a> {
        let view = View::new(train, order);
        let counts = (0..view.columns()).map(|position| view.counts(position));
        let by = judge.unwrap_or(train);
        let judge = Judges {
            cells: order.iter().map(|choice| choice.cells(by)).collect(),
            weights: by.weights(),
            total: by.total(),
            are_poor: judge.is_none() || by.total() < FEW_JUDGES,
        };
        Search {
            config,
            prior: Prior::new(counts, TYPICAL_PSEUDOCOUNT),
            view,
            judge,
            unit: 0.5 * train.total().ln().max(1.0),
            max_elements: config.max_elements.unwrap_or(usize::MAX),
            #[cfg(test)]
            looks: std::sync::Mutex::default(),
        }
    }

    pub(super) fn run(&self, tree: &Tree<'_>, progress: &dyn Progress) -> Candidate {
        let usual = Start::usual(self.view.columns(), self.view.is_binary());
        let starts = if self.config.starts.is_empty() { &usual } else { &self.config.starts };
        progress.begin("merging classes", (starts.len() * self.view.columns()) as u64);
        let found: Vec<Candidate> = starts.par_iter().map(|&start| self.start(start, tree, progress)).collect();
        let better = |a: Candidate, b: Candidate| if b.log_likelihood > a.log_likelihood { b } else { a };
        progress.begin("copying shared nodes", 1);
        if self.config.max_elements.is_none() {
            let best = found.into_iter().reduce(better).expect("at least one start");
            return self.clones(best, usize::MAX);
        }
        // A start that had to be merged further may leave much room unused, which clones fill best. So any start may
        // win in the end, even one class per layer.
        let mut found = found;
        found.push(self.merged());
        let mut cloned: Vec<Candidate> =
            found.par_iter().map(|found| self.clones(found.clone(), self.max_elements)).collect();
        // Limits assume that a copy takes as many elements as possible; without limits the result may fit and be
        // better.
        let free = self.clones(found.into_iter().reduce(better).expect("at least one start"), usize::MAX);
        cloned.extend((free.layers.elements() <= self.max_elements).then_some(free));
        cloned.into_iter().reduce(better).expect("at least one start")
    }

    /// One class per layer: independent variables.
    fn merged(&self) -> Candidate {
        let layer = |position| {
            let mut layer = Layer::new(self.view.values(position), 1);
            layer.count.copy_from_slice(self.view.counts(position));
            layer
        };
        let layers = Layers((0..self.view.columns()).map(layer).collect());
        let (log_likelihood, pseudocount) = self.judged(&layers);
        Candidate { layers, log_likelihood, pseudocount, start: Start::NOTHING }
    }

    /// A start and its sweeps, merged until they keep within the largest number of elements.
    fn start(&self, start: Start, tree: &Tree<'_>, progress: &dyn Progress) -> Candidate {
        let (mut classes, mut factor) = (self.config.starting_classes(self.view.is_binary()), 1.0);
        loop {
            let limits = grow::Limits {
                classes,
                per_class: match start {
                    Start::Tree => f64::NEG_INFINITY,
                    _ => factor * self.config.class_penalty * self.unit,
                },
                start: match start {
                    Start::Whole(penalty) => Start::Whole(factor * penalty),
                    Start::Window(penalty) => Start::Window(factor * penalty),
                    Start::Tree => Start::Tree,
                },
            };
            let quiet: &dyn Progress = &();
            let layers = grow::grow(&self.view, tree, limits, if factor == 1.0 { progress } else { quiet });
            let per_class = factor * self.config.sweep_penalty * self.unit;
            let limits = sweep::Limits { classes, per_class, per_parameter: PER_PARAMETER * per_class };
            if let Some(found) = self.swept(layers, start, limits) {
                return found;
            }
            // The loop ends: of one class per layer the elements do not matter.
            classes = (classes * 2 / 3).max(1);
            factor *= 1.5;
        }
    }

    /// The best of a structure and its sweeps; `None` if all have too many elements and more than one class may be.
    fn swept(&self, mut layers: Layers, start: Start, limits: sweep::Limits) -> Option<Candidate> {
        let mut best: Option<Candidate> = None;
        let mut idle = 0;
        for sweep in 0..=self.config.sweeps {
            if sweep > 0 {
                layers = sweep::sweep(&self.view, &layers, limits, &self.prior);
            }
            let (log_likelihood, pseudocount) = self.judged(&layers);
            idle += 1;
            let better = best.as_ref().is_none_or(|best| log_likelihood > best.log_likelihood);
            if better && (layers.elements() <= self.max_elements || limits.classes == 1) {
                best = Some(Candidate { layers: layers.clone(), log_likelihood, pseudocount, start });
                idle = 0;
            }
            if idle == PATIENCE[0] {
                break;
            }
        }
        best
    }

    /// The best structure found while cloning, with at most this many elements.
    fn clones(&self, mut best: Candidate, elements: usize) -> Candidate {
        let (cost, depth) = (self.config.clone_penalty * self.unit, self.config.clone_depth);
        if depth == 0 {
            return best;
        }
        let classes = if self.config.capped { self.config.max_classes } else { usize::MAX };
        let limits = clones::Limits { elements, classes };
        let mut cloning = Cloning::new(&self.view, best.layers.clone(), cost, depth);
        let (mut steps, mut next, mut idle) = (0, 50, 0);
        while idle < PATIENCE[1] {
            let more = cloning.step(limits);
            steps += usize::from(more);
            if more && steps < next {
                continue;
            }
            next = steps + (steps / 8).max(50);
            let (log_likelihood, pseudocount) = self.judged(cloning.layers());
            idle += 1;
            if log_likelihood > best.log_likelihood {
                best = Candidate { layers: cloning.layers().clone(), log_likelihood, pseudocount, ..best };
                idle = 0;
            }
            if !more {
                break;
            }
        }
        best
    }

    /// The pseudocount by which training records are most probable, each given all others. Variables take the typical
    /// one.
    fn by_training(&self, layers: &Layers) -> f64 {
        if self.view.is_binary() {
            return TYPICAL_PSEUDOCOUNT;
        }
        let left_out = |&pseudocount: &f64| (self.prior.weighing(pseudocount).left_out(layers), pseudocount);
        let best = self.config.pseudocounts.iter().map(left_out).reduce(|a, b| if b.0 > a.0 { b } else { a });
        best.expect("at least one pseudocount").1
    }

    /// The log-likelihood per record to choose by, with the best pseudocount, and that pseudocount.
    fn judged(&self, layers: &Layers) -> (f64, f64) {
        let tally = layers.tally(&self.judge.cells, self.judge.weights);
        // Training records always favour the least smoothing, and few others may.
        let typical = [if self.judge.are_poor { self.by_training(layers) } else { TYPICAL_PSEUDOCOUNT }];
        let pseudocounts = if self.judge.are_poor { &typical } else { &self.config.pseudocounts[..] };
        let judged = pseudocounts.iter().map(|&pseudocount| {
            let log_likelihood = layers.log_likelihood(&tally, &self.prior.weighing(pseudocount));
            (log_likelihood / self.judge.total, pseudocount)
        });
        let best = judged.reduce(|a, b| if b.0 > a.0 { b } else { a }).expect("at least one pseudocount");
        #[cfg(test)]
        self.looks.lock().unwrap().push(best.0);
        best
    }
}

#[cfg(test)]
mod tests {
    use super::super::{mended, tests::switch};
    use super::*;
    use crate::learn::vtree::{pair_information, spanning_tree};
    use crate::var::Var;

    #[test]
    fn the_best_look_is_returned_and_copies_are_part_of_it() {
        let mut copied = 0;
        for seed in 0..6 {
            let (train, valid) = (switch(10, 600, seed), switch(10, 200, 100 + seed));
            let order: Vec<Choice> = (0..10).map(|i| Choice::boolean(Var(i))).collect();
            let information = pair_information(&train).unwrap();
            let between = |i: usize, j: usize| information.at(i, j);
            let edges = spanning_tree(10, between);
            let tree = Tree { information: &between, edges: &edges, mended: &mended(&edges, 10, between) };
            let run = |judge: Option<&Records>, clone_depth: usize| {
                let config = Slopp { clone_depth, ..Slopp::default() };
                let search = Search::new(&train, judge, &order, &config);
                let found = search.run(&tree, &());
                let looks = search.looks.into_inner().unwrap();
                assert_eq!(found.log_likelihood, looks.iter().copied().fold(f64::NEG_INFINITY, f64::max), "{looks:?}");
                found
            };
            for judge in [Some(&valid), None] {
                let [without, with] = [0, Slopp::default().clone_depth].map(|depth| run(judge, depth));
                assert!(with.log_likelihood >= without.log_likelihood);
                copied += usize::from(with.layers.elements() > without.layers.elements());
            }
        }
        assert!(copied >= 6, "{copied} of 12 structures have copies");
    }
}

//! Mixtures over one structure, by expectation maximisation, and the learners `slopp-em` and `strudel-em`.
//!
//! Determinism makes both steps cheap. A record has the same derivation in every component, so one pass of bit masks
//! serves all of them. The parameters of a component are its shares of the counts, in closed form. Validation records
//! decide the number of components and how close they stay to the single model.

use super::LearnError;
use super::em::{Expected, Steps, Stop, climb, weighted};
use super::error::{check_numbers, check_range, check_records, check_validation, in_digits};
use super::hold_out::Parts;
use super::judge::Possible;
use super::kmeans::k_means;
use super::refine::{Strudel, refit};
use super::slopp::{Slopp, learn};
use super::structure::{Prior, Structure};
use super::task::{Learner, Task, VtreeUse};
use crate::certified::Certified;
use crate::circuit::{Deterministic, Weights};
use crate::data::Records;
use crate::infer::{ShareCounts, SideBySide, count_shares};
use crate::limits::Limits;
use crate::logspace::LOG_ZERO;
use crate::mixture::Mixture;
use crate::progress::Progress;
use crate::random::Random;
use rayon::prelude::*;

/// The largest number of components, or of models in a bag.
pub(super) const MAX_COMPONENTS: usize = 4096;

/// When EM over one structure stops.
pub(super) const STOP: Stop = Stop { steps: 200, tolerance: 1e-4, patience: 6 };

/// The mixtures over one structure to try.
#[derive(Clone, Debug, PartialEq)]
pub struct MixtureGrid {
    /// The numbers of components to begin with.
    pub components: Vec<usize>,
    /// The weights, in records, of the parameters of the structure in each sum of each component.
    pub pseudocounts: Vec<f64>,
}

impl Default for MixtureGrid {
    fn default() -> MixtureGrid {
        MixtureGrid { components: vec![4, 8, 16], pseudocounts: vec![3.0, 10.0, 30.0, 100.0] }
    }
}

/// A point of a grid.
#[derive(Clone, Copy)]
pub(super) struct Point {
    components: usize,
    pub(super) pseudocount: f64,
}

impl MixtureGrid {
    pub(super) fn points(&self) -> Vec<Point> {
        let with =
            |&components: &usize| self.pseudocounts.iter().map(move |&pseudocount| Point { components, pseudocount });
        self.components.iter().flat_map(with).collect()
    }

    /// The first point with the highest score, and its result.
    pub(super) fn best<T: Send>(
        &self,
        score: impl Fn(Point) -> Result<(f64, T), LearnError> + Sync,
    ) -> Result<(Point, T), LearnError> {
        let tried = self.points().into_par_iter().map(|point| Ok((point, score(point)?)));
        let tried: Vec<(Point, (f64, T))> = tried.collect::<Result<_, LearnError>>()?;
        let best = tried.into_iter().reduce(|a, b| if b.1.0 > a.1.0 { b } else { a });
        let (point, (_, made)) = best.expect("a grid that was checked has a point");
        Ok((point, made))
    }

    /// Refuses a grid without points and points out of range, before any work.
    pub(super) fn check(&self) -> Result<(), LearnError> {
        let lists = [("components", self.components.is_empty()), ("pseudocounts", self.pseudocounts.is_empty())];
        if let Some((name, _)) = lists.into_iter().find(|(_, is_empty)| *is_empty) {
            return Err(LearnError::setting(name, "empty", "at least one"));
        }
        self.components.iter().try_for_each(|&n| check_range("components", n, 1..=MAX_COMPONENTS))?;
        check_numbers(self.pseudocounts.iter().map(|&pseudocount| ("pseudocount", pseudocount)))
    }

    /// The points, as the settings of a learner.
    fn settings(&self) -> [(&'static str, String); 2] {
        let list = |numbers: Vec<String>| numbers.join(" ");
        [
            ("tried_components", list(self.components.iter().map(usize::to_string).collect())),
            ("tried_pseudocounts", list(self.pseudocounts.iter().map(f64::to_string).collect())),
        ]
    }

    /// The mixture over the structure of a circuit that best explains the records to choose by, fitted to all records.
    ///
    /// Without such records it is the most cautious one: training records would always favour the most components,
    /// as far from the circuit as possible. `pseudocount` is that of the circuit.
    fn find(
        &self,
        start: &Certified,
        pseudocount: f64,
        parts: &Parts,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Structure, LearnError> {
        let train = |records, judge| Training { records, judge, seed, limits: parts.limits() };
        let (point, mut divided) = match parts.judge() {
            None => {
                let components = self.components.iter().copied().min().expect("checked");
                let pseudocount = self.pseudocounts.iter().copied().fold(0.0, f64::max);
                let point = Point { components, pseudocount };
                (point, divide(start, train(parts.train(), None), point, &STOP, progress)?)
            }
            judge => {
                progress.begin("expectation maximisation", self.points().len() as u64);
                self.best(|point| {
                    let divided = divide(start, train(parts.train(), judge), point, &STOP, &())?;
                    progress.advance(1);
                    Ok((divided.score, divided))
                })?
            }
        };
        if parts.is_divided() {
            let start = refit(start, parts.all(), pseudocount, parts.limits())?;
            let stop = Stop { steps: divided.steps, tolerance: 0.0, ..STOP };
            divided = divide(&start, train(parts.all(), None), point, &stop, progress)?;
        }
        let chosen = vec![
            ("components", point.components.to_string()),
            // The structure has a pseudocount of its own.
            ("mixture_pseudocount", in_digits(point.pseudocount)),
        ];
        Ok(Structure { chosen, ..Structure::new(divided.mixture, Prior::NONE) })
    }
}

/// A mixture whose components have one structure.
pub(super) struct Divided {
    /// The best by validation; without validation records, the last.
    pub(super) mixture: Mixture,
    /// Its validation score, over the records that the structure makes possible.
    score: f64,
    /// The number of steps that led to it.
    steps: usize,
}

/// What a circuit is divided by.
pub(super) struct Training<'a> {
    pub(super) records: &'a Records,
    /// The records to choose the best step by.
    pub(super) judge: Option<&'a Records>,
    pub(super) seed: u64,
    /// How much a proof may cost where elements were dropped.
    pub(super) limits: &'a Limits,
}

/// Divides a deterministic circuit into components, which all have its structure.
///
/// Each step shares every record among the components by their posteriors, and refits each component to its shares.
/// Without a pseudocount the training likelihood never falls, and a component drops elements that it never uses. With
/// one, all components keep the base of the circuit, whose parameters are the prior. Records must be complete. Cost of
/// a step: elements × records / 64, and variables × records × components.
pub(super) fn divide(
    start: &Certified,
    Training { records: train, judge, seed, limits }: Training<'_>,
    Point { components, pseudocount }: Point,
    stop: &Stop,
    progress: &dyn Progress,
) -> Result<Divided, LearnError> {
    let structure = start.deterministic().map_err(|reason| LearnError::NotDeterministic(reason.clone()))?;
    let judge = judge.map(|judge| Possible::new(structure, judge)).transpose()?;
    let first = count_shares(structure, components, train, &first_shares(train, components, seed));
    let climbed = climb(&Division { structure, train, judge, pseudocount }, first, stop, progress)?;
    let ShareCounts { counts, weights, possible, .. } = climbed.model;
    let mixture = weighted(&weights, possible, |i| {
        let circuit = structure.with_estimates_towards(counts[i].clone(), pseudocount)?;
        // Shares of records are not counts that later records could be added to.
        Ok(start.carry_over(circuit.without_counts(), limits))
    })?;
    Ok(Divided { mixture, score: climbed.score.unwrap_or(LOG_ZERO), steps: climbed.steps })
}

/// The steps over one structure. The parameters of a component follow from its shares of the records.
struct Division<'a> {
    structure: &'a Deterministic,
    train: &'a Records,
    judge: Option<Possible<'a>>,
    pseudocount: f64,
}

impl Steps<ShareCounts> for Division<'_> {
    type Counts = ShareCounts;

    fn expect(&self, shared: &ShareCounts) -> Result<Expected<ShareCounts>, LearnError> {
        let estimates = |counts: &Weights| self.structure.estimates_towards(counts, self.pseudocount);
        let parameters: Vec<Weights> = shared.counts.par_iter().map(estimates).collect();
        let side = SideBySide::new(self.structure, &parameters.iter().collect::<Vec<_>>());
        let log_weights: Vec<f64> = shared.weights.iter().map(|weight| (weight / shared.possible).ln()).collect();
        let score = self.judge.as_ref().map(|judge| judge.mean(&side.log_mixture(&log_weights, judge.records)));
        let counts = side.share(&log_weights, self.train);
        let ShareCounts { log_likelihood, possible, impossible, .. } = counts;
        Ok(Expected { counts, log_likelihood, possible, impossible, score })
    }

    fn fit(&self, _: &ShareCounts, counts: ShareCounts) -> Result<ShareCounts, LearnError> {
        Ok(counts)
    }
}

/// The first shares of the components in every row: most goes to the component of its k-means cluster.
fn first_shares(records: &Records, k: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    let labels = if k > 1 { k_means(records.rows(), records.weights(), k, &mut random) } else { Vec::new() };
    let mut shares = Vec::with_capacity(records.len() * k);
    for (row, &weight) in records.weights().iter().enumerate() {
        let start = shares.len();
        match labels.get(row) {
            // A little for all, so that without a pseudocount no component rules out records at once.
            Some(&label) => shares.extend((0..k).map(|i| if i == label { 0.9 } else { 0.0 } + 0.1 / k as f64)),
            // A single component takes all. Dividing a random number by itself keeps the rounding of earlier models.
            None => shares.push(-(1.0 - random.unit()).ln() + f64::MIN_POSITIVE),
        }
        let total: f64 = shares[start..].iter().sum();
        shares[start..].iter_mut().for_each(|share| *share *= weight / total);
    }
    shares
}

/// A mixture of components that share the structure of [SLoPP](super::Slopp), as a [`Learner`].
///
/// It is structured decomposable and stores one structure. Without validation records a tenth of the records is held
/// out, and the chosen mixture is fitted to all records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SloppEm {
    /// How the structure is learned.
    pub model: Slopp,
    /// The mixtures to try.
    pub grid: MixtureGrid,
}

impl Learner for SloppEm {
    fn name(&self) -> &'static str {
        "slopp-em"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = self.model.structure_settings();
        settings.extend(self.grid.settings());
        settings
    }

    fn vtree(&self) -> VtreeUse {
        VtreeUse::Inside
    }

    fn max_elements(&self) -> Option<usize> {
        self.model.max_elements
    }

    fn within(&self, max_elements: usize) -> Option<Box<dyn Learner>> {
        Some(Box::new(SloppEm { model: self.model.with_max_elements(max_elements), ..self.clone() }))
    }

    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError> {
        check_records(task.train)?;
        check_validation(task.train, task.valid)?;
        self.grid.check()?;
        let parts = task.parts()?;
        let on_part = Task { train: parts.train(), valid: parts.judge(), ..*task };
        let learned = learn(&on_part, &self.model, progress)?;
        let found = self.grid.find(&learned.psdd.into(), learned.pseudocount, &parts, task.seed, progress)?;
        Ok(found.holding_out(parts.held_out()))
    }
}

/// A mixture of components that share the structure of [`Strudel`], as a [`Learner`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StrudelEm {
    /// How the structure is learned.
    pub strudel: Strudel,
    /// The mixtures to try.
    pub grid: MixtureGrid,
}

impl Learner for StrudelEm {
    fn name(&self) -> &'static str {
        "strudel-em"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = self.strudel.settings();
        settings.extend(self.grid.settings());
        settings
    }

    fn refines(&self) -> bool {
        true
    }

    /// Without validation records a tenth is held out by seed, and the chosen mixture is fitted to all records.
    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError> {
        self.grid.check()?;
        let parts = task.parts()?;
        let grown = self.strudel.refine(task, &parts, progress)?;
        let pseudocount = self.strudel.pseudocount;
        let mut found = self.grid.find(&grown.circuit, pseudocount, &parts, task.seed, progress)?;
        found.chosen.push(grown.fact());
        Ok(Structure { keeps_world: true, ..found }.holding_out(parts.held_out()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::{Builder, Circuit, Psdd, Sharing, Smoothing};
    use crate::data::RecordsBuilder;
    use crate::learn::judge::score;
    use crate::learn::{Factorised, SloppTree};
    use crate::names::Names;
    use crate::var::Var;
    use crate::vtree::Vtree;

    /// Records from two populations that no tree fits well.
    fn two_populations(vars: usize, rows: usize, seed: u64) -> Records {
        let mut random = Random::new(seed);
        let mut builder = RecordsBuilder::new(Names::numbered(vars));
        for _ in 0..rows {
            let first = random.unit() < 0.4;
            let mut last = random.unit() < 0.5;
            let row: Vec<_> = (0..vars)
                .map(|i| {
                    last = if random.unit() < if first { 0.8 } else { 0.3 } { last } else { (i % 2 == 0) == first };
                    Some(last)
                })
                .collect();
            builder.push(row, 1.0 + random.below(2) as f64);
        }
        builder.finish()
    }

    fn structure(records: &Records) -> Psdd {
        let task = Task { vtree: Some(&Vtree::balanced(records.var_count()).into()), ..Task::new(records) };
        task.learn(&SloppTree { min_records: 20.0, ..SloppTree::default() }, &()).unwrap().model.into_psdd().unwrap()
    }

    fn training(records: &Records) -> Training<'_> {
        Training { records, judge: None, seed: 0, limits: &Limits::USUAL }
    }

    /// The mixture after exactly this number of steps.
    fn after(steps: usize, start: &Psdd, records: &Records, components: usize, pseudocount: f64) -> Mixture {
        let stop = Stop { steps, tolerance: 0.0, ..STOP };
        let point = Point { components, pseudocount };
        divide(&start.clone().into(), training(records), point, &stop, &()).unwrap().mixture
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }

    #[test]
    fn without_smoothing_the_likelihood_never_falls() {
        let records = two_populations(8, 300, 1);
        let start = structure(&records);
        for components in [2, 9] {
            let mixtures: Vec<Mixture> = (0..8).map(|steps| after(steps, &start, &records, components, 0.0)).collect();
            for component in mixtures.iter().flat_map(Mixture::components) {
                assert!(matches!(component, Certified::Psdd(_)));
                assert!(Circuit::clone(component).certify(&Limits::default()).is_ok());
            }
            let scores: Vec<f64> = mixtures.iter().map(|mixture| score(mixture, &records).unwrap()).collect();
            assert!(scores.windows(2).all(|step| step[1] >= step[0] - 1e-10), "{scores:?}");
            assert!(scores[7] > score(&Certified::from(start.clone()), &records).unwrap() + 0.01);
        }
    }

    #[test]
    fn one_component_is_the_plain_fit() {
        let records = two_populations(8, 300, 2);
        let start = structure(&records);
        let plain = start.fit(&records, &Smoothing::none()).unwrap().circuit;
        let one = after(3, &start, &records, 1, 0.0);
        assert!(one.weights() == [1.0] && one.components()[0].same_structure(&plain));
        let numbers = |w: &Weights| w.tops.concat().into_iter().chain(w.elements.clone()).collect::<Vec<f64>>();
        let [found, expected] = [one.components()[0].log_parameters(), plain.log_parameters()].map(numbers);
        assert_eq!(found.len(), expected.len());
        found.into_iter().zip(expected).for_each(|(a, b)| close(a, b));
    }

    #[test]
    fn one_step_is_responsibilities_times_counts() {
        // Repeats the step component by component, with queries that know nothing of mixtures.
        let records = two_populations(6, 200, 3);
        let start = structure(&records);
        let [before, after] = [3, 4].map(|steps| after(steps, &start, &records, 3, 2.0));
        let posterior = before.component_posterior_batch(&records).unwrap();
        for k in 0..3 {
            let mut shared = RecordsBuilder::new(records.names().clone());
            for (row, shares) in posterior.iter().enumerate() {
                shared.push(records.row(row), records.weights()[row] * shares.as_ref().unwrap()[k]);
            }
            let shared = shared.finish();
            close(after.weights()[k], shared.total() / records.total());
            let counts = start.count_records(&shared).unwrap().weights;
            let (prior, found) = (start.log_parameters(), after.components()[k].log_parameters());
            for id in start.ids() {
                let range = start.element_range(id);
                let total = counts.elements[range.clone()].iter().sum::<f64>() + 2.0;
                for e in range {
                    close(found.elements[e].exp(), (counts.elements[e] + 2.0 * prior.elements[e].exp()) / total);
                }
            }
            for ((n, prior), found) in counts.tops.iter().zip(&prior.tops).zip(&found.tops) {
                close(found[1].exp(), (n[1] + 2.0 * prior[1].exp()) / (n[0] + n[1] + 2.0));
            }
        }
    }

    #[test]
    fn odd_records_and_structures() {
        let records = two_populations(6, 100, 4);
        let start = Certified::from(structure(&records));
        let on = |start: &Certified, records: &Records, pseudocount: f64| {
            divide(start, training(records), Point { components: 50, pseudocount }, &STOP, &())
        };
        let one = Records::from_rows(records.names().clone(), [[true; 6]]);
        let Divided { mixture, .. } = on(&start, &one, 0.0).unwrap();
        close(mixture.log_likelihoods(&one).unwrap()[0], 0.0);
        let impossible = Records::from_rows(records.names().clone(), [[false; 6]]);
        assert!(matches!(on(&mixture.components()[0], &impossible, 1.0), Err(LearnError::NothingPossible)));
        let vtree = Vtree::balanced(2);
        let (root, half) = (vtree.root(), 0.5f64.ln());
        let mut builder = Builder::new(vtree, Sharing::Equal);
        let [x, y] = [0, 1].map(|i| builder.top(Var(i), [half; 2]).unwrap());
        let is_x = builder.literal(Var(0).is(true)).unwrap();
        let sum = builder.sum(root, &[(x, y, half), (is_x, y, half)]).unwrap();
        let overlapping = Certified::new(builder.finish(sum).unwrap(), &Limits::default());
        let two = Records::from_rows(Names::numbered(2), [[true; 2]]);
        assert!(matches!(on(&overlapping, &two, 1.0), Err(LearnError::NotDeterministic(_))));
    }

    #[test]
    fn a_validation_record_that_is_impossible_does_not_stop_the_choice() {
        // A last column that is never true makes its other value impossible.
        let with_column = |records: &Records, and_one: bool| {
            let mut builder = RecordsBuilder::new(Names::numbered(9));
            for row in 0..records.len() {
                builder.push(records.row(row).chain([Some(false)]), records.weights()[row]);
            }
            if and_one {
                builder.push([Some(true); 9], 1.0);
            }
            builder.finish()
        };
        let [train, valid] = [8, 9].map(|seed| two_populations(8, 300, seed));
        let train = with_column(&train, false);
        let task = Task { vtree: Some(&Vtree::balanced(9).into()), ..Task::closed(&train) };
        let closed = task.learn(&Factorised { pseudocount: Some(1.0) }, &()).unwrap().model;
        let start = Certified::from(closed.into_psdd().unwrap());
        let grid = MixtureGrid { components: vec![1, 2, 4], pseudocounts: vec![1000.0, 1.0] };
        let chosen = |and_one| {
            let valid = with_column(&valid, and_one);
            grid.find(&start, 1.0, &Parts::new(&train, Some(&valid), 1, &Limits::USUAL).unwrap(), 1, &()).unwrap()
        };
        let expected = chosen(false);
        assert_ne!((&*expected.chosen[0].1, &*expected.chosen[1].1), ("1", "1000"), "the first point is not the best");
        assert_eq!(chosen(true), expected);
    }
}

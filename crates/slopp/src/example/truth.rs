//! Records from distributions whose possible worlds and probabilities are known exactly.
//!
//! [`Truth::compare`] compares a base learned from such records with the truth by counting.

use super::cars::Configurator;
use super::rankings::{log_mallows, ranking, sample_mallows};
use crate::circuit::Deterministic;
use crate::data::{Records, RecordsBuilder, RecordsError};
use crate::infer::{Evidence, QueryError};
use crate::logspace::LOG_ZERO;
use crate::names::Names;
use crate::progress::Progress;
use crate::random::Random;
use num_bigint::BigUint;
use std::sync::Arc;

/// The largest number of items: their square is the number of variables.
const MAX_ITEMS: usize = 100;

/// The largest number of worlds that are looked at one by one.
const MAX_WORLDS: usize = 20_000_000;

/// The number of records between two reports of progress.
const TOLD: usize = 1 << 14;

/// A distribution over Boolean worlds that is known exactly.
///
/// ```
/// use slopp::example::Truth;
/// let truth = Truth::configurations();
/// let records = truth.sample(1000, 1);
/// assert_eq!(records.total(), 1000.0);
/// let row: Vec<bool> = records.row(0).map(|cell| cell == Some(true)).collect();
/// assert!(truth.is_possible(&row) && truth.log_probability(&row) < 0.0);
/// assert_eq!(truth.count().to_string(), "5656");
/// ```
#[derive(Clone, Debug)]
pub struct Truth {
    names: Arc<Names>,
    count: BigUint,
    kind: Kind,
}

/// The base of a model next to the truth.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Agreement {
    /// How many worlds the model allows.
    pub allowed: BigUint,
    /// How many worlds are possible.
    pub possible: BigUint,
    /// How many are both.
    pub both: usize,
}

impl Agreement {
    /// The share of the allowed worlds that is possible.
    pub fn precision(&self) -> f64 {
        self.share(&self.allowed)
    }

    /// The share of the possible worlds that is allowed.
    pub fn recall(&self) -> f64 {
        self.share(&self.possible)
    }

    fn share(&self, whole: &BigUint) -> f64 {
        whole.to_string().parse().map_or(f64::NAN, |whole: f64| self.both as f64 / whole)
    }
}

#[derive(Clone, Debug)]
enum Kind {
    Configurations(Configurator),
    Rankings { items: usize, dispersion: f64 },
}

impl Truth {
    /// Cars as customers configure them: 24 options, some exactly one of a group, some requiring or excluding others.
    ///
    /// Customers are commuters, families, adventurers or managers. Given that, options are independent, except that
    /// only configurations that keep all rules are sold.
    pub fn configurations() -> Truth {
        let configurator = Configurator::cars();
        let names = Names::new(configurator.names.clone()).expect("option names are distinct");
        Truth { names: names.into(), count: configurator.count.into(), kind: Kind::Configurations(configurator) }
    }

    /// Rankings of some items as a square of variables: `apple_at_1` is true if the apple is first.
    ///
    /// The distribution is the Mallows model: each pair of items out of alphabetical order multiplies the probability
    /// of a ranking by `dispersion`. All `items!` rankings are possible.
    pub fn rankings(items: usize, dispersion: f64) -> Result<Truth, RecordsError> {
        if !(1..=MAX_ITEMS).contains(&items) {
            return Err(RecordsError::Items { items, most: MAX_ITEMS });
        }
        if !(dispersion > 0.0 && dispersion <= 1.0) {
            return Err(RecordsError::Dispersion { dispersion });
        }
        const FRUIT: [&str; 12] = [
            "apple", "banana", "cherry", "damson", "elder", "fig", "grape", "hazel", "juniper", "kiwi", "lemon",
            "mango",
        ];
        let item = |i: usize| FRUIT.get(i).map_or_else(|| format!("item{}", i + 1), |fruit| (*fruit).to_owned());
        let square = (0..items).flat_map(|i| (1..=items).map(move |place| format!("{}_at_{place}", item(i))));
        let names = Names::new(square.collect()).expect("items and places are distinct");
        let count = (1..=items).map(BigUint::from).product();
        Ok(Truth { names: names.into(), count, kind: Kind::Rankings { items, dispersion } })
    }

    /// The names of the variables.
    pub fn names(&self) -> &Arc<Names> {
        &self.names
    }

    /// The number of possible worlds, exactly.
    pub fn count(&self) -> &BigUint {
        &self.count
    }

    /// Whether a world is possible; `false` also for a wrong number of values.
    pub fn is_possible(&self, world: &[bool]) -> bool {
        match &self.kind {
            Kind::Configurations(cars) => pack(world, cars.names.len()).is_some_and(|bits| cars.is_possible(bits)),
            Kind::Rankings { items, .. } => ranking(world, *items).is_some(),
        }
    }

    /// The natural logarithm of the probability of a world, exactly up to rounding.
    pub fn log_probability(&self, world: &[bool]) -> f64 {
        match &self.kind {
            Kind::Configurations(cars) => match pack(world, cars.names.len()).filter(|&bits| cars.is_possible(bits)) {
                Some(bits) => (cars.weight(bits) / cars.total).ln(),
                None => LOG_ZERO,
            },
            Kind::Rankings { items, dispersion } => match ranking(world, *items) {
                Some(places) => log_mallows(&places, *dispersion),
                None => LOG_ZERO,
            },
        }
    }

    /// How many worlds a circuit over these variables, in any order, allows, and how many of them are truly possible.
    ///
    /// Looks at the allowed worlds one by one, so there is an error if they are more than 20 million.
    ///
    /// ```
    /// use slopp::example::Truth;
    /// use slopp::learn::{Slopp, Task};
    /// let truth = Truth::configurations();
    /// let model = Task::closed(&truth.sample(500, 1)).learn(&Slopp::default(), &())?.model;
    /// let found = truth.compare(model.psdd().expect("a PSDD"), &model.names)?;
    /// assert!(found.both <= 5656 && found.precision() > 0.0 && found.recall() < 1.0);
    /// # Ok::<(), slopp::Error>(())
    /// ```
    pub fn compare(&self, circuit: &Deterministic, names: &Names) -> Result<Agreement, QueryError> {
        let places: Option<Vec<usize>> = self.names.iter().map(|name| Some(names.find(name).ok()?.index())).collect();
        let Some(places) = places.filter(|places| places.len() == names.len()) else {
            let why = "those of the generated records are not those of the model".to_owned();
            return Err(QueryError::DifferentVariables(why));
        };
        let allowed = circuit.model_count();
        if allowed > MAX_WORLDS.into() {
            return Err(QueryError::TooLarge { what: "list of possible worlds", limit: MAX_WORLDS });
        }
        let mut both = 0;
        for world in circuit.worlds(&Evidence::none(names.len()))? {
            let world: Vec<bool> = places.iter().map(|&place| world[place]).collect();
            both += usize::from(self.is_possible(&world));
        }
        Ok(Agreement { allowed, possible: self.count.clone(), both })
    }

    /// The rules in words, such as `engine_electric requires gearbox_automatic`.
    pub fn rules(&self) -> Vec<String> {
        match &self.kind {
            Kind::Configurations(cars) => cars.rules.iter().map(|rule| rule.text(&self.names).to_string()).collect(),
            Kind::Rankings { .. } => {
                vec!["every item has exactly one place".to_owned(), "every place has exactly one item".to_owned()]
            }
        }
    }

    /// Independent records; [`Records::check_count`] checks that there are not too many.
    pub fn sample(&self, records: usize, seed: u64) -> Records {
        self.sample_with_progress(records, seed, &())
    }

    /// As [`Truth::sample`], reporting progress.
    pub fn sample_with_progress(&self, records: usize, seed: u64, progress: &dyn Progress) -> Records {
        let mut random = Random::new(seed);
        let mut builder = RecordsBuilder::new(self.names.clone());
        progress.begin("generating records", records as u64);
        for done in 1..=records {
            if done % TOLD == 0 {
                progress.advance(TOLD as u64);
            }
            match &self.kind {
                Kind::Configurations(cars) => {
                    let bits = cars.sample(&mut random);
                    builder.push((0..cars.names.len()).map(|i| Some(bits >> i & 1 == 1)), 1.0);
                }
                Kind::Rankings { items, dispersion } => {
                    let order = sample_mallows(*items, *dispersion, &mut random);
                    let mut row = vec![Some(false); items * items];
                    order.iter().enumerate().for_each(|(place, item)| row[item * items + place] = Some(true));
                    builder.push(row, 1.0);
                }
            }
        }
        builder.finish()
    }
}

/// A world as bits, if it has the right number of values.
fn pack(world: &[bool], len: usize) -> Option<u32> {
    (world.len() == len).then(|| world.iter().enumerate().map(|(i, &value)| u32::from(value) << i).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(records: &Records) -> Vec<(Vec<bool>, f64)> {
        let row = |i: usize| records.row(i).map(|cell| cell.expect("no cell is missing")).collect();
        (0..records.len()).map(|i| (row(i), records.weights()[i])).collect()
    }

    fn unpack(bits: u32, len: usize) -> Vec<bool> {
        (0..len).map(|i| bits >> i & 1 == 1).collect()
    }

    #[test]
    fn all_configurations_are_counted_and_probabilities_add_up() {
        let truth = Truth::configurations();
        let (mut count, mut total) = (0u64, 0.0);
        for bits in 0u32..1 << 24 {
            // The cheap groups first: enumerating all worlds is the independent count.
            if [0xf, 0x30, 0x1c0, 0x600, 0x3800].iter().all(|group| (bits & group).count_ones() == 1) {
                let values = unpack(bits, 24);
                if truth.is_possible(&values) {
                    count += 1;
                    total += truth.log_probability(&values).exp();
                } else {
                    assert_eq!(truth.log_probability(&values), LOG_ZERO);
                }
            }
        }
        assert_eq!(truth.count(), &BigUint::from(count));
        assert!((total - 1.0).abs() < 1e-9, "{total}");
    }

    #[test]
    fn configurations_are_sampled_from_their_distribution() {
        let truth = Truth::configurations();
        let records = truth.sample(20_000, 5);
        assert_eq!(records, truth.sample(20_000, 5));
        assert_ne!(records, truth.sample(20_000, 6));
        for (row, weight) in rows(&records).iter().take(20) {
            let expected = 20_000.0 * truth.log_probability(row).exp();
            assert!((weight - expected).abs() < 5.0 * expected.sqrt(), "{weight} {expected}");
        }
        assert!(rows(&records).iter().all(|(row, _)| truth.is_possible(row)));
    }

    #[test]
    fn small_rankings_are_exactly_the_permutations() {
        for dispersion in [0.3, 1.0] {
            let truth = Truth::rankings(3, dispersion).unwrap();
            let possible: Vec<_> = (0..512).map(|bits| unpack(bits, 9)).filter(|w| truth.is_possible(w)).collect();
            assert_eq!(possible.len(), 6);
            assert_eq!(truth.count(), &BigUint::from(6u32));
            let total: f64 = possible.iter().map(|w| truth.log_probability(w).exp()).sum();
            assert!((total - 1.0).abs() < 1e-12);
            let records = truth.sample(30_000, 2);
            for (row, weight) in rows(&records) {
                let expected = 30_000.0 * truth.log_probability(&row).exp();
                assert!((weight - expected).abs() < 5.0 * expected.sqrt(), "{weight} {expected}");
            }
        }
        assert_eq!(Truth::rankings(4, 0.5).unwrap().names().iter().nth(6), Some("banana_at_3"));
    }

    #[test]
    fn bad_settings_are_errors() {
        assert!(matches!(Truth::rankings(0, 0.5), Err(RecordsError::Items { .. })));
        assert!(matches!(Truth::rankings(101, 0.5), Err(RecordsError::Items { .. })));
        for dispersion in [0.0, 1.1, f64::NAN] {
            assert!(matches!(Truth::rankings(3, dispersion), Err(RecordsError::Dispersion { .. })));
        }
    }
}

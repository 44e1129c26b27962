//! SLoPP on many records, once for each size: on up to a million of a hundred variables (`cargo xtask bench
//! million`), and on a vtree that is not right-linear (`cargo xtask bench general`).

use crate::MEMORY;
use crate::measure::cpu_seconds;
use slopp::learn::{Slopp, Task};
use slopp::{Names, Psdd, Random, Records, Vtree};
use std::sync::Arc;

/// What is measured.
struct Case {
    records: fn(usize) -> Records,
    sizes: [usize; 3],
    vtree: Option<Arc<Vtree>>,
    /// At most this many CPU seconds and bytes, data included, at the largest size.
    bar: Option<(f64, f64)>,
}

pub(crate) fn measure() {
    let sizes = [62_500, 250_000, 1_000_000];
    Case { records: copies, sizes, vtree: None, bar: Some((120.0, 2e9)) }.measure("a right-linear vtree, learned");
}

/// Vtrees that are given.
pub(crate) fn general() {
    let sizes = [15_000, 60_000, 240_000];
    let vtree = Some(Arc::new(Vtree::balanced(40)));
    Case { records: groups, sizes, vtree, bar: None }.measure("the balanced vtree");
}

impl Case {
    fn measure(&self, vtree: &str) {
        let variables = (self.records)(1).var_count();
        println!("records of {variables} variables on {vtree}, one thread, effort fast");
        println!("| records | distinct | CPU s | growth | peak MB, data included | elements | most classes at first |");
        println!("|--:|--:|--:|--:|--:|--:|--:|");
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be started");
        let mut last: Option<(usize, f64)> = None;
        for size in self.sizes {
            MEMORY.reset_peak_usage();
            let records = (self.records)(size);
            let task = Task { vtree: self.vtree.as_ref(), ..Task::new(&records) };
            let learn = |config: &Slopp| {
                let learned = one.install(|| task.learn(config, &()));
                learned.expect("generated records can be learned").model.into_psdd().expect("always a PSDD")
            };
            let before = cpu_seconds().unwrap_or(f64::NAN);
            let psdd = learn(&Slopp::default());
            let seconds = cpu_seconds().unwrap_or(f64::NAN) - before;
            let peak = MEMORY.peak_usage() as f64;
            let growth = last.map_or("-".to_owned(), |(before, took)| {
                format!("{:.2}", seconds / took / (size as f64 / before as f64))
            });
            let first = learn(&Slopp { clone_depth: 0, ..Slopp::default() });
            let [elements, classes] = [psdd.elements().len(), most_sums(&first)];
            let distinct = records.len();
            println!("| {size} | {distinct} | {seconds:.1} | {growth} | {:.0} | {elements} | {classes} |", peak / 1e6);
            last = Some((size, seconds));
            if let Some((most, bytes)) = self.bar.filter(|_| Some(&size) == self.sizes.last()) {
                let verdict = if seconds <= most && peak <= bytes { "reached" } else { "MISSED" };
                println!("bar ≤ {most} CPU s and ≤ {:.0} MB: {verdict}", bytes / 1e6);
            }
        }
    }
}

/// The most sums that a vtree node has.
fn most_sums(psdd: &Psdd) -> usize {
    let inner = psdd.vtree().bottom_up().iter().filter(|&&v| psdd.vtree().children(v).is_some());
    inner.map(|&v| psdd.layer(v).len()).max().unwrap_or(0)
}

/// A hundred variables in groups of five: noisy copies of the head of their group, which depends on the head before;
/// half are mostly false.
fn copies(rows: usize) -> Records {
    const VARIABLES: usize = 100;
    let mut random = Random::new(1);
    let row = |random: &mut Random| {
        let mut row = [false; VARIABLES];
        for i in 0..VARIABLES {
            let cause = if i % 5 > 0 { row[i - i % 5] } else { i > 0 && row[i - 5] };
            let noise = if i % 2 == 0 { 0.5 } else { 0.1 };
            row[i] = if random.unit() < 0.75 { cause && (i % 3 > 0 || !row[0]) } else { random.unit() < noise };
        }
        row
    };
    Records::from_rows(Names::numbered(VARIABLES), (0..rows).map(|_| row(&mut random)))
}

/// Forty variables with other chances in each of ten hidden groups: the more records, the more groups can be
/// distinguished.
fn groups(rows: usize) -> Records {
    const VARIABLES: usize = 40;
    let mut random = Random::new(1);
    let chances: Vec<[f64; VARIABLES]> =
        (0..10).map(|_| std::array::from_fn(|_| 0.1 + 0.2 * random.below(5) as f64)).collect();
    let row = |random: &mut Random| chances[random.below(10)].map(|chance| random.unit() < chance);
    Records::from_rows(Names::numbered(VARIABLES), (0..rows).map(|_| row(&mut random)))
}

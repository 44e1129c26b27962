//! Merged SLoPP on up to a million records of a hundred variables, once each: `cargo xtask bench million`.

use crate::MEMORY;
use crate::measure::cpu_seconds;
use slopp::learn::{World, merged};
use slopp::{Names, Random, Records};

const VARIABLES: usize = 100;

const SIZES: [usize; 3] = [62_500, 250_000, 1_000_000];

/// At most so many CPU seconds and bytes, data included, at the largest size.
const BAR: (f64, f64) = (120.0, 2e9);

pub(crate) fn measure() {
    println!("records of {VARIABLES} variables, one thread, effort fast");
    println!("| records | distinct | CPU s | growth | peak MB, data included | elements |\n|--:|--:|--:|--:|--:|--:|");
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be started");
    let mut last: Option<(usize, f64)> = None;
    for size in SIZES {
        MEMORY.reset_peak_usage();
        let records = synthetic(size);
        let before = cpu_seconds().unwrap_or(f64::NAN);
        let learned = one.install(|| merged::learn(&records, None, &merged::Config::new(World::Open), &()));
        let seconds = cpu_seconds().unwrap_or(f64::NAN) - before;
        let peak = MEMORY.peak_usage() as f64;
        let elements = learned.expect("generated records can be learned").psdd.elements().len();
        let growth = last
            .map_or("-".to_owned(), |(before, took)| format!("{:.2}", seconds / took / (size as f64 / before as f64)));
        println!("| {size} | {} | {seconds:.1} | {growth} | {:.0} | {elements} |", records.len(), peak / 1e6);
        last = Some((size, seconds));
        if Some(&size) == SIZES.last() {
            let verdict = if seconds <= BAR.0 && peak <= BAR.1 { "reached" } else { "MISSED" };
            println!("bar ≤ {} CPU s and ≤ {:.0} MB: {verdict}", BAR.0, BAR.1 / 1e6);
        }
    }
}

/// Twenty groups of five: noisy copies of the head of their group, which depends on the head before; half are mostly false.
fn synthetic(rows: usize) -> Records {
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

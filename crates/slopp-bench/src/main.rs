//! Speed and memory of the library: `cargo xtask bench`; `cargo xtask bench compile [PYTHON]` compiles next to PySDD;
//! `cargo xtask bench base` compares learned bases with a known truth, `ablation` takes SLoPP apart, `million` has
//! many records, and `general` many on a vtree that is not right-linear.
//!
//! Every line is measured at three sizes in one run; what matters is how cost grows from size to size, since machines
//! are noisy. Absolute bars are those of a quiet machine and are marked, not enforced. CPU time is that of one thread,
//! from the scheduler's account; the column `2 cores` says how much less time two threads take. Without the shared
//! benchmark data the learners run on generated records.
#![allow(clippy::print_stdout, reason = "a tool for the terminal")]

mod ablation;
mod base;
mod compile;
mod formulas;
mod infer;
mod layered;
mod learn;
mod measure;
mod million;
mod read;

use measure::Report;

#[global_allocator]
static MEMORY: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

/// Measures one part.
type Measure = fn(&mut Report);

/// The parts; the name of one as argument measures that one only.
const PARTS: [(&str, Measure); 5] = [
    ("learn", learn::measure),
    ("infer", infer::measure),
    ("questions", infer::questions),
    ("read", read::measure),
    ("formulas", formulas::measure),
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("compile") => return compile::measure(arguments.next().as_deref()),
        Some("base") => return base::measure(),
        Some("million") => return million::measure(),
        Some("general") => return million::general(),
        Some("ablation") => return ablation::measure(),
        _ => {}
    }
    let mut report = Report::new();
    let part = std::env::args().nth(1);
    let is_asked = |name: &str| part.as_deref().is_none_or(|part| part == name);
    for (name, measure) in PARTS {
        if is_asked(name) {
            measure(&mut report);
        }
    }
    report.finish();
}

//! Timing, memory and the table.

use crate::MEMORY;
use std::time::Instant;

/// Runs of which the fastest counts.
const RUNS: usize = 5;

/// One measured line.
pub(crate) struct Line<'a> {
    pub(crate) what: &'a str,
    /// The size that grows, and how much work that is, in `unit`.
    pub(crate) size: String,
    pub(crate) work: f64,
    pub(crate) unit: &'a str,
    /// What a quiet machine must reach at this size: at most so many seconds, or at least so many units per second.
    pub(crate) bar: Bar,
}

/// What must be reached.
#[derive(Clone, Copy)]
pub(crate) enum Bar {
    None,
    Seconds(f64),
    Rate(f64),
}

/// The table of all lines.
pub(crate) struct Report {
    one: rayon::ThreadPool,
    two: rayon::ThreadPool,
    missed: usize,
    /// The line before: what it was about, its work and its seconds.
    last: Option<(String, f64, f64)>,
}

impl Report {
    pub(crate) fn new() -> Report {
        let pool =
            |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
        println!(
            "{:<34} {:>16} {:>10} {:>10} {:>12} {:>8} {:>8}  bar",
            "what", "size", "CPU s", "rate", "unit", "growth", "2 cores"
        );
        Report { one: pool(1), two: pool(2), missed: 0, last: None }
    }

    /// Measures some work and prints its line; `growth` is time over work, relative to the line before.
    pub(crate) fn time<R: Send>(&mut self, line: Line<'_>, work: impl Fn() -> R + Sync) {
        let seconds = fastest(&self.one, &work);
        let speed_up = seconds / fastest(&self.two, &work);
        let rate = line.work / seconds;
        let growth = match &self.last {
            Some((what, work, before)) if what == line.what => format!("{:.2}", seconds / before / (line.work / work)),
            _ => "-".to_owned(),
        };
        let (bar, reached) = match line.bar {
            Bar::None => (String::new(), true),
            Bar::Seconds(limit) => (format!("≤ {limit} s"), seconds <= limit),
            Bar::Rate(limit) => (format!("≥ {limit:.0e}/s"), rate >= limit),
        };
        self.missed += usize::from(!reached);
        let verdict = if bar.is_empty() {
            ""
        } else if reached {
            " reached"
        } else {
            " MISSED"
        };
        println!(
            "{:<34} {:>16} {:>10.5} {:>10.2e} {:>12} {:>8} {:>8.2}  {bar}{verdict}",
            line.what, line.size, seconds, rate, line.unit, growth, speed_up
        );
        self.last = Some((line.what.to_owned(), line.work, seconds));
    }

    /// Measures the peak memory of some work beyond what there was before.
    pub(crate) fn memory<R>(&mut self, what: &str, size: &str, limit: f64, work: impl FnOnce() -> R) {
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let result = work();
        let peak = (MEMORY.peak_usage() - before) as f64;
        drop(result);
        let reached = peak <= limit;
        self.missed += usize::from(!reached);
        let verdict = if reached { "reached" } else { "MISSED" };
        println!("{what:<34} {size:>16} {:>10.2} MB, bar ≤ {:.2} MB {verdict}", peak / 1e6, limit / 1e6);
    }

    pub(crate) fn finish(self) {
        match self.missed {
            0 => println!("all bars reached"),
            missed => println!("{missed} bars missed: on a noisy machine run again"),
        }
    }
}

fn fastest<R: Send>(pool: &rayon::ThreadPool, work: &(impl Fn() -> R + Sync)) -> f64 {
    let run = || {
        let start = Instant::now();
        let result = pool.install(work);
        let seconds = start.elapsed().as_secs_f64();
        drop(result);
        seconds
    };
    (0..RUNS).map(|_| run()).fold(f64::INFINITY, f64::min)
}

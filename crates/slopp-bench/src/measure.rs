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
    /// What a quiet machine must reach at this size: at most this many seconds, or at least this many units per second.
    pub(crate) bar: Bar,
}

/// What must be reached.
#[derive(Clone, Copy)]
pub(crate) enum Bar {
    None,
    Seconds(f64),
    Rate(f64),
    /// At most this many times the seconds of another line.
    Times(f64, f64),
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

    /// Measures some work and prints its line; `growth` is time over work, relative to the line before. Gives the CPU
    /// seconds, for bars that are ratios.
    pub(crate) fn time<R: Send>(&mut self, line: Line<'_>, work: impl Fn() -> R + Sync) -> f64 {
        let Time { cpu: seconds, wall: alone } = fastest(&self.one, &work);
        let speed_up = alone / fastest(&self.two, &work).wall;
        let rate = line.work / seconds;
        let growth = match &self.last {
            Some((what, work, before)) if what == line.what => format!("{:.2}", seconds / before / (line.work / work)),
            _ => "-".to_owned(),
        };
        let (bar, reached) = match line.bar {
            Bar::None => (String::new(), true),
            Bar::Seconds(limit) => (format!("≤ {limit} s"), seconds <= limit),
            Bar::Times(times, before) => (format!("≤ {times} times that"), seconds <= times * before),
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
        seconds
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

/// CPU seconds of all threads, and seconds on the wall.
#[derive(Clone, Copy)]
struct Time {
    cpu: f64,
    wall: f64,
}

/// The least CPU time and the least wall time of several runs.
fn fastest<R: Send>(pool: &rayon::ThreadPool, work: &(impl Fn() -> R + Sync)) -> Time {
    let run = || {
        let (start, before) = (Instant::now(), cpu_seconds());
        let result = pool.install(work);
        let wall = start.elapsed().as_secs_f64();
        let cpu = cpu_seconds().zip(before).map_or(wall, |(after, before)| after - before);
        drop(result);
        Time { cpu, wall }
    };
    let least = |a: Time, b: Time| Time { cpu: a.cpu.min(b.cpu), wall: a.wall.min(b.wall) };
    (0..RUNS).map(|_| run()).reduce(least).expect("at least one run")
}

/// What the threads of this process have run so far, from the scheduler's own account; `None` where there is none.
pub(crate) fn cpu_seconds() -> Option<f64> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let nanoseconds = tasks.flatten().map(|task| {
        let account = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        account.split_whitespace().next()?.parse::<u64>().ok()
    });
    nanoseconds.sum::<Option<u64>>().map(|sum| sum as f64 / 1e9)
}

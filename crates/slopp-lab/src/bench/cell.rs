//! One cell of the benchmark, a learner on a dataset, in a process of its own.
//!
//! Only so are CPU seconds and peak memory those of the cell, and a crash is not the end of the others.

use super::learner::score;
use super::registry;
use super::results::Row;
use crate::datasets::Parts;
use clap::Args;
use serde_json::Value;
use slopp_cli::{ColumnArgs, Error, Session, Verdict};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Clock ticks per second in `/proc`, the same on every Linux that people run.
const TICKS: f64 = 100.0;

/// Measure one learner on one dataset and print the row; stops when stdin is closed
#[derive(Args)]
pub(crate) struct CellArgs {
    #[arg(long)]
    data: PathBuf,
    #[arg(long)]
    dataset: String,
    #[arg(long)]
    learner: String,
    #[arg(long)]
    seed: u64,
    #[command(flatten)]
    columns: ColumnArgs,
}

/// Starts a cell, waits for it, and returns its row or, in one line, why there is none.
pub(super) fn measure(
    data: &Path,
    dataset: &str,
    learner: &str,
    seed: u64,
    columns: &ColumnArgs,
) -> Result<Row, String> {
    let fail = |error: io::Error| format!("its process could not be started: {error}");
    let mut command = Command::new(std::env::current_exe().map_err(fail)?);
    command.arg("bench-cell").arg("--data").arg(data);
    command.args(["--dataset", dataset, "--learner", learner, "--seed", &seed.to_string()]);
    command.args(columns.given());
    command.args(["--threads", &rayon::current_num_threads().to_string()]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(fail)?;
    // Held until the end: when this process dies, however it dies, the pipe is closed and the cell stops.
    let alive = child.stdin.take();
    let output = child.wait_with_output().map_err(fail)?;
    drop(alive);
    if output.status.success() {
        return Row::parse(&String::from_utf8_lossy(&output.stdout)).map_err(|why| format!("its row is broken: {why}"));
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let reason = lines.join("; ");
    Err(match reason.strip_prefix("error: ") {
        Some(why) => why.to_owned(),
        None if reason.is_empty() => format!("its process ended early ({}), perhaps for want of memory", output.status),
        None => format!("its process ended early ({}): {reason}", output.status),
    })
}

pub(crate) fn run(args: &CellArgs, session: &mut Session) -> Result<Verdict, Error> {
    std::thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(3);
    });
    let learner = registry::find(&args.learner);
    let learner = learner.ok_or_else(|| Error::new(format!("there is no learner {}", args.learner)))?;
    let parts = Parts::read(&args.data, &args.dataset, &args.columns.options()?)?;
    let mut chosen = learner.choose(&parts.train, &parts.valid, args.seed, &())?;
    if !args.columns.given().is_empty() {
        chosen.settings.insert("columns".to_owned(), args.columns.given().into());
    }
    let learned = &chosen.learned;
    let test = score(learned, &parts.test)?;
    let row = Row {
        dataset: args.dataset.clone(),
        learner: learner.name.to_owned(),
        settings: Value::Object(chosen.settings),
        seed: args.seed,
        train: score(learned, &parts.train)?.per_record(),
        valid: score(learned, &parts.valid)?.per_record(),
        test: test.per_record(),
        impossible_test: test.impossible,
        size: learned.size(),
        certified: learned.psdd().is_some(),
        cpu_seconds: cpu_seconds(),
        peak_memory_bytes: peak_memory_bytes(),
        version: super::VERSION.to_owned(),
    };
    session.line(row.document())?;
    Ok(Verdict::Yes)
}

/// The CPU time of this process so far, of all threads, in user and system mode.
fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may hold blanks; user and system time are fields 14 and 15.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
    let whole = (ticks(14)? + ticks(15)?) / TICKS;
    // Threads that still live count in nanoseconds, which is more precise for a cell that takes a few ticks.
    Some(whole.max(living_threads_seconds().unwrap_or(0.0)))
}

fn living_threads_seconds() -> Option<f64> {
    let mut nanoseconds = 0.0;
    for thread in fs::read_dir("/proc/self/task").ok()? {
        let times = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += times.split_whitespace().next()?.parse::<f64>().ok()?;
    }
    Some(nanoseconds / 1e9)
}

/// The most memory this process ever held.
fn peak_memory_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_knows_what_it_costs() {
        if Path::new("/proc/self/stat").exists() {
            let block = std::hint::black_box(vec![1u8; 50 << 20]);
            assert!(peak_memory_bytes().unwrap() > block.len() as u64);
            // Asking is work too, and all of it together takes many ticks.
            assert!((0..1_000_000).any(|_| cpu_seconds().unwrap() > 0.0));
        }
    }
}

//! Compiling CNF files next to PySDD: `slopp-bench compile [PYTHON]`.
//!
//! The files are alarm.cnf and c432.cnf of the shared fixtures, on the vtrees that come with them. PySDD is optional:
//! `PYTHON` is an interpreter that has it. Times are CPU seconds of compiling alone, in one run after the other.

use crate::measure::cpu_seconds;
use slopp::io::{read_rules, read_vtree};
use slopp::logic::Limits;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const SCRIPT: &str = include_str!("pysdd.py");

/// Measures and prints a line per file and tool.
pub(crate) fn measure(python: Option<&str>) {
    let Some(folder) = slopp_oracle::shared("fixtures/pypsdd") else {
        println!("there are no shared fixtures to compile");
        return;
    };
    println!("{:<8} {:<34} {:>10} {:>10} {:>10}", "file", "tool", "CPU s", "decisions", "elements");
    for name in ["alarm", "c432"] {
        let [cnf, vtree] = ["cnf", "vtree"].map(|end| folder.join(format!("{name}.{end}")));
        let rules = read_rules(&cnf, None, &Limits::default()).expect("a CNF file");
        let tree = read_vtree(&vtree).expect("a vtree file").vtree;
        let (start, before) = (Instant::now(), cpu_seconds());
        let sdd = rules.compile(tree, &Limits::default()).expect("it is small");
        let wall = start.elapsed().as_secs_f64();
        let seconds = cpu_seconds().zip(before).map_or(wall, |(after, before)| after - before);
        let (decisions, elements) = sdd.size();
        println!("{name:<8} {:<34} {seconds:>10.3} {decisions:>10} {elements:>10}", "slopp, vtree kept");
        let Some(python) = python else { continue };
        for (how, what) in [("kept", "PySDD, vtree kept"), ("file", "PySDD read_cnf_file, changes vtree")] {
            match pysdd(python, &cnf, &vtree, how) {
                Some([seconds, decisions, elements]) => {
                    println!("{name:<8} {what:<34} {seconds:>10.3} {decisions:>10} {elements:>10}");
                }
                None => println!("{name:<8} {what:<34} could not be run"),
            }
        }
    }
}

/// CPU seconds, decisions and elements, as the script prints them.
fn pysdd(python: &str, cnf: &Path, vtree: &Path, how: &str) -> Option<[f64; 3]> {
    let output = Command::new(python).arg("-c").arg(SCRIPT).args([cnf, vtree]).arg(how).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("result "))?;
    let numbers: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().ok()
}

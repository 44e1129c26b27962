//! `slopp reproduce`: the paper's Tables 1 to 4 next to ours, and the erratum, computed on the spot.

mod counterexample;
mod erratum;
mod experiment;
mod page;
mod paper;
mod table1;
mod tables;

use crate::datasets::{self, Parts, how_to_get};
use clap::Args;
use erratum::Finding;
use experiment::Experiment;
use paper::{BENCHMARKS, SOURCE};
use serde_json::Value;
use slopp_cli::{Error, Session, Table, Verdict, counted, object, write_text};
use std::path::{Path, PathBuf};
use table1::Example;

const EXAMPLES: &str = "\
Examples:
  slopp reproduce                                        Table 1, Figure 2, counterexamples
  git clone https://github.com/UCLA-StarAI/Density-Estimation-Datasets
  slopp reproduce --data Density-Estimation-Datasets     Tables 2 to 4 too
  slopp reproduce --data Density-Estimation-Datasets --seeds 40 --out report";

/// What the second table holds.
const MEANING: &str = "The same circuits read as the mixtures they are. Several derivations: the share of possible \
                       test records that have more than one.";

/// What the third table holds.
const SUPPORT: &str = "Log-likelihood per record over ALL test records: the closed-world circuits mixed with a Chow-Liu \
                       tree, whose weight is the best on the validation records; or the same learner and seed in an \
                       open world, with one record of prior.";

/// What the fourth table holds.
const REFERENCES: &str = "Rows of the paper are quoted as published; the number of records is what its factorised row \
                          implies. LL is summed over the possible test records. Where some are impossible, \"all\" is \
                          mixed with the Chow-Liu tree.";

/// Reproduce the SLoPP paper: its Tables 1-4 next to ours, Figure 2, and the erratum
///
/// Size, γ, the flow value that the paper prints as log-likelihood, and the true log-likelihood, over several seeds;
/// counterexamples to Proposition 1 with their probabilities. Without benchmark data it says where to get them and
/// does the rest. 40 seeds take minutes, most of them for plants.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReproduceArgs {
    /// The folder of datasets: it holds NAME/NAME.{train,valid,test}.data, plain or gzipped, for nltcs and plants
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Also write report.html, figure2.svg and results.json to this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Circuits to learn per row of the paper
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,
}

pub(crate) fn run(args: &ReproduceArgs, session: &mut Session) -> Result<Verdict, Error> {
    if let Some(folder) = &args.out {
        // Before the work, so that minutes are not lost to a typo.
        std::fs::create_dir_all(folder)
            .map_err(|e| Error::from(e).while_doing(format!("the folder {} cannot be made", folder.display())))?;
    }
    let all = Reproduction::new(args, session)?;
    if let Some(folder) = &args.out {
        all.save(folder)?;
        session.note(format!("report.html, figure2.svg and results.json are in {}", folder.display()));
    }
    match session.json {
        true => session.document(&all.document())?,
        false => all.print(session)?,
    }
    Ok(Verdict::Yes)
}

/// Everything that was computed.
struct Reproduction {
    seeds: u64,
    example: Example,
    experiments: Vec<Experiment>,
    /// Datasets that were not found.
    missing: Vec<&'static str>,
    findings: Vec<Finding>,
}

impl Reproduction {
    fn new(args: &ReproduceArgs, session: &Session) -> Result<Reproduction, Error> {
        if let Some(folder) = args.data.as_deref().filter(|folder| !folder.is_dir()) {
            return Err(Error::new(format!("the folder {} is not there", folder.display())).hint(how_to_get()));
        }
        let example = Example::new()?;
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        // All data are read first: a damaged file is reported before minutes are spent on another.
        for benchmark in &BENCHMARKS {
            let parts = args.data.as_deref().map(|folder| Parts::find(folder, benchmark.name)).transpose()?.flatten();
            match parts {
                Some(parts) => found.push((benchmark, parts)),
                None => missing.push(benchmark.name),
            }
        }
        let bar = session.progress();
        let mut experiments = Vec::new();
        for (benchmark, parts) in found {
            let experiment = Experiment::new(benchmark, &parts, args.seeds, &bar)
                .map_err(|e| e.while_doing(format!("{} could not be reproduced", benchmark.name)))?;
            experiments.push(experiment);
        }
        let findings = erratum::findings(&experiments)?;
        Ok(Reproduction { seeds: args.seeds, example, experiments, missing, findings })
    }

    /// What to do about datasets that are not there.
    fn how_to_get(&self) -> Option<String> {
        (!self.missing.is_empty()).then(|| {
            format!(
                "Not reproduced, because the data are not there: {}. They are public:\n  git clone {}\n  \
                 slopp reproduce --data Density-Estimation-Datasets\n--data takes any folder that holds \
                 NAME/NAME.train.data, NAME.valid.data and NAME.test.data, plain or .gz.",
                self.missing.join(", "),
                datasets::SOURCE
            )
        })
    }

    fn save(&self, folder: &Path) -> Result<(), Error> {
        let mut text = serde_json::to_string_pretty(&self.document()).map_err(std::io::Error::from)?;
        text.push('\n');
        write_text(&folder.join("results.json"), &text)?;
        write_text(&folder.join("figure2.svg"), &self.example.figure())?;
        write_text(&folder.join("report.html"), &page::page(self))
    }

    fn print(&self, session: &mut Session) -> Result<(), Error> {
        session.line(format!("{SOURCE}."))?;
        session.line("\nTable 1 and Figure 2")?;
        session.table(&indented(&self.example.table()))?;
        session.line(wrapped(&self.example.summary(), "  "))?;
        session.line("\nTable 2")?;
        session.table(&indented(&tables::data_table(&BENCHMARKS, &self.experiments)))?;
        if let Some(note) = self.how_to_get() {
            session.line(format!("\n{note}"))?;
        }
        for experiment in &self.experiments {
            session.line(format!(
                "\n{}: {}, SLoPP as published (notebook variant, Chow-Liu vtree), {}, mean (range)",
                experiment.benchmark.table,
                experiment.benchmark.name,
                counted(self.seeds as usize, "seed")
            ))?;
            session.table(&indented(&experiment.printed_table()))?;
            session.line(wrapped(&experiment.within(), "  "))?;
            session.line("")?;
            session.table(&indented(&experiment.meaning_table()))?;
            session.line(wrapped(MEANING, "  "))?;
            session.line("")?;
            session.table(&indented(&experiment.support_table()))?;
            session.line(wrapped(SUPPORT, "  "))?;
            session.line("")?;
            session.table(&indented(&experiment.reference_table()))?;
            session.line(wrapped(REFERENCES, "  "))?;
        }
        session.line("\nErratum")?;
        for finding in &self.findings {
            session
                .line(wrapped(&format!("{:<3} {}", finding.id, finding.claim), "      ").replacen("      ", "  ", 1))?;
            for line in &finding.computed {
                session.line(wrapped(line, "      "))?;
            }
            session.line(wrapped(&format!("=> {}: {}", finding.word(), finding.verdict), "      "))?;
        }
        Ok(())
    }

    fn document(&self) -> Value {
        object([
            ("source", Value::from(SOURCE)),
            ("seeds", Value::from(self.seeds)),
            ("table1", self.example.document()),
            ("experiments", self.experiments.iter().map(Experiment::document).collect()),
            ("missing", self.missing.iter().copied().map(Value::from).collect()),
            ("data_source", Value::from(datasets::SOURCE)),
            ("erratum", self.findings.iter().map(Finding::document).collect()),
        ])
    }
}

/// A table moved to the right.
fn indented(table: &Table) -> Table {
    let mut result = Table::default();
    for line in table.lines() {
        result.push(line.iter().enumerate().map(|(i, cell)| if i == 0 { format!("  {cell}") } else { cell.clone() }));
    }
    result
}

/// A text in lines of at most 110 characters, each after an indent.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= 110 => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("{indent}{word}")),
        }
    }
    lines.join("\n")
}

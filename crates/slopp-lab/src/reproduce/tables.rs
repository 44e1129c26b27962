//! Tables 2 to 4 as tables: the paper's numbers, ours over the seeds, and what they are compared with.

use super::experiment::{Experiment, Reference, Run, Setting, Spread};
use super::paper::Benchmark;
use serde_json::Value;
use slopp_cli::{Table, json, json_count, object, score_entries};

/// What stands behind a number of ours that has the paper's inside its range.
const WITHIN: &str = " *";

/// A whole number without decimals.
pub(super) fn whole(x: f64) -> String {
    if x.is_finite() { format!("{x:.0}") } else { "-".to_owned() }
}

fn decimals(x: f64, n: usize) -> String {
    if x.is_finite() { format!("{x:.n$}") } else { "-".to_owned() }
}

/// A mean with its range.
fn mean_and_range(spread: Spread, n: usize) -> String {
    let Spread { low, mean, high } = spread;
    match low == high {
        true => decimals(mean, n),
        false => format!("{} ({}..{})", decimals(mean, n), decimals(low, n), decimals(high, n)),
    }
}

/// Table 2, as printed and as found; data that are not there have no second line.
pub(super) fn data_table(benchmarks: &[Benchmark], experiments: &[Experiment]) -> Table {
    let mut table = Table::titled(["dataset", "train", "valid", "test", "variables", ""]);
    for benchmark in benchmarks {
        let Benchmark { name, train, test, variables, .. } = benchmark;
        table.push([*name, &whole(*train), "", &whole(*test), &variables.to_string(), "the paper"]);
        if let Some(found) = experiments.iter().find(|e| e.benchmark.name == *name) {
            let [train, valid, test] = found.records.map(whole);
            let same = if found.is_that_of_the_paper() { "here, the same" } else { "here: NOT the paper's data" };
            table.push([*name, &train, &valid, &test, &found.variables.to_string(), same]);
        }
    }
    table
}

impl Setting {
    fn name(&self) -> String {
        format!("SLoPP k={} d={}", self.paper.k, self.paper.d)
    }
}

impl Experiment {
    /// The columns of the paper, next to ours.
    pub(super) fn printed_table(&self) -> Table {
        let titles =
            ["", "|C| paper", "|C| ours", "γ paper", "γ ours", "LL paper", "flow value, ours"].map(String::from);
        let mut table = Table::titled(titles);
        for setting in &self.settings {
            let ours = |of: fn(&Run) -> f64, paper: f64| {
                let spread = setting.spread(of);
                mean_and_range(spread, 0) + if spread.holds(paper) { WITHIN } else { "  " }
            };
            let paper = setting.paper;
            table.push([
                setting.name(),
                whole(paper.row.size),
                ours(|run| run.size, paper.row.size),
                whole(paper.gamma),
                ours(|run| run.score.impossible, paper.gamma),
                whole(paper.row.log_likelihood),
                ours(|run| run.flow, paper.row.log_likelihood),
            ]);
        }
        table
    }

    /// How many numbers of a kind have the paper's inside their range.
    pub(super) fn within(&self) -> String {
        let count = |of: fn(&Run) -> f64, paper: fn(&Setting) -> f64| {
            self.settings.iter().filter(|s| s.spread(of).holds(paper(s))).count()
        };
        let printed = |setting: &Setting| setting.paper.row.log_likelihood;
        format!(
            "* the paper's value is inside our range: size {}, γ {}, LL read as flow {}, LL read as true log-likelihood \
             {}, of {} each",
            count(|run| run.size, |s| s.paper.row.size),
            count(|run| run.score.impossible, |s| s.paper.gamma),
            count(|run| run.flow, printed),
            count(|run| run.score.log_likelihood, printed),
            self.settings.len()
        )
    }

    /// What the circuits are worth.
    pub(super) fn meaning_table(&self) -> Table {
        let mut table =
            Table::titled(["", "true LL, possible records", "per record", "overlapping sums", "several derivations"]);
        for setting in &self.settings {
            let percent = setting.spread(|run| 100.0 * run.several);
            table.push([
                setting.name(),
                mean_and_range(setting.spread(|run| run.score.log_likelihood), 0),
                decimals(setting.spread(|run| run.score.per_possible().unwrap_or(f64::NAN)).mean, 3),
                mean_and_range(setting.spread(|run| run.overlaps), 0),
                format!("{} %", mean_and_range(percent, 0)),
            ]);
        }
        table
    }

    /// What the circuits are worth where no record may be dropped.
    pub(super) fn support_table(&self) -> Table {
        let mut table = Table::titled(["", "mixed with a Chow-Liu tree", "weight of the tree", "open world"]);
        for setting in &self.settings {
            table.push([
                setting.name(),
                mean_and_range(setting.spread(|run| run.mixed), 3),
                mean_and_range(setting.spread(|run| run.weight), 3),
                mean_and_range(setting.spread(|run| run.open), 3),
            ]);
        }
        table
    }

    /// The other rows of the paper, trained ones, and ours.
    pub(super) fn reference_table(&self) -> Table {
        let mut table = Table::titled(["", "|C|", "γ", "LL", "over records", "per record", "per record, all"]);
        let Benchmark { factorised, strudel, .. } = self.benchmark;
        let kept = self.benchmark.untrained_records();
        let [value, n] = [factorised.log_likelihood, strudel.log_likelihood].map(whole);
        let quoted = |name: &str, size: f64, value: String, per_record: f64| {
            let per_record = decimals(per_record, 3);
            [name.to_owned(), whole(size), "-".into(), value, whole(kept), per_record, "-".into()]
        };
        table.push(quoted("paper: Fully Fact.", factorised.size, value, factorised.log_likelihood / kept));
        table.push(quoted("paper: Strudel", strudel.size, n, strudel.log_likelihood / kept));
        let [.., test] = self.records;
        let untrained = -(self.variables as f64) * std::f64::consts::LN_2;
        table.push([
            "factorised, untrained".into(),
            (5 * self.variables).saturating_sub(1).to_string(),
            "0".into(),
            whole(untrained * test),
            whole(test),
            decimals(untrained, 3),
            decimals(untrained, 3),
        ]);
        for Reference { name, size, score, all, weight } in &self.references {
            table.push([
                (*name).to_owned(),
                whole(*size),
                whole(score.impossible),
                whole(score.log_likelihood),
                whole(score.records - score.impossible),
                decimals(score.per_possible().unwrap_or(f64::NAN), 3),
                decimals(*all, 3) + if *weight > 0.0 { " mixed" } else { "" },
            ]);
        }
        table
    }

    /// Everything for programs.
    pub(super) fn document(&self) -> Value {
        let [train, valid, test] = self.records.map(json_count);
        let Benchmark { factorised, strudel, .. } = self.benchmark;
        let quoted = |row: &super::paper::Row| {
            object([("size_paper", json_count(row.size)), ("log_likelihood", json(row.log_likelihood))])
        };
        object([
            ("dataset", Value::from(self.benchmark.name)),
            ("table", Value::from(self.benchmark.table)),
            ("data_of_the_paper", Value::from(self.is_that_of_the_paper())),
            ("variables", Value::from(self.variables)),
            ("records", object([("train", train), ("valid", valid), ("test", test)])),
            ("vtree", Value::from(self.vtree.as_str())),
            ("settings", self.settings.iter().map(Setting::document).collect()),
            (
                "paper",
                object([
                    ("factorised", quoted(factorised)),
                    ("strudel", quoted(strudel)),
                    ("records", json_count(self.benchmark.untrained_records())),
                ]),
            ),
            ("models", self.references.iter().map(Reference::document).collect()),
        ])
    }
}

impl Setting {
    fn document(&self) -> Value {
        let range = |of: fn(&Run) -> f64| {
            let Spread { low, mean, high } = self.spread(of);
            object([("mean", json(mean)), ("low", json(low)), ("high", json(high))])
        };
        object([
            ("variant", Value::from("notebook")),
            ("k", Value::from(self.paper.k)),
            ("d", Value::from(self.paper.d)),
            (
                "paper",
                object([
                    ("size_paper", json_count(self.paper.row.size)),
                    ("gamma", json_count(self.paper.gamma)),
                    ("log_likelihood", json(self.paper.row.log_likelihood)),
                ]),
            ),
            ("size_paper", range(|run| run.size)),
            ("gamma", range(|run| run.score.impossible)),
            ("flow_log_value", range(|run| run.flow)),
            ("log_likelihood", range(|run| run.score.log_likelihood)),
            ("log_likelihood_per_possible_record", range(|run| run.score.per_possible().unwrap_or(f64::NAN))),
            ("overlapping_sums", range(|run| run.overlaps)),
            ("several_derivations", range(|run| run.several)),
            ("mixed_log_likelihood_per_record", range(|run| run.mixed)),
            ("open_log_likelihood_per_record", range(|run| run.open)),
            ("runs", self.runs.iter().map(Run::document).collect()),
        ])
    }
}

impl Run {
    fn document(&self) -> Value {
        object([
            ("seed", Value::from(self.seed)),
            ("size_paper", json_count(self.size)),
            ("gamma", json_count(self.score.impossible)),
            ("flow_log_value", json(self.flow)),
            ("log_likelihood", json(self.score.log_likelihood)),
            ("overlapping_sums", json_count(self.overlaps)),
            ("several_derivations", json(self.several)),
            ("mixed_log_likelihood_per_record", json(self.mixed)),
            ("tree_weight", json(self.weight)),
            ("open_log_likelihood_per_record", json(self.open)),
            ("train_is_possible", Value::from(self.relaxes)),
        ])
    }
}

impl Reference {
    fn document(&self) -> Value {
        let mut entries = vec![("model", Value::from(self.name)), ("size_paper", json_count(self.size))];
        entries.extend(score_entries(&self.score));
        entries.push(("all_log_likelihood_per_record", json(self.all)));
        entries.push(("tree_weight", json(self.weight)));
        object(entries)
    }
}

//! The rows of a file of results, ordered and averaged over seeds, for the report.

use super::published::{self, Column};
use super::registry;
use super::results::Row;
use serde_json::Value;

/// As close as this is a tie: published numbers have two decimals.
const TIE: f64 = 0.01;

/// What data without published numbers are shown relative to, the first that was measured.
const BASELINES: [&str; 2] = ["chow-liu", "factorised"];

/// All that was measured, by dataset and learner.
pub(super) struct Summary<'a> {
    pub(super) datasets: Vec<&'a str>,
    pub(super) learners: Vec<&'a str>,
    cells: Vec<Cell<'a>>,
}

/// A learner on a dataset: means over seeds.
pub(super) struct Cell<'a> {
    pub(super) dataset: &'a str,
    pub(super) learner: &'a str,
    pub(super) seeds: usize,
    /// None if a test record is impossible.
    pub(super) test: Option<f64>,
    pub(super) impossible_test: f64,
    pub(super) elements: f64,
    pub(super) parameters: f64,
    pub(super) certified: bool,
    pub(super) cpu_seconds: Option<f64>,
    pub(super) peak_memory_bytes: Option<f64>,
    /// The settings that were chosen for the last seed.
    settings: &'a Value,
}

/// How often a learner is better than, as good as and worse than published numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) wins: usize,
    pub(super) ties: usize,
    pub(super) losses: usize,
    /// Datasets on which it has no test likelihood.
    pub(super) none: usize,
}

impl<'a> Summary<'a> {
    /// Of several rows of one dataset, learner and seed the last counts.
    pub(super) fn new(rows: &'a [Row]) -> Summary<'a> {
        let datasets = published::TWENTY.iter().map(|line| line.dataset);
        let datasets = ordered(datasets, rows.iter().map(|row| row.dataset.as_str()));
        let learners = ordered(registry::ALL.iter().map(|l| l.name), rows.iter().map(|row| row.learner.as_str()));
        let mut cells = Vec::new();
        for &dataset in &datasets {
            for &learner in &learners {
                let mut last: Vec<&Row> = Vec::new();
                for row in rows.iter().filter(|row| row.dataset == dataset && row.learner == learner) {
                    last.retain(|earlier| earlier.seed != row.seed);
                    last.push(row);
                }
                cells.extend(Cell::new(&last));
            }
        }
        Summary { datasets, learners, cells }
    }

    /// All cells, by dataset and then by learner.
    pub(super) fn cells(&self) -> &[Cell<'a>] {
        &self.cells
    }

    /// The cell of a dataset and a learner, if it was measured.
    pub(super) fn cell(&self, dataset: &str, learner: &str) -> Option<&Cell<'a>> {
        self.cells.iter().find(|cell| cell.dataset == dataset && cell.learner == learner)
    }

    /// What the likelihoods of a dataset are shown relative to: the best published single PSDD or, of other data, the
    /// measured Chow-Liu tree or factorised model.
    pub(super) fn reference(&self, dataset: &str) -> Option<f64> {
        match published::line(dataset) {
            Some(line) => Some(line.best_psdd()),
            None => BASELINES.iter().find_map(|baseline| self.cell(dataset, baseline)?.test),
        }
    }

    /// Whether all datasets are of the twenty, and whether none is.
    pub(super) fn published(&self) -> [bool; 2] {
        let is_published = |dataset: &&str| published::line(dataset).is_some();
        [self.datasets.iter().all(is_published), !self.datasets.iter().any(is_published)]
    }

    /// A learner against a published column, over the datasets that both have.
    pub(super) fn tally(&self, learner: &str, column: &Column) -> Tally {
        let mut tally = Tally::default();
        for cell in self.cells.iter().filter(|cell| cell.learner == learner) {
            let Some(published) = published::line(cell.dataset).and_then(column.value) else { continue };
            match cell.test.map(|test| test - published) {
                None => tally.none += 1,
                Some(more) if more > TIE => tally.wins += 1,
                Some(more) if more < -TIE => tally.losses += 1,
                Some(_) => tally.ties += 1,
            }
        }
        tally
    }
}

impl<'a> Cell<'a> {
    fn new(rows: &[&'a Row]) -> Option<Cell<'a>> {
        let last = rows.last()?;
        let mean = |value: fn(&Row) -> Option<f64>| -> Option<f64> {
            let values: Option<Vec<f64>> = rows.iter().map(|row| value(row)).collect();
            values.map(|values| values.iter().sum::<f64>() / values.len() as f64)
        };
        Some(Cell {
            dataset: &last.dataset,
            learner: &last.learner,
            seeds: rows.len(),
            test: mean(|row| row.test),
            impossible_test: mean(|row| Some(row.impossible_test))?,
            elements: mean(|row| Some(row.size.elements as f64))?,
            parameters: mean(|row| Some(row.size.parameters as f64))?,
            certified: rows.iter().all(|row| row.certified),
            cpu_seconds: mean(|row| row.cpu_seconds),
            peak_memory_bytes: mean(|row| row.peak_memory_bytes.map(|bytes| bytes as f64)),
            settings: &last.settings,
        })
    }

    /// The settings that were chosen on the validation part, in words.
    pub(super) fn chosen(&self) -> String {
        let tried = self.settings["grid"].as_object().into_iter().flat_map(|grid| grid.keys());
        let tried = tried.map(|name| (name, &self.settings[name]));
        let itself = self.settings["chosen"].as_object().into_iter().flatten();
        let words = tried.chain(itself).map(|(name, value)| {
            // Whole numbers without a point; what a learner chose itself is text.
            let value = match (value.as_f64(), value.as_str()) {
                (Some(number), _) => number.to_string(),
                (_, Some(text)) => text.to_owned(),
                _ => value.to_string(),
            };
            format!("{} {value}", name.replace('_', " "))
        });
        words.collect::<Vec<_>>().join(", ")
    }

    /// Whether it reaches the best published single PSDD, if there is one for the dataset.
    pub(super) fn reaches_best_psdd(&self) -> bool {
        let best = published::line(self.dataset).map(published::Line::best_psdd);
        self.test.zip(best).is_some_and(|(test, best)| test >= best - TIE)
    }
}

/// The known names that were found, then the other ones as they were found.
fn ordered<'a>(
    known: impl Iterator<Item = &'static str>,
    found: impl Iterator<Item = &'a str> + Clone,
) -> Vec<&'a str> {
    let mut names: Vec<&str> = known.filter(|name| found.clone().any(|other| other == *name)).collect();
    for name in found {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(dataset: &str, seed: u64, test: Option<f64>) -> Row {
        Row {
            dataset: dataset.to_owned(),
            learner: "slopp".to_owned(),
            settings: json!({
                "pseudocount": 2.0,
                "grid": { "pseudocount": [1.0, 2.0] },
                "chosen": { "held_out": "0", "start": "tree" },
            }),
            seed,
            train: test,
            valid: test,
            test,
            impossible_test: 0.0,
            size: slopp::model::Size { nodes: 3, elements: 10, parameters: 12 },
            certified: true,
            cpu_seconds: Some(1.0),
            peak_memory_bytes: None,
            version: String::new(),
        }
    }

    #[test]
    fn seeds_are_averaged_and_the_last_row_counts() {
        let rows = [row("own", 0, Some(-1.0)), row("nltcs", 0, Some(-9.0)), row("nltcs", 0, Some(-6.0))];
        let rows = [rows.as_slice(), &[row("nltcs", 1, Some(-6.1))]].concat();
        let summary = Summary::new(&rows);
        assert_eq!(summary.datasets, ["nltcs", "own"]);
        let cell = summary.cell("nltcs", "slopp").unwrap();
        assert_eq!((cell.seeds, cell.chosen().as_str()), (2, "pseudocount 2, held out 0, start tree"));
        assert!((cell.test.unwrap() + 6.05).abs() < 1e-12);
        assert_eq!((summary.reference("nltcs"), summary.reference("own")), (Some(-6.03), None));
        let tree = Row { learner: "chow-liu".to_owned(), ..row("own", 0, Some(-2.0)) };
        let own = [row("own", 0, Some(-1.0)), tree];
        assert_eq!(Summary::new(&own).reference("own"), Some(-2.0));
        assert_eq!((Summary::new(&own).published(), summary.published()), ([false, true], [false, false]));
        assert!(summary.cell("own", "strudel").is_none());
    }

    #[test]
    fn within_a_hundredth_is_a_tie() {
        // LearnPSDD has -6.03, -6.04 and -2.17 there.
        let rows = [row("nltcs", 0, Some(-6.038)), row("msnbc", 0, Some(-6.02)), row("kdd", 0, Some(-2.19))];
        let rows = [rows.as_slice(), &[row("plants", 0, None), row("own", 0, Some(-1.0))]].concat();
        let summary = Summary::new(&rows);
        let column = published::COLUMNS.iter().find(|column| column.name == "LearnPSDD").unwrap();
        assert_eq!(summary.tally("slopp", column), Tally { wins: 1, ties: 1, losses: 1, none: 1 });
        let reaches = |dataset| summary.cell(dataset, "slopp").unwrap().reaches_best_psdd();
        assert_eq!(["nltcs", "msnbc", "kdd", "plants"].map(reaches), [true, true, false, false]);
    }
}

//! The report of a file of results: tables next to the published numbers, wins and losses, plots.

use super::published::{self, COLUMNS, COSTS, Cost, RIVALS};
use super::results::Row;
use super::summary::{Cell, Summary};
use crate::html::Page;
use slopp::io::write_atomically;
use slopp::render::plot::{Axis, Point, Scatter, Series};
use slopp_cli::{Error, Table, count};
use std::path::Path;

/// What the numbers are; only the twenty datasets have standard splits.
fn lead(summary: &Summary) -> String {
    let splits = if summary.published()[0] { " of the standard splits" } else { "" };
    format!(
        "Average test log-likelihood in nats per record, over all test records{splits}. Hyper-parameters are chosen on \
         the validation part only."
    )
}

const MARKS: &str = "* at least the best published single PSDD, up to 0.01. γ: the number of test records that are \
    impossible, so there is no average over all.";

const TALLIES: &str = "Datasets won / tied / lost against published numbers; within 0.01 is a tie. A dataset without \
    a test likelihood counts as none of them.";

const COSTS_NOTE: &str = "CPU seconds of all threads and peak memory of a whole process: reading, learning with every \
    setting that is tried, scoring all parts. Certified: proved to be a PSDD.";

/// Models that are this many percent below the best PSDD would squeeze all others into a corner of the plots.
const FLOOR: f64 = -25.0;

/// Writes `report.md`, `report.html`, `size.svg` and `time.svg` into a folder, which is made if need be.
pub(super) fn write(folder: &Path, rows: &[Row]) -> Result<(), Error> {
    let fail = |error: Error| {
        error
            .while_doing(format!("the report was not written to {}", folder.display()))
            .hint("--report DIR where you may write; the results are kept")
    };
    std::fs::create_dir_all(folder).map_err(|error| fail(error.into()))?;
    let report = Report::new(&Summary::new(rows));
    let files = [
        ("report.md", report.markdown()),
        ("report.html", report.html()),
        ("size.svg", report.size.clone()),
        ("time.svg", report.time.clone()),
    ];
    for (name, content) in files {
        let written = write_atomically(&folder.join(name), |out| out.write_all(content.as_bytes()));
        written.map_err(|error| fail(error.into()))?;
    }
    Ok(())
}

/// What both forms of the report hold.
struct Report {
    lead: String,
    likelihoods: Table,
    tallies: Table,
    costs: Table,
    size: String,
    time: String,
}

impl Report {
    fn new(summary: &Summary) -> Report {
        let size = Plot {
            title: "Log-likelihood against size",
            x: "elements",
            ours: |cell| Some(cell.elements),
            theirs: |cost| cost.elements,
        };
        let time = Plot {
            title: "Log-likelihood against time",
            x: "CPU seconds (published: seconds in total)",
            ours: |cell| cell.cpu_seconds,
            theirs: |cost| cost.seconds,
        };
        Report {
            lead: lead(summary),
            likelihoods: likelihoods(summary),
            tallies: tallies(summary),
            costs: costs(summary),
            size: size.svg(summary),
            time: time.svg(summary),
        }
    }

    fn markdown(&self) -> String {
        let mut text = format!("# Learners on the benchmark datasets\n\n{}\n\n", self.lead);
        text += &format!("## Test log-likelihood\n\n{}\n{MARKS}\n\n", markdown(&self.likelihoods).replace('*', "\\*"));
        text += &format!("## Against published numbers\n\n{TALLIES}\n\n{}\n", markdown(&self.tallies));
        text += "![Log-likelihood against size](size.svg)\n\n![Log-likelihood against time](time.svg)\n\n";
        text += &format!("## Size and cost\n\n{COSTS_NOTE}\n\n{}\n## Published columns\n\n", markdown(&self.costs));
        for column in COLUMNS {
            text += &format!("- {}: {}\n", column.name, column.source);
        }
        text.replacen("\n* at least", "\n\\* at least", 1)
    }

    fn html(&self) -> String {
        let mut page = Page::new("Learners on the benchmark datasets", &self.lead);
        page.section("Test log-likelihood");
        page.table(&self.likelihoods, MARKS);
        page.section("Against published numbers");
        page.table(&self.tallies, TALLIES);
        page.pictures([(self.size.as_str(), ""), (self.time.as_str(), "")]);
        page.section("Size and cost");
        page.table(&self.costs, COSTS_NOTE);
        page.section("Published columns");
        let mut sources = Table::titled(["column", "source"]);
        COLUMNS.iter().for_each(|column| sources.push([column.name, column.source]));
        page.table(&sources, "Listed in full in REFERENCES.md.");
        page.finish(&format!("slopp {}, `slopp bench --report`", super::VERSION))
    }
}

fn likelihoods(summary: &Summary) -> Table {
    let ours = summary.learners.iter().copied();
    let mut table = Table::titled(["dataset"].into_iter().chain(ours).chain(COLUMNS.iter().map(|c| c.name)));
    for &dataset in &summary.datasets {
        let ours =
            summary.learners.iter().map(|learner| summary.cell(dataset, learner).map_or(String::new(), likelihood));
        let theirs = COLUMNS.iter().map(|column| {
            let value = published::line(dataset).and_then(column.value);
            value.map_or("–".to_owned(), |value| format!("{value:.2}"))
        });
        table.push([dataset.to_owned()].into_iter().chain(ours).chain(theirs));
    }
    table
}

fn likelihood(cell: &Cell) -> String {
    match cell.test {
        Some(test) => format!("{test:.2}{}", if cell.reaches_best_psdd() { "*" } else { "" }),
        None => format!("γ {}", count(cell.impossible_test)),
    }
}

fn tallies(summary: &Summary) -> Table {
    let mut table = Table::titled(["learner"].iter().chain(RIVALS).copied());
    let rivals = || RIVALS.iter().filter_map(|rival| COLUMNS.iter().find(|column| column.name == *rival));
    for &learner in &summary.learners {
        let tallies = rivals().map(|column| {
            let tally = summary.tally(learner, column);
            match (tally.wins + tally.ties + tally.losses, tally.none) {
                (0, _) => "–".to_owned(),
                (_, 0) => format!("{} / {} / {}", tally.wins, tally.ties, tally.losses),
                (_, none) => format!("{} / {} / {}, {none} none", tally.wins, tally.ties, tally.losses),
            }
        });
        table.push([learner.to_owned()].into_iter().chain(tallies));
    }
    table
}

fn costs(summary: &Summary) -> Table {
    let titles =
        ["dataset", "learner", "elements", "parameters", "certified", "CPU s", "peak MB", "seeds", "chosen settings"];
    let mut table = Table::titled(titles);
    for cell in summary.cells() {
        table.push([
            cell.dataset.to_owned(),
            cell.learner.to_owned(),
            count(cell.elements.round()),
            count(cell.parameters.round()),
            if cell.certified { "yes" } else { "no" }.to_owned(),
            cell.cpu_seconds.map_or("–".to_owned(), |seconds| format!("{seconds:.2}")),
            cell.peak_memory_bytes.map_or("–".to_owned(), |bytes| format!("{:.0}", bytes / 1e6)),
            cell.seeds.to_string(),
            cell.chosen(),
        ]);
    }
    table
}

/// Likelihood relative to the reference of its dataset, against what it costs; a point per dataset.
struct Plot {
    title: &'static str,
    x: &'static str,
    ours: fn(&Cell) -> Option<f64>,
    theirs: fn(&Cost) -> &'static [(&'static str, f64)],
}

impl Plot {
    fn svg(&self, summary: &Summary) -> String {
        let mut below = 0;
        let mut series = Vec::new();
        // Where nothing has a reference, the likelihoods themselves are all there is to show.
        let in_nats = summary.datasets.iter().all(|dataset| summary.reference(dataset).is_none());
        let height = |dataset: &str, test: f64| match summary.reference(dataset) {
            Some(reference) => Some(100.0 * (test - reference) / reference.abs()),
            None => in_nats.then_some(test),
        };
        for &learner in &summary.learners {
            let cells = summary.cells().iter().filter(|cell| cell.learner == learner);
            let points = cells.filter_map(|cell| {
                Some(Point::new((self.ours)(cell)?, height(cell.dataset, cell.test?)?, cell.dataset))
            });
            let (shown, left_out): (Vec<Point>, Vec<Point>) = points.partition(|point| in_nats || point.y >= FLOOR);
            below += left_out.len();
            series.push(Series { name: learner.to_owned(), points: shown, joined: false });
        }
        for cost in COSTS {
            let column = COLUMNS.iter().find(|column| column.name == cost.name);
            let measured = (self.theirs)(cost).iter().filter(|(dataset, _)| summary.datasets.contains(dataset));
            let points = measured.filter_map(|&(dataset, x)| {
                let test = published::line(dataset).and_then(column?.value)?;
                Some(Point::new(x, height(dataset, test)?, dataset))
            });
            series.push(Series { name: format!("{}, published", cost.name), points: points.collect(), joined: false });
        }
        series.retain(|series| !series.points.is_empty());
        let note = match below {
            0 => "A point per dataset.".to_owned(),
            n => format!("A point per dataset; {n} below {FLOOR} % are left out."),
        };
        Scatter {
            title: self.title.to_owned(),
            note,
            x: Axis::log(self.x),
            y: Axis::linear(match (in_nats, summary.published()) {
                (true, _) => "test log-likelihood, in nats per record",
                (_, [true, _]) => "test log-likelihood above the best published PSDD, in percent",
                (_, [_, true]) => "test log-likelihood above the Chow-Liu tree, in percent",
                _ => "test log-likelihood above the best published PSDD (own data: the Chow-Liu tree), in percent",
            }),
            series,
        }
        .svg()
    }
}

/// A table in Markdown, numbers to the right.
fn markdown(table: &Table) -> String {
    let mut text = String::new();
    for (i, line) in table.lines().iter().enumerate() {
        text += &format!("| {} |\n", line.join(" | "));
        if i == 0 {
            text += &format!("|---|{}\n", "--:|".repeat(line.len() - 1));
        }
    }
    text
}

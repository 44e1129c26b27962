//! The report as one HTML page with its plots.

use super::Reproduction;
use super::experiment::{Experiment, Run};
use super::paper::{BENCHMARKS, SOURCE};
use super::tables::data_table;
use crate::html::Page;
use crate::plot::{Strip, Strips};
use slopp::render::plot::Axis;
use slopp_cli::counted;

/// The whole page.
pub(super) fn page(all: &Reproduction) -> String {
    let lead = format!(
        "Every number of the paper's Tables 1 to 4 next to ours, over {} where chance plays a part, and the \
         erratum with every claim computed on the spot.",
        counted(all.seeds as usize, "seed")
    );
    let mut page = Page::new("SLoPP, reproduced", &lead);
    page.text(&format!("The paper: {SOURCE}."));
    page.section("Table 1 and Figure 2");
    page.text(&all.example.summary());
    page.pictures([(all.example.figure().as_str(), "Figure 2, learned from Table 1 with the printed clusters")]);
    page.pictures([(all.example.chart().as_str(), "")]);
    page.table(&all.example.table(), "All sixteen worlds; fractions worked out by hand, probabilities computed here.");
    page.section("Table 2");
    page.table(&data_table(&BENCHMARKS, &all.experiments), "");
    if let Some(note) = all.how_to_get() {
        page.lines(&note);
    }
    for experiment in &all.experiments {
        add_experiment(&mut page, experiment, &counted(all.seeds as usize, "seed"));
    }
    page.section("Erratum");
    for finding in &all.findings {
        page.verdict(
            finding.tone(),
            &format!("{}. {}", finding.id, finding.claim),
            &format!("{}: {}", finding.word(), finding.verdict),
        );
        page.lines(&finding.computed.join("\n"));
    }
    page.finish(&format!("Made by slopp {} with `slopp reproduce --seeds {}`.", env!("CARGO_PKG_VERSION"), all.seeds))
}

fn add_experiment(page: &mut Page, experiment: &Experiment, seeds: &str) {
    let name = experiment.benchmark.name;
    page.section(&format!("{}: {name}", experiment.benchmark.table));
    page.text(&format!(
        "SLoPP as published (the authors' variant, k-means, vtree of the Chow-Liu tree), {seeds} per row: mean \
         and range."
    ));
    let pictures = [size(experiment), gamma(experiment), log_likelihood(experiment), all_records(experiment)];
    page.pictures(pictures.iter().map(|svg| (svg.as_str(), "")));
    page.heading("What the paper prints");
    page.table(&experiment.printed_table(), &experiment.within());
    page.heading("What the circuits are worth");
    page.table(&experiment.meaning_table(), super::MEANING);
    page.table(&experiment.support_table(), super::SUPPORT);
    page.heading("What they are compared with");
    page.table(&experiment.reference_table(), super::REFERENCES);
}

fn rows(experiment: &Experiment, values: &[fn(&Run) -> f64], paper: impl Fn(usize) -> f64) -> Vec<Strip> {
    let row = |(i, setting): (usize, &super::experiment::Setting)| Strip {
        name: format!("k = {}, d = {}", setting.paper.k, setting.paper.d),
        values: values.iter().map(|of| setting.runs.iter().map(of).collect()).collect(),
        reference: Some(paper(i)),
    };
    experiment.settings.iter().enumerate().map(row).collect()
}

const DOTS: &str = "a dot is one seed, the bar their range, the line their mean";

fn size(experiment: &Experiment) -> String {
    Strips {
        title: format!("{}: size", experiment.benchmark.name),
        note: DOTS.into(),
        axis: Axis::linear("|C|, nodes as the paper counts them"),
        series: vec!["ours".into()],
        reference: "the paper".into(),
        rows: rows(experiment, &[|run| run.size], |i| experiment.benchmark.slopp[i].row.size),
    }
    .svg()
}

fn gamma(experiment: &Experiment) -> String {
    Strips {
        title: format!("{}: impossible test records", experiment.benchmark.name),
        note: DOTS.into(),
        axis: Axis::linear("γ"),
        series: vec!["ours".into()],
        reference: "the paper".into(),
        rows: rows(experiment, &[|run| run.score.impossible], |i| experiment.benchmark.slopp[i].gamma),
    }
    .svg()
}

fn log_likelihood(experiment: &Experiment) -> String {
    Strips {
        title: format!("{}: what the paper prints as log-likelihood", experiment.benchmark.name),
        note: "the printed values are flow values, not log-likelihoods".into(),
        axis: Axis::linear("nats, summed over the possible test records"),
        series: vec!["flow value".into(), "true log-likelihood".into()],
        reference: "the paper".into(),
        rows: rows(experiment, &[|run| run.flow, |run| run.score.log_likelihood], |i| {
            experiment.benchmark.slopp[i].row.log_likelihood
        }),
    }
    .svg()
}

fn all_records(experiment: &Experiment) -> String {
    let mut strips: Vec<Strip> = experiment
        .settings
        .iter()
        .map(|setting| Strip {
            name: format!("k-means, k = {}, d = {}", setting.paper.k, setting.paper.d),
            values: vec![
                setting.runs.iter().map(|run| run.mixed).collect(),
                setting.runs.iter().map(|run| run.open).collect(),
                vec![],
            ],
            reference: None,
        })
        .collect();
    // The factorised model is so far off that it would squeeze the rest; it is in the table.
    strips.extend(experiment.references.iter().skip(1).map(|model| Strip {
        name: model.name.to_owned(),
        values: match model.weight > 0.0 {
            true => vec![vec![model.all], vec![], vec![]],
            false => vec![vec![], vec![], vec![model.all]],
        },
        reference: None,
    }));
    Strips {
        title: format!("{}: all test records, nothing dropped", experiment.benchmark.name),
        note: "three ways to give every record a probability; right is better".into(),
        axis: Axis::linear("log-likelihood per record, nats"),
        series: vec![
            "closed world, mixed with a Chow-Liu tree".into(),
            "k-means, open world".into(),
            "certified".into(),
        ],
        reference: String::new(),
        rows: strips,
    }
    .svg()
}

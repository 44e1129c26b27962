//! What `slopp learn` reports about a model.

use super::parts::Parts;
use crate::cmd::info::big;
use crate::error::Error;
use crate::input::{MIXTURE_IN_WORDS, SPN_IN_WORDS, certificate, certificate_in_words};
use crate::report::{
    Table, columns_document, columns_in_words, count, counted, facts, fidelity_document, json, json_count, logarithm,
    object, probability, records, score_entries,
};
use crate::session::Session;
use serde_json::Value;
use slopp::circuit::Overlaps;
use slopp::fidelity::Fidelity;
use slopp::infer::{Distribution, QueryError, Score};
use slopp::{Certified, Model, ModelKind, Records};
use std::path::Path;

/// A learned model and how well it does.
pub(super) struct Learned<'a> {
    pub(super) model: &'a Model,
    /// How many models a bag has, if they were divided into components.
    pub(super) divided: Option<usize>,
    pub(super) scores: &'a [(&'static str, Score)],
    /// How well it agrees with the training records, value by value.
    pub(super) fidelity: &'a Fidelity,
    pub(super) seconds: f64,
    /// How many training records with missing cells were left out, if that was asked for.
    pub(super) dropped: Option<f64>,
    /// What it was learned from and had to obey.
    pub(super) parts: &'a Parts,
    /// Where it was saved.
    pub(super) output: Option<&'a Path>,
}

impl Learned<'_> {
    /// The report as JSON.
    pub(super) fn document(&self, seed: u64) -> Value {
        let origin = &self.model.origin;
        let made = |key: &str| origin.get(key).map_or(Value::Null, |value| Value::from(value.as_str()));
        let mut entries = vec![
            ("learner", made("learner")),
            ("world", made("world")),
            ("vtree", made("vtree")),
            ("seed", Value::from(seed)),
            ("variables", Value::from(self.model.names.len())),
        ];
        match &self.model.kind {
            ModelKind::Circuit(circuit) => {
                let stats = circuit.stats();
                entries.extend([
                    ("nodes", Value::from(stats.nodes)),
                    ("elements", Value::from(stats.elements)),
                    ("parameters", Value::from(stats.parameters)),
                    ("size_paper", Value::from(stats.size_paper)),
                    ("certificate", Value::from(certificate(circuit))),
                    ("overlapping_sums", Value::from(self.overlaps(circuit).sums)),
                ]);
                entries.extend(self.model_count().map(|digits| ("model_count", Value::from(digits))));
            }
            ModelKind::Mixture(mixture) => {
                let stats = mixture.stats();
                entries.extend(self.divided.map(|models| ("models", Value::from(models))));
                entries.extend([
                    ("components", Value::from(mixture.component_count())),
                    ("nodes", Value::from(stats.nodes)),
                    ("elements", Value::from(stats.elements)),
                    ("parameters", Value::from(stats.parameters)),
                    ("certificate", Value::from("mixture")),
                ]);
            }
            ModelKind::Spn(spn) => {
                let stats = spn.stats();
                entries.extend([
                    ("nodes", Value::from(stats.nodes)),
                    ("edges", Value::from(stats.edges)),
                    ("parameters", Value::from(stats.parameters)),
                    ("certificate", Value::from("spn")),
                ]);
            }
        }
        entries.extend(self.dropped.map(|dropped| ("dropped_incomplete", json_count(dropped))));
        entries.extend(columns_document(&self.model.names).map(|columns| ("columns", columns)));
        let rules = self.parts.enforcement.as_ref().and_then(|enforcement| enforcement.document(&self.model.names));
        entries.extend(rules.map(|rules| ("rules", rules)));
        entries.extend(self.scores.iter().map(|(name, score)| (*name, object(score_entries(score)))));
        entries.push(("fidelity", fidelity_document(self.fidelity, &self.model.names)));
        let settings = origin.iter().map(|(key, value)| (key.as_str(), Value::from(value.as_str())));
        entries.push(("origin", object(settings)));
        entries.push(("seconds", json(self.seconds)));
        entries.push(("model", self.output.map_or(Value::Null, |file| Value::from(file.display().to_string()))));
        object(entries)
    }

    /// How many worlds are possible, where something was to be impossible and they can be counted.
    fn model_count(&self) -> Option<String> {
        let Parts { enforcement, closed, open, .. } = self.parts;
        let is_closed = self.model.origin.get("world").is_some_and(|world| world == "closed");
        (is_closed || enforcement.is_some() || closed.is_some() || open.is_some())
            .then(|| self.model.deterministic().map(|circuit| circuit.model_count().to_string()))?
    }

    /// How many sums have overlapping primes, as far as limits allow to say.
    fn overlaps(&self, circuit: &Certified) -> Overlaps {
        match circuit {
            Certified::Psdd(_) => Overlaps::default(),
            _ => circuit.overlaps(0, &self.parts.limits),
        }
    }

    /// How far conditional probabilities are from those of the training records, if any were compared.
    fn fidelity_in_words(&self) -> Option<String> {
        let Fidelity { conditionals, mean, left_out, .. } = *self.fidelity;
        let left_out = match left_out {
            0 => String::new(),
            columns => format!("; {} of little entropy left out", counted(columns, "column")),
        };
        let [mean, largest] = [mean, self.fidelity.largest()].map(probability);
        let compared = count(conditionals as f64);
        (conditionals > 0).then(|| {
            format!("{compared} conditional probabilities, off by {mean} in the mean, {largest} at most{left_out}")
        })
    }

    /// The report as text.
    pub(super) fn print(&self, session: &mut Session) -> Result<(), Error> {
        let origin = &self.model.origin;
        let mut lines = vec![("learner", format!("{}, {} world", origin["learner"], origin["world"]))];
        lines.extend(origin.get("vtree").map(|vtree| ("vtree", vtree.clone())));
        match &self.model.kind {
            ModelKind::Circuit(circuit) => {
                let stats = circuit.stats();
                let size = [counted(stats.elements, "element"), counted(stats.parameters, "parameter")];
                lines.extend([
                    ("size", size.join(", ")),
                    ("size in the paper", count(stats.size_paper as f64)),
                    ("certificate", certificate_in_words(circuit).to_owned()),
                ]);
                lines.extend(
                    self.model_count()
                        .map(|digits| ("possible", format!("{} worlds", big(&digits, self.model.names.len())))),
                );
                let overlaps = self.overlaps(circuit);
                if overlaps.sums > 0 {
                    let [some, all] = [count(overlaps.sums as f64), counted(stats.sums, "sum")];
                    let least = if overlaps.stopped.is_some() { "at least " } else { "" };
                    lines.push(("overlaps", format!("primes overlap in {least}{some} of {all}")));
                }
            }
            ModelKind::Mixture(mixture) => {
                let stats = mixture.stats();
                let size = [counted(stats.elements, "element"), counted(stats.parameters, "parameter")];
                let components = mixture.component_count();
                lines.push(match self.divided {
                    Some(models) => {
                        let [models, parts] = [counted(models, "model"), counted(components, "component")];
                        ("components", format!("{models} in {parts}: each was divided"))
                    }
                    None => ("components", count(components as f64)),
                });
                lines.push(("size", size.join(", ")));
                lines.push(("certificate", MIXTURE_IN_WORDS.to_owned()));
            }
            ModelKind::Spn(spn) => {
                let stats = spn.stats();
                let size = [counted(stats.nodes, "node"), counted(stats.edges, "edge")];
                lines.push(("size", format!("{}, {}", size.join(", "), counted(stats.parameters, "parameter"))));
                lines.push(("certificate", SPN_IN_WORDS.to_owned()));
            }
        }
        if let Some(dropped) = self.dropped {
            lines.push(("dropped", format!("{} with missing cells", records(dropped))));
        }
        lines.extend(columns_in_words(&self.model.names).map(|columns| ("columns", columns)));
        let Parts { enforcement, closed, open, .. } = self.parts;
        lines.extend(enforcement.as_ref().and_then(|enforcement| enforcement.fact()).map(|rules| ("rules", rules)));
        lines.extend(closed.as_ref().map(|closed| ("closed", closed.closed_fact())));
        lines.extend(open.as_ref().map(|open| ("open", open.open_fact())));
        lines.extend(self.fidelity_in_words().map(|fidelity| ("fidelity", fidelity)));
        lines.push(("time", format!("{:.2} s", self.seconds)));
        session.line(facts(lines))?;
        session.line("")?;
        session.table(&score_table(self.scores))
    }
}

/// The scores of a model on each part.
pub(crate) fn scores(
    model: &dyn Distribution,
    parts: &[(&'static str, &Records)],
) -> Result<Vec<(&'static str, Score)>, QueryError> {
    parts.iter().map(|&(name, records)| Ok((name, Score::of(model, records)?))).collect()
}

/// Records, impossible records and log-likelihoods of each part.
pub(crate) fn score_table(scores: &[(&'static str, Score)]) -> Table {
    let titles = ["part", "records", "impossible", "log-likelihood", "per record", "per possible record"];
    let mut table = Table::titled(titles);
    for (name, score) in scores {
        table.push([
            (*name).to_owned(),
            count(score.records),
            count(score.impossible),
            total(score),
            score.per_record().map_or("-".to_owned(), logarithm),
            score.per_possible().map_or("-".to_owned(), logarithm),
        ]);
    }
    table
}

/// The log-likelihood of all records together; of very few with enough digits to show it.
fn total(score: &Score) -> String {
    match score.records < 0.01 && score.log_likelihood.is_finite() {
        true => format!("{:.4e}", score.log_likelihood),
        false => logarithm(score.log_likelihood),
    }
}

//! `slopp info`: what a model is.

use crate::args::ModelArgs;
use crate::error::Error;
use crate::files::Files;
use crate::input::{Loaded, MIXTURE_IN_WORDS, SPN_IN_WORDS, certificate, certificate_in_words};
use crate::report::{
    Table, columns_document, columns_in_words, count, counted, facts, grouped, json, object, probability,
};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::spn::Spn;
use slopp::{Certified, Mixture, Model, ModelKind, Names, Var};
use std::collections::BTreeMap;

const EXAMPLES: &str = "\
Examples:
  slopp info model.psdd
  slopp info other.psdd --vtree other.vtree --json";

/// What is this model? Sizes, certificate, model count, entropy, names, vtree, origin
///
/// Sizes are counted as peers do (elements, parameters) and as the SLoPP paper does (sums + elements + tops + distinct
/// literals). The model count is the exact number of possible worlds; it and the entropy need a deterministic circuit.
/// Of a mixture (.mix) the components are listed with their weights.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    model: ModelArgs,
}

pub(crate) fn run(args: &InfoArgs, session: &mut Session) -> Result<Verdict, Error> {
    Files::default().read(args.model.files()).check()?;
    let loaded = Loaded::read_as_is(&args.model)?;
    match &loaded.model.kind {
        ModelKind::Circuit(found) => circuit(&loaded, found, session)?,
        ModelKind::Spn(spn) => network(&loaded.model, spn, session)?,
        ModelKind::Mixture(found) => mixture(&loaded.model, found, session)?,
    }
    Ok(Verdict::Yes)
}

fn network(model: &Model, spn: &Spn, session: &mut Session) -> Result<(), Error> {
    let stats = spn.stats();
    let origin = || model.origin.iter().map(|(key, value)| (key.as_str(), value.clone()));
    if session.json {
        let sizes = [
            ("nodes", stats.nodes),
            ("sums", stats.sums),
            ("products", stats.products),
            ("trees", stats.trees),
            ("univariate_leaves", stats.univariate),
            ("edges", stats.edges),
            ("parameters", stats.parameters),
        ];
        let mut entries = vec![("variables", Value::from(model.names.len()))];
        entries.extend(sizes.map(|(name, number)| (name, Value::from(number))));
        entries.push(("certificate", Value::from("spn")));
        entries.push(("names", model.names.iter().map(Value::from).collect()));
        entries.extend(columns_document(&model.names).map(|columns| ("columns", columns)));
        entries.push(("origin", object(origin().map(|(key, value)| (key, Value::from(value))))));
        return session.document(&object(entries));
    }
    let parts = [
        counted(stats.sums, "sum"),
        counted(stats.products, "product"),
        counted(stats.trees, "tree"),
        counted(stats.univariate, "Bernoulli or literal node"),
    ];
    let lines = [
        ("variables", count(model.names.len() as f64)),
        ("certificate", SPN_IN_WORDS.to_owned()),
        ("nodes", format!("{} ({})", count(stats.nodes as f64), parts.join(", "))),
        ("edges", count(stats.edges as f64)),
        ("parameters", count(stats.parameters as f64)),
        ("names", all_names(&model.names)),
    ];
    session.line(facts(lines))?;
    tell_origin(&model.origin, session)
}

fn circuit(loaded: &Loaded, circuit: &Certified, session: &mut Session) -> Result<(), Error> {
    let model = &loaded.model;
    let stats = circuit.stats();
    let deterministic = circuit.deterministic();
    let model_count = deterministic.map(|d| d.model_count().to_string());
    let entropy = deterministic.map(|d| d.entropy());
    let vtree = circuit.vtree().line(&model.names).to_string();
    let note = match circuit {
        Certified::Psdd(_) => None,
        Certified::Deterministic(_, overlap) => Some(loaded.overlap_in_words(overlap)),
        Certified::Circuit(_, reason) => {
            Some(format!("no model count and no entropy: {}", loaded.reason_in_words(reason)))
        }
    };
    if session.json {
        let number = |n: usize| Value::from(n);
        let mut entries = vec![
            ("variables", number(circuit.var_count())),
            ("nodes", number(stats.nodes)),
            ("elements", number(stats.elements)),
            ("parameters", number(stats.parameters)),
            ("size_paper", number(stats.size_paper)),
            ("model_count", model_count.map_or(Value::Null, Value::from)),
            ("sums", number(stats.sums)),
            ("tops", number(stats.tops)),
            ("literals", number(stats.literals)),
            ("certificate", Value::from(certificate(circuit))),
            ("entropy", entropy.map_or(Value::Null, json)),
            ("counts_kept", Value::Bool(circuit.counts().is_some())),
            ("names", model.names.iter().map(Value::from).collect()),
            ("vtree", Value::from(vtree)),
            ("origin", object(model.origin.iter().map(|(key, value)| (key.as_str(), Value::from(value.as_str()))))),
        ];
        entries.extend(columns_document(&model.names).map(|columns| ("columns", columns)));
        if let Some(note) = note {
            entries.push(("note", Value::from(note)));
        }
        return session.document(&object(entries));
    }
    let mut lines = vec![
        ("variables", count(circuit.var_count() as f64)),
        ("certificate", certificate_in_words(circuit).to_owned()),
        ("nodes", nodes(&stats)),
        ("elements", count(stats.elements as f64)),
        ("parameters", count(stats.parameters as f64)),
        ("size in the paper", count(stats.size_paper as f64)),
    ];
    if let (Ok(models), Ok(entropy)) = (model_count, entropy) {
        lines.push(("possible worlds", big(&models, circuit.var_count())));
        lines.push(("entropy", format!("{entropy:.4} nats")));
    }
    lines.push(("counts kept", if circuit.counts().is_some() { "yes" } else { "no" }.to_owned()));
    lines.push(("names", all_names(&model.names)));
    lines.extend(columns_in_words(&model.names).map(|columns| ("columns", columns)));
    lines.push(("vtree", shortened(&vtree)));
    session.line(facts(lines))?;
    tell_origin(&model.origin, session)?;
    if let Some(note) = note {
        session.note(note);
    }
    Ok(())
}

fn tell_origin(origin: &BTreeMap<String, String>, session: &mut Session) -> Result<(), Error> {
    if !origin.is_empty() {
        session.line("\norigin")?;
        session.line(facts(origin.iter().map(|(key, value)| (key.as_str(), value.clone()))))?;
    }
    Ok(())
}

fn all_names(names: &Names) -> String {
    shortened(&(0..names.len() as u32).map(|i| names.quoted(Var(i))).collect::<Vec<_>>().join(", "))
}

/// A mixture: its components, and what they share. No model count and no entropy: those need determinism.
fn mixture(model: &Model, mixture: &Mixture, session: &mut Session) -> Result<(), Error> {
    let stats = mixture.stats();
    let components = || mixture.components().iter().zip(mixture.weights());
    if session.json {
        let number = |n: usize| Value::from(n);
        let component = |(circuit, &weight): (&Certified, &f64)| {
            let stats = circuit.stats();
            object([
                ("weight", json(weight)),
                ("nodes", number(stats.nodes)),
                ("elements", number(stats.elements)),
                ("parameters", number(stats.parameters)),
                ("certificate", Value::from(certificate(circuit))),
            ])
        };
        let entries = [
            ("variables", number(mixture.var_count())),
            ("nodes", number(stats.nodes)),
            ("elements", number(stats.elements)),
            ("parameters", number(stats.parameters)),
            ("size_paper", number(stats.size_paper)),
            ("model_count", Value::Null),
            ("certificate", Value::from("mixture")),
            ("entropy", Value::Null),
            ("shares_structure", Value::Bool(mixture.shares_structure())),
            ("shares_vtree", Value::Bool(mixture.shares_vtree())),
            ("components", components().map(component).collect()),
            ("names", model.names.iter().map(Value::from).collect()),
            ("origin", object(model.origin.iter().map(|(key, value)| (key.as_str(), Value::from(value.as_str()))))),
        ];
        return session
            .document(&object(entries.into_iter().chain(columns_document(&model.names).map(|c| ("columns", c)))));
    }
    let shared = match (mixture.shares_structure(), mixture.shares_vtree()) {
        (true, _) => "one structure",
        (false, true) => "one vtree",
        (false, false) => "the variables only",
    };
    session.line(facts([
        ("variables", count(mixture.var_count() as f64)),
        ("certificate", MIXTURE_IN_WORDS.to_owned()),
        ("components", count(mixture.component_count() as f64)),
        ("they share", shared.to_owned()),
        ("nodes", nodes(&stats)),
        ("elements", count(stats.elements as f64)),
        ("parameters", count(stats.parameters as f64)),
        ("names", all_names(&model.names)),
    ]))?;
    let mut table = Table::titled(["component", "weight", "elements", "parameters", "certificate"]);
    for (i, (circuit, &weight)) in components().enumerate() {
        let stats = circuit.stats();
        table.push([
            (i + 1).to_string(),
            probability(weight),
            count(stats.elements as f64),
            count(stats.parameters as f64),
            certificate(circuit).to_owned(),
        ]);
    }
    session.line("")?;
    session.table(&table)?;
    tell_origin(&model.origin, session)
}

fn nodes(stats: &slopp::circuit::Stats) -> String {
    let parts = [(stats.sums, "sum"), (stats.tops, "top"), (stats.literals, "literal")];
    let parts = parts.map(|(number, word)| counted(number, word));
    format!("{} ({})", count(stats.nodes as f64), parts.join(", "))
}

/// A large whole number, given by its digits, next to the number of all worlds.
pub(crate) fn big(digits: &str, variables: usize) -> String {
    format!("{} of 2^{variables}", grouped(digits))
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 400;
    match text.char_indices().nth(SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… (--json has all)", &text[..end]),
    }
}

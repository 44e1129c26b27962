//! `slopp validate`: is this file a PSDD?

use crate::args::{ModelArgs, not_negative, whole};
use crate::error::{Error, LARGER_LIMITS};
use crate::files::Files;
use crate::input::{FIX, Loaded, certificate, certificate_in_words, no_circuit};
use crate::report::{count, counted, json, json_world, object};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::circuit::{Overlap, PARAMETER_TOLERANCE, ParameterFault, Reason};
use slopp::io::Content;
use slopp::logic::Limit;
use slopp::{Certified, Circuit, Mixture, ModelKind};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp validate model.psdd
  slopp validate other.psdd --vtree other.vtree --json
  slopp validate rounded.psdd --fix -o exact.psdd";

/// Is this a PSDD? Exit code 0 yes, 1 no, 2 unreadable
///
/// Checks that the primes of every sum are exclusive and that parameters sum to one. Faults are reported by node (the
/// id of the file), property, the two elements (ids of prime and sub) and a witness world:
/// `exclusive-primes`: primes overlap, though elements do not (still deterministic, but not a PSDD);
/// `determinism`: elements overlap, so some world has two derivations;
/// `normalisation`: parameters do not sum to one.
/// Every component of a mixture (.mix) is checked; a sum-product network (.spn) is not a PSDD.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// How far from one parameters may sum
    #[arg(long, value_name = "X", default_value_t = PARAMETER_TOLERANCE, value_parser = not_negative)]
    tolerance: f64,
    /// List at most this many violations of each kind; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = whole)]
    limit: usize,
    /// Divide the parameters of every sum by their total, and save the result
    #[arg(long, requires = "output")]
    fix: bool,
    /// Where to save the result of --fix
    #[arg(short, long, value_name = "FILE", requires = "fix")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &ValidateArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to(&args.output)?;
    // A model may be replaced by the same model, mended.
    Files::default()
        .replace([&args.model.model])
        .read(&args.model.vtree)
        .write(&args.output, Content::Model)
        .check()?;
    let mut loaded = Loaded::read_as_is(&args.model)?;
    match &loaded.model.kind {
        ModelKind::Circuit(_) => {}
        ModelKind::Mixture(found) => return mixture(args, found, session),
        ModelKind::Spn(_) => return network(args, session),
    }
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    if let Some(output) = &args.output {
        let faults = loaded.circuit().parameter_faults(0.0).len();
        let mended = Circuit::clone(loaded.circuit()).renormalised();
        loaded.model.kind = Certified::new(mended, &args.model.limits.limits()).into();
        loaded.model.save(output)?;
        session.saved(output);
        session.note(format!("the parameters of {} were divided by their total", counted(faults, "sum")));
    }
    let circuit = loaded.circuit();
    let overlaps = match circuit {
        Certified::Psdd(_) => Default::default(),
        _ => circuit.overlaps(limit, &args.model.limits.limits()),
    };
    let faults = circuit.parameter_faults(args.tolerance);
    if let (0, Some(limit)) = (overlaps.sums, overlaps.stopped) {
        return Err(unproved(limit));
    }
    let valid = overlaps.sums == 0 && faults.is_empty();
    if session.json {
        let violations = overlaps.examples.iter().map(|overlap| overlap_entry(&loaded, overlap));
        let shown = faults.iter().take(limit).map(|fault| fault_entry(&loaded, fault));
        session.document(&object([
            ("valid", Value::Bool(valid)),
            ("certificate", Value::from(certificate(circuit))),
            ("overlapping_sums", Value::from(overlaps.sums)),
            ("unnormalised_sums", Value::from(faults.len())),
            ("violations", violations.chain(shown).collect()),
        ]))?;
    } else {
        session.line(match circuit {
            Certified::Psdd(_) => "the primes of every sum are proved exclusive",
            Certified::Deterministic(..) => "elements are exclusive, but some primes overlap",
            Certified::Circuit(_, Reason::Overlap(_)) => "elements overlap: some worlds have two derivations",
            Certified::Circuit(_, Reason::Parameters(_)) => "parameters do not add up to one",
            Certified::Circuit(_, Reason::Unproved(_)) => "some primes overlap; others were not looked at",
        })?;
        for overlap in &overlaps.examples {
            session.line(format!("{}: {}", property(overlap), loaded.overlap_in_words(overlap)))?;
        }
        for fault in faults.iter().take(limit) {
            session.line(format!("normalisation: {}", loaded.fault_in_words(fault)))?;
        }
        let hidden = overlaps.sums - overlaps.examples.len() + faults.len().saturating_sub(limit);
        if hidden > 0 {
            session.note(format!("{} more; --limit 0 lists all", count(hidden as f64)));
        }
        if let Some(limit) = overlaps.stopped {
            session.note(format!("the search stopped at {limit}, so there may be more; {LARGER_LIMITS}"));
        }
        if !faults.is_empty() && !args.fix {
            session.note(FIX);
        }
        session.line(if valid { "valid: a PSDD" } else { "not a valid PSDD" })?;
    }
    Ok(if valid { Verdict::Yes } else { Verdict::No })
}

/// A mixture is valid if its components are PSDDs; that weights and parameters add up to one was checked on reading.
fn mixture(args: &ValidateArgs, mixture: &Mixture, session: &mut Session) -> Result<Verdict, Error> {
    if args.fix {
        return Err(Error::new(
            "--fix is for a single circuit, and this is a mixture, whose parameters were checked on reading",
        )
        .hint("leave out --fix"));
    }
    let components = mixture.components();
    let is_psdd = |circuit: &Certified| matches!(circuit, Certified::Psdd(_));
    let valid = components.iter().all(is_psdd);
    for circuit in components {
        if let Certified::Circuit(_, Reason::Unproved(limit)) = circuit {
            return Err(unproved(*limit));
        }
    }
    if session.json {
        let certificates = components.iter().map(|circuit| Value::from(certificate(circuit))).collect();
        session.document(&object([
            ("valid", Value::Bool(valid)),
            ("certificate", Value::from("mixture")),
            ("components", certificates),
        ]))?;
        return Ok(if valid { Verdict::Yes } else { Verdict::No });
    }
    for (i, circuit) in components.iter().enumerate().filter(|(_, circuit)| !is_psdd(circuit)) {
        session.line(format!("component {}: {}", i + 1, certificate_in_words(circuit)))?;
    }
    session.line("weights and parameters add up to one")?;
    session.line(match valid {
        true => format!("valid: a mixture of {}, each of them proved", counted(components.len(), "PSDD")),
        false => "not a mixture of valid PSDDs".to_owned(),
    })?;
    Ok(if valid { Verdict::Yes } else { Verdict::No })
}

/// That a sum-product network is smooth, decomposable and normalised was checked on reading; it is not a PSDD.
fn network(args: &ValidateArgs, session: &mut Session) -> Result<Verdict, Error> {
    if args.fix {
        return Err(no_circuit("--fix is for a circuit, and this is a sum-product network"));
    }
    if session.json {
        session.document(&object([("valid", Value::Bool(false)), ("certificate", Value::from("spn"))]))?;
    } else {
        session.line("a sum-product network: smooth and decomposable, and its weights add up to one")?;
        session.line("not a valid PSDD: it has no vtree, and its sums overlap")?;
    }
    Ok(Verdict::No)
}

fn unproved(limit: Limit) -> Error {
    Error::new(format!("that the primes of every sum are exclusive was not proved within {limit}")).hint(LARGER_LIMITS)
}

fn property(overlap: &Overlap) -> &'static str {
    if overlap.weak { "exclusive-primes" } else { "determinism" }
}

fn overlap_entry(loaded: &Loaded, overlap: &Overlap) -> Value {
    let element = |(prime, sub): (u64, u64)| object([("prime", Value::from(prime)), ("sub", Value::from(sub))]);
    object([
        ("node", Value::from(loaded.file_id(overlap.node))),
        ("property", Value::from(property(overlap))),
        ("elements", loaded.overlapping(overlap).map(element).into_iter().collect()),
        ("witness", json_world(&loaded.model.names, &overlap.witness)),
        ("message", Value::from(loaded.overlap_in_words(overlap))),
    ])
}

fn fault_entry(loaded: &Loaded, fault: &ParameterFault) -> Value {
    object([
        ("node", Value::from(loaded.file_id(fault.node))),
        ("property", Value::from("normalisation")),
        ("elements", Value::Null),
        ("witness", Value::Null),
        ("total", json(fault.total)),
        ("message", Value::from(loaded.fault_in_words(fault))),
    ])
}

//! `slopp compare`: how far two models are from each other.

use crate::error::Error;
use crate::files::Files;
use crate::input::Loaded;
use crate::knowledge::LimitArgs;
use crate::report::{Table, count, grouped, json, logarithm, object};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::Deterministic;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp compare old.psdd new.psdd
  slopp compare a.psdd b.psdd --json";

/// How far are two models from each other? KL divergence both ways, sizes, model counts
///
/// Exact, also for different structures, as long as both are deterministic circuits over one vtree and the same names.
/// The divergence of A from B is infinite (null in JSON) if A makes worlds possible that B does not.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArgs {
    /// The first model
    a: PathBuf,
    /// The second model
    b: PathBuf,
    /// The vtree of both models, if their files do not hold it
    #[arg(long, value_name = "FILE")]
    vtree: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(crate) fn run(args: &CompareArgs, session: &mut Session) -> Result<Verdict, Error> {
    Files::default().read([&args.a, &args.b]).read(&args.vtree).check()?;
    let limits = args.limits.limits();
    let [a, b] = [&args.a, &args.b].map(|file| Loaded::circuit_of(file, args.vtree.as_deref(), &limits));
    let (a, b) = (a?, b?);
    a.model.check_same_variables(&b.model)?;
    let (p, q) = (a.deterministic("the KL divergence")?, b.deterministic("the KL divergence")?);
    let [forward, backward] = [(p, q), (q, p)].map(|(from, to)| from.kl_divergence(to, &limits));
    let (forward, backward) = (forward?, backward?);
    let facts = |d: &Deterministic| (d.stats(), d.model_count().to_string(), d.entropy());
    let sides = [facts(p), facts(q)];
    if session.json {
        let side = |(stats, models, entropy): &(slopp::circuit::Stats, String, f64)| {
            object([
                ("elements", Value::from(stats.elements)),
                ("parameters", Value::from(stats.parameters)),
                ("model_count", Value::from(models.as_str())),
                ("entropy", json(*entropy)),
            ])
        };
        session.document(&object([
            ("kl_a_b", json(forward)),
            ("kl_b_a", json(backward)),
            ("same_structure", Value::Bool(p.same_structure(q))),
            ("a", side(&sides[0])),
            ("b", side(&sides[1])),
        ]))?;
        return Ok(Verdict::Yes);
    }
    let mut table = Table::titled(["", "A", "B"]);
    let mut row = |name: &str, value: &dyn Fn(&(slopp::circuit::Stats, String, f64)) -> String| {
        table.push([name.to_owned(), value(&sides[0]), value(&sides[1])]);
    };
    row("elements", &|s| count(s.0.elements as f64));
    row("parameters", &|s| count(s.0.parameters as f64));
    row("possible worlds", &|s| grouped(&s.1));
    row("entropy (nats)", &|s| logarithm(s.2));
    session.table(&table)?;
    let divergence =
        |x: f64| if x.is_finite() { format!("{} nats", grouped(&format!("{x:.6}"))) } else { "infinite".to_owned() };
    session.line(format!("KL(A || B) = {}", divergence(forward)))?;
    session.line(format!("KL(B || A) = {}", divergence(backward)))?;
    session.line(if p.same_structure(q) { "the structures are the same" } else { "the structures differ" })?;
    Ok(Verdict::Yes)
}

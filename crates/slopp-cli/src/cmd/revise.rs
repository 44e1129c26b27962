//! `slopp revise`: a model makes room for what it excludes, or gives up what a formula excludes.

use crate::args::{CircuitArgs, FormulaText, ReadArgs, weight};
use crate::cmd::learn::{save, tell_saved};
use crate::error::Error;
use crate::files::Files;
use crate::input::{Loaded, read_records_of};
use crate::report::{count, counted, grouped, json, object, probability};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::Certified;
use slopp::io::Content;
use slopp::learn::Revision;
use std::cmp::Ordering;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp revise model.psdd surprising.csv -o wider.psdd          these records become possible, and nothing else
  slopp revise model.psdd --formula \"red & green\" -o wider.psdd   all worlds of the formula become possible
  slopp revise model.psdd --by-rule \"smoker -> !young\" -o narrower.psdd   what breaks the rule becomes impossible";

/// Make room in a model for records or a formula that it says are impossible, or condition it on a rule
///
/// The least change: what was possible stays possible with its proportions, and besides only the new worlds become
/// possible. Each new record weighs as in its file, the model as many records as it was learned from; --weight says
/// otherwise. The result is proved to be a PSDD again. Up to 4096 new worlds of a --formula are equally probable; more
/// are as probable as the model finds the part of them that is possible, in the order of its vtree. --by-rule goes the
/// other way: worlds that break the rule are taken away, the others keep their proportions. It keeps no counts of
/// records, since how many of them broke the rule is not known, so that a later revision needs --weight. Records must
/// be complete: a missing cell does not say which world to make room for. -o may name the model itself, which is
/// replaced when all is done. In JSON, share is the probability of the new worlds; where worlds were taken away,
/// it is minus the probability that they had.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReviseArgs {
    #[command(flatten)]
    model: CircuitArgs,
    /// The records to make room for: CSV, .data or .wdata, `-` for stdin
    #[arg(required_unless_present_any = ["formula", "by_rule"], conflicts_with_all = ["formula", "by_rule"])]
    data: Option<PathBuf>,
    /// Make room for all worlds of this formula instead; @FILE takes all rules of a file
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true, conflicts_with = "by_rule")]
    formula: Option<FormulaText>,
    /// Take away all worlds that break this formula instead; @FILE takes all rules of a file
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    by_rule: Option<FormulaText>,
    /// How many records the worlds of --formula weigh together
    #[arg(long, value_name = "X", default_value_t = 1.0, requires = "formula", value_parser = weight)]
    formula_weight: f64,
    /// How many records the model stands for [default: as many as it keeps the counts of]
    #[arg(long, value_name = "X", conflicts_with = "by_rule", value_parser = weight)]
    weight: Option<f64>,
    #[command(flatten)]
    read: ReadArgs,
    /// Save the revised model in this file, `-` for stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &ReviseArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to(&args.output)?;
    let files = Files::default().replace([&args.model.model]).read(&args.model.vtree).read(&args.data);
    let formulas = args.formula.iter().chain(&args.by_rule).filter_map(FormulaText::file);
    files.read(formulas).write(&args.output, Content::Model).check()?;
    let loaded = Loaded::read_circuit(&args.model)?;
    loaded.deterministic("revision")?;
    let Certified::Psdd(psdd) = loaded.circuit() else {
        return Err(Error::new("revision needs a PSDD, and the primes of this circuit overlap")
            .hint("learn one with `slopp learn`"));
    };
    let names = &loaded.model.names;
    let limits = args.model.limits.limits();
    let formula = args.formula.as_ref().or(args.by_rule.as_ref());
    let formula = formula.map(|text| text.formula(names, &limits)).transpose()?;
    let records = args.data.as_ref().map(|data| read_records_of(data, args.read, names)).transpose()?;
    let by = match (&records, &formula) {
        (Some(records), _) => Revision::Records(records),
        (None, Some(formula)) if args.by_rule.is_some() => Revision::Rule(formula),
        (None, Some(formula)) => Revision::Formula(formula, args.formula_weight),
        (None, None) => unreachable!("the parser asks for one of the three"),
    };
    let (model, share) = loaded.model.revise(by, args.weight, &limits)?;
    let revised = model.psdd().expect("a PSDD is revised to one");
    let counts = [psdd, revised].map(|psdd| psdd.model_count());
    let change = counts[1].cmp(&counts[0]);
    let [before, after] = counts.map(|count| count.to_string());
    let elements = [psdd.elements().len(), revised.elements().len()];
    save(args.output.as_deref(), |file| model.save(file))?;
    if session.json {
        session.document(&object([
            ("model_count_before", Value::from(before)),
            ("model_count", Value::from(after)),
            ("share", json(share)),
            ("elements_before", Value::from(elements[0])),
            ("elements", Value::from(elements[1])),
            ("model", args.output.as_ref().map_or(Value::Null, |file| Value::from(file.display().to_string()))),
        ]))?;
    } else {
        session.line(format!("possible worlds: {}, before {}", grouped(&after), grouped(&before)))?;
        session.line(match change {
            Ordering::Greater => format!("the new worlds have probability {}", probability(share)),
            Ordering::Less => format!("the removed worlds had probability {}", probability(-share)),
            Ordering::Equal => "nothing changed: the model satisfies this already".to_owned(),
        })?;
        session.line(format!("{}, before {}", counted(elements[1], "element"), count(elements[0] as f64)))?;
    }
    tell_saved(args.output.as_deref(), ".psdd", session);
    Ok(Verdict::Yes)
}

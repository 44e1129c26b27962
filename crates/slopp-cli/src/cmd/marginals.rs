//! `slopp marginals`: the probability of every variable, and of every pair of columns.

use crate::args::{GivenArgs, ModelArgs, ReadArgs, whole};
use crate::error::Error;
use crate::event::compile;
use crate::files::Files;
use crate::input::{Loaded, read_records_of};
use crate::report::{Table, count, full, json, json_list, object, probability, quoted_column};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::data::Pair;
use slopp::infer::{Event, Evidence, PairMarginals};
use slopp::io::CsvLines;
use slopp::names::Column;
use slopp::{ModelKind, Names, Records, Var};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  slopp marginals model.psdd --given \"smoker, !cancer\"
  slopp marginals model.psdd --given \"at_least(2, cough, fever, pain)\"
  slopp marginals model.psdd --pairs --limit 10            the ten most dependent pairs
  slopp marginals model.psdd --records patients.csv        one line of marginals per record";

/// The question that only circuits answer.
const PAIRS: &str = "the joint probability of every pair";

/// The probability of every variable, also given evidence or a formula
///
/// All variables are answered at once, by one pass up and one down the circuit. --pairs adds the joint probability of
/// every pair of columns, the most dependent pairs first: that both are true, or, where some columns have several
/// values, of the two values that depend on each other most; JSON has those of all values. --records gives one answer
/// per record of a file, with the record as evidence.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MarginalsArgs {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    given: GivenArgs,
    /// Also print the joint probabilities of pairs of columns
    #[arg(long)]
    pairs: bool,
    /// Print at most this many pairs; JSON has all unless this is given [default: 20]
    #[arg(long, value_name = "N", requires = "pairs", value_parser = whole)]
    limit: Option<usize>,
    /// Give one answer per record of this file, whose cells may be missing
    #[arg(long, value_name = "FILE", conflicts_with = "given")]
    records: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &MarginalsArgs, session: &mut Session) -> Result<Verdict, Error> {
    Files::default().read(args.model.files()).read(args.given.file()).read(&args.records).check()?;
    let loaded = Loaded::read(&args.model)?;
    if let Some(file) = &args.records {
        return batch(args, &loaded, file, session);
    }
    let known = args.given.event(&loaded.model.names, &args.model.limits.limits())?;
    // Without pairs no circuit need be made.
    let quick = match (&loaded.model.kind, &known) {
        (ModelKind::Circuit(circuit), Event::Formula(formula)) if !args.pairs => {
            let limits = args.model.limits.limits();
            Some(circuit.marginals_given(&compile(formula, circuit.vtree(), &limits)?, &limits)?)
        }
        _ => None,
    };
    let loaded = if quick.is_some() { loaded } else { loaded.given(&known, &args.model.limits.limits())? };
    let names = &loaded.model.names;
    let given = known.evidence(names.len());
    let marginals = quick.map_or_else(|| loaded.model.distribution().marginals(&given), Ok)?;
    let pairs = match args.pairs {
        true => Some(loaded.structured(PAIRS)?.pair_marginals(&given)?),
        false => None,
    };
    if session.json {
        let by_name = object(names.iter().zip(&marginals).map(|(name, &p)| (name, json(p))));
        let mut entries = vec![("given", Value::from(known.display(names).to_string())), ("marginals", by_name)];
        if let Some(pairs) = pairs {
            entries.push(("pairs", pair_entries(names, &pairs, &given, args.limit)));
        }
        session.document(&object(entries))?;
        return Ok(Verdict::Yes);
    }
    let mut table = Table::titled(["variable", "P(true)"]);
    for (i, &p) in marginals.iter().enumerate() {
        let var = Var(i as u32);
        let known = if given.value(var).is_some() { "given" } else { "" };
        table.push([names.quoted(var).into_owned(), probability(p), known.to_owned()]);
    }
    session.table(&table)?;
    if let Some(pairs) = pairs {
        let columns: Vec<Column<'_>> = names.columns().collect();
        let strongest = pairs.strongest(names, &given, args.limit.unwrap_or(20));
        session.line("")?;
        session.table(&pair_table(names, &pairs, &strongest))?;
        let unknown = columns.iter().filter(|&&column| !given.knows(column)).count();
        let all = unknown * unknown.saturating_sub(1) / 2;
        if strongest.len() < all {
            let [shown, all] = [strongest.len(), all].map(|number| count(number as f64));
            session.note(format!("{shown} of {all} pairs are shown; --limit changes that"));
        }
    }
    Ok(Verdict::Yes)
}

fn batch(args: &MarginalsArgs, loaded: &Loaded, file: &Path, session: &mut Session) -> Result<Verdict, Error> {
    let names = &loaded.model.names;
    let records = read_records_of(file, args.read, names)?;
    if args.pairs {
        return pair_batch(args, loaded, &records, session);
    }
    let answers = loaded.model.distribution().marginals_batch(&records)?;
    let by_record = records.original().iter().map(|&row| answers[row as usize].as_ref());
    if session.json {
        let line = |answer: Option<&Vec<f64>>| answer.map_or(Value::Null, |p| json_list(p.iter().copied()));
        let variables: Value = names.iter().map(Value::from).collect();
        session.document(&object([("variables", variables), ("marginals", by_record.map(line).collect())]))?;
    } else {
        session.data(CsvLines::by_variable(names)?.header())?;
        let mut impossible = 0;
        for answer in by_record {
            let line = answer.map(|p| p.iter().map(|&p| full(p)).collect::<Vec<_>>().join(","));
            impossible += usize::from(line.is_none());
            session.data(line.unwrap_or_else(|| ",".repeat(names.len() - 1)))?;
        }
        session.note_impossible(impossible);
    }
    Ok(Verdict::Yes)
}

/// All pairs given each record: too much for a table.
fn pair_batch(
    args: &MarginalsArgs,
    loaded: &Loaded,
    records: &Records,
    session: &mut Session,
) -> Result<Verdict, Error> {
    if !session.json {
        return Err(Error::new("the pairs of every record are too much for a table").hint("--json"));
    }
    let answers = loaded.structured(PAIRS)?.pair_marginals_batch(records)?;
    let entry = |&row: &u32| {
        let given = Evidence::from_row(records, row as usize);
        let pairs = answers[row as usize].as_ref();
        pairs.map_or(Value::Null, |pairs| pair_entries(records.names(), pairs, &given, args.limit))
    };
    session.document(&object([("pairs", records.original().iter().map(entry).collect())]))?;
    Ok(Verdict::Yes)
}

/// Pairs of columns with the values that depend on each other most; two Boolean ones are true unless others have several
/// values.
fn pair_table(names: &Names, pairs: &PairMarginals, strongest: &[Pair]) -> Table {
    let columns: Vec<Column<'_>> = names.columns().collect();
    let is_boolean = names.groups().is_empty();
    let values = (!is_boolean).then_some("a, b");
    let mut table =
        Table::titled(["pair"].into_iter().chain(values).chain(["P(a, b)", "P(a) P(b)", "mutual information"]));
    for pair in strongest {
        let both = [columns[pair.a], columns[pair.b]];
        let [a, b] = match is_boolean {
            true => both.map(|column| column.literals()[1]),
            false => pairs.closest(both[0], both[1]),
        };
        let independent = pairs.of(a.var, a.value, a.var, a.value) * pairs.of(b.var, b.value, b.var, b.value);
        let values = (!is_boolean).then(|| [a, b].map(|lit| names.literal(lit)).join(", "));
        table.push([both.map(|column| quoted_column(names, column)).join(", ")].into_iter().chain(values).chain([
            probability(pairs.of(a.var, a.value, b.var, b.value)),
            probability(independent),
            format!("{:.4}", pair.mutual_information),
        ]));
    }
    table
}

/// Pairs of columns with their joint probabilities: of two Boolean ones, that both are true; otherwise an object by the
/// values of both.
fn pair_entries(names: &Names, pairs: &PairMarginals, given: &Evidence, limit: Option<usize>) -> Value {
    let columns: Vec<Column<'_>> = names.columns().collect();
    let entry = |pair: Pair| {
        let [a, b] = [columns[pair.a], columns[pair.b]];
        let joint = match (a, b) {
            (Column::Boolean(x), Column::Boolean(y)) => ("both", json(pairs.joint(x, y))),
            _ => {
                let row = |row: Vec<f64>| object(values(b).zip(row.into_iter().map(json)));
                ("joint", object(values(a).zip(pairs.table(a, b).into_iter().map(row))))
            }
        };
        object([
            ("a", Value::from(names.column_name(a))),
            ("b", Value::from(names.column_name(b))),
            joint,
            ("mutual_information", json(pair.mutual_information)),
        ])
    };
    pairs.strongest(names, given, limit.unwrap_or(usize::MAX)).into_iter().map(entry).collect()
}

/// The values of a column as keys, in the order of its literals.
fn values(column: Column<'_>) -> impl Iterator<Item = &str> {
    let (boolean, group) = match column {
        Column::Boolean(_) => (&["false", "true"][..], None),
        Column::Group(group) => (&[][..], Some(group.values().map(|(_, value)| value))),
    };
    boolean.iter().copied().chain(group.into_iter().flatten())
}

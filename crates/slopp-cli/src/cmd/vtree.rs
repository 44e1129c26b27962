//! `slopp vtree`: make, show and save vtrees.

use crate::args::{ColumnArgs, ReadArgs, positive, seed};
use crate::error::{Error, in_shell};
use crate::files::Files;
use crate::input::{Loaded, VtreeSource, is_model, read_records};
use crate::knowledge::LimitArgs;
use crate::report::{count, object};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::io::Content;
use slopp::learn::VtreeMethod;
use slopp::{Names, Var, Vtree};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  slopp vtree chow-liu --data records.csv -o records.vtree -o records.svg
  slopp vtree \"((rain,wet),(cold,ice))\"
  slopp vtree model.psdd                                      the vtree of a model";

/// Make a vtree from data, a text or a file; show it as a line and a picture, save it as .vtree, .svg or .dot
///
/// A vtree says how a circuit may decompose. Methods that look at data: chow-liu, chow-liu-linear, mi-top-down,
/// mi-bottom-up. Shapes: balanced, right-linear, left-linear, random.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct VtreeArgs {
    /// A method, a .vtree file, a model (.psdd), or a text like "((1,2),(3,4))" with numbers or names
    source: String,
    /// The records to make the vtree for, which also name the variables
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    /// How many variables a shape has, if there are no records
    #[arg(long, value_name = "N", conflicts_with = "data", value_parser = positive)]
    variables: Option<usize>,
    /// The vtree of a model, if its file does not hold it
    #[arg(long, value_name = "FILE")]
    vtree: Option<PathBuf>,
    /// The seed of the methods random and mi-top-down
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    seed: u64,
    /// Save as .vtree, .svg or .dot; may be given several times
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(crate) fn run(args: &VtreeArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to(&args.output)?;
    let source = PathBuf::from(&args.source);
    Files::default().read([&source]).read(&args.data).read(&args.vtree).write(&args.output, None).check()?;
    let kinds = args
        .output
        .iter()
        .map(|file| Kind::of(file, "a name that ends in .vtree, .svg or .dot"))
        .collect::<Result<Vec<_>, _>>()?;
    let (vtree, names) = make(args)?;
    if vtree.var_count() != names.len() {
        let (leaves, columns) = (vtree.var_count(), names.len());
        return Err(Error::new(format!("the vtree has {leaves} variables but the records have {columns}"))
            .hint("a vtree made for these records, or leave --data out"));
    }
    for (file, kind) in args.output.iter().zip(kinds) {
        kind.save(file, &vtree, &names)?;
        session.saved(file);
    }
    let line = vtree.line(&names).to_string();
    if session.json {
        session.document(&object([
            ("variables", Value::from(vtree.var_count())),
            ("depth", Value::from(vtree.depth())),
            ("right_linear", Value::Bool(vtree.is_right_linear())),
            ("vtree", Value::from(line)),
            ("vtree_by_number", Value::from(vtree.to_string())),
            ("names", names.iter().map(Value::from).collect()),
        ]))?;
        return Ok(Verdict::Yes);
    }
    session.data(line)?;
    // The picture of a deep vtree grows with the square of its depth.
    const MAX_DEPTH: usize = 200;
    if vtree.depth() <= MAX_DEPTH {
        session.line(format_args!("\n{}", vtree.picture(&names).to_string().trim_end()))?;
    } else {
        session.note(format!("no picture: the vtree is {} deep; -o FILE.svg draws it", count(vtree.depth() as f64)));
    }
    Ok(Verdict::Yes)
}

fn make(args: &VtreeArgs) -> Result<(Vtree, Arc<Names>), Error> {
    let limits = args.limits.limits();
    if is_model(Path::new(&args.source)) {
        let loaded = Loaded::circuit_of(Path::new(&args.source), args.vtree.as_deref(), &limits)?;
        return Ok((Vtree::clone(loaded.circuit().vtree()), loaded.model.names));
    }
    let source = VtreeSource::find(&args.source, &limits).map_err(|error| {
        let file = Path::new(&args.source);
        let is_records = Content::Vtree.check_name(file).is_err() && Content::Records.check_name(file).is_ok();
        let hint = || format!("slopp vtree chow-liu --data {}", in_shell(&args.source));
        if is_records { error.hint(hint()) } else { error }
    })?;
    if let Some(data) = &args.data {
        let records = read_records(data, args.read, &args.columns)?;
        let names = records.names().clone();
        return Ok((source.build(&records, args.seed)?, names));
    }
    let vtree = match source {
        VtreeSource::File(vtree) => vtree,
        VtreeSource::Model(vtree, names) => return Ok((vtree, names)),
        VtreeSource::Text(text) => return by_own_names(&text),
        VtreeSource::Method(method) => shape(method, args)?,
    };
    let names = Names::numbered(vtree.var_count());
    Ok((vtree, names.into()))
}

/// A vtree that needs no records.
fn shape(method: VtreeMethod, args: &VtreeArgs) -> Result<Vtree, Error> {
    let make: fn(usize, u64) -> Vtree = match method {
        VtreeMethod::Balanced => |len, _| Vtree::balanced(len),
        VtreeMethod::RightLinear => |len, _| Vtree::right_linear(len),
        VtreeMethod::LeftLinear => |len, _| Vtree::left_linear(len),
        VtreeMethod::Random => Vtree::random,
        _ => {
            return Err(Error::new(format!("the method {method} needs records, and there are none"))
                .hint(format!("slopp vtree {method} --data records.csv")));
        }
    };
    match args.variables {
        Some(len) if len > 1_000_000 => Err(Error::new("a vtree may have at most a million variables here")),
        Some(len) => Ok(make(len, args.seed)),
        None => Err(Error::new(format!("the {method} vtree needs a number of variables"))
            .hint("--variables N, or --data records.csv")),
    }
}

/// A vtree from a text whose leaves are all numbers, or else names in the order they occur.
fn by_own_names(text: &str) -> Result<(Vtree, Arc<Names>), Error> {
    let mut names: Vec<String> = Vec::new();
    let vtree = Vtree::parse_with(text, |leaf| {
        names.push(leaf.to_owned());
        Ok::<Var, Error>(Var(names.len() as u32 - 1))
    })?;
    if names.iter().all(|name| name.parse::<u32>().is_ok()) {
        let names = Names::numbered(names.len());
        return Ok((Vtree::parse_named(text, &names)?, names.into()));
    }
    Ok((vtree, Names::new(names)?.into()))
}

/// What a file is to hold, by the ending of its name.
pub(crate) enum Kind {
    Vtree,
    Svg,
    Dot,
}

impl Kind {
    /// The kind of a file that is to be written; stdout gets SVG.
    pub(crate) fn of(file: &Path, hint: &str) -> Result<Kind, Error> {
        if slopp::io::is_stdout(file) {
            return Ok(Kind::Svg);
        }
        match file.extension().and_then(OsStr::to_str) {
            Some("vtree") => Ok(Kind::Vtree),
            Some("svg") => Ok(Kind::Svg),
            Some("dot" | "gv") => Ok(Kind::Dot),
            _ => Err(Error::new(format!("{}: the ending of the name says what to write", file.display())).hint(hint)),
        }
    }

    fn save(&self, file: &Path, vtree: &Vtree, names: &Names) -> Result<(), Error> {
        match self {
            Kind::Vtree => slopp::io::write_atomically(file, |out| slopp::io::write_vtree(out, vtree))?,
            Kind::Svg => write_text(file, &vtree.svg(names))?,
            Kind::Dot => write_text(file, &vtree.dot(names))?,
        }
        Ok(())
    }
}

/// Writes a text, whole or not at all.
pub fn write_text(file: &Path, text: &str) -> Result<(), Error> {
    Ok(slopp::io::write_atomically(file, |out| out.write_all(text.as_bytes()))?)
}

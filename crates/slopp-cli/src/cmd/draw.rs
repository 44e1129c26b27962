//! `slopp draw`: pictures of circuits and vtrees.

use crate::args::{CircuitArgs, whole};
use crate::cmd::vtree::{Kind, write_text};
use crate::error::Error;
use crate::files::Files;
use crate::input::Loaded;
use crate::report::{count, object};
use crate::session::{Session, Verdict};
use clap::{Args, ValueEnum};
use serde_json::Value;
use slopp::render;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp draw model.psdd -o model.svg
  slopp draw model.psdd --what vtree -o vtree.dot
  slopp draw model.psdd -o all.svg --limit 5000";

/// Draw a circuit or its vtree, as SVG or for Graphviz (DOT)
///
/// Small circuits are drawn in full; above --limit nodes and elements, the vtree is drawn with the number of sums and
/// elements at each of its nodes. Large vtrees are drawn from the top, with subtrees that stand for their variables.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DrawArgs {
    #[command(flatten)]
    model: CircuitArgs,
    /// The picture: a name that ends in .svg or .dot; `-` for SVG on stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// What to draw
    #[arg(long, default_value = "circuit")]
    what: What,
    /// The largest number of nodes and elements that is drawn in full
    #[arg(long, value_name = "N", default_value_t = render::DEFAULT_LIMIT, value_parser = whole)]
    limit: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    Circuit,
    Vtree,
}

pub(crate) fn run(args: &DrawArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to([&args.output])?;
    Files::default().read(args.model.files()).write([&args.output], None).check()?;
    let kind = Kind::of(&args.output, "a name that ends in .svg or .dot")?;
    let CircuitArgs { model, vtree, limits } = &args.model;
    let loaded = Loaded::circuit_of(model, vtree.as_deref(), &limits.limits())?;
    let (circuit, names) = (loaded.circuit(), &*loaded.model.names);
    let text = match (args.what, kind) {
        (_, Kind::Vtree) => {
            return Err(Error::new("a .vtree file is not a picture")
                .hint("`slopp vtree MODEL -o FILE.vtree` saves the vtree of a model"));
        }
        (What::Circuit, Kind::Svg) => circuit.svg(names, args.limit),
        (What::Circuit, Kind::Dot) => circuit.dot(names, args.limit),
        (What::Vtree, Kind::Svg) => circuit.vtree().svg(names),
        (What::Vtree, Kind::Dot) => circuit.vtree().dot(names),
    };
    write_text(&args.output, &text)?;
    let full = match args.what {
        What::Circuit => circuit.is_drawn_in_full(args.limit),
        What::Vtree => circuit.vtree().is_drawn_in_full(),
    };
    if session.json {
        let file = Value::from(args.output.display().to_string());
        session.document(&object([("file", file), ("complete", Value::Bool(full))]))?;
    } else {
        session.saved(&args.output);
        let size = count((circuit.nodes().len() + circuit.elements().len()) as f64);
        match args.what {
            _ if full => {}
            What::Vtree => session.note("large subtrees are drawn as the number of their variables"),
            What::Circuit => {
                let limit = count(args.limit as f64);
                session.note(format!("a summary: {size} nodes and elements are more than --limit {limit}"));
            }
        }
    }
    Ok(Verdict::Yes)
}

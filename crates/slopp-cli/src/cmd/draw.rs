//! `slopp draw`: pictures of circuits and vtrees.

use crate::args::ModelArgs;
use crate::cmd::vtree::{Kind, write_text};
use crate::error::Error;
use crate::input::LoadedModel;
use crate::report::object;
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
/// elements at each of its nodes.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DrawArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// The picture: a name that ends in .svg or .dot; `-` for SVG on stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// What to draw
    #[arg(long, default_value = "circuit")]
    what: What,
    /// The largest number of nodes and elements that is drawn in full
    #[arg(long, value_name = "N", default_value_t = render::DEFAULT_LIMIT)]
    limit: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    Circuit,
    Vtree,
}

pub(crate) fn run(args: &DrawArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to([&args.output])?;
    let kind = Kind::of(&args.output, "a name that ends in .svg or .dot")?;
    let model = LoadedModel::read_as_is(&args.model)?.model;
    let (circuit, names) = (&*model.circuit, &*model.names);
    let text = match (args.what, kind) {
        (_, Kind::Vtree) => {
            return Err(Error::new("a .vtree file is no picture")
                .hint("`slopp vtree MODEL -o FILE.vtree` saves the vtree of a model"));
        }
        (What::Circuit, Kind::Svg) => render::circuit_svg(circuit, names, args.limit),
        (What::Circuit, Kind::Dot) => render::circuit_dot(circuit, names, args.limit),
        (What::Vtree, Kind::Svg) => render::vtree_svg(circuit.vtree(), names),
        (What::Vtree, Kind::Dot) => render::vtree_dot(circuit.vtree(), names),
    };
    write_text(&args.output, &text)?;
    let full = args.what == What::Vtree || render::is_drawn_in_full(circuit, args.limit);
    if session.json {
        let file = Value::from(args.output.display().to_string());
        session.document(&object([("file", file), ("complete", Value::Bool(full))]))?;
    } else {
        session.line(format!("drawn in {}", args.output.display()))?;
        if !full {
            let size = circuit.nodes().len() + circuit.elements().len();
            session.note(format!("a summary, because {size} nodes and elements are above --limit {}", args.limit));
        }
    }
    Ok(Verdict::Yes)
}

//! `slopp sample`: worlds drawn from a model.

use crate::args::{GivenArgs, ModelArgs, ReadArgs, seed, whole};
use crate::error::Error;
use crate::files::Files;
use crate::input::{Loaded, read_records_of};
use crate::report::{json_world, object};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::Progress;
use slopp::infer::Evidence;
use slopp::io::Content;
use slopp::io::CsvLines;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp sample model.psdd -n 1000 -o records.csv
  slopp sample model.psdd -n 5 --given \"smoker, !cancer\" --seed 7
  slopp sample model.psdd -n 5 --given \"smoker ^ cancer\"";

/// Draw worlds from a model, also given evidence or a formula
///
/// Draws exactly, without rejection, from any model. The output is CSV with names, one world per line, written as it is
/// drawn. The same seed gives the same worlds.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SampleArgs {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    given: GivenArgs,
    /// Draw this many worlds
    #[arg(short, long, value_name = "N", default_value_t = 10, value_parser = whole)]
    number: usize,
    /// Complete each record of this file at random, given its known cells; the line of an impossible record is empty
    #[arg(long, value_name = "FILE", conflicts_with_all = ["given", "number"])]
    records: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
    /// The seed of the draws
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    seed: u64,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &SampleArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to(&args.output)?;
    let files = Files::default().read(args.model.files()).read(&args.records).read(args.given.file());
    files.write(&args.output, Content::Records).check()?;
    let loaded = Loaded::read(&args.model)?;
    let known = args.given.event(&loaded.model.names, &args.model.limits.limits())?;
    let loaded = loaded.given(&known, &args.model.limits.limits())?;
    let names = &loaded.model.names;
    let drawn = draw(args, &loaded, &known.evidence(names.len()))?;
    let stdout = PathBuf::from("-");
    if session.json && args.output.is_none() {
        let entry = |world: Option<Vec<bool>>| world.map_or(Value::Null, |world| json_world(names, &world));
        let worlds: Vec<Value> = drawn.parts.flatten().map(entry).collect();
        session.document(&object([
            ("samples", Value::from(worlds.len())),
            ("seed", Value::from(args.seed)),
            ("worlds", Value::from(worlds)),
        ]))?;
        return Ok(Verdict::Yes);
    }
    let output = args.output.as_ref().unwrap_or(&stdout);
    let bar = session.progress_beside(output);
    bar.begin("drawing worlds", drawn.count as u64);
    let mut impossible = 0;
    let lines = CsvLines::new(names)?;
    slopp::io::write_atomically(output, |out| {
        writeln!(out, "{}", lines.header())?;
        for part in drawn.parts {
            impossible += part.iter().filter(|world| world.is_none()).count();
            let line = |world: &Option<Vec<bool>>| match world {
                Some(world) => lines.world(world),
                None => lines.unknown(),
            };
            part.iter().try_for_each(|world| writeln!(out, "{}", line(world)))?;
            bar.advance(part.len() as u64);
        }
        Ok(())
    })?;
    drop(bar);
    session.saved(output);
    session.note_impossible(impossible);
    if session.json {
        session.document(&object([("samples", Value::from(drawn.count)), ("seed", Value::from(args.seed))]))?;
    }
    Ok(Verdict::Yes)
}

/// Worlds that are drawn as they are asked for, some at a time.
struct Drawn<'a> {
    count: usize,
    /// `None` stands for a record that is impossible, and so cannot be completed.
    parts: Box<dyn Iterator<Item = Vec<Option<Vec<bool>>>> + 'a>,
}

fn draw<'a>(args: &SampleArgs, loaded: &'a Loaded, given: &Evidence) -> Result<Drawn<'a>, Error> {
    let model = loaded.model.distribution();
    let Some(file) = &args.records else {
        let parts = model.sample_in_parts(args.number, given, args.seed)?;
        return Ok(Drawn { count: args.number, parts: Box::new(parts.map(|part| part.worlds().map(Some).collect())) });
    };
    let records = read_records_of(file, args.read, &loaded.model.names)?;
    let worlds = model.sample_batch(&records, args.seed)?;
    Ok(Drawn { count: worlds.len(), parts: Box::new(std::iter::once(worlds)) })
}

//! Models: a `.mix` or `.spn` file, or a `.psdd` file whose comments hold what the format has no place for.
//!
//! Any reader of `.psdd` files can read a saved circuit. Before the `psdd` line it has the comments
//! ```text
//! c slopp 1                    the version of this format
//! c vtree ((1,2),3)            the vtree; several lines are one text
//! c names ["age","smoker"]     the names, as JSON; several lines are one list
//! c column {"name":"color","first":3,"values":2}    variables 3 and 4 are the values of a column; bins have "cuts" too
//! c origin {"seed":"7"}        how the model was made, one line per entry
//! c counts 2                   how many `c count` lines follow, if there are counts
//! c count 5 31 9               node id and the numbers of its parameters, false before true
//! c false 4 -0.25              ln P(false) of a ⊤ node, only if it does not follow from ln P(true)
//! ```
//! With them nothing is lost: what is read back is the same model, bit for bit, and writing it again gives the same
//! bytes. Without them a file gets the names `x1`, `x2`, … and its vtree from another file, or inferred.

use super::error::{ReadError, WriteError};
use super::lines::{check_text, content, lines};
use super::mixture::{mixture, write_components};
use super::problem::Problem;
use super::psdd::{LoadedCircuit, Numbers, PsddFile, circuit, write_nodes};
use super::sdd::formula;
use super::source::Source;
use super::spn::{network, write_network};
use super::vtree::LoadedVtree;
use super::write_atomically;
use crate::circuit::{Circuit, Node, NodeId, Weights};
use crate::limits::has_room;
use crate::logic::{Limits, LogicError};
use crate::logspace::log_complement;
use crate::model::{Certified, Model, ModelKind};
use crate::names::{Group, Names};
use crate::vtree::Vtree;
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// The version of the format written here.
const VERSION: u32 = 1;

/// Comment lines longer than this are split where possible: some readers have fixed buffers.
const LINE: usize = 1000;

/// The bytes that a model needs for a line of its file, at least, besides those for numbers and names, which are
/// counted as long as they are.
const BYTES_PER_LINE: usize = 192;

/// A model with the ids its file uses.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoadedModel {
    /// The model.
    pub model: Model,
    /// For each node of a circuit, its id in the file; in a `.sdd` file nodes have none of their own, and the ids are
    /// ours.
    pub file_ids: Vec<u64>,
    /// For each vtree node of a circuit, its id in the file.
    pub vtree_ids: Vec<u64>,
}

/// Reads a model of any kind, recognised by its first line that is not a comment: from a `.psdd` file, ours or foreign,
/// or from a `.sdd`, `.mix` or `.spn` file.
///
/// A vtree is needed only for a circuit whose file does not show it. A `.sdd` file becomes the uniform distribution
/// over the models of its formula. The limits are those of the certificate, as in [`Circuit::certify`].
///
/// ```
/// use slopp::io::{read_model, write_model};
/// let loaded = read_model(b"spn 1 1\nB 0 1 0.75\n", None, &Default::default())?;
/// let mut text = Vec::new();
/// write_model(&mut text, &loaded.model)?;
/// assert_eq!(text, b"c slopp 1\nc names [\"x1\"]\nc\nspn 1 1\nB 0 1 0.75\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_model<'a>(
    source: impl Into<Source<'a>>,
    vtree: Option<&LoadedVtree>,
    limits: &Limits,
) -> Result<LoadedModel, ReadError> {
    source.into().parse(|text| any_model(text, vtree, limits))
}

impl Model {
    /// Reads a model from a file, as [`read_model`] does.
    pub fn load<'a>(source: impl Into<Source<'a>>) -> Result<Model, ReadError> {
        Ok(read_model(source, None, &Limits::default())?.model)
    }

    /// Writes the model to one file, in the format of its kind: `.psdd`, `.mix` or `.spn`.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), WriteError> {
        write_atomically(path.as_ref(), |out| write_model(out, self))
    }
}

fn any_model(text: &[u8], vtree: Option<&LoadedVtree>, limits: &Limits) -> Result<LoadedModel, ReadError> {
    check_text(text)?;
    let lines = text.iter().filter(|&&byte| byte == b'\n').count();
    if !has_room(text.len() + lines * BYTES_PER_LINE) {
        return Err(ReadError::new(Problem::OutOfMemory));
    }
    let without_ids = |model| LoadedModel { model, file_ids: Vec::new(), vtree_ids: Vec::new() };
    match content(text).next().and_then(|mut line| line.word()) {
        Some(b"spn") => network(text).map(without_ids),
        Some(b"mixture") if vtree.is_some() => {
            Err(ReadError::unexpected(1, "no vtree file, since a mixture holds its own vtrees", "one"))
        }
        Some(b"mixture") => mixture(text, limits).map(without_ids),
        Some(b"sdd") => from_sdd(text, vtree, limits),
        _ => from_psdd(text, vtree, limits),
    }
}

fn from_psdd(text: &[u8], vtree: Option<&LoadedVtree>, limits: &Limits) -> Result<LoadedModel, ReadError> {
    match Comments::read(text)? {
        Some(comments) => comments.model(text, vtree, limits),
        None => {
            let LoadedCircuit { circuit, file_ids, vtree_ids } = circuit(text, vtree)?;
            let names = Names::numbered(circuit.var_count());
            Ok(LoadedModel { model: Model::new(names, Certified::new(circuit, limits)), file_ids, vtree_ids })
        }
    }
}

fn from_sdd(text: &[u8], vtree: Option<&LoadedVtree>, limits: &Limits) -> Result<LoadedModel, ReadError> {
    let (sdd, names) = formula(text, vtree)?;
    let circuit = sdd.to_circuit().map_err(|e| {
        ReadError::new(match e {
            LogicError::Build(e) => Problem::Build(e),
            _ => Problem::Impossible,
        })
    })?;
    let file_ids = circuit.ids().map(|id| u64::from(id.0)).collect();
    let vtree_ids = (0..circuit.vtree().node_count() as u64).collect();
    let names = names.unwrap_or_else(|| Names::numbered(circuit.var_count()));
    Ok(LoadedModel { model: Model::new(names, Certified::new(circuit, limits)), file_ids, vtree_ids })
}

/// A column with several values.
#[derive(Default)]
struct ColumnComment {
    name: String,
    /// The first variable, from one.
    first: usize,
    values: usize,
    cuts: Option<Vec<f64>>,
}

impl ColumnComment {
    fn read(text: &str) -> Option<ColumnComment> {
        let entry: Value = serde_json::from_str(text).ok()?;
        let number = |key: &str| entry[key].as_u64().and_then(|number| usize::try_from(number).ok());
        let cuts = |cuts: &Vec<Value>| cuts.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>();
        let cuts = match &entry["cuts"] {
            Value::Null => None,
            found => Some(cuts(found.as_array()?)?),
        };
        let first = number("first").filter(|&first| first > 0)?;
        Some(ColumnComment { name: entry["name"].as_str()?.to_owned(), first, values: number("values")?, cuts })
    }
}

/// What the comments of a saved model say, with the lines they stand in.
#[derive(Default)]
pub(super) struct Comments {
    /// The line of `c slopp`.
    line: usize,
    vtree: (usize, String),
    names: (usize, Vec<String>),
    columns: Vec<(usize, ColumnComment)>,
    pub(super) origin: BTreeMap<String, String>,
    /// How many nodes are said to have counts.
    counted: Option<(usize, usize)>,
    counts: FxHashMap<u64, (usize, Vec<f64>)>,
    log_false: FxHashMap<u64, (usize, f64)>,
}

impl Comments {
    /// The comments before the `psdd` line; `None` if the file is not ours.
    pub(super) fn read(text: &[u8]) -> Result<Option<Comments>, ReadError> {
        let mut comments: Option<Comments> = None;
        for (number, line) in lines(text) {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            if line[0] != b'c' {
                break;
            }
            let Some(comment) = line.strip_prefix(b"c ") else { continue };
            let end = comment.iter().position(|&b| b == b' ').unwrap_or(comment.len());
            let (key, value) = (&comment[..end], comment[end..].trim_ascii());
            match (&mut comments, key) {
                (None, b"slopp") => {
                    if value != VERSION.to_string().as_bytes() {
                        let found = String::from_utf8_lossy(value).into_owned();
                        return Err(ReadError::at(number, Problem::Version { found, known: VERSION }));
                    }
                    comments = Some(Comments { line: number, ..Comments::default() });
                }
                (Some(comments), key) => comments.add(number, key, value)?,
                (None, _) => {}
            }
        }
        Ok(comments)
    }

    fn add(&mut self, line: usize, key: &[u8], value: &[u8]) -> Result<(), ReadError> {
        let key = match key {
            b"vtree" | b"names" | b"column" | b"origin" | b"counts" | b"count" | b"false" => {
                std::str::from_utf8(key).expect("one of these")
            }
            _ => return Ok(()),
        };
        let value = std::str::from_utf8(value).map_err(|_| ReadError::at(line, Problem::NotUtf8))?;
        let damaged = |what: &str| ReadError::damaged(line, format!("`c {key}` does not hold {what}"));
        match key {
            "vtree" => {
                self.vtree.0 = line;
                self.vtree.1.push_str(value);
            }
            "names" => {
                self.names.0 = line;
                let names: Vec<String> = serde_json::from_str(value).map_err(|_| damaged("a JSON list of names"))?;
                self.names.1.extend(names);
            }
            "column" => {
                let column = ColumnComment::read(value).ok_or_else(|| damaged("a column as a JSON object"))?;
                self.columns.push((line, column));
            }
            "origin" => {
                let entries: BTreeMap<String, String> =
                    serde_json::from_str(value).map_err(|_| damaged("a JSON object of texts"))?;
                self.origin.extend(entries);
            }
            "counts" => self.counted = Some((line, value.parse().map_err(|_| damaged("a number of lines"))?)),
            _ => {
                let mut words = value.split(' ');
                let id = words.next().and_then(|id| id.parse().ok()).ok_or_else(|| damaged("the id of a node"))?;
                let numbers: Option<Vec<f64>> = words.map(|n| n.parse().ok().filter(|n: &f64| !n.is_nan())).collect();
                let numbers = numbers.ok_or_else(|| damaged("numbers"))?;
                let repeated = match (key, &numbers[..]) {
                    ("count", _) => self.counts.insert(id, (line, numbers)).is_some(),
                    (_, &[log_false]) if log_false <= 0.0 && log_false.is_finite() => {
                        self.log_false.insert(id, (line, log_false)).is_some()
                    }
                    _ => return Err(damaged("one log-parameter")),
                };
                if repeated {
                    return Err(damaged("a node that had none before"));
                }
            }
        }
        Ok(())
    }

    /// The names, one for each variable.
    ///
    /// That every column has exactly one value is a claim about the worlds of the file: `broken` finds a column that
    /// has none or several in some of them.
    fn take_names(
        &mut self,
        variables: usize,
        broken: impl FnOnce(&Names) -> Option<&Group>,
    ) -> Result<Names, ReadError> {
        let (line, names) = std::mem::take(&mut self.names);
        let line = line.max(self.line);
        if names.len() != variables {
            let reason = format!("`c names` holds {} names for {variables} variables", names.len());
            return Err(ReadError::damaged(line, reason));
        }
        let mut names = Names::new(names).map_err(|e| ReadError::damaged(line, format!("`c names`: {e}")))?;
        let columns = std::mem::take(&mut self.columns);
        for (line, column) in &columns {
            let line = *line;
            let grouped = names.with_group(&column.name, column.first - 1, column.values, column.cuts.clone());
            let reason =
                || format!("`c column` does not fit the names: they have no values of {:?} there", column.name);
            names = grouped.ok_or_else(|| ReadError::damaged(line, reason()))?;
        }
        if let Some(group) = broken(&names) {
            let line = columns.iter().find(|(_, column)| column.name == group.name()).map_or(line, |(line, _)| *line);
            return Err(ReadError::at(line, Problem::ColumnRule { column: group.name().to_owned() }));
        }
        Ok(names)
    }

    /// Names and origin, all that the comments of other models than circuits hold.
    pub(super) fn names_and_origin(
        mut self,
        variables: usize,
        broken: impl FnOnce(&Names) -> Option<&Group>,
    ) -> Result<(Names, BTreeMap<String, String>), ReadError> {
        Ok((self.take_names(variables, broken)?, self.origin))
    }

    /// The vtree, if the comments hold one.
    pub(super) fn vtree_kept(&self) -> Result<Option<LoadedVtree>, ReadError> {
        let (line, text) = &self.vtree;
        if text.is_empty() {
            return Ok(None);
        }
        let vtree = text.parse().map_err(|e| ReadError::damaged(*line, format!("`c vtree`: {e}")))?;
        Ok(Some(LoadedVtree::in_order(vtree)))
    }

    fn model(mut self, text: &[u8], given: Option<&LoadedVtree>, limits: &Limits) -> Result<LoadedModel, ReadError> {
        let LoadedCircuit { circuit, file_ids, vtree_ids } = self.circuit(text, given)?;
        let names = self.take_names(circuit.var_count(), |names| circuit.column_without_one_value(names))?;
        let mut model = Model::new(names, Certified::new(circuit, limits));
        model.origin = self.origin;
        Ok(LoadedModel { model, file_ids, vtree_ids })
    }

    /// The circuit, whatever its names.
    pub(super) fn circuit(&mut self, text: &[u8], given: Option<&LoadedVtree>) -> Result<LoadedCircuit, ReadError> {
        let here = self.line;
        check_complete(text)?;
        let file = PsddFile::parse(text)?;
        let (header, count) = file.header;
        if count != Some(file.nodes.len() as u64) {
            let reason =
                format!("the count in this line does not fit the {} complete lines of nodes", file.nodes.len());
            return Err(ReadError::damaged(header, reason));
        }
        let (line, vtree) = &self.vtree;
        let vtree: Vtree =
            vtree.parse().map_err(|e| ReadError::damaged((*line).max(here), format!("`c vtree`: {e}")))?;
        if given.is_some_and(|given| given.vtree != vtree) {
            let expected = format!("the vtree of the model, {}", shortened(&vtree));
            let error = ReadError::unexpected(*line, expected, "another vtree");
            return Err(error.wrong_vtree(true, vtree.var_count(), given.expect("just compared")));
        }
        let LoadedCircuit { circuit, file_ids, vtree_ids } =
            file.build(&LoadedVtree::in_order(vtree), Numbers::Exact)?;
        let places = file.nodes.iter().zip(&file_ids).enumerate();
        let in_order = places.fold(true, |ok, (i, (node, &id))| ok && node.id == i as u64 && id == i as u64);
        if file_ids.len() != file.nodes.len() || !in_order {
            return Err(ReadError::damaged(here, "the nodes are not in the order slopp writes them"));
        }
        Ok(LoadedCircuit { circuit: self.with_numbers(circuit, &file)?, file_ids, vtree_ids })
    }

    /// Puts in the log-parameters, as they stand, and the counts.
    fn with_numbers(&mut self, circuit: Circuit, file: &PsddFile) -> Result<Circuit, ReadError> {
        let (tops, elements) = file.exact_numbers();
        let tops: Vec<[f64; 2]> = tops
            .into_iter()
            .map(|(id, [_, log_true])| {
                let log_false = self.log_false.remove(&id).map(|(_, log_false)| log_false);
                [log_false.unwrap_or_else(|| log_complement(log_true)), log_true]
            })
            .collect();
        if let Some((id, line)) = self.log_false.iter().map(|(id, (line, _))| (id, *line)).min_by_key(|x| x.1) {
            return Err(ReadError::damaged(line, format!("`c false` is for node {id}, which is not a ⊤ node")));
        }
        let circuit = circuit
            .with_log_parameters(Weights { tops, elements })
            .ok_or_else(|| ReadError::damaged(self.line, "a log-parameter is positive or infinite"))?;
        let Some((line, counted)) = self.counted else {
            let stray = self.counts.values().map(|&(line, _)| line).min();
            return stray
                .map_or(Ok(circuit), |line| Err(ReadError::damaged(line, "`c count` comes without `c counts`")));
        };
        if counted != self.counts.len() {
            let reason = format!("`c counts` says {counted} lines of counts, and there are {}", self.counts.len());
            return Err(ReadError::damaged(line, reason));
        }
        let mut counts = Weights::default();
        for id in circuit.ids() {
            let expected = parameters_of(&circuit, id);
            let (line, numbers) = self.counts.remove(&u64::from(id.0)).unwrap_or((line, Vec::new()));
            if numbers.len() != expected {
                let reason = format!("node {} has {expected} parameters and {} counts", id.0, numbers.len());
                return Err(ReadError::damaged(line, reason));
            }
            match circuit.node(id) {
                Node::Literal(_) => {}
                Node::Top { .. } => counts.tops.push([numbers[0], numbers[1]]),
                Node::Sum { .. } => counts.elements.extend(numbers),
            }
        }
        if let Some((id, line)) = self.counts.iter().map(|(id, (line, _))| (id, *line)).min_by_key(|x| x.1) {
            return Err(ReadError::damaged(line, format!("`c count` is for node {id}, which does not exist")));
        }
        Ok(circuit.with_counts(counts).expect("one count per parameter"))
    }
}

/// Checks that a saved model is complete: a file that was cut off should not be reported as an error in its last line.
fn check_complete(text: &[u8]) -> Result<(), ReadError> {
    let last = text.iter().filter(|&&b| b == b'\n').count() + usize::from(!text.ends_with(b"\n"));
    let cut_off = |reason: String| Err(ReadError::at(last, Problem::CutOff { reason }));
    let mut found = content(text);
    let Some(mut header) = found.next() else { return cut_off("it ends before its `psdd` line".to_owned()) };
    let nodes = found.count() as u64;
    let half = !text.ends_with(b"\n");
    let complete = if half { nodes.saturating_sub(1) } else { nodes };
    // A header that says something else is an error of its own.
    let count = header.word().filter(|word| *word == b"psdd").and_then(|_| header.id("").ok());
    match count {
        Some(count) if complete < count => {
            cut_off(format!("it has {complete} complete lines of nodes, line {} says {count}", header.number))
        }
        _ if half => cut_off("its last line has no end".to_owned()),
        _ => Ok(()),
    }
}

/// How many parameters a node has.
fn parameters_of(circuit: &Circuit, id: NodeId) -> usize {
    match circuit.node(id) {
        Node::Literal(_) => 0,
        Node::Top { .. } => 2,
        Node::Sum { .. } => circuit.element_range(id).len(),
    }
}

fn shortened(vtree: &Vtree) -> String {
    let text = vtree.to_string();
    if text.len() > 60 { format!("{}…", &text[..60]) } else { text }
}

/// Writes a model in the format of its kind: `.psdd`, `.mix` or `.spn`.
pub fn write_model(out: &mut dyn Write, model: &Model) -> io::Result<()> {
    write_version(out)?;
    model.circuit().map_or(Ok(()), |circuit| write_vtree_comments(out, circuit.vtree()))?;
    write_names(out, &model.names)?;
    write_origin(out, &model.origin)?;
    match &model.kind {
        ModelKind::Circuit(circuit) => write_circuit(out, circuit),
        ModelKind::Mixture(mixture) => write_components(out, mixture),
        ModelKind::Spn(spn) => write_network(out, spn),
    }
}

pub(super) fn write_version(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "c slopp {VERSION}")
}

pub(super) fn write_vtree_comments(out: &mut dyn Write, vtree: &Vtree) -> io::Result<()> {
    for part in vtree.to_string().as_bytes().chunks(LINE) {
        out.write_all(b"c vtree ")?;
        out.write_all(part)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The numbers that a `.psdd` file has no place for, and its nodes.
pub(super) fn write_circuit(out: &mut dyn Write, circuit: &Circuit) -> io::Result<()> {
    let tops = &circuit.log_parameters().tops;
    for id in circuit.ids() {
        if let Node::Top { slot, .. } = circuit.node(id) {
            let [log_false, log_true] = tops[slot as usize];
            if log_false.to_bits() != log_complement(log_true).to_bits() {
                writeln!(out, "c false {} {log_false:?}", id.0)?;
            }
        }
    }
    if let Some(counts) = circuit.counts() {
        write_counts(out, circuit, counts)?;
    }
    out.write_all(b"c\n")?;
    write_nodes(out, circuit)
}

fn write_origin(out: &mut dyn Write, origin: &BTreeMap<String, String>) -> io::Result<()> {
    for (key, value) in origin {
        writeln!(out, "c origin {}", serde_json::to_string(&BTreeMap::from([(key, value)]))?)?;
    }
    Ok(())
}

pub(super) fn write_names(out: &mut dyn Write, names: &Names) -> io::Result<()> {
    let mut line = String::new();
    for name in names.iter() {
        line.push(if line.is_empty() { '[' } else { ',' });
        line.push_str(&serde_json::to_string(name)?);
        if line.len() > LINE {
            writeln!(out, "c names {line}]")?;
            line.clear();
        }
    }
    if !line.is_empty() {
        writeln!(out, "c names {line}]")?;
    }
    for group in names.groups() {
        let first = group.vars().next().map_or(0, |var| var.number());
        let (name, cuts) = (serde_json::to_string(group.name())?, group.cuts().map(serde_json::to_string).transpose()?);
        let cuts = cuts.map_or(String::new(), |cuts| format!(",\"cuts\":{cuts}"));
        writeln!(out, "c column {{\"name\":{name},\"first\":{first},\"values\":{}{cuts}}}", group.vars().len())?;
    }
    Ok(())
}

fn write_counts(out: &mut dyn Write, circuit: &Circuit, counts: &Weights) -> io::Result<()> {
    let counted = circuit.ids().filter(|&id| parameters_of(circuit, id) > 0).count();
    writeln!(out, "c counts {counted}")?;
    for id in circuit.ids() {
        let numbers = match circuit.node(id) {
            Node::Literal(_) => continue,
            Node::Top { slot, .. } => &counts.tops[slot as usize][..],
            Node::Sum { .. } => &counts.elements[circuit.element_range(id)],
        };
        write!(out, "c count {}", id.0)?;
        write_numbers(out, numbers)?;
    }
    Ok(())
}

/// The rest of a line: numbers that read back to the same bits.
pub(super) fn write_numbers(out: &mut dyn Write, numbers: &[f64]) -> io::Result<()> {
    for &number in numbers {
        // Whole numbers without `.0`; `{:?}` reads back to the same bits, and so does this.
        if number.fract() == 0.0 && number.abs() < 1e15 && number.to_bits() != (-0.0f64).to_bits() {
            write!(out, " {number}")?;
        } else {
            write!(out, " {number:?}")?;
        }
    }
    writeln!(out)
}

//! `.psdd` files, in both dialects of the field.

use super::error::ReadError;
use super::lines::{Ids, Line, check_text, content, header};
use super::problem::Problem;
use super::source::Source;
use super::vtree::{Inference, Kind, LoadedVtree, resolve, show_kind, wrong_leaf};
use crate::circuit::{Builder, Circuit, Node, NodeId, PARAMETER_TOLERANCE, Sharing};
use crate::logspace::{LOG_ZERO, log_complement};
use crate::var::{Lit, Var};
use crate::vtree::VtreeId;
use std::io::{self, Write};
use std::ops::Range;

/// A circuit with the ids its file uses, so that what is said about it can be found in the file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoadedCircuit {
    /// The circuit.
    pub circuit: Circuit,
    /// For each node, its id in the file; nodes that became one have the first.
    pub file_ids: Vec<u64>,
    /// For each vtree node, its id in the file.
    pub vtree_ids: Vec<u64>,
}

/// Reads a `.psdd` file; without a vtree, it is inferred from the file.
///
/// Both dialects are understood: `T` lines with ln P(true) only, and with ln P(false) and ln P(true). Elements of
/// probability zero are dropped, a ⊤ with a value of probability zero becomes a literal. Some tools number the vtree
/// nodes in-order whatever the vtree file says; that is tried where the ids of the file do not fit. Some count more
/// nodes than there are; without a vtree such a file is refused as cut off only if nothing uses one of its sums.
pub fn read_psdd<'a>(source: impl Into<Source<'a>>, vtree: Option<&LoadedVtree>) -> Result<LoadedCircuit, ReadError> {
    source.into().parse(|text| circuit(text, vtree))
}

pub(super) fn circuit(text: &[u8], vtree: Option<&LoadedVtree>) -> Result<LoadedCircuit, ReadError> {
    let file = PsddFile::parse(text)?;
    match vtree {
        None => {
            file.check_count()?;
            file.build(&file.infer_vtree()?, Numbers::Checked)
        }
        Some(vtree) => with_either_numbering(vtree, |vtree| file.build(vtree, Numbers::Checked))
            .map_err(|error| file.blame(error, vtree)),
    }
}

/// Tries the ids of the vtree file, then in-order ones; if neither fits, the first error is returned.
pub(super) fn with_either_numbering<T>(
    vtree: &LoadedVtree,
    build: impl Fn(&LoadedVtree) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    build(vtree).or_else(|error| {
        if vtree.is_in_order() {
            return Err(error);
        }
        build(&LoadedVtree::in_order(vtree.vtree.clone())).map_err(|_| error)
    })
}

/// What to do with the numbers of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// Round them into the invariants of circuits; drop what is dead.
    Checked,
    /// Keep every bit: they were written by us.
    Exact,
}

/// A `.psdd` file as it stands, with children found and numbers read, before any vtree.
pub(super) struct PsddFile {
    /// The line of the header and the count it gives.
    pub(super) header: (usize, Option<u64>),
    pub(super) nodes: Vec<RawNode>,
    elements: Vec<RawElement>,
    bytes: usize,
}

pub(super) struct RawNode {
    pub(super) id: u64,
    pub(super) line: usize,
    vtree: u64,
    kind: RawKind,
}

enum RawKind {
    Literal(Lit),
    /// ln P(false) and ln P(true), complementary unless both were given.
    Top(Var, [f64; 2]),
    Sum(Range<usize>),
}

/// Prime and sub by their place in the file, and the log-parameter.
struct RawElement {
    prime: u32,
    sub: u32,
    log_theta: f64,
}

impl PsddFile {
    pub(super) fn parse(text: &[u8]) -> Result<PsddFile, ReadError> {
        check_text(text)?;
        let mut lines = content(text);
        let header = header(&mut lines, "psdd", "a circuit file, beginning `psdd <count>`")?;
        let mut ids = Ids::new("node", text.len());
        let mut file = PsddFile { header, nodes: Vec::new(), elements: Vec::new(), bytes: text.len() };
        let mut values_on_top = None;
        for mut line in lines {
            let kind = line.word();
            let id = match kind {
                Some(b"L" | b"T" | b"D") => line.id("the id of a node")?,
                _ => return Err(ReadError::unexpected(line.number, "L, T or D", show_kind(kind))),
            };
            let vtree = line.id("the id of a vtree node");
            let (vtree, kind) = match kind {
                Some(b"L") => (vtree?, RawKind::Literal(literal(&mut line)?)),
                Some(b"T") => {
                    let (var, logs) = top(&mut line, &mut values_on_top)?;
                    (vtree?, RawKind::Top(var, logs))
                }
                _ => (vtree?, RawKind::Sum(file.elements(&mut line, &ids, id, text)?)),
            };
            line.end()?;
            ids.define(id, line.number)?;
            file.nodes.push(RawNode { id, line: line.number, vtree, kind });
        }
        if file.nodes.is_empty() {
            return Err(ReadError::unexpected(header.0, "lines of nodes, L, T and D", "the end of the file"));
        }
        Ok(file)
    }

    fn elements(&mut self, line: &mut Line<'_>, ids: &Ids, own: u64, text: &[u8]) -> Result<Range<usize>, ReadError> {
        let count = line.id("the number of elements")?;
        let start = self.elements.len();
        for _ in 0..count {
            let mut child = |what| {
                let id = line.id(what)?;
                ids.place(id).map(|p| p as u32).ok_or_else(|| unknown_child(text, line.number, own, id))
            };
            let (prime, sub) = (child("the id of a prime")?, child("the id of a sub")?);
            self.elements.push(RawElement { prime, sub, log_theta: line.log_parameter()? });
        }
        if count == 0 {
            return Err(ReadError::unexpected(line.number, "at least one element", "0 elements"));
        }
        Ok(start..self.elements.len())
    }

    /// Refuses a file that ends early: it has fewer nodes than it says, and nodes other than literals that nothing
    /// uses. Fewer nodes alone only mean that the tool counts otherwise; some write literals that are not used.
    fn check_count(&self) -> Result<(), ReadError> {
        let (line, found) = (self.header.0, self.nodes.len());
        let Some(count) = self.header.1.filter(|&count| count > found as u64) else { return Ok(()) };
        let mut used = vec![false; found];
        for element in &self.elements {
            used[element.prime as usize] = true;
            used[element.sub as usize] = true;
        }
        let root = found.saturating_sub(1);
        let is_left = |&i: &usize| !used[i] && !matches!(self.nodes[i].kind, RawKind::Literal(_));
        match (0..root).find(is_left) {
            None => Ok(()),
            Some(unused) => Err(ReadError::new(Problem::CutOff {
                reason: format!(
                    "it has {found} lines of nodes, line {line} says {count}, and nothing uses node {}",
                    self.nodes[unused].id
                ),
            })),
        }
    }

    /// The vtree that the nodes show: the variable of each leaf from `L` and `T` lines, the children of each inner
    /// node from the primes and subs of `D` lines.
    pub(super) fn infer_vtree(&self) -> Result<LoadedVtree, ReadError> {
        let mut inference = Inference::default();
        for node in &self.nodes {
            match &node.kind {
                RawKind::Literal(lit) => inference.add(node.line, node.vtree, Kind::Leaf(lit.var))?,
                RawKind::Top(var, _) => inference.add(node.line, node.vtree, Kind::Leaf(*var))?,
                RawKind::Sum(range) => {
                    for element in &self.elements[range.clone()] {
                        let at = |place: u32| self.nodes[place as usize].vtree;
                        inference.add(node.line, node.vtree, Kind::Inner(at(element.prime), at(element.sub)))?;
                    }
                }
            }
        }
        inference.finish(self.bytes)
    }

    /// The error for a file that does not fit the vtree given: is the vtree to blame?
    fn blame(&self, error: ReadError, given: &LoadedVtree) -> ReadError {
        match self.infer_vtree() {
            Ok(own) if own.vtree != given.vtree => error.wrong_vtree(true, own.vtree.var_count(), given),
            _ => error,
        }
    }

    /// The circuit over a vtree.
    pub(super) fn build(&self, vtree: &LoadedVtree, numbers: Numbers) -> Result<LoadedCircuit, ReadError> {
        let mut builder = Builder::new(vtree.vtree.clone(), Sharing::LiteralsOnly);
        // Place of each node in the builder and its vtree node; no place if it is dead.
        let mut places: Vec<(Option<NodeId>, VtreeId)> = Vec::with_capacity(self.nodes.len());
        let mut first_use: Vec<u64> = Vec::with_capacity(self.nodes.len());
        let mut elements = Vec::new();
        for node in &self.nodes {
            let v = resolve(node.line, vtree, node.vtree)?;
            let place = match &node.kind {
                RawKind::Literal(lit) => {
                    check_leaf(node, vtree, v, lit.var)?;
                    builder.literal(*lit).map(Some)
                }
                RawKind::Top(var, logs) => {
                    check_leaf(node, vtree, v, *var)?;
                    match logs {
                        // The builder would round them; they are set when it is done.
                        _ if numbers == Numbers::Exact => builder.top(*var, [-std::f64::consts::LN_2; 2]).map(Some),
                        [LOG_ZERO, LOG_ZERO] => Ok(None),
                        [LOG_ZERO, _] => builder.literal(var.is(true)).map(Some),
                        [_, LOG_ZERO] => builder.literal(var.is(false)).map(Some),
                        logs => builder.top(*var, *logs).map(Some),
                    }
                }
                RawKind::Sum(range) => {
                    let Some([left, right]) = vtree.vtree.children(v) else {
                        let expected = format!("an inner vtree node for a D line, which {} is not", node.vtree);
                        return Err(ReadError::unexpected(node.line, expected, "a leaf"));
                    };
                    elements.clear();
                    for (i, element) in self.elements[range.clone()].iter().enumerate() {
                        let mut alive = element.log_theta > LOG_ZERO;
                        let mut child = |role, place: u32, expected: VtreeId| {
                            let (child, found) = places[place as usize];
                            if found != expected {
                                return Err(wrong_child(node, vtree, i, role, expected, found));
                            }
                            if child.is_none() && alive {
                                let id = self.nodes[place as usize].id;
                                return Err(ReadError::at(node.line, Problem::Dead { id }));
                            }
                            alive &= child.is_some();
                            Ok(child.unwrap_or(NodeId(0)))
                        };
                        let (prime, sub) = (child("prime", element.prime, left)?, child("sub", element.sub, right)?);
                        if alive {
                            elements.push((prime, sub, element.log_theta));
                        }
                    }
                    if elements.is_empty() { Ok(None) } else { builder.sum(v, &elements).map(Some) }
                }
            };
            let place = place.map_err(|e| ReadError::at(node.line, Problem::Build(e)))?;
            if place.is_some_and(|id| id.index() == first_use.len()) {
                first_use.push(node.id);
            }
            places.push((place, v));
        }
        let (last, &(root, found)) = self.nodes.last().zip(places.last()).expect("a parsed file has nodes");
        let expected = vtree.vtree.root();
        if found != expected {
            let expected =
                format!("the root in the last line, for vtree node {}, the root of the vtree", vtree.file_id(expected));
            let found = format!("a node for vtree node {}; the file may be cut off", vtree.file_id(found));
            return Err(ReadError::unexpected(last.line, expected, found));
        }
        let root = root.ok_or_else(|| ReadError::at(last.line, Problem::Dead { id: last.id }))?;
        let (circuit, new_ids) =
            builder.finish_with_ids(root).map_err(|e| ReadError::at(last.line, Problem::Build(e)))?;
        let mut file_ids = vec![0; circuit.nodes().len()];
        for (new, file_id) in new_ids.iter().zip(first_use) {
            if let Some(new) = new {
                file_ids[new.index()] = file_id;
            }
        }
        Ok(LoadedCircuit { circuit, file_ids, vtree_ids: vtree.file_ids.clone() })
    }

    /// The numbers exactly as they stand, in the order of the lines; of ⊤ nodes also their id.
    pub(super) fn exact_numbers(&self) -> (Vec<(u64, [f64; 2])>, Vec<f64>) {
        let tops = self.nodes.iter().filter_map(|node| match node.kind {
            RawKind::Top(_, logs) => Some((node.id, logs)),
            _ => None,
        });
        (tops.collect(), self.elements.iter().map(|element| element.log_theta).collect())
    }
}

pub(super) fn literal(line: &mut Line<'_>) -> Result<Lit, ReadError> {
    const WHAT: &str = "a literal, a variable number from 1, negated by -";
    let number = line.signed(WHAT)?;
    Lit::from_number(number).ok_or_else(|| line.wrong(WHAT, Some(number.to_string().as_bytes())))
}

/// The variable and the log-parameters of a `T` line, one or two, as on the other `T` lines of the file.
fn top(line: &mut Line<'_>, values: &mut Option<usize>) -> Result<(Var, [f64; 2]), ReadError> {
    let words = line.words_left();
    match (words, *values) {
        (2 | 3, None) => *values = Some(words - 1),
        (2 | 3, Some(expected)) if expected == words - 1 => {}
        (2 | 3, Some(expected)) => {
            let expected = format!("{expected} log-parameters, as on the T lines before");
            return Err(ReadError::unexpected(line.number, expected, (words - 1).to_string()));
        }
        _ => {
            let expected = "T <id> <vtree id> <variable> and one or two log-parameters";
            return Err(ReadError::unexpected(line.number, expected, format!("{} words", words + 3)));
        }
    }
    let number = line.id("a variable number from 1")?;
    let var = u32::try_from(number).ok().and_then(Var::from_number);
    let var = var.ok_or_else(|| line.wrong("a variable number from 1", Some(number.to_string().as_bytes())))?;
    let first = at_most_zero(line.log_parameter()?);
    if words == 2 {
        return Ok((var, [log_complement(first), first]));
    }
    let second = at_most_zero(line.log_parameter()?);
    let total = first.exp() + second.exp();
    if (total - 1.0).abs() > PARAMETER_TOLERANCE {
        let expected = "two log-parameters whose probabilities add up to 1";
        return Err(ReadError::unexpected(line.number, expected, format!("a total of {total}")));
    }
    // A probability that rounds to zero in double precision is zero.
    let zero = |log: f64, other: f64| if log_complement(log) == 0.0 && log < other { LOG_ZERO } else { log };
    Ok((var, [zero(first, second), zero(second, first)]))
}

/// Rounds down to zero; unlike `min`, keeps the sign of zero.
fn at_most_zero(log: f64) -> f64 {
    if log > 0.0 { 0.0 } else { log }
}

fn check_leaf(node: &RawNode, vtree: &LoadedVtree, v: VtreeId, var: Var) -> Result<(), ReadError> {
    if vtree.vtree.leaf_var(v) == Some(var) { Ok(()) } else { Err(wrong_leaf(node.line, vtree, node.vtree, var)) }
}

fn wrong_child(
    node: &RawNode,
    vtree: &LoadedVtree,
    element: usize,
    role: &str,
    expected: VtreeId,
    found: VtreeId,
) -> ReadError {
    let side = if role == "prime" { "left" } else { "right" };
    let (expected, found) = (vtree.file_id(expected), vtree.file_id(found));
    let expected =
        format!("the {role} of element {} at vtree node {expected}, the {side} child of {}", element + 1, node.vtree);
    ReadError::unexpected(node.line, expected, format!("one at vtree node {found}"))
}

/// The error for a child that is not known yet: does it come later, or never?
pub(super) fn unknown_child(text: &[u8], line: usize, own: u64, id: u64) -> ReadError {
    let later = content(text).filter(|other| other.number >= line).find_map(|mut other| {
        other.word()?;
        (other.id("").ok()? == id).then_some(other.number)
    });
    ReadError::at(
        line,
        match later {
            Some(later_line) => Problem::UsedBefore { id, later_line },
            None if id == own => Problem::UsedBefore { id, later_line: line },
            None => Problem::UnknownId { what: "node", id, truncated: true },
        },
    )
}

/// Writes a `.psdd` file without the comments of a saved model; the vtree is a file of its own.
pub fn write_psdd(out: &mut dyn Write, circuit: &Circuit) -> io::Result<()> {
    out.write_all(
        b"c ids of psdd nodes start at 0\n\
          c psdd nodes appear bottom-up, children before parents\n\
          c\n",
    )?;
    write_nodes(out, circuit)
}

/// Writes the header and the nodes: ids are [`NodeId`]s, vtree ids are in-order, numbers read back to the same bits.
pub(super) fn write_nodes(out: &mut dyn Write, circuit: &Circuit) -> io::Result<()> {
    writeln!(
        out,
        "c file syntax:\n\
         c psdd count-of-psdd-nodes\n\
         c L id-of-literal-node id-of-vtree literal\n\
         c T id-of-true-node id-of-vtree variable log(probability-of-true)\n\
         c D id-of-decision-node id-of-vtree number-of-elements {{id-of-prime id-of-sub log(parameter)}}*\n\
         c\n\
         psdd {}",
        circuit.nodes().len()
    )?;
    for id in circuit.ids() {
        let v = circuit.vtree_of(id).0;
        match circuit.node(id) {
            Node::Literal(lit) => writeln!(out, "L {} {v} {lit}", id.0)?,
            Node::Top { var, slot } => {
                let log_true = circuit.log_parameters().tops[slot as usize][1];
                writeln!(out, "T {} {v} {} {log_true:?}", id.0, var.number())?;
            }
            Node::Sum { start, end, .. } => {
                write!(out, "D {} {v} {}", id.0, end - start)?;
                for (element, log_theta) in circuit.elements_of(id) {
                    write!(out, " {} {} {log_theta:?}", element.prime.0, element.sub.0)?;
                }
                writeln!(out)?;
            }
        }
    }
    Ok(())
}

//! `.sdd` files of libsdd.

use super::error::ReadError;
use super::lines::{Ids, Line, check_text, content, header};
use super::model::{Comments, write_names, write_version, write_vtree_comments};
use super::problem::Problem;
use super::psdd::{literal, unknown_child, with_either_numbering};
use super::source::Source;
use super::vtree::{Inference, Kind, LoadedVtree, resolve, show_kind, wrong_leaf};
use crate::logic::{Sdd, SddElement, SddFault, SddId, SddNode};
use crate::names::Names;
use crate::var::Lit;
use crate::vtree::VtreeId;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

/// Reads a `.sdd` file, and the names that [`write_sdd`] keeps in comments; `None` if there are none.
///
/// The root is the last line, whatever its id. A trimmed diagram does not always show its vtree. If none is given, the
/// one in the comments is taken. Without comments, every decision must show one left and one right child, and the vtree
/// is over the variables that occur. As in `.psdd` files, in-order vtree ids are tried where those of the vtree file do
/// not fit. The primes of every decision are proved to be exclusive and to cover everything.
pub fn read_sdd<'a>(
    source: impl Into<Source<'a>>,
    vtree: Option<&LoadedVtree>,
) -> Result<(Sdd, Option<Names>), ReadError> {
    source.into().parse(|text| formula(text, vtree))
}

pub(super) fn formula(text: &[u8], vtree: Option<&LoadedVtree>) -> Result<(Sdd, Option<Names>), ReadError> {
    let file = SddFile::parse(text)?;
    let comments = Comments::read(text)?;
    let kept = match vtree {
        None => comments.as_ref().map(Comments::vtree_kept).transpose()?.flatten(),
        Some(_) => None,
    };
    let sdd = match vtree.or(kept.as_ref()) {
        None => file.build(&file.infer_vtree(text.len())?)?,
        Some(vtree) => with_either_numbering(vtree, |vtree| file.build(vtree))
            .map_err(|error| file.blame(error, vtree, text.len()))?,
    };
    sdd.prove_partitions().map_err(|e| {
        let node = &file.nodes[e.node.index()];
        ReadError::at(node.line, Problem::Partition { id: node.id, reason: e.fault.to_string() })
    })?;
    let Some(comments) = comments else { return Ok((sdd, None)) };
    let named = comments.names_and_origin(sdd.vtree().var_count(), |names| {
        // Where nothing is possible, no column breaks its rule.
        (!names.groups().is_empty()).then(|| sdd.to_circuit().ok())??.column_without_one_value(names)
    })?;
    Ok((sdd, Some(named.0)))
}

struct SddFile {
    nodes: Vec<RawNode>,
    elements: Vec<SddElement>,
}

struct RawNode {
    id: u64,
    line: usize,
    kind: RawKind,
}

enum RawKind {
    Constant(bool),
    Literal(u64, Lit),
    Decision(u64, Range<usize>),
}

impl SddFile {
    fn parse(text: &[u8]) -> Result<SddFile, ReadError> {
        check_text(text)?;
        let mut lines = content(text);
        let (header_line, _) = header(&mut lines, "sdd", "an SDD file, beginning `sdd <count>`")?;
        let mut ids = Ids::new("node", text.len());
        let mut file = SddFile { nodes: Vec::new(), elements: Vec::new() };
        for mut line in lines {
            let kind = line.word();
            let id = match kind {
                Some(b"F" | b"T" | b"L" | b"D") => line.id("the id of a node")?,
                _ => return Err(ReadError::unexpected(line.number, "F, T, L or D", show_kind(kind))),
            };
            let kind = match kind {
                Some(b"F") => RawKind::Constant(false),
                Some(b"T") => RawKind::Constant(true),
                Some(b"L") => RawKind::Literal(line.id("the id of a vtree node")?, literal(&mut line)?),
                _ => {
                    let vtree = line.id("the id of a vtree node")?;
                    RawKind::Decision(vtree, file.elements(&mut line, &ids, id, text)?)
                }
            };
            line.end()?;
            ids.define(id, line.number)?;
            file.nodes.push(RawNode { id, line: line.number, kind });
        }
        if file.nodes.is_empty() {
            return Err(ReadError::unexpected(header_line, "lines of nodes, F, T, L and D", "the end of the file"));
        }
        Ok(file)
    }

    fn elements(&mut self, line: &mut Line<'_>, ids: &Ids, own: u64, text: &[u8]) -> Result<Range<usize>, ReadError> {
        let count = line.id("the number of elements")?;
        let start = self.elements.len();
        for _ in 0..count {
            let mut child = |what| {
                let id = line.id(what)?;
                let place = ids.place(id).ok_or_else(|| unknown_child(text, line.number, own, id))?;
                Ok::<_, ReadError>(SddId(place as u32))
            };
            let element = SddElement { prime: child("the id of a prime")?, sub: child("the id of a sub")? };
            self.elements.push(element);
        }
        Ok(start..self.elements.len())
    }

    fn infer_vtree(&self, bytes: usize) -> Result<LoadedVtree, ReadError> {
        let at = |id: SddId| match self.nodes[id.index()].kind {
            RawKind::Constant(_) => None,
            RawKind::Literal(vtree, _) | RawKind::Decision(vtree, _) => Some(vtree),
        };
        let mut inference = Inference::default();
        // The children of inner nodes, as far as they are known: a constant child does not show where it is.
        let mut inner: BTreeMap<u64, (usize, [Option<u64>; 2])> = BTreeMap::new();
        for node in &self.nodes {
            match &node.kind {
                RawKind::Constant(_) => {}
                RawKind::Literal(vtree, lit) => inference.add(node.line, *vtree, Kind::Leaf(lit.var))?,
                RawKind::Decision(vtree, range) => {
                    let (_, children) = inner.entry(*vtree).or_insert((node.line, [None; 2]));
                    for e in &self.elements[range.clone()] {
                        for (child, found) in children.iter_mut().zip([at(e.prime), at(e.sub)]) {
                            let Some(found) = found else { continue };
                            if let Some(known) = child.replace(found).filter(|&known| known != found) {
                                let reason = format!("vtree node {vtree} has {known} and {found} below it on one side");
                                return Err(ReadError::at(node.line, Problem::NoVtree { reason }));
                            }
                        }
                    }
                }
            }
        }
        for (id, (line, children)) in inner {
            let [Some(left), Some(right)] = children else {
                let reason = format!("vtree node {id} shows nothing below it on one side");
                return Err(ReadError::at(line, Problem::NoVtree { reason }));
            };
            inference.add(line, id, Kind::Inner(left, right))?;
        }
        if self.nodes.iter().all(|node| matches!(node.kind, RawKind::Constant(_))) {
            let reason = "the formula is constant".to_owned();
            return Err(ReadError::new(Problem::NoVtree { reason }));
        }
        inference.finish(bytes)
    }

    /// The error for a file that does not fit the vtree given: is the vtree to blame?
    fn blame(&self, error: ReadError, given: &LoadedVtree, bytes: usize) -> ReadError {
        let vars = self.nodes.iter().filter_map(|node| match node.kind {
            RawKind::Literal(_, lit) => Some(lit.var.index() + 1),
            _ => None,
        });
        // A trimmed diagram may have fewer variables than its vtree, but not more.
        let vars = vars.max().unwrap_or(0);
        let inferred = self.infer_vtree(bytes).ok().map(|own| own.vtree);
        let sure = vars > given.vtree.var_count()
            || inferred.as_ref().is_some_and(|own| own.var_count() == given.vtree.var_count() && *own != given.vtree);
        error.wrong_vtree(sure, vars.max(given.vtree.var_count()), given)
    }

    fn build(&self, vtree: &LoadedVtree) -> Result<Sdd, ReadError> {
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            nodes.push(match node.kind {
                RawKind::Constant(false) => SddNode::False,
                RawKind::Constant(true) => SddNode::True,
                RawKind::Literal(id, lit) => {
                    let v = resolve(node.line, vtree, id)?;
                    if vtree.vtree.leaf_var(v) != Some(lit.var) {
                        return Err(wrong_leaf(node.line, vtree, id, lit.var));
                    }
                    SddNode::Literal(lit)
                }
                RawKind::Decision(id, ref range) => SddNode::Decision {
                    vtree: resolve(node.line, vtree, id)?,
                    start: range.start as u32,
                    end: range.end as u32,
                },
            });
        }
        Sdd::promised(vtree.vtree.clone(), nodes, self.elements.clone()).map_err(|e| {
            let line = self.nodes[e.node.index()].line;
            let file_id = |v: VtreeId| vtree.file_ids.get(v.index()).copied().unwrap_or(u64::from(v.0));
            match e.fault {
                SddFault::NotInner(v) => ReadError::unexpected(
                    line,
                    "an inner vtree node for a D line",
                    format!("vtree node {}", file_id(v)),
                ),
                fault => ReadError::unexpected(line, "a node that fits the vtree", fault.to_string()),
            }
        })
    }
}

/// Writes a `.sdd` file. With names, these and the vtree are kept in comments that other tools skip.
pub fn write_sdd(out: &mut dyn Write, sdd: &Sdd, names: Option<&Names>) -> io::Result<()> {
    if let Some(names) = names {
        write_version(out)?;
        write_vtree_comments(out, sdd.vtree())?;
        write_names(out, names)?;
    }
    writeln!(
        out,
        "c ids of sdd nodes start at 0\n\
         c sdd nodes appear bottom-up, children before parents\n\
         c\n\
         c file syntax:\n\
         c sdd count-of-sdd-nodes\n\
         c F id-of-false-sdd-node\n\
         c T id-of-true-sdd-node\n\
         c L id-of-literal-sdd-node id-of-vtree literal\n\
         c D id-of-decomposition-sdd-node id-of-vtree number-of-elements {{id-of-prime id-of-sub}}*\n\
         c\n\
         sdd {}",
        sdd.nodes().len()
    )?;
    let file_id = |id: SddId| if id == sdd.root() { 0 } else { id.0 + 1 };
    for id in sdd.ids() {
        match (sdd.node(id), sdd.vtree_of(id)) {
            (SddNode::False, _) => writeln!(out, "F {}", file_id(id))?,
            (SddNode::Literal(lit), Some(v)) => writeln!(out, "L {} {} {lit}", file_id(id), v.0)?,
            (SddNode::Decision { vtree, .. }, _) => {
                write!(out, "D {} {} {}", file_id(id), vtree.0, sdd.elements_of(id).len())?;
                for e in sdd.elements_of(id) {
                    write!(out, " {} {}", file_id(e.prime), file_id(e.sub))?;
                }
                writeln!(out)?;
            }
            (SddNode::True | SddNode::Literal(_), _) => writeln!(out, "T {}", file_id(id))?,
        }
    }
    Ok(())
}

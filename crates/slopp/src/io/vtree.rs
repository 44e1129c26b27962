//! `.vtree` files, as libsdd, pypsdd, LearnPSDD and Juice write them.

use super::error::ReadError;
use super::lines::{Ids, check_text, content, header};
use super::phrases::show;
use super::problem::Problem;
use super::source::Source;
use crate::var::Var;
use crate::vtree::{Step, Vtree, VtreeId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// A vtree with the ids its file uses.
///
/// Tools number vtree nodes differently (libsdd in-order, Juice bottom-up), and circuit files mean the ids of *their*
/// vtree file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadedVtree {
    /// The vtree.
    pub vtree: Vtree,
    /// For each node, in-order, the id in the file.
    pub file_ids: Vec<u64>,
    by_file_id: FxHashMap<u64, VtreeId>,
    /// The file, for errors.
    pub(super) file: Option<String>,
}

impl LoadedVtree {
    /// The vtree with its own in-order ids.
    pub fn in_order(vtree: Vtree) -> LoadedVtree {
        let file_ids = (0..vtree.node_count() as u64).collect();
        LoadedVtree::new(vtree, file_ids)
    }

    fn new(vtree: Vtree, file_ids: Vec<u64>) -> LoadedVtree {
        let by_file_id = file_ids.iter().enumerate().map(|(i, &id)| (id, VtreeId(i as u32))).collect();
        LoadedVtree { vtree, file_ids, by_file_id, file: None }
    }

    /// The node with this id in the file.
    pub fn node(&self, file_id: u64) -> Option<VtreeId> {
        self.by_file_id.get(&file_id).copied()
    }

    /// The id of a node in the file.
    pub fn file_id(&self, v: VtreeId) -> u64 {
        self.file_ids[v.index()]
    }

    /// Whether the file numbers in-order, as we do.
    pub fn is_in_order(&self) -> bool {
        self.file_ids.iter().enumerate().all(|(i, &id)| i as u64 == id)
    }
}

/// Reads a `.vtree` file.
///
/// Lines may come in any order, ids may be any numbers, the count in the header is a hint; the root is the node
/// without a parent.
pub fn read_vtree<'a>(source: impl Into<Source<'a>>) -> Result<LoadedVtree, ReadError> {
    let source = source.into();
    let loaded = source.parse(parse)?;
    let file = match source {
        Source::File(path) => Some(path.display().to_string()),
        Source::Text(_) => None,
    };
    Ok(LoadedVtree { file, ..loaded })
}

fn parse(text: &[u8]) -> Result<LoadedVtree, ReadError> {
    check_text(text)?;
    let mut lines = content(text);
    let (header_line, count) = header(&mut lines, "vtree", "a vtree file, beginning `vtree <count>`")?;
    let mut nodes = Vec::new();
    let mut last = header_line;
    for mut line in lines {
        last = line.number;
        let kind = line.word();
        let id = match kind {
            Some(b"L" | b"I") => line.id("the id of a vtree node")?,
            _ => return Err(line.wrong("L or I", kind)),
        };
        let kind = if kind == Some(b"L") {
            let number = line.id("a variable number from 1")?;
            let var = u32::try_from(number).ok().and_then(Var::from_number);
            Kind::Leaf(var.ok_or_else(|| line.wrong("a variable number from 1", Some(number.to_string().as_bytes())))?)
        } else {
            Kind::Inner(line.id("the id of the left child")?, line.id("the id of the right child")?)
        };
        line.end()?;
        nodes.push(FileNode { id, line: line.number, kind });
    }
    if nodes.is_empty() {
        return Err(ReadError::unexpected(last, "lines of vtree nodes, L and I", "the end of the file"));
    }
    // The count is a hint, but a complete file never has fewer nodes than it says.
    let loaded = assemble(&nodes, text.len());
    match (loaded, count) {
        (Ok(_), Some(count)) if count > nodes.len() as u64 => Err(ReadError::unexpected(
            last,
            format!("{count} vtree nodes, as line {header_line} says"),
            format!("{}; the file may be cut off", nodes.len()),
        )),
        (loaded, _) => loaded,
    }
}

/// A vtree node as a file has it.
pub(super) struct FileNode {
    pub(super) id: u64,
    pub(super) line: usize,
    pub(super) kind: Kind,
}

/// A leaf with its variable, or an inner node with the ids of its children.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Leaf(Var),
    Inner(u64, u64),
}

/// Puts nodes together to a tree, wherever they stand.
pub(super) fn assemble(nodes: &[FileNode], bytes: usize) -> Result<LoadedVtree, ReadError> {
    let mut ids = Ids::new("vtree node", bytes);
    for node in nodes {
        ids.define(node.id, node.line)?;
    }
    let mut parent: Vec<Option<usize>> = vec![None; nodes.len()];
    let mut leaf_line: FxHashMap<Var, usize> = FxHashMap::default();
    for (place, node) in nodes.iter().enumerate() {
        match node.kind {
            Kind::Leaf(var) => {
                if let Some(first) = leaf_line.insert(var, node.line) {
                    let found = format!("variable {} again, which is already in line {first}", var.number());
                    return Err(ReadError::unexpected(node.line, "a variable that is not in the vtree yet", found));
                }
            }
            Kind::Inner(left, right) => {
                for id in [left, right] {
                    let child = ids.place(id).ok_or_else(|| {
                        ReadError::at(node.line, Problem::UnknownId { what: "vtree node", id, truncated: true })
                    })?;
                    if let Some(other) = parent[child] {
                        let parent = nodes[other].id;
                        return Err(ReadError::at(node.line, Problem::SharedVtree { id, parent }));
                    }
                    parent[child] = Some(place);
                }
            }
        }
    }
    let mut roots = (0..nodes.len()).filter(|&place| parent[place].is_none());
    let Some(root) = roots.next() else { return Err(cycle_above(0, nodes, &parent)) };
    let mut seen = vec![false; nodes.len()];
    let (mut steps, mut order) = (Vec::with_capacity(nodes.len()), Vec::with_capacity(nodes.len()));
    let mut tasks = vec![(root, false)];
    while let Some((place, children_done)) = tasks.pop() {
        seen[place] = true;
        match nodes[place].kind {
            Kind::Leaf(var) => {
                steps.push(Step::Leaf(var));
                order.push(nodes[place].id);
            }
            Kind::Inner(..) if children_done => {
                steps.push(Step::Join);
                order.push(nodes[place].id);
            }
            Kind::Inner(left, right) => {
                let child = |id| (ids.place(id).expect("checked above"), false);
                tasks.extend([(place, true), child(right), child(left)]);
            }
        }
    }
    if let Some(second) = roots.next() {
        let (first, line) = (nodes[root].id, nodes[second].line);
        return Err(ReadError::at(line, Problem::TwoRoots { first, second: nodes[second].id }));
    }
    if let Some(place) = seen.iter().position(|&s| !s) {
        return Err(cycle_above(place, nodes, &parent));
    }
    let vtree = Vtree::from_postfix(steps).map_err(|e| ReadError::new(Problem::Vtree(e)))?;
    let mut file_ids = vec![0; order.len()];
    for (v, id) in vtree.bottom_up().iter().zip(order) {
        file_ids[v.index()] = id;
    }
    Ok(LoadedVtree::new(vtree, file_ids))
}

/// The error for a node that no root is above: the way up from it ends in a cycle, which need not go through the node.
fn cycle_above(place: usize, nodes: &[FileNode], parent: &[Option<usize>]) -> ReadError {
    let up = |place: usize| parent[place].expect("no root is above");
    // As many steps as there are nodes lead into the cycle.
    let inside = (0..nodes.len()).fold(place, |place, _| up(place));
    let (mut first, mut place) = (inside, up(inside));
    while place != inside {
        first = first.min(place);
        place = up(place);
    }
    ReadError::at(nodes[first].line, Problem::VtreeCycle { id: nodes[first].id })
}

/// Writes a `.vtree` file with in-order ids, as libsdd does.
pub fn write_vtree(out: &mut dyn Write, vtree: &Vtree) -> io::Result<()> {
    out.write_all(
        b"c ids of vtree nodes start at 0\n\
          c ids of variables start at 1\n\
          c vtree nodes appear bottom-up, children before parents\n\
          c\n\
          c file syntax:\n\
          c vtree number-of-nodes-in-vtree\n\
          c L id-of-leaf-vtree-node id-of-variable\n\
          c I id-of-internal-vtree-node id-of-left-child id-of-right-child\n\
          c\n",
    )?;
    writeln!(out, "vtree {}", vtree.node_count())?;
    for &v in vtree.bottom_up() {
        match (vtree.leaf_var(v), vtree.children(v)) {
            (Some(x), _) => writeln!(out, "L {} {}", v.0, x.number())?,
            (_, Some([left, right])) => writeln!(out, "I {} {} {}", v.0, left.0, right.0)?,
            (None, None) => unreachable!("a node is a leaf or has children"),
        }
    }
    Ok(())
}

/// The error for a literal that is not at its leaf.
pub(super) fn wrong_leaf(line: usize, vtree: &LoadedVtree, file_id: u64, var: Var) -> ReadError {
    let at = vtree.node(file_id).and_then(|v| vtree.vtree.leaf_var(v));
    let expected = match at {
        Some(x) => format!("variable {}, which is at vtree node {file_id}", x.number()),
        None => format!("a leaf of the vtree, which {file_id} is not"),
    };
    let found = format!("variable {}; check the line, and that this is the vtree of the file", var.number());
    ReadError::unexpected(line, expected, found)
}

/// The vtree node a circuit file means.
pub(super) fn resolve(line: usize, vtree: &LoadedVtree, file_id: u64) -> Result<VtreeId, ReadError> {
    vtree
        .node(file_id)
        .ok_or_else(|| ReadError::at(line, Problem::UnknownId { what: "vtree node", id: file_id, truncated: false }))
}

/// What stands at the beginning of a line, for errors about its kind.
pub(super) fn show_kind(kind: Option<&[u8]>) -> String {
    kind.map_or("an empty line".to_owned(), show)
}

/// The vtree of a circuit file that comes without one: collects what its lines show of it.
#[derive(Default)]
pub(super) struct Inference {
    /// By id, so that the result does not depend on hashing.
    nodes: BTreeMap<u64, (usize, Kind)>,
}

impl Inference {
    /// A vtree node as one line has it.
    pub(super) fn add(&mut self, line: usize, id: u64, kind: Kind) -> Result<(), ReadError> {
        let &mut (first, known) = self.nodes.entry(id).or_insert((line, kind));
        if known == kind {
            return Ok(());
        }
        let words = |kind| match kind {
            Kind::Leaf(var) => format!("variable {}", var.number()),
            Kind::Inner(left, right) => format!("children {left} and {right}"),
        };
        let reason = format!("vtree node {id} has {} here but {} in line {first}", words(kind), words(known));
        Err(ReadError::at(line, Problem::NoVtree { reason }))
    }

    pub(super) fn finish(self, bytes: usize) -> Result<LoadedVtree, ReadError> {
        let nodes: Vec<_> = self.nodes.into_iter().map(|(id, (line, kind))| FileNode { id, line, kind }).collect();
        assemble(&nodes, bytes).map_err(|e| {
            let place = e.line;
            let reason = e.problem.to_string();
            ReadError { line: place, ..ReadError::new(Problem::NoVtree { reason }) }
        })
    }
}

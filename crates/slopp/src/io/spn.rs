//! `.spn` files: sum-product networks, one node per line, children before parents, the root last.
//!
//! ```text
//! c slopp 1                        as in saved models: the version,
//! c names ["age","smoker"]         the names, as JSON; several lines are one list
//! c origin {"learner":"learnspn"}  how the model was made, one line per entry
//! spn 6 2                          how many nodes and variables there are
//! L 0 -2                           literal: node id, variable from one, negative if it is false for certain
//! B 1 1 0.75                       Bernoulli leaf: node id, variable, P(true)
//! B 2 2 0.5
//! P 3 2 1 0                        product: node id, number of children, their ids
//! C 4 2 1 0 0.5 0.5 2 1 0.1 0.9    Chow-Liu tree: node id, number of variables and, for each, variable,
//!                                  place of its parent in this list from one (0: none), P(true | parent false),
//!                                  P(true | parent true)
//! S 5 2 3 0.25 4 0.75              sum: node id, number of children, and their ids with weights
//! ```
//! Numbers are probabilities, not logarithms, and written so that they read back to the same bits. Without the comments
//! a file gets the names `x1`, `x2`, ….

use super::error::ReadError;
use super::lines::{Ids, Line, content};
use super::model::Comments;
use super::problem::Problem;
use crate::circuit::NodeId;
use crate::model::Model;
use crate::names::Names;
use crate::spn::{Branch, Spn, SpnBuilder, SpnNode};
use crate::var::Var;
use std::io::{self, Write};

/// Reads the text of a `.spn` file.
pub(super) fn network(text: &[u8]) -> Result<Model, ReadError> {
    let mut lines = content(text);
    let (header, count, variables) = read_header(&mut lines, text)?;
    let mut network = Network { builder: SpnBuilder::new(variables), ids: Ids::new("node", text.len()), last: None };
    let mut found = 0;
    for line in lines {
        network.add(line)?;
        found += 1;
    }
    if found < count {
        let reason = format!("it has {found} lines of nodes, line {header} says {count}");
        return Err(ReadError::at(super::lines::lines(text).count(), Problem::CutOff { reason }));
    }
    let Some((line, root)) = network.last.filter(|_| found == count) else {
        return Err(ReadError::unexpected(header, format!("{count} lines of nodes"), found.to_string()));
    };
    let spn = network.builder.finish(root).map_err(|e| ReadError::at(line, Problem::Spn(e)))?;
    let (names, origin) = match Comments::read(text)? {
        None => (Names::numbered(variables), Default::default()),
        Some(comments) => comments.names_and_origin(variables, |names| spn.column_without_one_value(names))?,
    };
    Ok(Model { origin, ..Model::new(names, spn) })
}

/// Line, number of nodes and number of variables of the header.
fn read_header<'a>(lines: &mut impl Iterator<Item = Line<'a>>, text: &[u8]) -> Result<(usize, u64, usize), ReadError> {
    let expected = "a sum-product network, beginning `spn <nodes> <variables>`";
    let mut line = lines.next().ok_or_else(|| ReadError::new(Problem::Empty { expected }))?;
    line.kind("spn", "<nodes> <variables>")?;
    let nodes = line.id("the number of nodes")?;
    let variables = line.id("the number of variables")?;
    line.end()?;
    // Every variable is in some line, so a short file cannot ask for much memory.
    if variables == 0 || variables > text.len() as u64 {
        return Err(ReadError::unexpected(line.number, "the number of variables in the file", variables.to_string()));
    }
    Ok((line.number, nodes, variables as usize))
}

/// A network as far as it is read.
struct Network {
    builder: SpnBuilder,
    /// Places are ids of the builder: every line makes one node.
    ids: Ids,
    last: Option<(usize, NodeId)>,
}

impl Network {
    fn add(&mut self, mut line: Line<'_>) -> Result<(), ReadError> {
        let kind = line.word();
        if !matches!(kind, Some(b"L" | b"B" | b"C" | b"P" | b"S")) {
            return Err(line.wrong("L, B, C, P or S", kind));
        }
        let own = line.id("the id of a node")?;
        let made = match kind {
            Some(b"L") => {
                let number = line.signed("a literal")?;
                let var = u32::try_from(number.unsigned_abs()).ok().and_then(Var::from_number);
                let var = var.ok_or_else(|| line.wrong("a literal", Some(number.to_string().as_bytes())))?;
                self.builder.literal(var.is(number > 0))
            }
            Some(b"B") => {
                let var = variable(&mut line)?;
                self.builder.bernoulli(var, line.probability()?)
            }
            Some(b"C") => {
                let branches = list(&mut line, |line| {
                    let var = variable(line)?;
                    let parent = line.id("the place of the parent")?;
                    let parent = parent.checked_sub(1).map(|place| u32::try_from(place).unwrap_or(u32::MAX));
                    Ok(Branch { var, parent, probability: [line.probability()?, line.probability()?] })
                })?;
                self.builder.tree(&branches)
            }
            Some(b"P") => {
                let children = list(&mut line, |line| self.child(line, own))?;
                self.builder.product(&children)
            }
            _ => {
                let children = list(&mut line, |line| Ok((self.child(line, own)?, line.probability()?)))?;
                self.builder.sum(&children)
            }
        };
        line.end()?;
        let node = made.map_err(|e| ReadError::at(line.number, Problem::Spn(e)))?;
        self.ids.define(own, line.number)?;
        self.last = Some((line.number, node));
        Ok(())
    }

    fn child(&self, line: &mut Line<'_>, own: u64) -> Result<NodeId, ReadError> {
        let id = line.id("the id of a child")?;
        let place = self.ids.place(id).map(|place| NodeId(place as u32));
        place.ok_or_else(|| {
            let found =
                if id == own { "the node itself".to_owned() } else { format!("{id}, which no line before has") };
            ReadError::unexpected(line.number, "the id of a node in an earlier line", found)
        })
    }
}

fn list<T>(
    line: &mut Line<'_>,
    mut item: impl FnMut(&mut Line<'_>) -> Result<T, ReadError>,
) -> Result<Vec<T>, ReadError> {
    let count = line.id("how many follow")?;
    (0..count).map(|_| item(line)).collect()
}

fn variable(line: &mut Line<'_>) -> Result<Var, ReadError> {
    let number = line.id("a variable")?;
    let var = u32::try_from(number).ok().and_then(Var::from_number);
    var.ok_or_else(|| line.wrong("a variable, numbered from 1", Some(number.to_string().as_bytes())))
}

/// Writes the nodes of a sum-product network.
pub(super) fn write_network(out: &mut dyn Write, spn: &Spn) -> io::Result<()> {
    writeln!(out, "c\nspn {} {}", spn.nodes().len(), spn.var_count())?;
    for (i, node) in spn.nodes().iter().enumerate() {
        let id = NodeId(i as u32);
        match *node {
            SpnNode::Literal(lit) => {
                write!(out, "L {i} {}{}", if lit.value { "" } else { "-" }, lit.var.number())?;
            }
            SpnNode::Bernoulli { var, probability } => write!(out, "B {i} {} {probability:?}", var.number())?,
            SpnNode::Tree { .. } => {
                write!(out, "C {i} {}", spn.branches_of(id).len())?;
                for Branch { var, parent, probability: [p, q] } in spn.branches_of(id) {
                    write!(out, " {} {} {p:?} {q:?}", var.number(), parent.map_or(0, |place| place + 1))?;
                }
            }
            SpnNode::Product { .. } => {
                write!(out, "P {i} {}", spn.children_of(id).len())?;
                spn.children_of(id).try_for_each(|(child, _)| write!(out, " {}", child.0))?;
            }
            SpnNode::Sum { .. } => {
                write!(out, "S {i} {}", spn.children_of(id).len())?;
                spn.children_of(id).try_for_each(|(child, weight)| write!(out, " {} {weight:?}", child.0))?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::write_model;
    use super::*;
    use crate::learn::{LearnSpn, Leaves, Task};
    use crate::model::ModelKind;
    use crate::random::Random;
    use crate::spn::SpnError;
    use crate::{Records, infer::Evidence};

    const SMALL: &str = "c slopp 1\nc names [\"age\",\"smoker\"]\nc origin {\"learner\":\"by hand\"}\nspn 6 2\nL 0 -2\n\
                         B 1 1 0.75\nB 2 2 0.5\nP 3 2 1 0\nC 4 2 1 0 0.5 0.5 2 1 0.1 0.9\nS 5 2 3 0.25 4 0.75\n";

    #[test]
    fn a_network_by_hand() {
        let model = network(SMALL.as_bytes()).unwrap();
        assert_eq!(model.names.of(Var(1)), "smoker");
        assert_eq!(model.origin["learner"], "by hand");
        let ModelKind::Spn(spn) = &model.kind else { panic!("a network") };
        let p = |world: [bool; 2]| spn.log_probability(&world).unwrap().exp();
        let expected = [0.25 * 0.25 + 0.75 * 0.45, 0.75 * 0.05, 0.25 * 0.75 + 0.75 * 0.05, 0.75 * 0.45];
        let found = [p([false, false]), p([false, true]), p([true, false]), p([true, true])];
        assert!(expected.iter().zip(found).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }

    #[test]
    fn learned_networks_come_back_bit_for_bit() {
        for seed in 0..6 {
            let mut random = Random::new(seed);
            let rows: Vec<Vec<bool>> = (0..300)
                .map(|_| {
                    let kind = random.below(3);
                    (0..7).map(|i| random.unit() < if i % 3 == kind { 0.9 } else { 0.2 }).collect()
                })
                .collect();
            let records = Records::from_rows(Names::numbered(7), rows);
            let leaves = if seed % 2 == 0 { Leaves::ChowLiu } else { Leaves::Independent };
            let config = LearnSpn { leaves, min_records: 20.0, ..LearnSpn::default() };
            let model = Task { seed, ..Task::new(&records) }.learn(&config, &()).unwrap().model;
            let mut text = Vec::new();
            write_model(&mut text, &model).unwrap();
            let read = network(&text).unwrap();
            assert_eq!(read, model);
            let nothing = Evidence::none(7);
            assert_eq!(read.distribution().log_evidence(&nothing), model.distribution().log_evidence(&nothing));
        }
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        let error = |from: &str, to: &str| network(SMALL.replace(from, to).as_bytes()).unwrap_err().to_string();
        for (from, to, expected) in [
            ("spn 6 2", "vtree 3", "line 4: this is a vtree"),
            ("spn 6 2", "spn 7 2", "line 11: the file is cut off: it has 6 lines of nodes, line 4 says 7"),
            ("spn 6 2", "spn 5 2", "line 4: expected 5 lines of nodes, found 6"),
            ("spn 6 2", "spn 6 900000000000", "line 4: expected the number of variables"),
            (
                "B 1 1 0.75",
                "B 1 1 1.75",
                "line 6: column 7: expected a probability, a number from 0 to 1, found \"1.75\"",
            ),
            ("B 1 1 0.75", "B 1 9 0.75", "line 6: variable 9 is not among the 2 variables"),
            ("P 3 2 1 0", "P 3 2 1 8", "line 8: expected the id of a node in an earlier line, found 8"),
            ("P 3 2 1 0", "P 3 2 1 1", "line 8: variable 1 is in two parts"),
            ("P 3 2 1 0", "P 3 3 1 0", "line 8: column 10: expected the id of a child"),
            ("4 0.75\n", "4 0.5\n", "line 10: the weights of a sum add up to 0.75"),
            ("L 0 -2", "X 0 -2", "line 5: column 1: expected L, B, C, P or S, found \"X\""),
            ("L 0 -2", "L 0 0", "line 5: column 5: expected a literal"),
            ("2 1 0.1", "2 7 0.1", "line 9: branch 1 of a tree must have a parent before it"),
        ] {
            let found = error(from, to);
            assert!(found.starts_with(expected), "{found:?} is not {expected:?}");
        }
    }

    #[test]
    fn the_error_of_the_builder_is_the_cause() {
        let error = network(b"spn 1 2\nB 0 1 0.5\n").unwrap_err();
        assert!(matches!(*error.problem, Problem::Spn(SpnError::Incomplete(Var(1)))), "{error}");
    }
}

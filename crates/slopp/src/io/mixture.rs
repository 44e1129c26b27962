//! `.mix` files: a mixture in one text, names and origin once, every structure once.
//!
//! ```text
//! c slopp 1                    the version, as in a saved model
//! c names ["age","smoker"]     the names, as JSON; several lines are one list
//! c origin {"seed":"7"}        how the mixture was made, one line per entry
//! mixture 2                    how many components follow
//! component 1 0.75             number and weight; what follows up to the next one is a saved model without names
//! c slopp 1
//! c vtree (1,2)
//! psdd 4
//! L 0 0 1
//! …
//! component 2 0.25 like 1      the structure of component 1 with other numbers:
//! P 2 -0.5 -0.93               of a ⊤ node ln P(false) and ln P(true)
//! P 3 -0.69 -0.69              of a sum the log-parameters of its elements
//! N 2 7 5                      counts, in the same order, if they are kept
//! ```
//! Reading it back loses nothing, bit for bit, and every component is certified again.

use super::error::ReadError;
use super::lines::{Line, content, header};
use super::model::Comments;
use super::model::{write_circuit, write_numbers, write_version, write_vtree_comments};
use super::problem::Problem;
use crate::certified::Certified;
use crate::circuit::{Circuit, Node, NodeId, PARAMETER_TOLERANCE, Weights};
use crate::logic::Limits;
use crate::mixture::Mixture;
use crate::model::Model;
use std::io::{self, Write};

/// Reads the text of a `.mix` file, with limits to the certificates of its components.
pub(super) fn mixture(text: &[u8], limits: &Limits) -> Result<Model, ReadError> {
    read(text, limits).map_err(|error| match *error.problem {
        // What helps with a damaged model does not help here.
        Problem::Damaged { reason } => ReadError { problem: Box::new(Problem::DamagedMixture { reason }), ..error },
        _ => error,
    })
}

fn read(text: &[u8], limits: &Limits) -> Result<Model, ReadError> {
    let (head, sections) = sections(text);
    let mut lines = content(head);
    let (line, count) =
        header(&mut lines, "mixture", "a mixture, whose first line after comments is `mixture <count>`")?;
    if let Some(mut other) = lines.next() {
        let found = other.word();
        return Err(other.wrong("a line `component <number> <weight>`", found));
    }
    let Some(comments) = Comments::read(head)? else {
        return Err(ReadError::unexpected(line, "the comment `c slopp 1` before this line", "none"));
    };
    if count != Some(sections.len() as u64) || !text.ends_with(b"\n") {
        let last = text.iter().filter(|&&b| b == b'\n').count() + usize::from(!text.ends_with(b"\n"));
        let said = count.map_or("no count".to_owned(), |count| count.to_string());
        let reason = format!("it has {} components, line {line} says {said}", sections.len());
        let reason = if text.ends_with(b"\n") { reason } else { "its last line has no end".to_owned() };
        return Err(ReadError::at(last, Problem::CutOff { reason }));
    }
    let mut components: Vec<(f64, Certified)> = Vec::with_capacity(sections.len());
    for section in &sections {
        let component = section.component(&components, limits)?;
        components.push(component);
    }
    let mixture = Mixture::new(components).map_err(|e| ReadError::at(line, Problem::Mixture(e)))?;
    let (names, origin) = comments.names_and_origin(mixture.var_count(), |names| {
        mixture.components().iter().find_map(|circuit| circuit.column_without_one_value(names))
    })?;
    Ok(Model { origin, ..Model::new(names, mixture) })
}

/// The text of a component: its own line and what follows, up to the next one.
struct Section<'a> {
    text: &'a [u8],
    /// How many lines come before.
    before: usize,
}

/// The text before the first `component` line, and a section for each of them.
fn sections(text: &[u8]) -> (&[u8], Vec<Section<'_>>) {
    let mut starts: Vec<(usize, usize)> = Vec::new();
    let mut place = 0;
    for (number, line) in text.split_inclusive(|&b| b == b'\n').enumerate() {
        let words = line.trim_ascii_start();
        if words.strip_prefix(b"component").is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace)) {
            starts.push((place, number));
        }
        place += line.len();
    }
    let head = &text[..starts.first().map_or(text.len(), |&(start, _)| start)];
    let ends = starts.iter().skip(1).map(|&(start, _)| start).chain([text.len()]);
    let sections = starts.iter().zip(ends).map(|(&(start, before), end)| Section { text: &text[start..end], before });
    (head, sections.collect())
}

impl Section<'_> {
    /// The weight and the circuit; `known` are the components before.
    fn component(&self, known: &[(f64, Certified)], limits: &Limits) -> Result<(f64, Certified), ReadError> {
        let number = known.len() + 1;
        let end = self.text.iter().position(|&b| b == b'\n').map_or(self.text.len(), |end| end + 1);
        let (first, rest) = self.text.split_at(end);
        // `component` begins like a comment, so that its line is none of the content of a circuit.
        let mut line = Line::new(self.before + 1, first.trim_ascii_end());
        line.word();
        let found = line.id("the number of the component")?;
        if found != number as u64 {
            return Err(ReadError::unexpected(line.number, format!("component {number}"), found.to_string()));
        }
        let weight = line.number("the weight of the component, a number above 0 and at most 1")?;
        if line.is_done() {
            return Ok((weight, Certified::new(self.whole_circuit(rest)?, limits)));
        }
        const LIKE: &str = "the end of the line, or `like` and the number of a component before";
        match line.word() {
            Some(b"like") => {}
            found => return Err(line.wrong(LIKE, found)),
        }
        let like = line.id("the number of a component before")?;
        line.end()?;
        let place = usize::try_from(like).ok().and_then(|like| like.checked_sub(1));
        let (_, base) = place
            .and_then(|place| known.get(place))
            .ok_or_else(|| ReadError::unexpected(line.number, LIKE, like.to_string()))?;
        Ok((weight, self.like(base, rest, limits)?))
    }

    /// A saved model without names.
    fn whole_circuit(&self, rest: &[u8]) -> Result<Circuit, ReadError> {
        // Empty lines in front keep the numbers of lines right in whatever is said about them.
        let mut text = vec![b'\n'; self.before + 1];
        text.extend_from_slice(rest);
        let Some(mut comments) = Comments::read(&text)? else {
            return Err(ReadError::unexpected(self.before + 2, "the comment `c slopp 1`", "none"));
        };
        Ok(comments.circuit(&text, None)?.circuit)
    }

    /// The structure of another component with the numbers of this one.
    fn like(&self, base: &Certified, rest: &[u8], limits: &Limits) -> Result<Certified, ReadError> {
        let mut parameters = Numbers::new(base);
        let mut counts = Numbers::new(base);
        for mut line in content(rest) {
            line.number += self.before + 1;
            match line.word() {
                Some(b"P") => parameters.add(&mut line, true)?,
                Some(b"N") => counts.add(&mut line, false)?,
                found => return Err(line.wrong("P or N", found)),
            }
        }
        let last = self.before + self.text.iter().filter(|&&b| b == b'\n').count();
        let log_parameters = parameters.finish(last, "P")?;
        let circuit = Circuit::clone(base).without_counts().with_log_parameters(log_parameters);
        let circuit = circuit.ok_or_else(|| ReadError::damaged(last, "a log-parameter is positive or infinite"))?;
        let circuit = match counts.next {
            0 => circuit,
            _ => circuit.with_counts(counts.finish(last, "N")?).expect("one count per parameter"),
        };
        Ok(base.carry_over(circuit, limits))
    }
}

/// The numbers of all ⊤ nodes and sums, line by line.
struct Numbers<'a> {
    circuit: &'a Circuit,
    /// The node after the last one that had its line.
    next: usize,
    weights: Weights,
}

impl<'a> Numbers<'a> {
    fn new(circuit: &'a Circuit) -> Numbers<'a> {
        Numbers { circuit, next: 0, weights: Weights::default() }
    }

    fn expected(&self) -> Option<NodeId> {
        let literal = |id: &usize| matches!(self.circuit.nodes()[*id], Node::Literal(_));
        let mut rest = (self.next..self.circuit.nodes().len()).skip_while(literal);
        rest.next().map(|id| NodeId(id as u32))
    }

    fn add(&mut self, line: &mut Line<'_>, logarithms: bool) -> Result<(), ReadError> {
        let id = line.id("the id of a node")?;
        let Some(expected) = self.expected().filter(|expected| u64::from(expected.0) == id) else {
            let expected = self.expected().map_or("no more nodes".to_owned(), |id| format!("node {}", id.0));
            return Err(ReadError::unexpected(line.number, expected, format!("node {id}")));
        };
        let count = match self.circuit.node(expected) {
            Node::Top { .. } => 2,
            _ => self.circuit.element_range(expected).len(),
        };
        let mut numbers = Vec::with_capacity(count);
        for _ in 0..count {
            numbers.push(if logarithms { line.log_parameter()? } else { line.number("a count")? });
        }
        line.end()?;
        let total: f64 = numbers.iter().map(|log: &f64| log.exp()).sum();
        if logarithms && (total - 1.0).abs() > PARAMETER_TOLERANCE {
            let expected = "log-parameters whose probabilities add up to 1";
            return Err(ReadError::unexpected(line.number, expected, format!("a total of {total}")));
        }
        match self.circuit.node(expected) {
            Node::Top { .. } => self.weights.tops.push([numbers[0], numbers[1]]),
            _ => self.weights.elements.extend(numbers),
        }
        self.next = expected.index() + 1;
        Ok(())
    }

    fn finish(self, last: usize, word: &str) -> Result<Weights, ReadError> {
        match self.expected() {
            None => Ok(self.weights),
            Some(id) => Err(ReadError::damaged(last, format!("there is no `{word}` line for node {}", id.0))),
        }
    }
}

/// Writes the components of a mixture.
pub(super) fn write_components(out: &mut dyn Write, mixture: &Mixture) -> io::Result<()> {
    let components = mixture.components();
    writeln!(out, "mixture {}", components.len())?;
    for (i, (circuit, weight)) in components.iter().zip(mixture.weights()).enumerate() {
        write!(out, "component {} {weight:?}", i + 1)?;
        // What stands for a structure is the first component that has it.
        match components[..i].iter().position(|before| before.same_structure(circuit)) {
            Some(before) => {
                writeln!(out, " like {}", before + 1)?;
                write_lines(out, "P", circuit, circuit.log_parameters())?;
                circuit.counts().map_or(Ok(()), |counts| write_lines(out, "N", circuit, counts))?;
            }
            None => {
                writeln!(out)?;
                write_version(out)?;
                write_vtree_comments(out, circuit.vtree())?;
                write_circuit(out, circuit)?;
            }
        }
    }
    Ok(())
}

fn write_lines(out: &mut dyn Write, word: &str, circuit: &Circuit, weights: &Weights) -> io::Result<()> {
    for id in circuit.ids() {
        let numbers = match circuit.node(id) {
            Node::Literal(_) => continue,
            Node::Top { slot, .. } => &weights.tops[slot as usize][..],
            Node::Sum { .. } => &weights.elements[circuit.element_range(id)],
        };
        write!(out, "{word} {}", id.0)?;
        write_numbers(out, numbers)?;
    }
    Ok(())
}

//! Writing models: a file of nodes, with comments that other tools skip.

use super::error::WriteError;
use super::mixture::write_components;
use super::model::{VERSION, parameters_of};
use super::psdd::write_nodes;
use super::spn::write_network;
use super::write_atomically;
use crate::circuit::{Circuit, Node, Weights};
use crate::logspace::log_complement;
use crate::model::{Model, ModelKind};
use crate::names::Names;
use crate::vtree::Vtree;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// Comment lines longer than this are split where possible: some readers have fixed buffers.
const LINE: usize = 1000;

/// Writes a model to one file, in the format of its kind: `.psdd`, `.mix` or `.spn`.
pub fn write_model(path: &Path, model: &Model) -> Result<(), WriteError> {
    write_atomically(path, |out| write_model_to(out, model))
}

/// Writes the text of a model file.
pub fn write_model_to(out: &mut dyn Write, model: &Model) -> io::Result<()> {
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

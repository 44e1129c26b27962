//! Vtrees and circuits in the language of Graphviz.

use super::outline::Outline;
use super::{input_label, short, shortened};
use crate::circuit::{Circuit, Node};
use crate::names::Names;
use crate::vtree::{Vtree, VtreeId};
use std::fmt::Write;

/// A vtree or its top, with an optional remark after each label.
pub(super) fn vtree(vtree: &Vtree, names: &Names, remark: impl Fn(VtreeId) -> Option<String>) -> String {
    let mut dot = String::from("digraph vtree {\n  node [fontname=\"sans-serif\"];\n  edge [arrowhead=none];\n");
    let outline = Outline::new(vtree);
    for &v in &outline.nodes {
        let inner = || outline.hidden(vtree, v).unwrap_or_else(|| v.0.to_string());
        let mut label = vtree.leaf_var(v).map_or_else(inner, |x| shortened(names.of(x)));
        if let Some(remark) = remark(v) {
            label = format!("{label}\n{remark}");
        }
        let shape = if outline.is_end(v) { "box" } else { "ellipse" };
        let _ = writeln!(dot, "  v{} [shape={shape}, label=\"{}\"];", v.0, quoted(&label));
    }
    for &v in &outline.nodes {
        for child in outline.children(vtree, v).into_iter().flatten() {
            let _ = writeln!(dot, "  v{} -> v{};", v.0, child.0);
        }
    }
    dot.push_str("}\n");
    dot
}

/// A circuit: sums as circles, elements as boxes with a prime and a sub.
pub(super) fn circuit(circuit: &Circuit, names: &Names) -> String {
    let mut dot =
        String::from("digraph circuit {\n  node [fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n");
    if let Some(label) = input_label(circuit, circuit.root(), names) {
        let _ = writeln!(dot, "  n{} [shape=box, label=\"{}\"];", circuit.root().0, quoted(&label));
    }
    for id in circuit.ids() {
        let Node::Sum { vtree, start, .. } = circuit.node(id) else { continue };
        let _ = writeln!(dot, "  n{} [shape=circle, label=\"{}\"];", id.0, vtree.0);
        for (i, (element, log_theta)) in circuit.elements_of(id).enumerate() {
            let place = start as usize + i;
            let children = [("p", element.prime), ("s", element.sub)];
            let cells = children.map(|(port, child)| {
                let label = input_label(circuit, child, names).unwrap_or_else(|| "•".to_owned());
                format!("<{port}> {}", record(&label))
            });
            let _ = writeln!(dot, "  e{place} [shape=record, label=\"{}|{}\"];", cells[0], cells[1]);
            let _ = writeln!(dot, "  n{} -> e{place} [label=\"{}\"];", id.0, short(log_theta.exp()));
            for (port, child) in children {
                if matches!(circuit.node(child), Node::Sum { .. }) {
                    let _ = writeln!(dot, "  e{place}:{port} -> n{};", child.0);
                }
            }
        }
    }
    dot.push_str("}\n");
    dot
}

/// Text between double quotes.
fn quoted(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => result.extend(['\\', c]),
            '\n' => result.push_str("\\n"),
            c if c.is_control() => result.push(' '),
            c => result.push(c),
        }
    }
    result
}

/// Text in a cell of a record, with braces, bars, angles and blanks escaped.
fn record(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' | '{' | '}' | '|' | '<' | '>' | ' ' => result.extend(['\\', c]),
            c if c.is_control() => result.push_str("\\ "),
            c => result.push(c),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        assert_eq!(quoted("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
        assert_eq!(record("<a|b> {c}"), "\\<a\\|b\\>\\ \\{c\\}");
    }
}

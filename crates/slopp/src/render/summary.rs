//! The picture of a circuit that is too large to draw: its size at each vtree node.

use super::outline::{self, Outline};
use super::svg::{Svg, text_width};
use super::vtree::{CUT, Places, draw_elbows, tooltip};
use super::{counted, shortened};
use crate::circuit::{Circuit, Node, NodeId};
use crate::limits::grouped;
use crate::names::Names;
use crate::vtree::VtreeId;
use std::fmt;

/// The room for numbers between two levels, unless the vtree is too deep.
const WIDE_STEP: f64 = 96.0;

/// The size of a circuit at one vtree node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Load {
    sums: usize,
    elements: usize,
    literals: usize,
    tops: usize,
}

impl Load {
    fn of(circuit: &Circuit, v: VtreeId) -> Load {
        let mut load = Load::default();
        for i in circuit.layer(v) {
            match circuit.node(NodeId(i as u32)) {
                Node::Literal(_) => load.literals += 1,
                Node::Top { .. } => load.tops += 1,
                Node::Sum { start, end, .. } => {
                    load.sums += 1;
                    load.elements += (end - start) as usize;
                }
            }
        }
        load
    }

    /// The size of a circuit at each vtree node; at the ends of an outline, including everything below.
    pub(super) fn of_outline(circuit: &Circuit, outline: &Outline) -> Vec<Load> {
        let vtree = circuit.vtree();
        let own: Vec<Load> = (0..vtree.node_count()).map(|v| Load::of(circuit, VtreeId(v as u32))).collect();
        let mut below = own.clone();
        for &v in vtree.bottom_up() {
            for child in vtree.children(v).into_iter().flatten() {
                let Load { sums, elements, literals, tops } = below[child.index()];
                let load = &mut below[v.index()];
                load.sums += sums;
                load.elements += elements;
                load.literals += literals;
                load.tops += tops;
            }
        }
        let all = (0..vtree.node_count()).map(|v| VtreeId(v as u32));
        all.map(|v| if outline.is_end(v) { below[v.index()] } else { own[v.index()] }).collect()
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sums > 0 {
            write!(f, "{}, {}", counted(self.sums, "sum"), counted(self.elements, "element"))
        } else {
            write!(f, "{}, {} ⊤", counted(self.literals, "literal"), self.tops)
        }
    }
}

pub(super) fn svg(circuit: &Circuit, names: &Names, limit: usize) -> String {
    let vtree = circuit.vtree();
    let stats = circuit.stats();
    let title = format!(
        "Summary of a circuit of {}: {}, {}",
        counted(vtree.var_count(), "variable"),
        counted(stats.sums, "sum"),
        counted(stats.elements, "element")
    );
    let outline = Outline::new(vtree);
    let deep = outline.depth as f64 * WIDE_STEP > 2400.0;
    let too_many = format!(
        "Its {} nodes and elements are more than the {} that are drawn one by one.",
        grouped(stats.nodes + stats.elements),
        grouped(limit)
    );
    let explanation = format!(
        "Each circle is a node of the vtree, its area the number of elements there; {}.",
        if deep { "tooltips have the numbers" } else { "numbers are sums and elements" }
    );
    let mut heading = vec![title.as_str(), &too_many, &explanation];
    heading.extend((!outline::is_whole(vtree)).then_some(CUT));
    let mut svg = Svg::with_heading(&heading);
    let loads = Load::of_outline(circuit, &outline);
    let drawn = outline.nodes.iter().filter(|&&v| outline.hidden(vtree, v).is_none());
    let most = drawn.map(|v| loads[v.index()].elements).max().unwrap_or(0).max(1) as f64;
    let step = if deep { (1200.0 / outline.depth as f64).clamp(6.0, WIDE_STEP) } else { WIDE_STEP };
    // Circles of neighbouring levels may touch but not hide each other.
    let largest = if deep { (0.45 * step).clamp(4.0, 14.0) } else { 14.0 };
    let places = Places::new(vtree, &outline, |_| 26.0);
    let at = |v: VtreeId| [WIDE_STEP + step * places.depth[v.index()] as f64, 96.0 + places.along[v.index()]];
    draw_elbows(&mut svg, vtree, &outline, &at);
    for &v in &outline.nodes {
        let ([x, y], load) = (at(v), loads[v.index()]);
        svg.begin(&format!("{}; {load}", tooltip(vtree, names, v)));
        if let Some(var) = vtree.leaf_var(v) {
            let name = shortened(names.of(var));
            svg.circle("leaf", x, y, 3.5);
            svg.text("name", x + 9.0, y + 4.0, &name);
            svg.text("quiet", x + 17.0 + text_width(&name), y + 4.0, &load.to_string());
        } else if let Some(hidden) = outline.hidden(vtree, v) {
            svg.rect("hidden", [x - 4.0, y - 4.0], [8.0, 8.0], 1.0);
            svg.text("quiet", x + 9.0, y + 4.0, &format!("{hidden}: {load}"));
        } else {
            let r = (largest * (load.elements as f64 / most).sqrt()).max(2.0);
            svg.circle("load", x, y, r);
            if !deep {
                svg.text(
                    "theta",
                    x - r - 4.0,
                    y - 4.0,
                    &format!("{} · {}", grouped(load.sums), grouped(load.elements)),
                );
            }
        }
        svg.end();
    }
    svg.finish(&title)
}

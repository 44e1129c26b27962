//! The picture of a whole circuit.

use super::layout::{CELL, Layout};
use super::svg::{Svg, text_width};
use super::vtree::tooltip;
use super::{counted, full_label, input_label, short};
use crate::circuit::{Circuit, Node};
use crate::names::Names;

/// The radius of a sum.
const RADIUS: f64 = 13.0;
/// The distance from a sum to its elements, parameters included.
const FAN: f64 = 92.0;
/// The distance from elements to the sums of the next column.
const STRETCH: f64 = 76.0;
/// The top of the drawing, below the heading.
const TOP: f64 = 80.0;

pub(super) fn svg(circuit: &Circuit, names: &Names) -> String {
    let stats = circuit.stats();
    let title = format!(
        "Circuit of {}: {}, {}",
        counted(circuit.var_count(), "variable"),
        counted(stats.sums, "sum"),
        counted(stats.elements, "element")
    );
    let legend = "Circle: a sum and its vtree node. Box: an element, prime above sub, with its parameter.";
    // Explained with labels of the picture.
    let tops = circuit.ids().find_map(|id| match circuit.node(id) {
        Node::Top { .. } => input_label(circuit, id, names),
        _ => None,
    });
    let tops = tops.map(|label| format!("“{label}”: ⊤, either value possible, with the probability of true."));
    let heading: Vec<&str> = [title.as_str(), legend].into_iter().chain(tops.as_deref()).collect();
    let mut svg = Svg::with_heading(&heading);
    if let Some(label) = input_label(circuit, circuit.root(), names) {
        svg.rect("prime", [16.0, TOP], [text_width(&label) + 16.0, CELL + 4.0], 4.0);
        svg.text("boxed", 24.0, TOP + 15.0, &label);
        return svg.finish(&title);
    }
    let layout = Layout::new(circuit);
    let columns = columns(circuit, names, &layout);
    draw_edges(&mut svg, circuit, &layout, &columns);
    for (column, blocks) in columns.iter().zip(&layout.columns) {
        for &block in blocks {
            draw_block(&mut svg, circuit, names, &layout, block, column);
        }
    }
    svg.finish(&title)
}

/// The horizontal centre of the sums of a column, and the width of its elements.
struct Column {
    x: f64,
    width: f64,
}

impl Column {
    fn elements(&self) -> f64 {
        self.x + RADIUS + FAN
    }

    fn end(&self) -> f64 {
        self.elements() + self.width
    }
}

fn columns(circuit: &Circuit, names: &Names, layout: &Layout) -> Vec<Column> {
    let mut x = 16.0 + RADIUS;
    let mut columns = Vec::new();
    for blocks in &layout.columns {
        let cells = blocks.iter().flat_map(|&block| circuit.elements_of(layout.blocks[block].node));
        let labels = cells.flat_map(|(e, _)| [e.prime, e.sub]).filter_map(|child| input_label(circuit, child, names));
        let width = labels.map(|label| text_width(&label) + 18.0).fold(44.0, f64::max);
        let column = Column { x, width };
        x = column.end() + STRETCH + RADIUS;
        columns.push(column);
    }
    columns
}

/// Edges first, so that everything else is drawn over them.
fn draw_edges(svg: &mut Svg, circuit: &Circuit, layout: &Layout, columns: &[Column]) {
    for (i, column) in columns.iter().enumerate() {
        for block in layout.columns[i].iter().map(|&block| &layout.blocks[block]) {
            for (element, (e, log_theta)) in circuit.elements_of(block.node).enumerate() {
                let y = TOP + block.element_top(element);
                let label = column.elements() - 10.0 - text_width(&short(log_theta.exp()));
                svg.curve("edge", [column.x + RADIUS, TOP + block.y], [label, y + CELL]);
                for (class, child, y) in [("to-prime", e.prime, y + CELL / 2.0), ("to-sub", e.sub, y + 1.5 * CELL)] {
                    if let Some(target) = layout.block(child) {
                        svg.curve(class, [column.end(), y], [columns[i + 1].x - RADIUS, TOP + target.y]);
                    }
                }
            }
        }
    }
}

fn draw_block(svg: &mut Svg, circuit: &Circuit, names: &Names, layout: &Layout, block: usize, column: &Column) {
    let block = &layout.blocks[block];
    let v = circuit.vtree_of(block.node);
    let y = TOP + block.y;
    svg.begin(&format!("sum {} at {}", block.node.0, tooltip(circuit.vtree(), names, v)));
    svg.circle("sum", column.x, y, RADIUS);
    svg.text("id", column.x, y + 4.0, &v.0.to_string());
    svg.end();
    for (element, (e, log_theta)) in circuit.elements_of(block.node).enumerate() {
        let (x, y) = (column.elements(), TOP + block.element_top(element));
        svg.text("theta", x - 6.0, y + CELL + 4.0, &short(log_theta.exp()));
        for (role, child, y) in [("prime", e.prime, y), ("sub", e.sub, y + CELL)] {
            let what = full_label(circuit, child, names).unwrap_or_else(|| format!("sum {}", child.0));
            svg.begin(&format!("{role} {what}, with parameter {}", log_theta.exp()));
            svg.rect(role, [x, y], [column.width, CELL], 3.0);
            match input_label(circuit, child, names) {
                Some(label) => svg.text("boxed", x + 8.0, y + 14.0, &label),
                None => svg.circle(&format!("dot-{role}"), column.end(), y + CELL / 2.0, 3.0),
            }
            svg.end();
        }
    }
}

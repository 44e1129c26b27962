//! The layout and picture of a vtree.

use super::outline::{self, Outline};
use super::svg::{Svg, text_width};
use super::{counted, shortened};
use crate::names::Names;
use crate::vtree::{Vtree, VtreeId};

/// The widest tree that is drawn from top to bottom; wider ones get one line per leaf.
const MAX_TREE_WIDTH: f64 = 900.0;

/// The remark in the heading if not everything is drawn.
pub(super) const CUT: &str = "Large subtrees are not drawn: a square stands for one, with the number of its variables.";

/// The most variables listed in a tooltip.
const MAX_LISTED: usize = 12;

/// The places of the nodes of a vtree, leaves in order, parents in the middle of their children.
pub(super) struct Places {
    /// By vtree node: the position along the leaves.
    pub(super) along: Vec<f64>,
    /// By vtree node: the number of edges from the root.
    pub(super) depth: Vec<usize>,
}

impl Places {
    /// Each end takes the given room.
    pub(super) fn new(vtree: &Vtree, outline: &Outline, room: impl Fn(VtreeId) -> f64) -> Places {
        let mut along = vec![0.0; vtree.node_count()];
        let mut depth = vec![0; vtree.node_count()];
        let mut reached = 0.0;
        for &v in &outline.nodes {
            along[v.index()] = match outline.children(vtree, v) {
                Some([left, right]) => (along[left.index()] + along[right.index()]) / 2.0,
                None => {
                    reached += room(v);
                    reached - room(v) / 2.0
                }
            };
        }
        for &v in outline.nodes.iter().rev() {
            depth[v.index()] = vtree.parent(v).map_or(0, |parent| depth[parent.index()] + 1);
        }
        Places { along, depth }
    }
}

pub(super) fn svg(vtree: &Vtree, names: &Names) -> String {
    let title = format!("Vtree of {}", counted(vtree.var_count(), "variable"));
    let outline = Outline::new(vtree);
    let heading: &[&str] = if outline::is_whole(vtree) { &[&title] } else { &[&title, CUT] };
    let mut svg = Svg::with_heading(heading);
    let label = |v: VtreeId| vtree.leaf_var(v).map_or(String::new(), |x| shortened(names.of(x)));
    let room = |v: VtreeId| (text_width(&label(v)) + 28.0).max(52.0);
    let width: f64 = outline.nodes.iter().filter(|&&v| outline.is_end(v)).map(|&v| room(v)).sum();
    if width <= MAX_TREE_WIDTH {
        draw_tree(&mut svg, vtree, names, &Places::new(vtree, &outline, room), &label);
    } else {
        draw_lines(&mut svg, vtree, names, &outline, &label);
    }
    svg.finish(&title)
}

/// From top to bottom, leaves as boxes.
fn draw_tree(svg: &mut Svg, vtree: &Vtree, names: &Names, places: &Places, label: &dyn Fn(VtreeId) -> String) {
    let at = |v: VtreeId| [16.0 + places.along[v.index()], 62.0 + 56.0 * places.depth[v.index()] as f64];
    for &v in vtree.bottom_up() {
        for child in vtree.children(v).into_iter().flatten() {
            let ([x, y], [to_x, to_y]) = (at(v), at(child));
            svg.path("edge", &format!("M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}"));
        }
    }
    for &v in vtree.bottom_up() {
        let [x, y] = at(v);
        svg.begin(&tooltip(vtree, names, v));
        if v.is_leaf() {
            // The text is centred in the box, which may be wider than the estimate of the text.
            let half = (text_width(&label(v)) / 2.0 + 8.0).max(20.0);
            svg.rect("leaf", [x - half, y - 12.0], [2.0 * half, 24.0], 6.0);
            svg.text("id", x, y + 4.0, &label(v));
        } else {
            svg.circle("node", x, y, 13.0);
            svg.text("id", x, y + 4.0, &v.0.to_string());
        }
        svg.end();
    }
}

/// From left to right, one line per leaf: names of any length and vtrees of any depth stay apart.
fn draw_lines(svg: &mut Svg, vtree: &Vtree, names: &Names, outline: &Outline, label: &dyn Fn(VtreeId) -> String) {
    let places = Places::new(vtree, outline, |_| 24.0);
    let step = (900.0 / outline.depth.max(1) as f64).clamp(5.0, 56.0);
    let at = |v: VtreeId| [30.0 + step * places.depth[v.index()] as f64, 60.0 + places.along[v.index()]];
    draw_elbows(svg, vtree, outline, &at);
    for &v in &outline.nodes {
        let [x, y] = at(v);
        svg.begin(&tooltip(vtree, names, v));
        if v.is_leaf() {
            svg.circle("leaf", x, y, 3.5);
            svg.text("name", x + 9.0, y + 4.0, &label(v));
        } else if let Some(hidden) = outline.hidden(vtree, v) {
            svg.rect("hidden", [x - 4.0, y - 4.0], [8.0, 8.0], 1.0);
            svg.text("quiet", x + 9.0, y + 4.0, &hidden);
        } else if step >= 30.0 {
            svg.circle("node", x, y, 9.5);
            svg.text("id", x, y + 4.0, &v.0.to_string());
        } else {
            svg.circle("node", x, y, 2.0);
        }
        svg.end();
    }
}

/// Edges of a vtree that grows from left to right.
pub(super) fn draw_elbows(svg: &mut Svg, vtree: &Vtree, outline: &Outline, at: &dyn Fn(VtreeId) -> [f64; 2]) {
    for &v in &outline.nodes {
        if let Some([left, right]) = outline.children(vtree, v) {
            let ([x, _], [left_x, left_y], [right_x, right_y]) = (at(v), at(left), at(right));
            svg.path("edge", &format!("M{left_x:.1} {left_y:.1}H{x:.1}V{right_y:.1}H{right_x:.1}"));
        }
    }
}

/// A description of a vtree node.
pub(super) fn tooltip(vtree: &Vtree, names: &Names, v: VtreeId) -> String {
    let list = |v: VtreeId| {
        let vars = vtree.vars(v);
        let mut list: Vec<&str> = vars.iter().take(MAX_LISTED).map(|&x| names.of(x)).collect();
        let more = vars.len().saturating_sub(MAX_LISTED);
        let more_text = format!("{more} more");
        if more > 0 {
            list.push(&more_text);
        }
        list.join(", ")
    };
    match vtree.children(v) {
        None => list(v),
        Some([left, right]) => format!("vtree node {}: {} | {}", v.0, list(left), list(right)),
    }
}

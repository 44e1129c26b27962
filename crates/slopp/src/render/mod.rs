//! Pictures of vtrees and circuits as SVG or DOT, and charts of numbers ([`plot`]).
//!
//! SVG pictures are self-contained: no scripts, no fonts to load, readable on light and dark pages, with tooltips.
//! Nothing here reads or writes files. The text picture of a vtree is [`Vtree::picture`](crate::Vtree::picture).

mod circuit;
mod dot;
mod layout;
mod outline;
pub mod plot;
#[cfg(test)]
mod samples;
mod summary;
mod svg;
mod vtree;

use crate::circuit::{Circuit, Node, NodeId};
use crate::limits::grouped;
use crate::names::Names;
use crate::var::{Lit, Var};
use crate::vtree::Vtree;

/// The most nodes and elements of a circuit drawn in full, by default.
pub const DEFAULT_LIMIT: usize = 300;

/// The longest label, in characters; tooltips have the full name.
const MAX_LABEL: usize = 32;

impl Vtree {
    /// A picture as SVG: as a tree if it is narrow, otherwise as lines of leaves.
    ///
    /// Only the top of a large vtree is drawn; a subtree that is not drawn shows its number of variables.
    pub fn svg(&self, names: &Names) -> String {
        vtree::svg(self, names)
    }

    /// The vtree for Graphviz, cut like the SVG picture.
    pub fn dot(&self, names: &Names) -> String {
        dot::vtree(self, names, |_| None)
    }

    /// Whether it is small enough to draw every leaf.
    pub fn is_drawn_in_full(&self) -> bool {
        outline::is_whole(self)
    }
}

impl Circuit {
    /// A picture as SVG: every sum, element and parameter up to `limit` nodes and elements.
    ///
    /// Above the limit, the vtree with the number of sums and elements at each of its nodes, and a title that says so.
    ///
    /// ```
    /// use slopp::{Builder, Names, Sharing, Var, Vtree, render};
    /// let vtree = Vtree::balanced(2);
    /// let root = vtree.root();
    /// let mut builder = Builder::new(vtree, Sharing::Equal);
    /// let rain = builder.literal(Var(0).is(true))?;
    /// let wet = builder.top(Var(1), [0.1f64.ln(), 0.9f64.ln()])?;
    /// let sum = builder.sum(root, &[(rain, wet, 0.0)])?;
    /// let names = Names::new(vec!["rain".into(), "wet".into()])?;
    /// let svg = builder.finish(sum)?.svg(&names, render::DEFAULT_LIMIT);
    /// assert!(svg.starts_with("<svg ") && svg.contains("wet: 0.9"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the number of names differs from the number of variables, like the other pictures.
    pub fn svg(&self, names: &Names, limit: usize) -> String {
        match self.is_drawn_in_full(limit) {
            true => circuit::svg(self, names),
            false => summary::svg(self, names, limit),
        }
    }

    /// The circuit for Graphviz, in full up to `limit` nodes and elements, summarised above.
    pub fn dot(&self, names: &Names, limit: usize) -> String {
        match self.is_drawn_in_full(limit) {
            true => dot::circuit(self, names),
            false => {
                let loads = summary::Load::of_outline(self, &outline::Outline::new(self.vtree()));
                dot::vtree(self.vtree(), names, |v| Some(loads[v.index()].to_string()))
            }
        }
    }

    /// Whether it is small enough for a full picture.
    pub fn is_drawn_in_full(&self, limit: usize) -> bool {
        self.nodes().len() + self.elements().len() <= limit
    }
}

/// The label of an input of the circuit: `smoker`, `¬smoker` or `smoker: 0.25`; `None` for a sum.
fn input_label(circuit: &Circuit, node: NodeId, names: &Names) -> Option<String> {
    labelled(circuit, node, |var| shortened(names.of(var)))
}

/// As [`input_label`], with the full name.
fn full_label(circuit: &Circuit, node: NodeId, names: &Names) -> Option<String> {
    labelled(circuit, node, |var| names.of(var).to_owned())
}

fn labelled(circuit: &Circuit, node: NodeId, name: impl Fn(Var) -> String) -> Option<String> {
    match circuit.node(node) {
        Node::Literal(Lit { var, value }) => Some(format!("{}{}", if value { "" } else { "¬" }, name(var))),
        Node::Top { var, slot } => {
            let log_true = circuit.log_parameters().tops[slot as usize][1];
            Some(format!("{}: {}", name(var), short(log_true.exp())))
        }
        Node::Sum { .. } => None,
    }
}

/// A label that is not too long.
fn shortened(label: &str) -> String {
    if label.chars().count() <= MAX_LABEL {
        return label.to_owned();
    }
    // Long names often begin or end alike: both ends are kept.
    let last = label.chars().count() - (MAX_LABEL - 1) / 2;
    label.chars().take(MAX_LABEL / 2).chain(['…']).chain(label.chars().skip(last)).collect()
}

/// A probability with three significant digits.
fn short(p: f64) -> String {
    let text = match p {
        1.0 => return "1".to_owned(),
        p if p > 0.9995 => return ">0.999".to_owned(),
        p if p < 0.001 => return format!("{p:.0e}"),
        p if p < 0.01 => format!("{p:.5}"),
        p if p < 0.1 => format!("{p:.4}"),
        p => format!("{p:.3}"),
    };
    text.trim_end_matches('0').to_owned()
}

/// A number with its noun: `1 sum`, `2 sums`.
fn counted(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::samples::{figure_2, random_circuit};
    use super::*;
    use crate::circuit::{Builder, Sharing};

    /// Checks that tags are balanced and text is escaped; gives the text between tags.
    pub(super) fn well_formed(svg: &str) -> Vec<String> {
        let mut open: Vec<&str> = Vec::new();
        let mut texts = Vec::new();
        let mut rest = svg;
        while let Some(start) = rest.find('<') {
            let text = &rest[..start];
            assert!(!text.contains('>'), "{text}");
            for entity in text.split('&').skip(1) {
                assert!(["lt;", "gt;", "amp;", "quot;"].iter().any(|known| entity.starts_with(known)), "{text}");
            }
            texts.push(text.to_owned());
            let end = start + rest[start..].find('>').expect("a tag ends");
            let tag = &rest[start + 1..end];
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            match tag.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name)),
                None if tag.ends_with('/') => {}
                None => open.push(tag.split(' ').next().unwrap()),
            }
            rest = &rest[end + 1..];
        }
        assert!(open.is_empty() && rest.trim().is_empty());
        texts
    }

    /// Checks that quotes and braces of a DOT text are balanced outside of each other.
    fn parses_as_dot(dot: &str) {
        let (mut quoted, mut depth) = (false, 0);
        let mut chars = dot.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' if quoted => drop(chars.next()),
                '"' => quoted = !quoted,
                '{' if !quoted => depth += 1,
                '}' if !quoted => depth -= 1,
                _ => {}
            }
        }
        assert!(!quoted && depth == 0 && dot.starts_with("digraph "));
    }

    fn nasty(len: usize) -> Names {
        Names::new((0..len).map(|i| format!("a<b & \"c\" {{|}} \\ {i}")).collect()).unwrap()
    }

    #[test]
    fn figure_2_shows_every_sum_element_and_parameter() {
        let svg = figure_2().svg(&Names::numbered(4), DEFAULT_LIMIT);
        let texts = well_formed(&svg);
        assert_eq!(svg.matches("class=\"sum\"").count(), 7);
        assert_eq!(svg.matches("class=\"theta\"").count(), 13);
        assert_eq!((svg.matches("class=\"prime\"").count(), svg.matches("class=\"sub\"").count()), (13, 13));
        assert_eq!((svg.matches("class=\"to-prime\"").count(), svg.matches("class=\"to-sub\"").count()), (3, 3));
        for text in ["x4: 0.25", "¬x1", "0.467", "0.143", "Circuit of 4 variables: 7 sums, 13 elements"] {
            assert!(texts.iter().any(|t| t == text), "{text}");
        }
    }

    /// A style inside a picture holds for the whole page, as in notebooks: it may only concern pictures.
    #[test]
    fn styles_are_about_pictures_only() {
        let names = Names::numbered(4);
        for svg in [figure_2().svg(&names, DEFAULT_LIMIT), plot::Scatter::default().svg()] {
            let (_, rest) = svg.split_once("<style>").unwrap();
            let style = rest.split_once("</style>").unwrap().0.replace("@media(prefers-color-scheme:dark){", "");
            for selector in style.split('}').filter_map(|rule| rule.split_once('{')).flat_map(|(of, _)| of.split(',')) {
                let [drawing, chart] = [".slopp-drawing", ".slopp-plot"].map(|class| selector.strip_prefix(class));
                let what = drawing.or(chart).unwrap_or_else(|| panic!("{selector}"));
                assert!(what.starts_with(' ') || what == ":root", "{selector}");
            }
            // Only a standalone picture asks the system; elsewhere text has the colour of the page.
            assert!(svg.contains(" text{font:") && svg.contains("fill:currentColor"));
            assert_eq!(svg.matches("prefers-color-scheme").count(), 1);
        }
    }

    #[test]
    fn random_circuits_are_drawn_completely() {
        for seed in 0..20 {
            let circuit = random_circuit(2 + seed as usize % 9, 3, seed);
            let names = nasty(circuit.var_count());
            let svg = circuit.svg(&names, usize::MAX);
            well_formed(&svg);
            let stats = circuit.stats();
            assert_eq!(svg.matches("class=\"sum\"").count(), stats.sums);
            assert_eq!(svg.matches("class=\"theta\"").count(), stats.elements);
            let dot = circuit.dot(&names, usize::MAX);
            parses_as_dot(&dot);
            assert_eq!(dot.matches("shape=circle").count(), stats.sums);
            assert_eq!(dot.matches("shape=record").count(), stats.elements);
            assert_eq!(svg, circuit.svg(&names, usize::MAX));
        }
    }

    #[test]
    fn large_circuits_are_summarised() {
        let circuit = random_circuit(40, 6, 1);
        assert!(!circuit.is_drawn_in_full(DEFAULT_LIMIT));
        let svg = circuit.svg(&nasty(40), DEFAULT_LIMIT);
        let texts = well_formed(&svg);
        assert!(texts.iter().any(|text| text.starts_with("Summary of a circuit of 40 variables")));
        assert_eq!(svg.matches("class=\"load\"").count(), 39);
        let elements: usize = texts
            .iter()
            .filter_map(|text| text.split_once(" · ").and_then(|(_, elements)| elements.parse::<usize>().ok()))
            .sum();
        assert_eq!(elements, circuit.elements().len());
        let dot = circuit.dot(&nasty(40), DEFAULT_LIMIT);
        parses_as_dot(&dot);
        assert_eq!(dot.matches(" -> ").count(), 78);
    }

    fn height(svg: &str) -> f64 {
        let (_, rest) = svg.split_once("height=\"").unwrap();
        rest.split_once('"').unwrap().0.parse().unwrap()
    }

    #[test]
    fn huge_circuits_fit_on_a_page() {
        let circuit = random_circuit(1556, 3, 2);
        let svg = circuit.svg(&Names::numbered(1556), DEFAULT_LIMIT);
        let texts = well_formed(&svg);
        assert!(height(&svg) < 5000.0 && texts.iter().any(|text| text.contains("1 556 variables")));
        // The tooltips name every element once.
        let elements = |text: &String| {
            let (_, last) = text.strip_prefix("vtree node ")?.rsplit_once(", ")?;
            last.split_once(" element")?.0.replace(' ', "").parse::<usize>().ok()
        };
        assert_eq!(texts.iter().filter_map(elements).sum::<usize>(), circuit.elements().len());
        assert!(svg.matches("class=\"hidden\"").count() > 50);
    }

    #[test]
    fn vtrees_of_any_size_are_drawn() {
        for vtree in [
            Vtree::balanced(1),
            Vtree::balanced(6),
            Vtree::random(30, 1),
            Vtree::right_linear(300),
            Vtree::left_linear(5000),
        ] {
            let names = nasty(vtree.var_count());
            let svg = vtree.svg(&names);
            let texts = well_formed(&svg);
            let ends = vtree.var_count().min(outline::MAX_ENDS);
            let hidden = usize::from(!vtree.is_drawn_in_full());
            assert_eq!(svg.matches("class=\"leaf\"").count(), ends - hidden);
            assert_eq!(svg.matches("class=\"node\"").count(), ends - 1);
            assert_eq!(svg.matches("class=\"hidden\"").count(), hidden);
            assert_eq!(texts.iter().any(|text| text.contains("not drawn")), hidden > 0);
            assert!(height(&svg) < 5000.0);
            let dot = vtree.dot(&names);
            parses_as_dot(&dot);
            assert_eq!(dot.matches(" -> ").count(), 2 * ends - 2);
        }
    }

    #[test]
    fn a_circuit_of_one_variable_is_a_box() {
        let mut builder = Builder::new(Vtree::balanced(1), Sharing::Equal);
        let top = builder.top(Var(0), [0.75f64.ln(), 0.25f64.ln()]).unwrap();
        let circuit = builder.finish(top).unwrap();
        let names = Names::numbered(1);
        assert!(well_formed(&circuit.svg(&names, 10)).contains(&"x1: 0.25".to_owned()));
        assert!(circuit.dot(&names, 10).contains("x1: 0.25"));
        well_formed(&circuit.svg(&names, 0));
    }

    #[test]
    fn long_names_do_not_hide_parameters() {
        let long = "n".repeat(200);
        let names = Names::new((0..4).map(|i| format!("{long}{i}")).collect()).unwrap();
        let svg = figure_2().svg(&names, DEFAULT_LIMIT);
        assert!(svg.contains("n…nnnnnnnnnnnnnn3: 0.25</text>") && svg.contains(&format!("{long}3: 0.25")));
        assert!(figure_2().dot(&names, DEFAULT_LIMIT).contains("n…nnnnnnnnnnnnnn3:\\ 0.25"));
    }

    #[test]
    fn probabilities_are_short() {
        for (p, text) in [
            (1.0, "1"),
            (0.99999, ">0.999"),
            (0.25, "0.25"),
            (0.5, "0.5"),
            (1.0 / 14.0, "0.0714"),
            (0.002, "0.002"),
            (1.23e-5, "1e-5"),
            (1.0 / 3.0, "0.333"),
        ] {
            assert_eq!(short(p), text);
        }
    }

    #[test]
    fn long_labels_are_cut_between_characters() {
        assert_eq!(shortened("short"), "short");
        let cut = shortened(&format!("{}x", "é".repeat(40)));
        assert_eq!((cut.chars().count(), cut.starts_with('é'), cut.ends_with("éx")), (32, true, true));
        assert_eq!([grouped(7), grouped(1556), grouped(100_000)], ["7", "1 556", "100 000"]);
    }
}

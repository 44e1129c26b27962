//! Writing SVG: shapes, escaped text, and estimates of its width.

use std::fmt::Write;

/// The height of a line of text.
pub(super) const LINE: f64 = 16.0;

/// Colours for any page: outside boxes, everything has the colour of the surrounding text. Every rule is limited to
/// this class, because a style inside a picture holds for the whole page.
const STYLE: &str = "\
.slopp-drawing text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',Helvetica,Arial,sans-serif;fill:currentColor}\
.slopp-drawing .title{font-size:14px;font-weight:600}\
.slopp-drawing .quiet{fill-opacity:.7;font-size:11px}\
.slopp-drawing .id{text-anchor:middle;font-size:11px;font-weight:600}\
.slopp-drawing .theta{text-anchor:end;font-size:11px;fill-opacity:.8}\
.slopp-drawing .edge{fill:none;stroke:#94a1ae;stroke-width:1.2}\
.slopp-drawing .to-prime{fill:none;stroke:#4f86c6;stroke-width:1.3}\
.slopp-drawing .to-sub{fill:none;stroke:#c98a3d;stroke-width:1.3}\
.slopp-drawing .sum,.slopp-drawing .node{fill:#f4f6f8;stroke:#52606d;stroke-width:1.4}\
.slopp-drawing .load{fill:#a8c6e8;stroke:#3a6ea8}\
.slopp-drawing .hidden{fill:#d6dce2;stroke:#52606d}\
.slopp-drawing .leaf{fill:#e6efe6;stroke:#7fa07f}\
.slopp-drawing .prime{fill:#e3edf8;stroke:#4f86c6}\
.slopp-drawing .sub{fill:#faeedc;stroke:#c98a3d}\
.slopp-drawing .dot-prime{fill:#4f86c6}.slopp-drawing .dot-sub{fill:#c98a3d}\
.slopp-drawing .boxed,.slopp-drawing .id{fill:#26323f}";

/// The colour of text in a standalone picture, where only the system knows whether it is light or dark.
const ALONE: &str = "{color:#26323f}@media(prefers-color-scheme:dark){";

/// Classes of text that ends or is centred at its `x`.
const NOT_FROM_LEFT: [&str; 4] = ["theta", "id", "to-left", "centred"];

/// Shapes and their extent.
#[derive(Default)]
pub struct Svg {
    body: String,
    width: f64,
    height: f64,
}

impl Svg {
    /// An empty picture with a heading, which may have several lines.
    pub(super) fn with_heading(lines: &[&str]) -> Svg {
        let mut svg = Svg::default();
        for (i, line) in lines.iter().enumerate() {
            let class = if i == 0 { "title" } else { "quiet" };
            svg.text(class, 16.0, 24.0 + LINE * i as f64, line);
        }
        svg
    }

    /// Starts a group with this tooltip, until [`Svg::end`].
    pub fn begin(&mut self, tooltip: &str) {
        let _ = writeln!(self.body, "<g><title>{}</title>", escape(tooltip));
    }

    /// Ends a group.
    pub fn end(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// Lines along a path.
    pub fn path(&mut self, class: &str, data: &str) {
        let _ = writeln!(self.body, "<path class=\"{class}\" d=\"{data}\"/>");
    }

    /// A curve that leaves and arrives horizontally.
    pub(super) fn curve(&mut self, class: &str, [x, y]: [f64; 2], [to_x, to_y]: [f64; 2]) {
        let middle = num((x + to_x) / 2.0);
        let (x, y, to_x, to_y) = (num(x), num(y), num(to_x), num(to_y));
        self.path(class, &format!("M{x} {y}C{middle} {y} {middle} {to_y} {to_x} {to_y}"));
    }

    /// A circle.
    pub fn circle(&mut self, class: &str, x: f64, y: f64, r: f64) {
        self.reach(x + r, y + r);
        let _ = writeln!(self.body, "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>", num(x), num(y), num(r));
    }

    /// A box with slightly rounded corners.
    pub fn rect(&mut self, class: &str, [x, y]: [f64; 2], [width, height]: [f64; 2], round: f64) {
        self.reach(x + width, y + height);
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
            num(x),
            num(y),
            num(width),
            num(height),
            num(round)
        );
    }

    /// Text whose baseline is at `y`; its class gives the side of `x`.
    pub fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        // Only text that starts at `x` can be the rightmost thing.
        if !class.split(' ').any(|c| NOT_FROM_LEFT.contains(&c)) {
            self.reach(x + text_width(text) * if class == "title" { 1.25 } else { 1.0 }, y + 4.0);
        }
        let _ =
            writeln!(self.body, "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>", num(x), num(y), escape(text));
    }

    /// The picture with a name for screen readers.
    pub(super) fn finish(self, name: &str) -> String {
        self.finish_styled(name, "slopp-drawing", STYLE)
    }

    /// The picture with its own class and style, which several pictures on one page may share.
    pub fn finish_styled(self, name: &str, class: &str, style: &str) -> String {
        let (width, height) = (num((self.width + 16.0).ceil()), num((self.height + 16.0).ceil()));
        let alone = format!(".{class}:root{ALONE}.{class}:root{{color:#dde3e9}}}}");
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" class=\"{class}\" role=\"img\">\n\
             <title>{}</title>\n<style>{style}{alone}</style>\n{}</svg>\n",
            escape(name),
            self.body
        )
    }

    /// Makes the picture at least this large.
    pub fn reach(&mut self, x: f64, y: f64) {
        self.width = self.width.max(x);
        self.height = self.height.max(y);
    }
}

/// An estimate, rather too large, of the width of text at the usual size.
pub fn text_width(text: &str) -> f64 {
    let width = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' => 4.0,
        'f' | 'r' | 't' | ' ' | '-' | '(' | ')' => 5.0,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 11.5,
        'A'..='Z' => 8.8,
        '\u{300}'..='\u{36f}' => 0.0,
        c if c >= '\u{1100}' => 12.5,
        _ => 7.6,
    };
    text.chars().map(width).sum()
}

/// Text escaped for XML; forbidden characters are replaced.
fn escape(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            '\t' | '\n' | '\r' => result.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => result.push('\u{fffd}'),
            c => result.push(c),
        }
    }
    result
}

/// A coordinate with one decimal at most.
pub fn num(x: f64) -> String {
    let text = format!("{x:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a<b & \"c\">\u{1}\n"), "a&lt;b &amp; &quot;c&quot;&gt;\u{fffd} ");
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!([num(3.0), num(0.26), num(-1.25)], ["3", "0.3", "-1.2"]);
    }
}

//! Parts of charts, for this crate and `slopp-lab`; not a stable interface.

pub use super::super::svg::{Svg, num, text_width};
pub use super::axis::{Scale, plain};

/// The width of a chart.
pub const WIDTH: f64 = 640.0;
/// Room on the left and right of a chart.
pub const EDGE: f64 = 16.0;
/// The number of series with different colours; further ones repeat them.
pub const COLOURS: usize = 8;

/// Everything is inside `.slopp-plot`, with colours for any page.
pub const STYLE: &str = "\
.slopp-plot text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',Helvetica,Arial,sans-serif;fill:currentColor}\
.slopp-plot .headline{font-size:14px;font-weight:600}\
.slopp-plot .small{fill-opacity:.7;font-size:11px}\
.slopp-plot .to-left{text-anchor:end}.slopp-plot .centred{text-anchor:middle}\
.slopp-plot .grid{stroke:currentColor;stroke-opacity:.14;fill:none}\
.slopp-plot .frame{stroke:currentColor;stroke-opacity:.45;fill:none}\
.slopp-plot .band{fill:currentColor;fill-opacity:.05}\
.slopp-plot .c0{fill:#2f78d1;stroke:#2f78d1}.slopp-plot .c1{fill:#e07b1a;stroke:#e07b1a}.slopp-plot .c2{fill:#23996a;stroke:#23996a}.slopp-plot .c3{fill:#cf4560;stroke:#cf4560}\
.slopp-plot .c4{fill:#8c62c9;stroke:#8c62c9}.slopp-plot .c5{fill:#1a9fb0;stroke:#1a9fb0}.slopp-plot .c6{fill:#a06a35;stroke:#a06a35}.slopp-plot .c7{fill:#7a8794;stroke:#7a8794}\
.slopp-plot .mark{fill-opacity:.75}\
.slopp-plot .run{fill-opacity:.5;stroke:none}\
.slopp-plot .line{fill:none;stroke-width:1.6;stroke-opacity:.8}\
.slopp-plot .range{fill-opacity:.22;stroke:none}\
.slopp-plot .mean{stroke-width:2.4;fill:none}\
.slopp-plot .bar{fill-opacity:.85;stroke:none}\
.slopp-plot .reference{fill:currentColor;fill-opacity:.12;stroke:currentColor;stroke-width:1.8}";

/// A chart with title, note and legend, and their lower end.
pub fn headed(title: &str, note: &str, series: &[&str], reference: Option<&str>) -> (Svg, f64) {
    let mut svg = Svg::default();
    svg.reach(WIDTH - EDGE, 0.0);
    let mut y = 24.0;
    svg.text("headline", EDGE, y, title);
    if !note.is_empty() {
        y += 18.0;
        svg.text("small", EDGE, y, note);
    }
    let named = |name: &&&str| !name.is_empty();
    let all = series.iter().filter(named).count() + usize::from(reference.is_some());
    // A single series needs no legend.
    if all > 1 {
        let mut x = EDGE + 6.0;
        y += 20.0;
        let entries = series.iter().map(Some).enumerate().chain([(0, None)]);
        for (i, name) in entries {
            let Some(text) = name.copied().or(reference).filter(|text| !text.is_empty()) else { continue };
            let width = 22.0 + text_width(text) + 14.0;
            if x + width > WIDTH && x > EDGE + 6.0 {
                (x, y) = (EDGE + 6.0, y + 18.0);
            }
            match name {
                Some(_) => mark(&mut svg, "mark", i, x, y - 4.0, 4.5),
                None => diamond(&mut svg, "reference", x, y - 4.0, 6.0),
            }
            svg.text("entry", x + 12.0, y, text);
            x += width;
        }
    }
    (svg, y + 14.0)
}

/// Ticks below a field, with grid lines and the label of the axis.
pub fn horizontal_axis(svg: &mut Svg, scale: &Scale, label: &str, [top, bottom]: [f64; 2]) {
    let mut free = f64::NEG_INFINITY;
    for (tick, text) in scale.ticks(7) {
        let x = scale.at(tick);
        svg.path("grid", &format!("M{0} {1}V{2}", num(x), num(top), num(bottom)));
        // Labels that would overlap are left out.
        let half = 0.5 * text_width(&text);
        if x - half > free + 4.0 {
            svg.text("centred small", x, bottom + 16.0, &text);
            free = x + half;
        }
    }
    svg.text("to-left small", WIDTH - EDGE, bottom + 33.0, label);
    svg.reach(0.0, bottom + 30.0);
}

/// Where a field with names on its left starts.
pub fn row_labels<'a>(names: impl Iterator<Item = &'a str>) -> f64 {
    EDGE + 14.0 + names.map(text_width).fold(0.0, f64::max).min(WIDTH / 2.0)
}

/// The mark of a series. Neighbours differ in shape, for people who do not see colours.
pub fn mark(svg: &mut Svg, class: &str, series: usize, x: f64, y: f64, r: f64) {
    let class = format!("c{} {class}", series % COLOURS);
    match (series + series / COLOURS) % 4 {
        0 => svg.circle(&class, x, y, r),
        1 => svg.rect(&class, [x - 0.85 * r, y - 0.85 * r], [1.7 * r, 1.7 * r], 1.0),
        2 => diamond(svg, &class, x, y, 1.25 * r),
        _ => {
            let (low, wide) = (num(y + 0.8 * r), 1.1 * r);
            svg.path(&class, &format!("M{} {low}H{}L{} {}Z", num(x - wide), num(x + wide), num(x), num(y - 1.1 * r)));
        }
    }
}

/// A square on its corner.
pub fn diamond(svg: &mut Svg, class: &str, x: f64, y: f64, r: f64) {
    let [left, right, above, below] = [x - r, x + r, y - r, y + r].map(num);
    let (x, y) = (num(x), num(y));
    svg.path(class, &format!("M{left} {y}L{x} {above}L{right} {y}L{x} {below}Z"));
}

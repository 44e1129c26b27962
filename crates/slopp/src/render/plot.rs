//! Charts of numbers as self-contained SVG: points and lines, ranges over several runs, bars.
//!
//! Readable on light and dark pages, no scripts; every mark has a tooltip. Numbers that are not finite, or not positive
//! on a log axis, are left out. Series are told apart by colour and by the shape of their marks.
//!
//! ```
//! use slopp::render::plot::{Axis, Point, Scatter, Series};
//! let points = [(100.0, -6.4), (1000.0, -6.1)].map(|(x, y)| Point::new(x, y, "nltcs")).to_vec();
//! let chart = Scatter {
//!     title: "Log-likelihood against size".into(),
//!     x: Axis::log("elements"),
//!     y: Axis::linear("log-likelihood per record"),
//!     series: vec![Series { name: "slopp".into(), points, joined: true }],
//!     ..Scatter::default()
//! };
//! assert!(chart.svg().starts_with("<svg "));
//! ```

mod axis;
mod bars;
mod sizes;
mod strips;

pub use axis::Axis;
pub use bars::Bars;
pub use strips::{Strip, Strips};

use super::svg::{Svg, num, text_width};
use axis::{Scale, plain};

/// How wide a chart is.
const WIDTH: f64 = 640.0;
/// Room on the left and right of a chart.
const EDGE: f64 = 16.0;
/// How many series have colours of their own; further ones begin again.
const COLOURS: usize = 8;

/// Everything is inside `.slopp-plot`, and colours go with any page, as in drawings.
const STYLE: &str = "\
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

/// A point of a [`Series`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// Its place from left to right.
    pub x: f64,
    /// Its place from below to above.
    pub y: f64,
    /// What it is, for the tooltip.
    pub name: String,
}

impl Point {
    /// A point with a name for its tooltip.
    pub fn new(x: f64, y: f64, name: impl Into<String>) -> Point {
        Point { x, y, name: name.into() }
    }
}

/// Points of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// What they have in common, for the legend.
    pub name: String,
    /// The points.
    pub points: Vec<Point>,
    /// Whether a line joins them, in their order.
    pub joined: bool,
}

/// Points and lines in a plane.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scatter {
    /// What the chart shows.
    pub title: String,
    /// How to read it; may be empty.
    pub note: String,
    /// From left to right.
    pub x: Axis,
    /// From below to above.
    pub y: Axis,
    /// What is in it.
    pub series: Vec<Series>,
}

impl Scatter {
    /// The chart as SVG.
    pub fn svg(&self) -> String {
        const HEIGHT: f64 = 320.0;
        let names: Vec<&str> = self.series.iter().map(|series| series.name.as_str()).collect();
        let (mut svg, top) = headed(&self.title, &self.note, &names, None);
        let points = || self.series.iter().flat_map(|series| &series.points).filter(|p| self.shows(p));
        let y = Scale::new(&self.y, points().map(|p| p.y), [top + 20.0 + HEIGHT, top + 20.0]);
        let y_ticks = y.ticks(6);
        let left = EDGE + 8.0 + y_ticks.iter().map(|(_, text)| text_width(text)).fold(0.0, f64::max);
        let x = Scale::new(&self.x, points().map(|p| p.x), [left, WIDTH - EDGE]);
        svg.text("small", EDGE, top + 10.0, &self.y.label);
        for (tick, text) in y_ticks {
            svg.path("grid", &format!("M{} {}H{}", num(left), num(y.at(tick)), num(WIDTH - EDGE)));
            svg.text("to-left small", left - 6.0, y.at(tick) + 4.0, &text);
        }
        horizontal_axis(&mut svg, &x, &self.x.label, [top + 20.0, top + 20.0 + HEIGHT]);
        svg.path(
            "frame",
            &format!("M{0} {1}V{2}H{3}", num(left), num(top + 20.0), num(top + 20.0 + HEIGHT), num(WIDTH - EDGE)),
        );
        for (i, series) in self.series.iter().enumerate() {
            let shown: Vec<&Point> = series.points.iter().filter(|p| self.shows(p)).collect();
            if series.joined && shown.len() > 1 {
                let places: Vec<String> =
                    shown.iter().map(|p| format!("{} {}", num(x.at(p.x)), num(y.at(p.y)))).collect();
                svg.path(&format!("c{} line", i % COLOURS), &format!("M{}", places.join("L")));
            }
            for p in shown {
                let names = [series.name.as_str(), &p.name];
                let name: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
                svg.begin(&format!("{}: {}, {}", name.join(", "), plain(p.x), plain(p.y)));
                mark(&mut svg, "mark", i, x.at(p.x), y.at(p.y), 4.0);
                svg.end();
            }
        }
        svg.finish_styled(&self.title, "slopp-plot", STYLE)
    }

    fn shows(&self, point: &Point) -> bool {
        self.x.shows(point.x) && self.y.shows(point.y)
    }
}

/// A chart with title, note and legend, and where they end.
fn headed(title: &str, note: &str, series: &[&str], reference: Option<&str>) -> (Svg, f64) {
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
    // One series alone is what the title says.
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

/// Ticks below a field, a line up from each, and what is shown.
fn horizontal_axis(svg: &mut Svg, scale: &Scale, label: &str, [top, bottom]: [f64; 2]) {
    let mut free = f64::NEG_INFINITY;
    for (tick, text) in scale.ticks(7) {
        let x = scale.at(tick);
        svg.path("grid", &format!("M{0} {1}V{2}", num(x), num(top), num(bottom)));
        // Labels that would run into each other are left out.
        let half = 0.5 * text_width(&text);
        if x - half > free + 4.0 {
            svg.text("centred small", x, bottom + 16.0, &text);
            free = x + half;
        }
    }
    svg.text("to-left small", WIDTH - EDGE, bottom + 33.0, label);
    svg.reach(0.0, bottom + 30.0);
}

/// Where a field begins that has names on its left.
fn row_labels<'a>(names: impl Iterator<Item = &'a str>) -> f64 {
    EDGE + 14.0 + names.map(text_width).fold(0.0, f64::max).min(WIDTH / 2.0)
}

/// The mark of a series: its shape differs from that of its neighbours, for those who see no colours.
fn mark(svg: &mut Svg, class: &str, series: usize, x: f64, y: f64, r: f64) {
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

fn diamond(svg: &mut Svg, class: &str, x: f64, y: f64, r: f64) {
    let [left, right, above, below] = [x - r, x + r, y - r, y + r].map(num);
    let (x, y) = (num(x), num(y));
    svg.path(class, &format!("M{left} {y}L{x} {above}L{right} {y}L{x} {below}Z"));
}

#[cfg(test)]
mod tests {
    use super::super::tests::well_formed;
    use super::*;

    fn strips() -> Strips {
        let row = |name: &str, a: &[f64], b: &[f64], reference| Strip {
            name: name.into(),
            values: vec![a.to_vec(), b.to_vec()],
            reference: Some(reference),
        };
        Strips {
            title: "nltcs: what was printed as log-likelihood".into(),
            note: "ten seeds each; a dot is a run".into(),
            axis: Axis::linear("nats over the possible test records"),
            series: vec!["flow value".into(), "true log-likelihood".into()],
            reference: "the paper".into(),
            rows: vec![
                row("k = 2, d = 20", &[-26891.0, -23039.0, -20279.0], &[-20214.0, -19635.0], -22148.0),
                row("k = 3, d = 20", &[-23199.0, -19976.0, -19409.0], &[-19486.0, -19315.0], -19744.0),
            ],
        }
    }

    fn scatter() -> Scatter {
        let series = |name: &str, at: f64| Series {
            name: name.into(),
            points: (0..5).map(|i| Point::new(10f64.powi(i) * at, -6.0 - at / f64::from(i + 1), "nltcs")).collect(),
            joined: true,
        };
        Scatter {
            title: "Log-likelihood against size".into(),
            note: "up and left is better".into(),
            x: Axis::log("elements"),
            y: Axis::linear("log-likelihood per record"),
            series: ["slopp", "strudel", "learnpsdd", "learnspn", "chow-liu"]
                .iter()
                .zip(1..)
                .map(|(n, i)| series(n, f64::from(i)))
                .collect(),
        }
    }

    fn bars() -> Bars {
        Bars {
            title: "Log-likelihood per record".into(),
            axis: Axis::linear("nats"),
            series: vec!["a".into(), "b".into()],
            groups: vec![("nltcs".into(), vec![Some(-6.03), Some(-9.23)]), ("plants".into(), vec![Some(-14.5), None])],
            ..Bars::default()
        }
    }

    #[test]
    fn every_number_has_a_mark_and_every_series_an_entry() {
        let svg = strips().svg();
        let texts = well_formed(&svg);
        assert_eq!(svg.matches(" run\"").count(), 10);
        assert_eq!((svg.matches(" range\"").count(), svg.matches(" mean\"").count()), (4, 4));
        assert!(texts.contains(&"the paper: −22 148".to_owned()) && texts.contains(&"k = 2, d = 20".to_owned()));
        assert!(texts.contains(&"flow value: mean −23 403 of 3, from −26 891 to −20 279".to_owned()), "{texts:?}");
        let svg = scatter().svg();
        let texts = well_formed(&svg);
        assert_eq!(svg.matches(" mark\"").count(), 25 + 5);
        assert_eq!(svg.matches(" line\"").count(), 5);
        assert!(texts.contains(&"slopp, nltcs: 1, −7".to_owned()));
        let svg = bars().svg();
        assert!(well_formed(&svg).contains(&"plants, a: −14.500".to_owned()));
        assert_eq!(svg.matches(" bar\"").count(), 3);
    }

    #[test]
    fn what_cannot_be_shown_is_left_out() {
        let mut chart = scatter();
        chart.series[0].points[0].x = 0.0;
        chart.series[1].points[0].y = f64::NAN;
        chart.series[2].points.clear();
        let svg = chart.svg();
        well_formed(&svg);
        assert_eq!(svg.matches(" mark\"").count(), 25 + 5 - 7);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        for empty in [Scatter::default().svg(), Strips::default().svg(), Bars::default().svg()] {
            well_formed(&empty);
        }
    }

    #[test]
    fn names_are_escaped() {
        let mut chart = strips();
        chart.rows[0].name = "a<b & \"c\"".into();
        well_formed(&chart.svg());
    }
}

//! Charts of numbers as self-contained SVG: points and lines.
//!
//! Readable on light and dark pages, no scripts; every mark has a tooltip. Numbers that are not finite, or not positive
//! on a log axis, are left out. Series differ in colour and in the shape of their marks.
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
#[doc(hidden)]
pub mod parts;

pub use axis::Axis;

use parts::{COLOURS, EDGE, STYLE, Scale, WIDTH, headed, horizontal_axis, mark, num, plain, text_width};

/// A point of a [`Series`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// Its horizontal coordinate.
    pub x: f64,
    /// Its vertical coordinate.
    pub y: f64,
    /// Its name, for the tooltip.
    pub name: String,
}

impl Point {
    /// A point with a name for its tooltip.
    pub fn new(x: f64, y: f64, name: impl Into<String>) -> Point {
        Point { x, y, name: name.into() }
    }
}

/// A series of points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name, for the legend.
    pub name: String,
    /// The points.
    pub points: Vec<Point>,
    /// Whether a line joins them, in their order.
    pub joined: bool,
}

/// Points and lines in a plane.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scatter {
    /// The title.
    pub title: String,
    /// A note on how to read it; may be empty.
    pub note: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series of points.
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

impl Scatter {
    /// A line for each part of the records, such as training and test records, with a point for each circuit: its
    /// elements and its log-likelihood per record.
    ///
    /// ```
    /// use slopp::render::plot::Scatter;
    /// let [train, test] = [vec![(1000, -6.1), (100, -6.4)], vec![(1000, -6.2), (100, -6.5)]];
    /// let chart = Scatter::of_sizes([("train", train), ("test", test)]);
    /// assert!(chart.svg().contains("test, 100 elements"));
    /// ```
    pub fn of_sizes<N: Into<String>>(parts: impl IntoIterator<Item = (N, Vec<(usize, f64)>)>) -> Scatter {
        let point = |(elements, log_likelihood): (usize, f64)| {
            // A single variable needs no element, and zero has no place on a logarithmic axis.
            let name = format!("{} elements", plain(elements as f64));
            Point::new(elements.max(1) as f64, log_likelihood, name)
        };
        let series = parts.into_iter().map(|(name, sizes)| {
            let points = sizes.into_iter().map(point).collect();
            Series { name: name.into(), points, joined: true }
        });
        Scatter {
            title: "Log-likelihood against size".into(),
            x: Axis::log("elements"),
            y: Axis::linear("log-likelihood per record"),
            series: series.collect(),
            ..Scatter::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::well_formed;
    use super::*;

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

    #[test]
    fn every_number_has_a_mark_and_every_series_an_entry() {
        let svg = scatter().svg();
        let texts = well_formed(&svg);
        assert_eq!(svg.matches(" mark\"").count(), 25 + 5);
        assert_eq!(svg.matches(" line\"").count(), 5);
        assert!(texts.contains(&"slopp, nltcs: 1, −7".to_owned()));
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
        well_formed(&Scatter::default().svg());
    }

    #[test]
    fn names_are_escaped() {
        let mut chart = scatter();
        chart.series[0].name = "a<b & \"c\"".into();
        well_formed(&chart.svg());
    }

    #[test]
    fn a_circuit_without_elements_is_drawn() {
        let svg = Scatter::of_sizes([("valid", vec![(0, -0.7)])]).svg();
        assert!(svg.contains("valid, 0 elements"), "{svg}");
    }
}

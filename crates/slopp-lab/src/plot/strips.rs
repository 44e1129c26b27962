//! Ranges over several runs.

use slopp::render::plot::Axis;
use slopp::render::plot::parts::{
    COLOURS, EDGE, STYLE, Scale, Svg, WIDTH, diamond, headed, horizontal_axis, num, plain, row_labels,
};

/// A row of [`Strips`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Strip {
    /// What the row is.
    pub(crate) name: String,
    /// The numbers of each series; a series may have none.
    pub(crate) values: Vec<Vec<f64>>,
    /// A number from elsewhere to compare with.
    pub(crate) reference: Option<f64>,
}

/// Rows of numbers from several runs: each as a dot, their range as a bar, their mean as a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Strips {
    /// What the chart shows.
    pub(crate) title: String,
    /// How to read it; may be empty.
    pub(crate) note: String,
    /// From left to right.
    pub(crate) axis: Axis,
    /// The names of the series.
    pub(crate) series: Vec<String>,
    /// What the reference of each row is.
    pub(crate) reference: String,
    /// From above to below.
    pub(crate) rows: Vec<Strip>,
}

impl Strips {
    /// The chart as SVG.
    pub(crate) fn svg(&self) -> String {
        const LANE: f64 = 22.0;
        const GAP: f64 = 12.0;
        let names: Vec<&str> = self.series.iter().map(String::as_str).collect();
        let reference = Some(self.reference.as_str()).filter(|name| !name.is_empty());
        let (mut svg, top) = headed(&self.title, &self.note, &names, reference);
        let left = row_labels(self.rows.iter().map(|row| row.name.as_str()));
        let shown = |row: &Strip| row.values.iter().flatten().copied().chain(row.reference).collect::<Vec<f64>>();
        let scale = Scale::new(&self.axis, self.rows.iter().flat_map(shown), [left + 8.0, WIDTH - EDGE - 8.0]);
        // A row is as high as it has series, so that those it does not have leave no holes.
        let height = |row: &Strip| LANE * row.values.iter().filter(|v| !v.is_empty()).count().max(1) as f64 + GAP;
        let bottom = top + self.rows.iter().map(height).sum::<f64>();
        let mut from = top;
        for (i, row) in self.rows.iter().enumerate() {
            if i % 2 == 0 {
                svg.rect("band", [EDGE, from], [WIDTH - 2.0 * EDGE, height(row)], 4.0);
            }
            from += height(row);
        }
        horizontal_axis(&mut svg, &scale, &self.axis.label, [top, bottom]);
        let mut from = top;
        for row in &self.rows {
            svg.text("to-left", left - 4.0, from + height(row) / 2.0 + 4.0, &row.name);
            let lanes = row.values.iter().enumerate().filter(|(_, values)| !values.is_empty());
            for (lane, (series, values)) in lanes.enumerate() {
                let y = from + (GAP + LANE) / 2.0 + LANE * lane as f64;
                self.draw_lane(&mut svg, &scale, series, y, values);
            }
            if let Some(value) = row.reference.filter(|&x| self.axis.shows(x)) {
                svg.begin(&format!("{}: {}", self.reference, plain(value)));
                let x = num(scale.at(value));
                svg.path("reference", &format!("M{x} {}V{}", num(from + 5.0), num(from + height(row) - 5.0)));
                diamond(&mut svg, "reference", scale.at(value), from + height(row) / 2.0, 6.5);
                svg.end();
            }
            from += height(row);
        }
        svg.finish_styled(&self.title, "slopp-plot", STYLE)
    }

    fn draw_lane(&self, svg: &mut Svg, scale: &Scale, series: usize, y: f64, values: &[f64]) {
        let values: Vec<f64> = values.iter().copied().filter(|&x| self.axis.shows(x)).collect();
        let Some((low, high)) = values.iter().map(|&x| (x, x)).reduce(|(a, b), (x, _)| (a.min(x), b.max(x))) else {
            return;
        };
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let name = self.series.get(series).map_or("", String::as_str);
        svg.begin(&match values.len() {
            1 => format!("{name}: {}", plain(mean)),
            n => format!("{name}: mean {} of {n}, from {} to {}", plain(mean), plain(low), plain(high)),
        });
        let colour = series % COLOURS;
        let (from, to) = (scale.at(low), scale.at(high));
        svg.rect(&format!("c{colour} range"), [from - 5.0, y - 5.0], [to - from + 10.0, 10.0], 5.0);
        for &x in &values {
            svg.circle(&format!("c{colour} run"), scale.at(x), y, 3.2);
        }
        svg.path(&format!("c{colour} mean"), &format!("M{} {}V{}", num(scale.at(mean)), num(y - 8.0), num(y + 8.0)));
        svg.end();
    }
}

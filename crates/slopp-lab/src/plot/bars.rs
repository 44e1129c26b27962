//! Bars in groups.

use slopp::render::plot::Axis;
use slopp::render::plot::parts::{
    COLOURS, EDGE, STYLE, Scale, WIDTH, headed, horizontal_axis, num, plain, row_labels, text_width,
};

/// Bars from left to right, in groups of one bar per series.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bars {
    /// What the chart shows.
    pub(crate) title: String,
    /// How to read it; may be empty.
    pub(crate) note: String,
    /// From left to right.
    pub(crate) axis: Axis,
    /// The names of the series.
    pub(crate) series: Vec<String>,
    /// Groups with the number of each series, if it has one.
    pub(crate) groups: Vec<(String, Vec<Option<f64>>)>,
}

impl Bars {
    /// The chart as SVG.
    pub(crate) fn svg(&self) -> String {
        const BAR: f64 = 14.0;
        const GAP: f64 = 10.0;
        let names: Vec<&str> = self.series.iter().map(String::as_str).collect();
        let (mut svg, top) = headed(&self.title, &self.note, &names, None);
        let left = row_labels(self.groups.iter().map(|(name, _)| name.as_str()));
        let zero = (!self.axis.log).then_some(0.0);
        let shown = self.groups.iter().flat_map(|(_, values)| values.iter().flatten().copied()).chain(zero);
        let texts = self.groups.iter().flat_map(|(_, values)| values.iter().flatten().map(|&x| text_width(&plain(x))));
        let right = WIDTH - EDGE - texts.fold(0.0, f64::max);
        let scale = Scale::new(&self.axis, shown, [left + 4.0, right]).starting_at_zero();
        let lanes = self.series.len().max(1) as f64;
        let height = BAR * lanes + GAP;
        let bottom = top + height * self.groups.len() as f64;
        horizontal_axis(&mut svg, &scale, &self.axis.label, [top, bottom]);
        for (i, (group, values)) in self.groups.iter().enumerate() {
            let from = top + height * i as f64 + GAP / 2.0;
            svg.text("to-left", left - 4.0, from + BAR * lanes / 2.0 + 4.0, group);
            for (lane, value) in values.iter().enumerate() {
                let Some(value) = value.filter(|&x| self.axis.shows(x)) else { continue };
                let (base, end, y) = (scale.base(), scale.at(value), from + BAR * lane as f64);
                let name = self.series.get(lane).map_or("", String::as_str);
                svg.begin(&format!("{group}, {name}: {}", plain(value)));
                let class = format!("c{} bar", lane % COLOURS);
                svg.rect(&class, [base.min(end), y + 1.0], [(end - base).abs().max(1.0), BAR - 2.0], 2.0);
                svg.end();
                // Beside the bar where there is room, which is always so on the right.
                svg.text("small", base.max(end) + 4.0, y + BAR - 3.0, &plain(value));
            }
        }
        svg.path("frame", &format!("M{} {}V{}", num(scale.base()), num(top), num(bottom)));
        svg.finish_styled(&self.title, "slopp-plot", STYLE)
    }
}

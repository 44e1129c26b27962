//! Log-likelihood against size, for circuits of the same records.

use super::axis::plain;
use super::{Axis, Point, Scatter, Series};

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
    use super::*;

    #[test]
    fn a_circuit_without_elements_is_drawn() {
        let svg = Scatter::of_sizes([("valid", vec![(0, -0.7)])]).svg();
        assert!(svg.contains("valid, 0 elements"), "{svg}");
    }
}

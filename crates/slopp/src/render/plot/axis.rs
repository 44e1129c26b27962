//! Axes: from numbers to places, with round numbers as ticks.

/// The label and scale of an axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    /// The label, with its unit.
    pub label: String,
    /// Whether the axis is logarithmic; numbers that are not positive are then left out.
    pub log: bool,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), log: false }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), log: true }
    }

    /// Whether a number has a place on the axis.
    #[doc(hidden)]
    pub fn shows(&self, x: f64) -> bool {
        x.is_finite() && (!self.log || x > 0.0)
    }
}

/// An axis over a range of numbers and a range of places.
pub struct Scale {
    log: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// The scale that shows all these numbers with a little room around them, between the places `from` and `to`.
    pub fn new(axis: &Axis, numbers: impl IntoIterator<Item = f64>, [from, to]: [f64; 2]) -> Scale {
        let inner = |x: f64| if axis.log { x.log10() } else { x };
        let shown = numbers.into_iter().filter(|&x| axis.shows(x)).map(inner);
        let (low, high) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let room = match high - low {
            0.0 if axis.log => 0.5,
            0.0 => 0.05 * low.abs().max(1.0),
            range => 0.05 * range,
        };
        Scale { log: axis.log, low: low - room, high: high + room, from, to }
    }

    /// The same scale without room before zero, where bars start.
    pub fn starting_at_zero(mut self) -> Scale {
        if !self.log {
            (self.low, self.high) = match self.low >= 0.0 || self.high > 0.0 && -self.low < 0.06 * self.high {
                true => (0.0, self.high),
                false => (self.low, self.high.max(0.0)),
            };
        }
        self
    }

    /// The place of a number.
    pub fn at(&self, x: f64) -> f64 {
        let x = if self.log { x.log10() } else { x };
        self.from + (x - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Where bars start: at zero, or at the start of the axis if it has no zero.
    pub fn base(&self) -> f64 {
        if self.log { self.from } else { self.at(0.0f64.clamp(self.low, self.high)) }
    }

    /// Round numbers on the axis, about `wanted` at most, and their labels.
    pub fn ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        if self.log { self.log_ticks(wanted) } else { self.linear_ticks(wanted) }
    }

    fn linear_ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let rough = (self.high - self.low) / wanted.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= rough * 0.999).unwrap_or(10.0);
        let step = factor * power;
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        // Numbers that differ by rounding only have no steps between them.
        if !(first.is_finite() && last - first <= 1000.0) {
            return Vec::new();
        }
        let count = (last - first) as i64;
        (0..=count).map(|i| (first + i as f64) * step).map(|x| (x, grouped(x, decimals))).collect()
    }

    fn log_ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let (first, last) = (self.low.floor() as i32, self.high.ceil() as i32);
        let decades = (self.high - self.low).max(0.0);
        let steps: &[f64] = if decades < 1.6 {
            &[1.0, 2.0, 3.0, 5.0, 7.0]
        } else if decades < 3.5 {
            &[1.0, 2.0, 5.0]
        } else {
            &[1.0]
        };
        let every = ((decades / wanted.max(1) as f64).ceil() as usize).max(1);
        let powers = (first..=last).filter(|power| power.rem_euclid(every as i32) == 0);
        let all = powers.flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
        let inside = |x: &f64| (self.low..=self.high).contains(&x.log10());
        all.filter(inside).map(|x| (x, power_of_ten(x))).collect()
    }
}

/// A number as text: digits in groups of three, a true minus sign.
pub(super) fn grouped(x: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", x.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut result = String::new();
    if x < 0.0 && text.chars().any(|c| ('1'..='9').contains(&c)) {
        result.push('−');
    }
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && whole.len() > 4 && (whole.len() - i).is_multiple_of(3) {
            result.push(' ');
        }
        result.push(digit);
    }
    result + rest
}

/// A number with decimals according to its size.
pub fn plain(x: f64) -> String {
    let decimals = match x.abs() {
        a if a >= 1000.0 || a == a.round() => 0,
        a if a >= 100.0 => 1,
        a if a >= 1.0 => 3,
        a if a >= 1e-3 => 4,
        a if a >= 1e-4 => 5,
        _ => return format!("{x:.2e}"),
    };
    grouped(x, decimals)
}

/// A tick of a log axis: in full while it is short, else as a power of ten.
fn power_of_ten(x: f64) -> String {
    if (1e-3 * 0.99..1e6).contains(&x) {
        let decimals = (-x.log10() - 1e-9).ceil().max(0.0) as usize;
        return grouped(x, decimals);
    }
    let power = (x.log10() + 1e-9).floor();
    let factor = (x / 10f64.powf(power)).round();
    let raised = |c: char| {
        if c == '-' { '⁻' } else { "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(c as usize - '0' as usize).unwrap_or(c) }
    };
    let power: String = power.to_string().chars().map(raised).collect();
    if factor == 1.0 { format!("10{power}") } else { format!("{factor}·10{power}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis, numbers: &[f64]) -> Vec<String> {
        let scale = Scale::new(axis, numbers.iter().copied(), [0.0, 100.0]);
        scale.ticks(5).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(texts(&Axis::linear(""), &[0.0, 1.0]), ["0.0", "0.5", "1.0"]);
        assert_eq!(texts(&Axis::linear(""), &[-26000.0, -19000.0]), ["−26 000", "−24 000", "−22 000", "−20 000"]);
        assert_eq!(texts(&Axis::log(""), &[0.01, 1e5]), ["0.01", "1", "100", "10 000"]);
        assert_eq!(texts(&Axis::log(""), &[30.0, 80.0]), ["30", "50", "70"]);
        assert_eq!(texts(&Axis::log(""), &[1e7, 1e9]), ["10⁷", "2·10⁷", "5·10⁷", "10⁸", "2·10⁸", "5·10⁸", "10⁹"]);
    }

    #[test]
    fn odd_numbers_break_nothing() {
        for numbers in [&[][..], &[f64::NAN, f64::INFINITY], &[3.0], &[0.0, 0.0], &[1e300, -1e300], &[1e16, 1e16 + 2.0]]
        {
            for axis in [Axis::linear(""), Axis::log("")] {
                let scale = Scale::new(&axis, numbers.iter().copied(), [10.0, 20.0]);
                assert!(scale.ticks(5).len() < 40);
                for &x in numbers.iter().filter(|&&x| axis.shows(x)) {
                    assert!((9.0..=21.0).contains(&scale.at(x)), "{x}");
                }
            }
        }
    }

    #[test]
    fn bars_start_at_zero() {
        let scale = Scale::new(&Axis::linear(""), [3.0, 4.0, 0.0], [0.0, 100.0]).starting_at_zero();
        assert_eq!(scale.base(), 0.0);
        let scale = Scale::new(&Axis::linear(""), [-3.0, -4.0, 0.0], [0.0, 100.0]).starting_at_zero();
        assert!(scale.base() > 90.0);
    }

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([grouped(-1234567.0, 0), grouped(0.5, 2), grouped(-0.001, 1)], ["−1 234 567", "0.50", "0.0"]);
        assert_eq!([plain(-6.1071), plain(1254.4), plain(589.0), plain(0.0)], ["−6.107", "1254", "589", "0"]);
    }
}

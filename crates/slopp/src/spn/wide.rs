//! Numbers with separate exponents, many at a time: plain arithmetic that cannot underflow.

// Lanes are walked by index so that the loops vectorise.
#![allow(clippy::needless_range_loop)]

use std::f64::consts::LN_2;

/// The exponent of zero: far below that of any number.
const ZERO: f64 = -1e300;

/// `mantissa · 2^exponent` in each of `L` lanes.
///
/// Exponents are whole numbers kept as floats, so that all arithmetic runs on one kind of register. After every
/// operation mantissas are in `[1, 2)`, or zero with the exponent [`ZERO`]; fresh values may have any normal
/// mantissa above 2⁻⁴⁰⁰.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide<const L: usize> {
    pub(super) mantissa: [f64; L],
    pub(super) exponent: [f64; L],
}

impl<const L: usize> Wide<L> {
    pub(super) const ONE: Wide<L> = Wide { mantissa: [1.0; L], exponent: [0.0; L] };

    /// Plain numbers, zero or not far below one.
    pub(super) fn new(mantissa: [f64; L]) -> Wide<L> {
        let mut wide = Wide { mantissa, exponent: [0.0; L] };
        wide.normalise();
        wide
    }

    pub(super) fn multiply(&mut self, other: &Wide<L>) {
        for l in 0..L {
            self.mantissa[l] *= other.mantissa[l];
            self.exponent[l] += other.exponent[l];
        }
        self.normalise();
    }

    /// Multiplies by plain numbers that are zero or not far below one.
    pub(super) fn scale(&mut self, factor: &[f64; L]) {
        for l in 0..L {
            self.mantissa[l] *= factor[l];
        }
        self.normalise();
    }

    /// `Σ wᵢ xᵢ` for numbers `wᵢ` of at most one that are zero or not far below one.
    pub(super) fn mix<'a>(terms: impl Iterator<Item = (&'a Wide<L>, f64)> + Clone) -> Wide<L> {
        let mut exponent = [ZERO; L];
        // A large number of weight zero must not push the others out of range.
        let terms = terms.filter(|&(_, w)| w > 0.0);
        for (x, _) in terms.clone() {
            for l in 0..L {
                exponent[l] = if x.exponent[l] > exponent[l] { x.exponent[l] } else { exponent[l] };
            }
        }
        let mut mantissa = [0.0; L];
        for (x, w) in terms {
            for l in 0..L {
                mantissa[l] += w * x.mantissa[l] * power_of_two(x.exponent[l] - exponent[l]);
            }
        }
        let mut sum = Wide { mantissa, exponent };
        sum.normalise();
        sum
    }

    /// Quotients as plain numbers, for divisors that are not zero and not much smaller.
    pub(super) fn over(&self, other: &Wide<L>) -> [f64; L] {
        std::array::from_fn(|l| {
            self.mantissa[l] / other.mantissa[l] * power_of_two(self.exponent[l] - other.exponent[l])
        })
    }

    pub(super) fn ln(&self, lane: usize) -> f64 {
        match self.mantissa[lane] {
            0.0 => f64::NEG_INFINITY,
            mantissa => mantissa.ln() + self.exponent[lane] * LN_2,
        }
    }

    fn normalise(&mut self) {
        for l in 0..L {
            let bits = self.mantissa[l].to_bits();
            // Bits of the exponent become the low bits of 2⁵², from which they are read as a number.
            let raised = f64::from_bits(bits >> 52 | TWO_52.to_bits()) - (TWO_52 + 1023.0);
            let zero = self.mantissa[l] == 0.0;
            self.exponent[l] = if zero { ZERO } else { self.exponent[l] + raised };
            self.mantissa[l] = if zero { 0.0 } else { f64::from_bits(bits & FRACTION | 1.0f64.to_bits()) };
        }
    }
}

impl Wide<1> {
    /// The quotient as a plain number; zero by zero is zero.
    pub(super) fn ratio(&self, other: &Wide<1>) -> f64 {
        if self.mantissa[0] == 0.0 {
            return 0.0;
        }
        self.mantissa[0] / other.mantissa[0] * (self.exponent[0] - other.exponent[0]).exp2()
    }
}

const TWO_52: f64 = (1u64 << 52) as f64;
const FRACTION: u64 = (1 << 52) - 1;

/// `2^x` for whole `x` of at most 1023; zero where that is below the normal numbers.
fn power_of_two(x: f64) -> f64 {
    let x = if x > -1023.0 { x } else { -1023.0 };
    f64::from_bits((x + (TWO_52 + 1023.0)).to_bits() << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two() {
        for x in [0, -1, -5, -1000, -1022] {
            assert_eq!(power_of_two(f64::from(x)), 2f64.powi(x));
        }
        assert_eq!([power_of_two(-1023.0), power_of_two(-5000.0), power_of_two(ZERO)], [0.0; 3]);
    }

    #[test]
    fn arithmetic_agrees_with_logarithms_far_below_the_smallest_float() {
        let mut x = Wide::<2>::ONE;
        for _ in 0..3000 {
            x.scale(&[0.3, 1e-40]);
        }
        let expected = [3000.0 * 0.3f64.ln(), 3000.0 * 1e-40f64.ln()];
        for lane in 0..2 {
            assert!((x.ln(lane) / expected[lane] - 1.0).abs() < 1e-12);
        }
        let half = Wide::new([0.5, 0.0]);
        let mixed = Wide::mix([(&x, 0.25), (&x, 0.5), (&half, 0.0)].into_iter());
        assert!((mixed.ln(0) - expected[0] - 0.75f64.ln()).abs() < 1e-8, "a weight of zero changes nothing");
        assert!((mixed.ln(1) - expected[1] - 0.75f64.ln()).abs() < 1e-8);
        let mut zero = x;
        zero.scale(&[0.0, 1.0]);
        zero.multiply(&x);
        assert_eq!(zero.ln(0), f64::NEG_INFINITY);
        assert_eq!(Wide::mix([(&zero, 0.5), (&x, 0.5)].into_iter()).ln(0), {
            let mut halved = x;
            halved.scale(&[0.5; 2]);
            halved.ln(0)
        });
    }
}

//! Arithmetic on logarithms of probabilities: the only place that knows the rules of log zero.

/// The logarithm of probability zero.
pub(crate) const LOG_ZERO: f64 = f64::NEG_INFINITY;

/// `ln(exp(a) + exp(b))`.
pub(crate) fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == LOG_ZERO { high } else { high + (low - high).exp().ln_1p() }
}

/// `ln Σ exp(x)`; the sum of nothing is zero.
pub(crate) fn log_sum(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let high = values.clone().fold(LOG_ZERO, f64::max);
    if high == LOG_ZERO { LOG_ZERO } else { high + values.map(|x| (x - high).exp()).sum::<f64>().ln() }
}

/// `ln(1 - exp(x))` for `x <= 0`: the log-probability of the complement, precise at both ends.
pub(crate) fn log_complement(x: f64) -> f64 {
    if x > -std::f64::consts::LN_2 { (-x.exp_m1()).ln() } else { (-x.exp()).ln_1p() }
}

/// `ln(part / (part + rest))`, precise also when `rest` is small.
pub(crate) fn log_share(part: f64, rest: f64) -> f64 {
    // Adding zero turns the logarithm -0.0 of a whole share into 0.0.
    0.0 + if part > rest { (-(rest / (part + rest))).ln_1p() } else { (part / (part + rest)).ln() }
}

/// `x ln x`, with the limit `0` at zero.
pub(crate) fn x_log_x(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_agree_with_plain_arithmetic() {
        for (a, b) in [(0.25, 0.5), (1e-30, 0.1), (0.0, 0.3), (0.0, 0.0)] {
            let (la, lb) = (f64::ln(a), f64::ln(b));
            assert_eq!(log_add(la, lb), log_add(lb, la));
            let both = log_add(la, lb).exp();
            assert!((both - (a + b)).abs() < 1e-15);
            assert!((log_sum([la, lb].into_iter()).exp() - (a + b)).abs() < 1e-15);
        }
        assert_eq!(log_sum(std::iter::empty()), LOG_ZERO);
    }

    #[test]
    fn complements_are_precise_at_both_ends() {
        assert_eq!(log_complement(0.0), LOG_ZERO);
        assert_eq!(log_complement(LOG_ZERO), 0.0);
        assert!((log_complement(-1e-17) - 1e-17f64.ln()).abs() < 1e-12);
        assert!((log_complement(1e-300f64.ln()) + 1e-300).abs() < 1e-310);
        assert!((log_share(1e17, 1.0) + 1e-17).abs() < 1e-30);
        assert!((log_share(1.0, 3.0) - 0.25f64.ln()).abs() < 1e-15);
    }
}

//! The numbers of the paper, as printed.

/// Where they are from.
pub(super) const SOURCE: &str = "Antonucci, Facchini and Mattei, Structural Learning of Probabilistic Sentential \
                                 Decision Diagrams under Partial Closed-World Assumption, 2021";

/// Probabilities of the circuit of Figure 2, learned from Table 1 with the printed clusters, as fractions worked out by
/// hand; worlds that are not listed are impossible. (The paper prints the drawing, not these.)
pub(super) const FIGURE_2: [(&str, u32, u32); 10] = [
    ("0000", 7, 30),
    ("0011", 1, 10),
    ("0101", 2, 35),
    ("0110", 9, 35),
    ("0111", 3, 35),
    ("1001", 1, 105),
    ("1010", 3, 70),
    ("1011", 1, 70),
    ("1101", 1, 15),
    ("1110", 2, 15),
];

/// A benchmark of the paper: its line of Table 2, and Table 3 or 4.
pub(super) struct Benchmark {
    /// The name of the dataset.
    pub(super) name: &'static str,
    /// The table with its results.
    pub(super) table: &'static str,
    /// Records for training, as Table 2 has it.
    pub(super) train: f64,
    /// Records for the test, as Table 2 has it.
    pub(super) test: f64,
    /// Variables, as Table 2 has it.
    pub(super) variables: usize,
    /// The row of the fully factorised model.
    pub(super) factorised: Row,
    /// The row of Strudel.
    pub(super) strudel: Row,
    /// The rows of SLoPP.
    pub(super) slopp: [Slopp; 4],
}

/// A row of Table 3 or 4.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// |C|, the number of nodes.
    pub(super) size: f64,
    /// What is printed as test log-likelihood.
    pub(super) log_likelihood: f64,
}

/// A row of SLoPP.
#[derive(Clone, Copy)]
pub(super) struct Slopp {
    /// The number of clusters.
    pub(super) k: usize,
    /// The threshold on the number of records.
    pub(super) d: usize,
    /// γ, the number of impossible test records.
    pub(super) gamma: f64,
    /// Size and log-likelihood.
    pub(super) row: Row,
}

const fn row(size: f64, log_likelihood: f64) -> Row {
    Row { size, log_likelihood }
}

const fn slopp(k: usize, d: usize, gamma: f64, log_likelihood: f64, size: f64) -> Slopp {
    Slopp { k, d, gamma, row: row(size, log_likelihood) }
}

/// Tables 2, 3 and 4.
pub(super) const BENCHMARKS: [Benchmark; 2] = [
    Benchmark {
        name: "nltcs",
        table: "Table 3",
        train: 16181.0,
        test: 3236.0,
        variables: 16,
        factorised: row(79.0, -35844.0),
        strudel: row(786.0, -20054.0),
        slopp: [
            slopp(2, 20, 4.0, -22148.0, 1229.0),
            slopp(2, 50, 7.0, -23441.0, 1232.0),
            slopp(3, 20, 23.0, -19744.0, 2258.0),
            slopp(3, 50, 15.0, -20176.0, 2033.0),
        ],
    },
    Benchmark {
        name: "plants",
        table: "Table 4",
        train: 17412.0,
        test: 3482.0,
        variables: 69,
        factorised: row(344.0, -133_389.0),
        strudel: row(2503.0, -38266.0),
        slopp: [
            slopp(2, 20, 582.0, -40442.0, 71602.0),
            slopp(2, 50, 594.0, -39354.0, 69529.0),
            slopp(3, 20, 713.0, -48329.0, 103_742.0),
            slopp(3, 50, 793.0, -36003.0, 95889.0),
        ],
    },
];

impl Benchmark {
    /// The number of test records for which an untrained factorised model (every literal ½) has the printed value,
    /// whose decimals the paper cuts off.
    pub(super) fn untrained_records(&self) -> f64 {
        (self.factorised.log_likelihood / -(self.variables as f64 * std::f64::consts::LN_2)).round()
    }

    /// The value of an untrained factorised model on that many test records.
    pub(super) fn untrained(&self, records: f64) -> f64 {
        -records * self.variables as f64 * std::f64::consts::LN_2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factorised_rows_are_those_of_an_untrained_model() {
        assert_eq!(BENCHMARKS.map(|b| b.untrained_records()), [3232.0, 2789.0]);
        for benchmark in &BENCHMARKS {
            let value = benchmark.untrained(benchmark.untrained_records());
            assert_eq!(value.trunc(), benchmark.factorised.log_likelihood);
            assert_eq!(benchmark.factorised.size, 5.0 * benchmark.variables as f64 - 1.0);
        }
    }

    #[test]
    fn the_fractions_of_figure_2_sum_to_one() {
        let total: f64 = FIGURE_2.iter().map(|(_, a, b)| f64::from(*a) / f64::from(*b)).sum();
        assert!((total - 1.0).abs() < 1e-12);
    }
}

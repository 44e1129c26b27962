//! The smallest counterexamples to Proposition 1, learned here and looked at world by world.

use slopp::circuit::Overlaps;
use slopp::learn::{Partition, SloppKmeans, Task, Variant};
use slopp::logic::Limits;
use slopp::{Circuit, Names, Node, Records, RecordsBuilder, Vtree};
use slopp_cli::Error;
use std::sync::Arc;

/// Records, a vtree and clusters, as published SLoPP takes them.
pub(super) struct Counterexample {
    rows: &'static [(&'static str, f64)],
    vtree: &'static str,
    variant: Variant,
    d: usize,
    /// Clusters of left rows at the root.
    clusters: &'static [&'static [&'static str]],
}

/// Algorithm 2 on four records.
pub(super) const A: Counterexample = Counterexample {
    rows: &[("001", 1.0), ("011", 1.0), ("101", 1.0), ("111", 1.0)],
    vtree: "((1,2),3)",
    variant: Variant::Algorithm2,
    d: 4,
    clusters: &[&["00", "01", "10"], &["11"]],
};

/// The same with counts for which the clusters are the best that k-means can find.
pub(super) const A2: Counterexample =
    Counterexample { rows: &[("001", 1.0), ("011", 1.0), ("101", 1.0), ("111", 6.0)], ..A };

/// The authors' code, which always splits a single left variable by value.
pub(super) const C: Counterexample = Counterexample {
    rows: &[("0001", 1.0), ("1001", 1.0), ("0011", 1.0), ("1011", 1.0)],
    vtree: "(((1,2),3),4)",
    variant: Variant::Notebook,
    d: 3,
    clusters: &[&["000", "100", "001"], &["101"]],
};

/// The paper's Table 1 at its own threshold.
pub(super) const D: Counterexample = Counterexample {
    rows: &[("0011", 3.0), ("0000", 7.0), ("1001", 2.0), ("0111", 3.0), ("0110", 9.0), ("1101", 2.0), ("1110", 4.0)],
    vtree: "((1,2),(3,4))",
    variant: Variant::Algorithm2,
    d: 20,
    clusters: &[&["00"], &["10", "01"], &["11"]],
};

/// What was learned.
pub(super) struct Learned {
    pub(super) circuit: Circuit,
    pub(super) overlaps: Overlaps,
}

impl Counterexample {
    /// Learns the circuit with the given clusters.
    pub(super) fn learn(&self) -> Result<Learned, Error> {
        let vtree: Vtree = self.vtree.parse()?;
        let with = |partition: Partition, (i, rows): (usize, &&[&str])| {
            partition.with(vtree.root(), i, rows.iter().map(|row| bits(row)))
        };
        let partition = self.clusters.iter().enumerate().fold(Partition::new(), with);
        self.learn_with(SloppKmeans { partition, ..self.config() }, 0)
    }

    /// How many of the first `seeds` seeds of k-means itself lead to overlapping primes.
    pub(super) fn overlapping_seeds(&self, seeds: u64) -> Result<usize, Error> {
        let mut found = 0;
        for seed in 0..seeds {
            let learned = self.learn_with(self.config(), seed)?;
            found += usize::from(learned.overlaps.sums > 0);
        }
        Ok(found)
    }

    fn config(&self) -> SloppKmeans {
        SloppKmeans::new(self.variant, self.clusters.len(), self.d)
    }

    fn learn_with(&self, config: SloppKmeans, seed: u64) -> Result<Learned, Error> {
        let vtree: Arc<Vtree> = Arc::new(self.vtree.parse()?);
        let records = self.records();
        let task = Task { vtree: Some(&vtree), seed, ..Task::closed(&records) };
        let learned = task.learn(&config, &())?.model;
        let circuit = Circuit::clone(learned.circuit().expect("SLoPP makes a circuit"));
        Ok(Learned { overlaps: circuit.overlaps(10, &Limits::default()), circuit })
    }

    fn records(&self) -> Records {
        let mut builder = RecordsBuilder::new(Names::numbered(self.rows[0].0.len()));
        self.rows.iter().for_each(|(row, weight)| builder.push(bits(row).into_iter().map(Some), *weight));
        builder.finish()
    }

    /// Distinct left rows with their weights.
    fn left_rows(&self) -> Vec<(&'static str, f64)> {
        let rows = self.clusters.iter().flat_map(|cluster| cluster.iter());
        let weight = |left: &str| self.rows.iter().filter(|(row, _)| row.starts_with(left)).map(|(_, w)| w).sum();
        rows.map(|&left| (left, weight(left))).collect()
    }

    /// The squared error of the clusters, and the smallest of any clusters of the same number.
    pub(super) fn squared_errors(&self) -> [f64; 2] {
        let (rows, k) = (self.left_rows(), self.clusters.len());
        let cluster = |left: &&str| self.clusters.iter().position(|rows| rows.contains(left)).unwrap_or(0);
        let given: Vec<usize> = rows.iter().map(|(left, _)| cluster(left)).collect();
        let all = (0..k.pow(rows.len() as u32)).map(|code| {
            let labels: Vec<usize> = (0..rows.len() as u32).map(|i| code / k.pow(i) % k).collect();
            squared_error(&rows, &labels, k)
        });
        [squared_error(&rows, &given, k), all.fold(f64::INFINITY, f64::min)]
    }

    /// Whether every row is nearer to the centre of its own cluster than to any other: where Lloyd's iteration stops.
    pub(super) fn is_fixed_point(&self) -> bool {
        let rows = self.left_rows();
        let centres: Vec<Vec<f64>> = self
            .clusters
            .iter()
            .map(|cluster| centre(rows.iter().filter(|(row, _)| cluster.contains(row)).copied()))
            .collect();
        let nearer = |row: &str, own: usize| {
            let own_distance = distance(row, &centres[own]);
            (0..centres.len()).all(|other| other == own || own_distance < distance(row, &centres[other]))
        };
        self.clusters.iter().enumerate().all(|(own, cluster)| cluster.iter().all(|row| nearer(row, own)))
    }
}

impl Learned {
    /// The probability of a world, and the share that each element of the root has in it.
    pub(super) fn shares(&self, world: &str) -> (f64, Vec<f64>) {
        let values = self.values(&bits(world), false);
        let elements = self.circuit.elements_of(self.circuit.root());
        let share = elements.map(|(e, theta)| theta.exp() * values[e.prime.index()] * values[e.sub.index()]);
        (values[self.circuit.root().index()], share.filter(|share| *share > 0.0).collect())
    }

    /// The total mass if every sum takes the first element whose prime holds, as if it were the only one.
    pub(super) fn first_match_mass(&self) -> f64 {
        self.worlds().map(|world| self.values(&world, true)[self.circuit.root().index()]).sum()
    }

    /// The total mass as the mixture that the circuit is.
    pub(super) fn mixture_mass(&self) -> f64 {
        self.worlds().map(|world| self.values(&world, false)[self.circuit.root().index()]).sum()
    }

    /// The flow value of a world, as a number that would be a probability.
    pub(super) fn flow(&self, world: &str) -> Result<f64, Error> {
        let records = Records::from_rows(Names::numbered(world.len()), [bits(world)]);
        Ok(self.circuit.flow_log_values(&records)?[0].exp())
    }

    /// The total over all worlds of what would be probabilities if flow values were log-likelihoods.
    pub(super) fn flow_mass(&self) -> Result<f64, Error> {
        let records = Records::from_rows(Names::numbered(self.circuit.var_count()), self.worlds());
        Ok(self.circuit.flow_log_values(&records)?.into_iter().map(f64::exp).sum())
    }

    fn worlds(&self) -> impl Iterator<Item = Vec<bool>> + use<> {
        let n = self.circuit.var_count();
        (0..1u32 << n).map(move |code| (0..n).map(|i| code >> i & 1 == 1).collect())
    }

    /// The value of every node in a world, in plain numbers and from the definition: independent of the library.
    fn values(&self, world: &[bool], first_match: bool) -> Vec<f64> {
        let mut values: Vec<f64> = Vec::new();
        for id in self.circuit.ids() {
            let value = match self.circuit.node(id) {
                Node::Literal(lit) => f64::from(u8::from(world[lit.var.index()] == lit.value)),
                Node::Top { var, slot } => {
                    self.circuit.log_parameters().tops[slot as usize][usize::from(world[var.index()])].exp()
                }
                Node::Sum { .. } => {
                    let holds = self.circuit.elements_of(id).filter(|(e, _)| values[e.prime.index()] > 0.0);
                    let taken = holds.take(if first_match { 1 } else { usize::MAX });
                    taken.map(|(e, theta)| theta.exp() * values[e.prime.index()] * values[e.sub.index()]).sum()
                }
            };
            values.push(value);
        }
        values
    }
}

/// Whether the records of [`D`] are those of Table 1.
#[cfg(test)]
fn is_table_1(records: &Records) -> bool {
    let table = slopp::example::records();
    (0..table.len()).all(|row| {
        let same = |other: &usize| table.row(row).eq(records.row(*other));
        (0..records.len()).find(same).is_some_and(|other| table.weights()[row] == records.weights()[other])
    })
}

fn bits(text: &str) -> Vec<bool> {
    text.chars().map(|c| c == '1').collect()
}

fn cells(row: &str) -> impl Iterator<Item = f64> + '_ {
    row.chars().map(|c| f64::from(u8::from(c == '1')))
}

fn centre<'a>(rows: impl Iterator<Item = (&'a str, f64)>) -> Vec<f64> {
    let rows: Vec<(&str, f64)> = rows.collect();
    let total: f64 = rows.iter().map(|(_, weight)| weight).sum();
    let width = rows.first().map_or(0, |(row, _)| row.len());
    let mut sums = vec![0.0; width];
    for (row, weight) in rows {
        sums.iter_mut().zip(cells(row)).for_each(|(sum, cell)| *sum += weight * cell / total);
    }
    sums
}

fn distance(row: &str, centre: &[f64]) -> f64 {
    cells(row).zip(centre).map(|(cell, mean)| (cell - mean).powi(2)).sum()
}

fn squared_error(rows: &[(&str, f64)], labels: &[usize], k: usize) -> f64 {
    let cluster = |label: usize| rows.iter().zip(labels).filter(move |(_, l)| **l == label).map(|(row, _)| *row);
    let error = |label: usize| {
        let middle = centre(cluster(label));
        cluster(label).map(|(row, weight)| weight * distance(row, &middle)).sum::<f64>()
    };
    (0..k).map(error).sum()
}

/// A number as a fraction if it is one with a small denominator.
pub(super) fn fraction(x: f64) -> String {
    let whole = |d: &u32| (x * f64::from(*d) - (x * f64::from(*d)).round()).abs() < 1e-11;
    match (1..2000u32).find(whole) {
        Some(1) => format!("{x:.0}"),
        Some(d) => format!("{:.0}/{d}", x * f64::from(d)),
        None => format!("{x:.6}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_values_are_found() {
        let a = A.learn().unwrap();
        assert_eq!(a.overlaps.sums, 1);
        assert_eq!((fraction(a.shares("111").0), fraction(a.first_match_mass())), ("1/3".into(), "3/4".into()));
        assert_eq!(a.shares("111").1.into_iter().map(fraction).collect::<Vec<_>>(), ["1/12", "1/4"]);
        assert!((a.mixture_mass() - 1.0).abs() < 1e-12);
        assert!(A.is_fixed_point());
        let a2 = A2.learn().unwrap();
        assert_eq!(fraction(a2.shares("111").0), "19/27");
        let [given, best] = A2.squared_errors();
        assert_eq!(given, best);
        let c = C.learn().unwrap();
        assert_eq!(c.shares("1011").1.into_iter().map(fraction).collect::<Vec<_>>(), ["1/12", "1/4"]);
        let d = D.learn().unwrap();
        assert_eq!(d.overlaps.sums, 1);
        assert!(is_table_1(&D.records()));
        let [given, best] = D.squared_errors();
        assert!((given - 24.0 / 7.0).abs() < 1e-9 && (best - 1.5).abs() < 1e-9, "{given} {best}");
    }

    #[test]
    fn values_agree_with_the_library() {
        for example in [A, A2, C, D] {
            let learned = example.learn().unwrap();
            for world in learned.worlds() {
                let expected = learned.circuit.log_probability(&world).unwrap().exp();
                let found = learned.values(&world, false)[learned.circuit.root().index()];
                assert!((found - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn fractions_are_recognised() {
        assert_eq!([1.0, 0.0, 0.75, 19.0 / 27.0].map(fraction), ["1", "0", "3/4", "19/27"]);
        assert_eq!(fraction(std::f64::consts::LN_2), "0.693147");
    }
}

//! Mutual information in a context: among the variables of a scope, counted over the rows of one element.

use crate::data::{BitMatrix, weight_planes};
use crate::learn::grow::Database;
use crate::learn::separate::Logs;
use crate::var::Var;
use crate::vtree::VtreeId;

/// Which variable is most informative about others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Informative {
    /// This one.
    Most(Var),
    /// None over these rows, but one may be over fewer of them.
    NotNow,
    /// None: too few vary.
    Never,
}

/// Counts pairs of variables over some rows.
pub(super) struct Context<'d> {
    database: &'d Database<'d>,
    logs: Logs,
}

impl<'d> Context<'d> {
    pub(super) fn new(database: &'d Database<'d>) -> Context<'d> {
        Context { database, logs: Logs::new(database.records.weights()) }
    }

    /// The variable below `among` with the most mutual information with the others below `scope`, over the rows. The
    /// first from the left wins ties.
    ///
    /// Cost: a pass over the rows for each pair of variables that are not constant, 64 rows at a time.
    pub(super) fn most_informative(&self, scope: VtreeId, among: VtreeId, rows: &[u32]) -> Informative {
        let vtree = &self.database.vtree;
        let mut rows = rows.to_vec();
        // Ascending rows have descending weights, whose planes are short.
        rows.sort_unstable();
        let weights: Vec<f64> = rows.iter().map(|&row| self.database.records.weights()[row as usize]).collect();
        let pairs = Pairs {
            columns: self.database.project(&rows, scope).transposed(),
            planes: weight_planes(&weights),
            weights,
        };
        let total: f64 = pairs.weights.iter().sum();
        let vars = vtree.vars(scope);
        let counts: Vec<f64> = (0..vars.len()).map(|i| pairs.count(i, i)).collect();
        let varies = |&i: &usize| pairs.varies(i);
        let free: Vec<usize> = (0..vars.len()).filter(varies).collect();
        let is_candidate = |i: usize| vtree.is_below(vtree.leaf(vars[i]), among);
        if free.len() < 2 || !free.iter().any(|&i| is_candidate(i)) {
            return Informative::Never;
        }
        let log = |n: f64| self.logs.x_log_x(n);
        let alone: Vec<f64> = counts.iter().map(|&n| log(n) + log(total - n)).collect();
        let mut shared = vec![0.0; vars.len()];
        for (at, &i) in free.iter().enumerate() {
            for &j in free[..at].iter().filter(|&&j| is_candidate(i) || is_candidate(j)) {
                let (both, a, b) = (pairs.count(i, j), counts[i], counts[j]);
                let joint = log(both) + log(a - both) + log(b - both) + log(total + both - a - b);
                let information = joint + log(total) - alone[i] - alone[j];
                shared[i] += information;
                shared[j] += information;
            }
        }
        let candidates = free.into_iter().filter(|&i| is_candidate(i));
        let best = candidates.rev().max_by(|&i, &j| shared[i].total_cmp(&shared[j]));
        let best = best.expect("there is a candidate");
        // Rounding alone is not information.
        if shared[best] > 1e-9 * total { Informative::Most(vars[best]) } else { Informative::NotNow }
    }
}

/// The cells of some rows, a line per variable.
struct Pairs {
    columns: BitMatrix,
    planes: Option<Vec<Vec<u64>>>,
    weights: Vec<f64>,
}

impl Pairs {
    fn varies(&self, i: usize) -> bool {
        let ones: u32 = self.columns.line(i).iter().map(|word| word.count_ones()).sum();
        ones > 0 && (ones as usize) < self.weights.len()
    }

    /// The weight of the rows with both variables true.
    fn count(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (self.columns.line(i), self.columns.line(j));
        match &self.planes {
            Some(planes) => {
                let ones = |plane: &[u64]| -> u64 {
                    plane.iter().zip(a).zip(b).map(|((p, a), b)| u64::from((p & a & b).count_ones())).sum()
                };
                planes.iter().enumerate().map(|(bit, plane)| ones(plane) << bit).sum::<u64>() as f64
            }
            None => {
                let both: Vec<u64> = a.iter().zip(b).map(|(a, b)| a & b).collect();
                crate::data::ones(&both).map(|row| self.weights[row]).sum()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Records, RecordsBuilder};
    use crate::names::Names;
    use crate::random::Random;
    use crate::vtree::Vtree;

    fn records(whole: bool, random: &mut Random) -> Records {
        let mut builder = RecordsBuilder::new(Names::numbered(7));
        for _ in 0..150 {
            let kind = random.below(3);
            let row: Vec<bool> = (0..7).map(|i| random.unit() < if i % 3 == kind { 0.8 } else { 0.1 }).collect();
            let weight = if whole { 1.0 + random.below(9) as f64 } else { 0.1 + random.unit() };
            builder.push(row.into_iter().map(Some), weight);
        }
        builder.finish()
    }

    /// Mutual information by its definition.
    fn information(records: &Records, rows: &[u32], a: Var, b: Var) -> f64 {
        let share = |holds: &dyn Fn(usize) -> bool| -> f64 {
            let weight = |row: usize| records.weights()[row];
            let total: f64 = rows.iter().map(|&row| weight(row as usize)).sum();
            rows.iter().map(|&row| row as usize).filter(|&row| holds(row)).map(weight).sum::<f64>() / total
        };
        let cell = |row: usize, var: Var| records.cell(row, var).unwrap();
        let mut sum = 0.0;
        for (x, y) in [(false, false), (false, true), (true, false), (true, true)] {
            let both = share(&|row| cell(row, a) == x && cell(row, b) == y);
            if both > 0.0 {
                sum += both * (both / share(&|row| cell(row, a) == x) / share(&|row| cell(row, b) == y)).ln();
            }
        }
        sum
    }

    #[test]
    fn the_most_informative_variable_is_that_of_the_definition() {
        let mut random = Random::new(4);
        for round in 0..40 {
            let records = records(round % 2 == 0, &mut random);
            let vtree = std::sync::Arc::new(Vtree::random(7, round));
            let database = Database::new(&records, vtree.clone());
            let rows: Vec<u32> = (0..records.len() as u32).filter(|_| random.unit() < 0.5).collect();
            for &scope in vtree.bottom_up().iter().filter(|v| !v.is_leaf()) {
                let [left, _] = vtree.children(scope).unwrap();
                for among in [left, scope] {
                    let shared = |a: Var| -> f64 {
                        let others = vtree.vars(scope).iter().filter(|&&b| b != a);
                        others.map(|&b| information(&records, &rows, a, b)).sum()
                    };
                    let most = vtree.vars(among).iter().map(|&a| shared(a)).fold(0.0, f64::max);
                    let found = Context::new(&database).most_informative(scope, among, &rows);
                    let found = if let Informative::Most(var) = found { Some(var) } else { None };
                    assert!((most - found.map_or(0.0, shared)).abs() < 1e-9, "{scope:?}: {found:?}");
                    assert!(found.is_none_or(|var| vtree.vars(among).contains(&var)));
                }
            }
        }
    }

    #[test]
    fn constant_and_single_variables_are_not_informative() {
        let vtree = std::sync::Arc::new(Vtree::balanced(2));
        let rows = [[true, false], [true, true], [true, true]];
        let records = Records::from_rows(Names::numbered(2), rows);
        let database = Database::new(&records, vtree.clone());
        let context = Context::new(&database);
        assert_eq!(context.most_informative(vtree.root(), vtree.root(), &[0, 1]), Informative::Never);
        let square = [[true, false], [true, true], [false, false], [false, true]];
        let records = Records::from_rows(Names::numbered(2), square);
        let database = Database::new(&records, vtree.clone());
        let context = Context::new(&database);
        assert_eq!(context.most_informative(vtree.root(), vtree.root(), &[0, 1, 2, 3]), Informative::NotNow);
        assert!(matches!(context.most_informative(vtree.root(), vtree.root(), &[0, 1, 2]), Informative::Most(_)));
    }
}

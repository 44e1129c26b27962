//! Posterior marginals of pairs of variables.

use super::lanes::{Lanes, Linear};
use super::marginals::Posterior;
use super::{Evidence, QueryError};
use crate::circuit::{Circuit, Node};
use crate::data::{Pair, Records};
use crate::names::{Column, Names};
use crate::var::{Lit, Var};
use rayon::prelude::*;

/// `P(x = true, y = true | evidence)` for all pairs of variables.
#[derive(Clone, Debug, PartialEq)]
pub struct PairMarginals {
    len: usize,
    /// Symmetric, by row; the diagonal holds the single variables.
    joint: Vec<f64>,
}

impl PairMarginals {
    /// The mean of pair marginals, with weights that add up to one; `None` without any.
    pub(crate) fn mean(parts: impl Iterator<Item = (f64, PairMarginals)>) -> Option<PairMarginals> {
        parts
            .map(|(weight, mut part)| {
                part.joint.iter_mut().for_each(|p| *p *= weight);
                part
            })
            .reduce(|mut sum, part| {
                sum.joint.iter_mut().zip(&part.joint).for_each(|(sum, p)| *sum += p);
                sum
            })
            .map(|mut sum| {
                sum.joint.iter_mut().for_each(|p| *p = p.min(1.0));
                sum
            })
    }

    /// The number of variables.
    pub fn var_count(&self) -> usize {
        self.len
    }

    /// `P(x = true)`.
    pub fn single(&self, x: Var) -> f64 {
        self.joint(x, x)
    }

    /// `P(x = true, y = true)`.
    ///
    /// # Panics
    /// If there is no such variable, like the other methods.
    pub fn joint(&self, x: Var, y: Var) -> f64 {
        assert!(x.index() < self.len && y.index() < self.len, "no such variable");
        self.joint[x.index() * self.len + y.index()]
    }

    /// `P(x = a, y = b)`; for `x = y` it is zero unless the values agree.
    pub fn of(&self, x: Var, a: bool, y: Var, b: bool) -> f64 {
        let (px, py, both) = (self.single(x), self.single(y), self.joint(x, y));
        let answer = match (a, b) {
            (true, true) => both,
            (true, false) => px - both,
            (false, true) => py - both,
            (false, false) => 1.0 - px - py + both,
        };
        answer.max(0.0)
    }

    /// `P(column a = value i, column b = value j)` by `i` and `j`; the values of a Boolean column are false and true.
    pub fn table(&self, a: Column<'_>, b: Column<'_>) -> Vec<Vec<f64>> {
        let lits = b.literals();
        let of = |x: Lit, y: Lit| self.of(x.var, x.value, y.var, y.value);
        a.literals().into_iter().map(|x| lits.iter().map(|&y| of(x, y)).collect()).collect()
    }

    /// The values of two columns that contribute most to their mutual information: what goes together.
    pub fn closest(&self, a: Column<'_>, b: Column<'_>) -> [Lit; 2] {
        let table = self.table(a, b);
        let terms = terms(&table);
        let mut closest = (0, 0);
        for (i, row) in terms.iter().enumerate() {
            for (j, &term) in row.iter().enumerate() {
                if term > terms[closest.0][closest.1] {
                    closest = (i, j);
                }
            }
        }
        [a.literals()[closest.0], b.literals()[closest.1]]
    }

    /// Up to `limit` pairs of the columns whose value evidence does not give, those with the most mutual information
    /// first.
    ///
    /// ```
    /// use slopp::{Names, infer::Evidence};
    /// let pairs = slopp::example::psdd().pair_marginals(&Evidence::none(4))?;
    /// let strongest = pairs.strongest(&Names::numbered(4), &Evidence::none(4), 2);
    /// assert!(strongest.len() == 2 && strongest[0].mutual_information >= strongest[1].mutual_information);
    /// # Ok::<(), slopp::infer::QueryError>(())
    /// ```
    ///
    /// # Panics
    /// If the names are not those of as many variables.
    pub fn strongest(&self, names: &Names, given: &Evidence, limit: usize) -> Vec<Pair> {
        assert_eq!(names.len(), self.len, "names of other variables");
        let unknown: Vec<(usize, Column<'_>)> =
            names.columns().enumerate().filter(|&(_, column)| !given.knows(column)).collect();
        let others = |i: usize| unknown[i + 1..].iter().map(move |&b| (i, b));
        let pair = |(i, (b, column)): (usize, (usize, Column<'_>))| {
            let mutual_information = match (unknown[i].1, column) {
                (Column::Boolean(x), Column::Boolean(y)) => self.mutual_information(x, y),
                (a, b) => information(&self.table(a, b)),
            };
            Pair { a: unknown[i].0, b, mutual_information }
        };
        let stronger = |x: &Pair, y: &Pair| {
            y.mutual_information.total_cmp(&x.mutual_information).then((x.a, x.b).cmp(&(y.a, y.b)))
        };
        let mut pairs: Vec<Pair> = (0..unknown.len()).flat_map(others).map(pair).collect();
        if limit < pairs.len() {
            pairs.select_nth_unstable_by(limit, stronger);
            pairs.truncate(limit);
        }
        pairs.sort_unstable_by(stronger);
        pairs
    }

    /// The mutual information of two variables in nats.
    pub fn mutual_information(&self, x: Var, y: Var) -> f64 {
        information(&[false, true].map(|a| [false, true].map(|b| self.of(x, a, y, b))))
    }
}

/// The mutual information of a table of probabilities.
fn information<R: AsRef<[f64]>>(table: &[R]) -> f64 {
    terms(table).iter().flatten().sum::<f64>().max(0.0)
}

/// What each cell of a table contributes to the mutual information, which is their sum.
///
/// Margins are sums of the cells, so rounding cannot make a cell possible where its margin is not.
fn terms<R: AsRef<[f64]>>(table: &[R]) -> Vec<Vec<f64>> {
    let mut columns = vec![0.0; table.first().map_or(0, |row| row.as_ref().len())];
    table.iter().for_each(|row| columns.iter_mut().zip(row.as_ref()).for_each(|(sum, p)| *sum += p));
    let term = |of_row: f64, of_column: f64, p: f64| match p {
        0.0 => 0.0,
        // Products of small margins may underflow.
        p => p * (p.ln() - of_row.ln() - of_column.ln()),
    };
    let of_row = |row: &[f64]| {
        let sum = row.iter().sum();
        row.iter().zip(&columns).map(|(&p, &column)| term(sum, column, p)).collect()
    };
    table.iter().map(|row| of_row(row.as_ref())).collect()
}

impl Circuit {
    /// `P(x = true, y = true | evidence)` for all pairs of variables, and the singles.
    ///
    /// Where vtree node `v` separates `x` and `y`, an element of `v` makes them independent: the joint is `Σ
    /// flow(element) · P(x | prime) · P(y | sub)`. One pass up for the marginals within each node, one down for the
    /// flows. Cost: over all vtree nodes, elements × left variables × right variables; memory: nodes × their variables,
    /// and the square of all variables.
    ///
    /// ```
    /// # use slopp::{Builder, Sharing, Var, Vtree, infer::Evidence};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let [x, nx] = [true, false].map(|v| builder.literal(Var(0).is(v)).unwrap());
    /// # let [y, ny] = [true, false].map(|v| builder.literal(Var(1).is(v)).unwrap());
    /// # let half = 0.5f64.ln();
    /// # let sum = builder.sum(root, &[(x, y, half), (nx, ny, half)])?;
    /// # let circuit = builder.finish(sum)?; // x = y, otherwise fair
    /// let pairs = circuit.pair_marginals(&Evidence::none(2))?;
    /// assert!((pairs.joint(Var(0), Var(1)) - 0.5).abs() < 1e-12);
    /// assert!(pairs.of(Var(0), true, Var(1), false) < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pair_marginals(&self, evidence: &Evidence) -> Result<PairMarginals, QueryError> {
        self.check_pairs()?;
        Ok(Posterior::new(self, evidence)?.pairs(self, evidence))
    }

    /// The pair marginals given each distinct row as evidence; `None` where the row is impossible.
    ///
    /// The batch form of [`Circuit::pair_marginals`].
    ///
    /// ```
    /// # use slopp::{Builder, Names, RecordsBuilder, Sharing, Var, Vtree};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let circuit = builder.finish(sum)?;
    /// let mut records = RecordsBuilder::new(Names::numbered(2));
    /// records.push([Some(true), None], 2.0);
    /// records.push([Some(false), None], 1.0);
    /// let pairs = circuit.pair_marginals_batch(&records.finish())?;
    /// assert!((pairs[0].as_ref().unwrap().joint(Var(0), Var(1)) - 0.75).abs() < 1e-12);
    /// assert_eq!(pairs[1], None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pair_marginals_batch(&self, records: &Records) -> Result<Vec<Option<PairMarginals>>, QueryError> {
        self.check_pairs()?;
        self.check_records(records)?;
        let linear = Linear::new(self);
        Ok((0..records.len())
            .into_par_iter()
            .map_init(
                || Lanes::<1>::new(self),
                |lanes, row| {
                    let evidence = Evidence::from_row(records, row);
                    let posterior = Posterior::with(self, &linear, lanes, &evidence).ok()?;
                    Some(posterior.pairs(self, &evidence))
                },
            )
            .collect())
    }
}

impl Posterior {
    fn pairs(&self, circuit: &Circuit, evidence: &Evidence) -> PairMarginals {
        let (vtree, len) = (circuit.vtree(), circuit.var_count());
        let flows = self.flows(circuit);
        let mut joint = vec![0.0; len * len];
        for (i, p) in self.marginals(circuit, evidence, &flows).into_iter().enumerate() {
            joint[i * len + i] = p;
        }
        // P(x | node) for the variables of each node, in vtree order.
        let mut start = Vec::with_capacity(circuit.nodes().len());
        let mut within: Vec<f64> = Vec::new();
        let mut weighted = Vec::new();
        for id in circuit.ids() {
            start.push(within.len());
            match circuit.node(id) {
                Node::Literal(lit) => within.push(f64::from(lit.value)),
                Node::Top { slot, .. } => within.push(self.parameters.tops[slot as usize][1]),
                Node::Sum { vtree: v, .. } => {
                    let [left, right] = vtree.children(v).expect("sums are at inner nodes").map(|v| vtree.vars(v));
                    let at = within.len();
                    within.resize(at + left.len() + right.len(), 0.0);
                    let (below, here) = within.split_at_mut(at);
                    let (here_left, here_right) = here.split_at_mut(left.len());
                    for (e, (element, _)) in circuit.element_range(id).zip(circuit.elements_of(id)) {
                        let share = self.parameters.elements[e];
                        if share == 0.0 {
                            continue;
                        }
                        let prime = &below[start[element.prime.index()]..][..left.len()];
                        let sub = &below[start[element.sub.index()]..][..right.len()];
                        here_left.iter_mut().zip(prime).for_each(|(sum, p)| *sum += share * p);
                        here_right.iter_mut().zip(sub).for_each(|(sum, p)| *sum += share * p);
                        let used = share * flows[id.index()];
                        weighted.clear();
                        weighted.extend(sub.iter().map(|p| used * p));
                        for (x, px) in left.iter().zip(prime).filter(|&(_, &px)| px > 0.0) {
                            let row = &mut joint[x.index() * len..(x.index() + 1) * len];
                            right.iter().zip(&weighted).for_each(|(y, py)| row[y.index()] += px * py);
                        }
                    }
                }
            }
        }
        for x in 0..len {
            for y in 0..x {
                // Only one half was filled, in the order of the vtree; the other is still zero.
                let both = (joint[x * len + y] + joint[y * len + x]).min(joint[x * len + x]).min(joint[y * len + y]);
                joint[x * len + y] = both;
                joint[y * len + x] = both;
            }
        }
        PairMarginals { len, joint }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certain_variable_shares_no_information_however_cells_are_rounded() {
        for certain in [0.0, 1.0] {
            for (p, off) in [(0.3f64, 0), (0.3, 1), (0.9, 3), (1e-300, 1)] {
                let both = f64::from_bits((certain * p).to_bits().saturating_sub(off));
                let pairs = PairMarginals { len: 2, joint: vec![certain, both, both, p] };
                let information = pairs.mutual_information(Var(0), Var(1));
                assert!(information < 1e-15, "{information} of {pairs:?}");
            }
        }
        let same = PairMarginals { len: 2, joint: vec![0.5; 4] };
        assert!((same.mutual_information(Var(0), Var(1)) - std::f64::consts::LN_2).abs() < 1e-15);
    }
}

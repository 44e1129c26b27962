//! The table of all worlds, and every query answered by looking at all of them.

/// Evidence: one cell per variable, `None` where unknown.
pub type Cells = Vec<Option<bool>>;

/// The probability of every world; bit `x` of a world is variable `x`.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    vars: usize,
    probability: Vec<f64>,
}

/// All `3^vars` evidences.
pub fn all_evidence(vars: usize) -> Vec<Cells> {
    let cell = |code: usize| [None, Some(false), Some(true)][code % 3];
    (0..3usize.pow(vars as u32)).map(|code| (0..vars).map(|x| cell(code / 3usize.pow(x as u32))).collect()).collect()
}

impl Table {
    /// A table over `vars` variables.
    pub fn new(vars: usize, probability: Vec<f64>) -> Table {
        assert_eq!(probability.len(), 1 << vars);
        Table { vars, probability }
    }

    /// The probability of one world.
    pub fn probability(&self, world: usize) -> f64 {
        self.probability[world]
    }

    /// A world as a list of values.
    pub fn world(&self, world: usize) -> Vec<bool> {
        (0..self.vars).map(|x| world >> x & 1 == 1).collect()
    }

    /// The number of a world.
    pub fn number(world: &[bool]) -> usize {
        world.iter().enumerate().map(|(x, &value)| usize::from(value) << x).sum()
    }

    fn agreeing<'a>(&'a self, evidence: &'a [Option<bool>]) -> impl Iterator<Item = usize> + 'a {
        (0..1usize << self.vars)
            .filter(move |world| (0..self.vars).all(|x| evidence[x].is_none_or(|value| value == (world >> x & 1 == 1))))
    }

    /// The possible worlds that agree with evidence.
    pub fn support(&self, evidence: &[Option<bool>]) -> Vec<usize> {
        self.agreeing(evidence).filter(|&world| self.probability[world] > 0.0).collect()
    }

    /// The probability of evidence.
    pub fn evidence(&self, evidence: &[Option<bool>]) -> f64 {
        self.agreeing(evidence).map(|world| self.probability[world]).sum()
    }

    /// `P(event | given)`, `None` if the latter is impossible.
    pub fn conditional(&self, event: &[Option<bool>], given: &[Option<bool>]) -> Option<f64> {
        let total = self.evidence(given);
        let both: f64 = self
            .agreeing(given)
            .filter(|world| (0..self.vars).all(|x| event[x].is_none_or(|value| value == (world >> x & 1 == 1))))
            .map(|world| self.probability[world])
            .sum();
        (total > 0.0).then(|| both / total)
    }

    /// `P(x, y | evidence)` with both true; the diagonal is `P(x | evidence)`. `None` if the evidence is impossible.
    pub fn pairs(&self, evidence: &[Option<bool>]) -> Option<Vec<Vec<f64>>> {
        let total = self.evidence(evidence);
        if total == 0.0 {
            return None;
        }
        let mut pairs = vec![vec![0.0; self.vars]; self.vars];
        for world in self.agreeing(evidence) {
            for (x, row) in pairs.iter_mut().enumerate() {
                for (y, cell) in row.iter_mut().enumerate() {
                    if world >> x & 1 == 1 && world >> y & 1 == 1 {
                        *cell += self.probability[world] / total;
                    }
                }
            }
        }
        Some(pairs)
    }

    /// The probabilities of the possible worlds that agree with evidence, descending.
    pub fn descending(&self, evidence: &[Option<bool>]) -> Vec<f64> {
        let mut all: Vec<f64> = self.support(evidence).into_iter().map(|world| self.probability[world]).collect();
        all.sort_by(|a, b| b.total_cmp(a));
        all
    }

    /// The entropy in nats.
    pub fn entropy(&self) -> f64 {
        self.probability.iter().filter(|&&p| p > 0.0).map(|p| -p * p.ln()).sum()
    }

    /// The divergence from this table to another, infinite if a possible world is impossible there.
    pub fn divergence(&self, other: &Table) -> f64 {
        let mut sum = 0.0;
        for (&p, &q) in self.probability.iter().zip(&other.probability) {
            if p > 0.0 && q == 0.0 {
                return f64::INFINITY;
            }
            if p > 0.0 {
                sum += p * (p / q).ln();
            }
        }
        sum
    }

    /// The smallest number of known cells to change to reach a possible world.
    pub fn nearest(&self, evidence: &[Option<bool>]) -> u32 {
        let changed = |world: usize| {
            (0..self.vars).filter(|&x| evidence[x].is_some_and(|value| value != (world >> x & 1 == 1))).count()
        };
        let possible = (0..1usize << self.vars).filter(|&world| self.probability[world] > 0.0);
        possible.map(changed).min().expect("some world is possible") as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // P(00) = 1/2, P(x) = 1/4 with y false, P(xy) = 1/4.
        let table = Table::new(2, vec![0.5, 0.25, 0.0, 0.25]);
        assert_eq!(table.evidence(&[Some(true), None]), 0.5);
        assert_eq!(table.conditional(&[None, Some(true)], &[Some(true), None]), Some(0.5));
        assert_eq!(table.conditional(&[None, None], &[Some(false), Some(true)]), None);
        assert_eq!(table.pairs(&[None, None]).unwrap(), [[0.5, 0.25], [0.25, 0.25]]);
        assert_eq!(table.descending(&[None, None]), [0.5, 0.25, 0.25]);
        assert_eq!(table.nearest(&[Some(false), Some(true)]), 1);
        assert!((table.entropy() - 1.5 * 2f64.ln()).abs() < 1e-15);
        assert_eq!(Table::new(2, vec![0.25; 4]).divergence(&table), f64::INFINITY);
        assert_eq!(all_evidence(3).len(), 27);
    }
}

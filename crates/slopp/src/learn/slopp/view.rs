//! Records along a variable order, arranged for learning layer by layer.

use crate::data::{BitMatrix, Records, bit_of};
use crate::var::Var;

/// Distinct rows with their columns in a variable order, sorted from the last variable to the first.
///
/// So rows that agree from some position on are neighbours, for every position. Values that depend only on the rest of
/// a row are computed once for all of them.
pub(super) struct View {
    columns: BitMatrix,
    rare: BitMatrix,
    weights: Vec<f64>,
    values: Vec<[f64; 2]>,
    total: f64,
}

/// Neighbouring rows that agree from some position on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// The first row.
    pub(super) start: u32,
    /// The group that they are in from the next position on.
    pub(super) rest: u32,
    /// Their value at the position.
    pub(super) value: bool,
}

impl View {
    /// Complete records along an order of all their variables.
    pub(super) fn new(records: &Records, order: &[Var]) -> View {
        let keys = by_row(records, order.iter().rev());
        // The first bit of a word is its lowest; reversed, words compare as their bits do.
        let key = |row: u32| keys.line(row as usize).iter().map(|word| word.reverse_bits());
        let mut sorted: Vec<u32> = (0..records.len() as u32).collect();
        sorted.sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
        View::arranged(records, order, &sorted)
    }

    /// The same with the rows in their original order, for which [`View::groups`] does not work.
    pub(super) fn unsorted(records: &Records, order: &[Var]) -> View {
        View::arranged(records, order, &(0..records.len() as u32).collect::<Vec<_>>())
    }

    fn arranged(records: &Records, order: &[Var], sorted: &[u32]) -> View {
        let (rows, vars) = (records.len(), order.len());
        let unsorted = by_row(records, order.iter());
        let mut rare = BitMatrix::zeros(rows, vars);
        for (new, &old) in sorted.iter().enumerate() {
            rare.line_mut(new).copy_from_slice(unsorted.line(old as usize));
        }
        let columns = rare.transposed();
        let weights: Vec<f64> = sorted.iter().map(|&row| records.weights()[row as usize]).collect();
        let values: Vec<[f64; 2]> = order.iter().map(|&var| records.count_values(var)).collect();
        let mut flip = BitMatrix::zeros(1, vars);
        values.iter().enumerate().filter(|(_, [f, t])| t > f).for_each(|(position, _)| flip.set(0, position));
        for row in 0..rows {
            rare.line_mut(row).iter_mut().zip(flip.line(0)).for_each(|(word, flip)| *word ^= flip);
        }
        View { columns, rare, weights, values, total: records.total() }
    }

    /// The number of distinct rows.
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    /// The number of variables.
    pub(super) fn vars(&self) -> usize {
        self.values.len()
    }

    /// The total weight.
    pub(super) fn total(&self) -> f64 {
        self.total
    }

    /// The weight of each row.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The weight of the rows with each value of the variable at a position.
    pub(super) fn values(&self, position: usize) -> [f64; 2] {
        self.values[position]
    }

    /// The column of the variable at a position.
    pub(super) fn column(&self, position: usize) -> &[u64] {
        self.columns.line(position)
    }

    /// A row with every usually-true bit flipped, so that few are one; for counts that are symmetric in the values.
    pub(super) fn rare(&self, row: usize) -> &[u64] {
        self.rare.line(row)
    }

    /// Whether all weights are whole numbers, small enough that their sums fit 32 bits.
    pub(super) fn is_whole(&self) -> bool {
        self.total < f64::from(u32::MAX) && self.weights.iter().all(|weight| weight.fract() == 0.0)
    }

    /// The groups of rows that agree from `position` on, from those that agree from the next position on.
    pub(super) fn groups(&self, position: usize, rest: &[Group]) -> Vec<Group> {
        let column = self.column(position);
        let mut groups = Vec::with_capacity(2 * rest.len());
        for (i, group) in rest.iter().enumerate() {
            let end = rest.get(i + 1).map_or(self.len(), |next| next.start as usize);
            let (mut low, mut high) = (group.start as usize, end);
            // Within the group, rows with false come first.
            while low < high {
                let middle = usize::midpoint(low, high);
                if bit_of(column, middle) { high = middle } else { low = middle + 1 }
            }
            if low > group.start as usize {
                groups.push(Group { start: group.start, rest: i as u32, value: false });
            }
            if low < end {
                groups.push(Group { start: low as u32, rest: i as u32, value: true });
            }
        }
        groups
    }

    /// All rows as one group: they agree after the last position.
    pub(super) fn all(&self) -> Vec<Group> {
        vec![Group { start: 0, rest: 0, value: false }]
    }
}

/// The cells of these variables, a line per row.
fn by_row<'a>(records: &Records, vars: impl ExactSizeIterator<Item = &'a Var>) -> BitMatrix {
    let mut columns = BitMatrix::zeros(vars.len(), records.len());
    for (position, &var) in vars.enumerate() {
        columns.line_mut(position).copy_from_slice(records.column(var));
    }
    columns.transposed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Names;
    use crate::random::Random;

    #[test]
    fn groups_are_the_rows_that_agree_to_the_end() {
        let mut random = Random::new(5);
        let rows: Vec<Vec<bool>> = (0..300).map(|_| (0..70).map(|_| random.unit() < 0.03).collect()).collect();
        let records = Records::from_rows(Names::numbered(70), rows);
        let mut order: Vec<Var> = (0..70).map(Var).collect();
        random.shuffle(&mut order);
        let view = View::new(&records, &order);
        let mut groups = view.all();
        for position in (0..70).rev() {
            groups = view.groups(position, &groups);
            let suffix = |row: usize| (position..70).map(|p| bit_of(view.column(p), row)).collect::<Vec<_>>();
            let ends = groups[1..].iter().map(|g| g.start as usize).chain([view.len()]);
            let mut seen = std::collections::BTreeSet::new();
            for (group, end) in groups.iter().zip(ends) {
                assert!((group.start as usize..end).all(|row| suffix(row) == suffix(group.start as usize)));
                assert_eq!(suffix(group.start as usize)[0], group.value);
                assert!(seen.insert(suffix(group.start as usize)), "two groups agree at {position}");
            }
        }
        assert_eq!(groups.len(), records.len());
        assert_eq!(view.weights().iter().sum::<f64>(), 300.0);
    }
}

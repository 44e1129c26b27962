//! Records along an order of columns, arranged for learning layer by layer.

use crate::data::{BitMatrix, Cells, Choice, Records};

/// A surrogate tells at most this many values of a column apart; rarer ones are one.
const TOLD_APART: usize = 256;

/// Distinct rows with their columns in an order, sorted from the last column to the first.
///
/// So rows that agree from some position on are neighbours, for every position. What depends only on the rest of a row
/// is computed once for all of them.
pub(super) struct View {
    cells: Vec<Cells<'static>>,
    /// The positions where a row has a rare value, that is, not the most frequent one.
    rare: BitMatrix,
    columns: Vec<Column>,
    weights: Vec<f64>,
    total: f64,
}

/// What is known of the column at a position.
struct Column {
    counts: Vec<f64>,
    /// The number of each value among the rare ones that are told apart; the most frequent value has none.
    rare: Vec<u16>,
    /// How many rare values are told apart.
    width: usize,
    ordered: bool,
}

/// Neighbouring rows that agree from some position on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// The first row.
    pub(super) start: u32,
    /// The group that they are in from the next position on.
    pub(super) rest: u32,
    /// Their value at the position.
    pub(super) value: u16,
}

impl View {
    /// Complete records along an order of all their columns.
    pub(super) fn new(records: &Records, order: &[Choice]) -> View {
        let cells: Vec<Cells<'_>> = order.iter().map(|choice| choice.cells(records)).collect();
        // A line per bit of a value, the highest first, so that keys compare as values do.
        let bits = |choice: &Choice| (choice.values() - 1).checked_ilog2().map_or(0, |log| log as usize + 1);
        let width = order.iter().map(bits).sum();
        let mut lines = BitMatrix::zeros(width, records.len());
        let mut line = 0;
        for (choice, cells) in order.iter().zip(&cells).rev() {
            for bit in (0..bits(choice)).rev() {
                match cells {
                    Cells::Bits(bits) => lines.line_mut(line).copy_from_slice(bits),
                    Cells::Codes(codes) => {
                        let set = codes.iter().enumerate().filter(|(_, code)| **code >> bit & 1 == 1);
                        set.for_each(|(row, _)| lines.set(line, row));
                    }
                }
                line += 1;
            }
        }
        let keys = lines.transposed();
        // The first bit of a word is its lowest; reversed, words compare as their bits do.
        let key = |row: u32| keys.line(row as usize).iter().map(|word| word.reverse_bits());
        let mut sorted: Vec<u32> = (0..records.len() as u32).collect();
        sorted.sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
        View::arranged(records, order, &cells, &sorted)
    }

    /// The same with the rows in their original order, for which [`View::groups`] does not work.
    pub(super) fn unsorted(records: &Records, order: &[Choice]) -> View {
        let cells: Vec<Cells<'_>> = order.iter().map(|choice| choice.cells(records)).collect();
        View::arranged(records, order, &cells, &(0..records.len() as u32).collect::<Vec<_>>())
    }

    fn arranged(records: &Records, order: &[Choice], cells: &[Cells<'_>], sorted: &[u32]) -> View {
        let columns: Vec<Column> =
            order.iter().map(|choice| Column::new(choice.counts(records), choice.is_ordered())).collect();
        let cells: Vec<Cells<'static>> = cells.iter().map(|cells| cells.arranged(sorted)).collect();
        let mut rare = BitMatrix::zeros(order.len(), sorted.len());
        for (position, (column, cells)) in columns.iter().zip(&cells).enumerate() {
            let is_rare = |row: &usize| column.rare[cells.at(*row)] != USUAL;
            (0..sorted.len()).filter(is_rare).for_each(|row| rare.set(position, row));
        }
        let weights: Vec<f64> = sorted.iter().map(|&row| records.weights()[row as usize]).collect();
        View { cells, rare: rare.transposed(), columns, weights, total: records.total() }
    }

    /// The number of distinct rows.
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    /// The number of columns.
    pub(super) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// The total weight.
    pub(super) fn total(&self) -> f64 {
        self.total
    }

    /// The weight of each row.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The weight of the rows with each value at a position.
    pub(super) fn counts(&self, position: usize) -> &[f64] {
        &self.columns[position].counts
    }

    /// How many values the column at a position has.
    pub(super) fn values(&self, position: usize) -> usize {
        self.columns[position].counts.len()
    }

    /// Whether every column has two values.
    pub(super) fn is_binary(&self) -> bool {
        self.columns.iter().all(|column| column.counts.len() == 2)
    }

    /// Whether neighbouring values at a position are alike.
    pub(super) fn is_ordered(&self, position: usize) -> bool {
        self.columns[position].ordered
    }

    /// The cells of the column at a position.
    pub(super) fn column(&self, position: usize) -> &Cells<'static> {
        &self.cells[position]
    }

    /// The cells of all columns.
    pub(super) fn cells(&self) -> &[Cells<'static>] {
        &self.cells
    }

    /// The positions where a row has a rare value, as bits.
    pub(super) fn rare(&self, row: usize) -> &[u64] {
        self.rare.line(row)
    }

    /// The number of the rare value that a row has at a position.
    pub(super) fn rare_value(&self, position: usize, row: usize) -> usize {
        let column = &self.columns[position];
        // Two values: the rare one is the only one.
        if column.width == 1 { 0 } else { usize::from(column.rare[self.cells[position].at(row)]) }
    }

    /// How many rare values are told apart at a position.
    pub(super) fn rare_values(&self, position: usize) -> usize {
        self.columns[position].width
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
            let mut start = group.start as usize;
            // Within the group, rows are in the order of their values.
            while start < end {
                let value = column.at(start);
                let (mut low, mut high) = (start + 1, end);
                while low < high {
                    let middle = usize::midpoint(low, high);
                    if column.at(middle) == value { low = middle + 1 } else { high = middle }
                }
                groups.push(Group { start: start as u32, rest: i as u32, value: value as u16 });
                start = low;
            }
        }
        groups
    }

    /// All rows as one group: they agree after the last position.
    pub(super) fn all(&self) -> Vec<Group> {
        vec![Group { start: 0, rest: 0, value: 0 }]
    }
}

/// The mark of the most frequent value.
const USUAL: u16 = u16::MAX;

impl Column {
    fn new(counts: Vec<f64>, ordered: bool) -> Column {
        // The most frequent first; of equals the first.
        let mut by_count: Vec<usize> = (0..counts.len()).collect();
        by_count.sort_by(|&a, &b| counts[b].total_cmp(&counts[a]));
        let mut rare = vec![USUAL; counts.len()];
        // A variable always has one rare value.
        let is_told = |value: &usize| counts.len() == 2 || counts[*value] > 0.0;
        let mut width = 0;
        for &value in by_count.iter().skip(1).filter(|value| is_told(value)) {
            rare[value] = width.min(TOLD_APART - 1) as u16;
            width += 1;
        }
        Column { width: width.min(TOLD_APART), counts, rare, ordered }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::bit_of;
    use crate::names::{Kind, Names};
    use crate::random::Random;

    #[test]
    fn groups_are_the_rows_that_agree_to_the_end() {
        let mut random = Random::new(5);
        let kind = |i: usize| match i % 3 {
            0 => Kind::Values((0..1 + i / 3).map(|value| value.to_string()).collect()),
            _ => Kind::Boolean,
        };
        let names = Names::of_columns((0..30).map(|i| (format!("c{i}"), kind(i)))).unwrap();
        let mut order = Choice::all(&names);
        let bits = |random: &mut Random| -> Vec<bool> {
            let one = |choice: &Choice, random: &mut Random| match choice.as_boolean() {
                Some(_) => vec![random.unit() < 0.03],
                None => {
                    let value = if random.unit() < 0.9 { 0 } else { random.below(choice.values()) };
                    (0..choice.values()).map(|i| i == value).collect()
                }
            };
            Choice::all(&names).iter().flat_map(|choice| one(choice, random)).collect()
        };
        let rows: Vec<Vec<bool>> = (0..300).map(|_| bits(&mut random)).collect();
        let records = Records::from_rows(names, rows);
        random.shuffle(&mut order);
        let view = View::new(&records, &order);
        let mut groups = view.all();
        for position in (0..30).rev() {
            groups = view.groups(position, &groups);
            let suffix = |row: usize| (position..30).map(|p| view.column(p).at(row)).collect::<Vec<_>>();
            let ends = groups[1..].iter().map(|g| g.start as usize).chain([view.len()]);
            let mut seen = std::collections::BTreeSet::new();
            for (group, end) in groups.iter().zip(ends) {
                assert!((group.start as usize..end).all(|row| suffix(row) == suffix(group.start as usize)));
                assert_eq!(suffix(group.start as usize)[0], usize::from(group.value));
                assert!(seen.insert(suffix(group.start as usize)), "two groups agree at {position}");
            }
            let counts = view.counts(position);
            let usual = (0..view.len()).find(|&row| !bit_of(view.rare(row), position)).expect("the most frequent");
            let most = counts[view.column(position).at(usual)];
            assert!(counts.iter().all(|&count| count <= most));
        }
        assert_eq!(groups.len(), records.len());
        assert_eq!(view.weights().iter().sum::<f64>(), 300.0);
    }
}

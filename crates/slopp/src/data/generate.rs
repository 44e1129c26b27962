//! Limits of generated records, and noisy copies.

use super::{Records, RecordsBuilder, RecordsError};
use crate::names::{Column, Names};
use crate::random::Random;
use crate::var::Var;
use std::sync::Arc;

/// The largest number of records generated or drawn at once, as all are kept.
pub(crate) const MAX_RECORDS: usize = 1_000_000_000;

impl Records {
    /// Refuses to generate more records than that.
    pub fn check_count(records: usize) -> Result<(), RecordsError> {
        if records > MAX_RECORDS { Err(RecordsError::TooMany { records }) } else { Ok(()) }
    }

    /// Copies rows, for example samples of a model, and changes each cell with the given probability. A Boolean cell is
    /// flipped; one of a column with several values gets another one, all equally likely. Also returns the number of
    /// changed cells.
    ///
    /// After the changes every record is possible. This is the channel of
    /// [`Circuit::log_likelihoods_noisy`](crate::Circuit::log_likelihoods_noisy).
    pub fn noisy_copy(
        names: impl Into<Arc<Names>>,
        rows: impl IntoIterator<Item = Vec<bool>>,
        flip: f64,
        seed: u64,
    ) -> Result<(Records, usize), RecordsError> {
        if !(0.0..=1.0).contains(&flip) {
            return Err(RecordsError::Flip { probability: flip });
        }
        let names = names.into();
        let mut random = Random::new(seed);
        let mut builder = RecordsBuilder::new(names.clone());
        let mut flipped = 0;
        for (i, mut row) in rows.into_iter().enumerate() {
            if row.len() != names.len() {
                return Err(RecordsError::Row { row: i + 1, cells: row.len(), expected: names.len() });
            }
            for column in names.columns() {
                let others = match column {
                    Column::Boolean(_) => 1,
                    Column::Group(group) => group.vars().len() - 1,
                };
                if random.unit() >= flip || others == 0 {
                    continue;
                }
                flipped += 1;
                match column {
                    Column::Boolean(var) => row[var.index()] ^= true,
                    Column::Group(group) => {
                        let first = group.vars().next().map_or(0, Var::index);
                        // Turned by at least one place, but not all the way: any other value, all equally likely.
                        row[first..=first + others].rotate_right(1 + random.below(others));
                    }
                }
            }
            builder.push(row.into_iter().map(Some), 1.0);
        }
        Ok((builder.finish(), flipped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(records: &Records) -> Vec<(Vec<bool>, f64)> {
        let row = |i: usize| records.row(i).map(|cell| cell.expect("no cell is missing")).collect();
        (0..records.len()).map(|i| (row(i), records.weights()[i])).collect()
    }

    #[test]
    fn bad_settings_are_errors() {
        let copy = |row: Vec<bool>, flip| Records::noisy_copy(Names::numbered(2), [row], flip, 0);
        assert!(matches!(copy(vec![true; 2], 1.5), Err(RecordsError::Flip { .. })));
        assert_eq!(copy(vec![true], 0.1), Err(RecordsError::Row { row: 1, cells: 1, expected: 2 }));
    }

    #[test]
    fn noise_flips_the_given_share() {
        let given = vec![vec![true, false, true, true]; 5000];
        let (records, flipped) = Records::noisy_copy(Names::numbered(4), given.clone(), 0.1, 3).unwrap();
        assert!((1800..2200).contains(&flipped), "{flipped}");
        let differ: f64 = rows(&records)
            .iter()
            .map(|(row, weight)| weight * row.iter().zip(&given[0]).filter(|(a, b)| a != b).count() as f64)
            .sum();
        assert_eq!(differ, flipped as f64);
        assert_eq!(Records::noisy_copy(Names::numbered(4), given.clone(), 0.0, 3).unwrap().0.len(), 1);
        assert_eq!((records, flipped), Records::noisy_copy(Names::numbered(4), given, 0.1, 3).unwrap());
    }

    #[test]
    fn noise_changes_a_value_to_any_other() {
        let kind = crate::Kind::Values(["a", "b", "c", "d"].map(String::from).to_vec());
        let names = Names::of_columns([("x".into(), crate::Kind::Boolean), ("v".into(), kind)]).unwrap();
        let (records, _) =
            Records::noisy_copy(names, vec![vec![true, false, true, false, false]; 6000], 0.3, 5).unwrap();
        let mut seen = [0.0; 4];
        for (row, weight) in rows(&records) {
            let trues: Vec<usize> = (0..4).filter(|i| row[1 + i]).collect();
            assert_eq!(trues.len(), 1, "{row:?}");
            seen[trues[0]] += weight;
        }
        for (value, count) in seen.into_iter().enumerate() {
            let expected: f64 = if value == 1 { 4200.0 } else { 600.0 };
            assert!((count - expected).abs() < 0.15 * expected, "{seen:?}");
        }
    }
}

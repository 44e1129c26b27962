//! Parts of records: random splits, subsets, and unions.

use super::{Records, RecordsBuilder, RecordsError};
use crate::names::abridged;
use crate::random::Random;

/// The largest total weight that is split record by record.
const MAX_RECORDS: f64 = 4e9;

/// The share of the records held out without validation records.
const HELD_OUT: f64 = 0.1;

/// With fewer records than this, none are held out.
const FEW_RECORDS: f64 = 20.0;

impl Records {
    /// Splits the records at random into parts with the given shares; the sizes are exact up to rounding.
    ///
    /// A row of whole weight `w` counts as `w` records, which may end up in different parts. If weights are not whole,
    /// each row as given goes to one part. Parts keep the order of the records.
    pub fn split(&self, shares: &[f64], seed: u64) -> Result<Vec<Records>, RecordsError> {
        Ok(self.split_with_places(shares, seed)?.into_iter().map(|(part, _)| part).collect())
    }

    /// The parts of [`Records::split`], and for each record of a part its position in these records.
    pub fn split_with_places(&self, shares: &[f64], seed: u64) -> Result<Vec<(Records, Vec<usize>)>, RecordsError> {
        self.deal(self.entries(), shares, seed)
    }

    /// The records without a tenth, and that tenth, which learners hold out without validation records; `None` if there
    /// are fewer than 20, or their weights cannot be divided.
    ///
    /// Independent of the order of the records, and of whether they are repeated or weighted.
    pub fn hold_out(&self, seed: u64) -> Option<(Records, Records)> {
        if self.total() < FEW_RECORDS {
            return None;
        }
        let mut parts = self.split_rows(&[1.0 - HELD_OUT, HELD_OUT], seed).ok()?.into_iter();
        let (rest, held) = (parts.next()?, parts.next()?);
        (!rest.is_empty() && !held.is_empty()).then_some((rest, held))
    }

    /// As [`Records::split`], but independent of the order of the records, and of whether they are repeated or
    /// weighted.
    fn split_rows(&self, shares: &[f64], seed: u64) -> Result<Vec<Records>, RecordsError> {
        let parts = self.deal(self.weights().iter().copied().enumerate().collect(), shares, seed)?;
        Ok(parts.into_iter().map(|(part, _)| part).collect())
    }

    /// Deals out weighted rows; each part gets the positions of its rows.
    fn deal(
        &self,
        entries: Vec<(usize, f64)>,
        shares: &[f64],
        seed: u64,
    ) -> Result<Vec<(Records, Vec<usize>)>, RecordsError> {
        let total: f64 = shares.iter().sum();
        if !(total > 0.0 && total.is_finite() && shares.iter().all(|&share| share >= 0.0)) {
            return Err(RecordsError::Shares { shares: shares.to_vec() });
        }
        let whole = entries.iter().all(|&(_, weight)| weight.fract() == 0.0);
        if whole && self.total() > MAX_RECORDS {
            return Err(RecordsError::TooManyToSplit { records: self.total() });
        }
        let units = |weight: f64| if whole { weight as u64 } else { 1 };
        let all: u64 = entries.iter().map(|&(_, weight)| units(weight)).sum();
        let mut quotas = quotas(all, shares, total);
        let mut left = all;
        let mut random = Random::new(seed);
        let part = |_| (RecordsBuilder::new(self.names().clone()), Vec::new());
        let mut parts: Vec<(RecordsBuilder, Vec<usize>)> = shares.iter().map(part).collect();
        let mut taken = vec![0u64; shares.len()];
        for (place, (row, weight)) in entries.into_iter().enumerate() {
            let count = units(weight);
            taken.fill(0);
            // Selection sampling: each record goes to a part with a chance proportional to the places left there.
            for _ in 0..count {
                let mut drawn = random.below(left as usize) as u64;
                let part = quotas.iter().position(|&quota| {
                    let here = drawn < quota;
                    drawn = drawn.saturating_sub(quota);
                    here
                });
                let part = part.expect("the quotas add up to what is left");
                quotas[part] -= 1;
                left -= 1;
                taken[part] += 1;
            }
            for ((part, places), &taken) in parts.iter_mut().zip(&taken).filter(|(_, taken)| **taken > 0) {
                part.push(self.row(row), weight * taken as f64 / count as f64);
                places.push(place);
            }
        }
        Ok(parts.into_iter().map(|(part, places)| (part.finish(), places)).collect())
    }

    /// The records with a distinct row that is kept, in their original order.
    pub fn subset(&self, keep: impl Fn(usize) -> bool) -> Records {
        let mut builder = RecordsBuilder::new(self.names().clone());
        for (row, weight) in self.entries().into_iter().filter(|&(row, _)| keep(row)) {
            builder.push(self.row(row), weight);
        }
        builder.finish()
    }

    /// These records followed by others over the same variables.
    pub fn merged(&self, other: &Records) -> Result<Records, RecordsError> {
        if self.names() != other.names() {
            let (left, right): (Vec<_>, Vec<_>) = (self.names().iter().collect(), other.names().iter().collect());
            let column = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
            let name = |names: &[&str]| {
                names.get(column).map_or("no column".to_owned(), |name| format!("\"{}\"", abridged(name)))
            };
            return Err(RecordsError::Variables { column: column + 1, left: name(&left), right: name(&right) });
        }
        let mut builder = RecordsBuilder::new(self.names().clone());
        for records in [self, other] {
            records.entries().into_iter().for_each(|(row, weight)| builder.push(records.row(row), weight));
        }
        Ok(builder.finish())
    }

    /// Each original record with its row and its share of the weight of that row.
    ///
    /// Only the total weight of equal rows is stored, so it is shared out evenly, in whole numbers where possible.
    pub(crate) fn entries(&self) -> Vec<(usize, f64)> {
        let mut times = vec![0u64; self.len()];
        self.original().iter().for_each(|&row| times[row as usize] += 1);
        let mut seen = vec![0u64; self.len()];
        let entry = |&row: &u32| {
            let row = row as usize;
            let (weight, times) = (self.weights()[row], times[row]);
            seen[row] += 1;
            if weight.fract() == 0.0 && weight >= times as f64 {
                let rest = u64::from(seen[row] <= weight as u64 % times);
                (row, (weight as u64 / times + rest) as f64)
            } else {
                (row, weight / times as f64)
            }
        };
        self.original().iter().map(entry).collect()
    }
}

/// The sizes of the parts of `all` records: rounded such that they add up and each is off by at most one.
fn quotas(all: u64, shares: &[f64], total: f64) -> Vec<u64> {
    let mut reached = 0.0;
    let mut given = 0;
    let last = shares.iter().rposition(|&share| share > 0.0);
    let quota = |(i, share): (usize, &f64)| {
        reached += share;
        let end = if Some(i) >= last { all } else { ((reached / total * all as f64).round() as u64).min(all) };
        let quota = end - given;
        given = end;
        quota
    };
    shares.iter().enumerate().map(quota).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Names;
    use crate::var::Var;

    fn numbers(values: impl Iterator<Item = u32>) -> Records {
        let rows = values.map(|value| (0..12).map(move |bit| value >> bit & 1 == 1));
        Records::from_rows(Names::numbered(12), rows)
    }

    fn value(records: &Records, row: usize) -> u32 {
        (0..12).filter(|&bit| records.cell(row, Var(bit)) == Some(true)).map(|bit| 1 << bit).sum()
    }

    #[test]
    fn a_split_loses_nothing_and_keeps_the_shares() {
        let records = numbers((0..1000).chain(0..1000).chain(0..500));
        let parts = records.split(&[0.8, 0.1, 0.1], 7).unwrap();
        assert_eq!(parts.iter().map(Records::total).collect::<Vec<_>>(), [2000.0, 250.0, 250.0]);
        let mut weights = vec![0.0; 1000];
        for part in &parts {
            (0..part.len()).for_each(|row| weights[value(part, row) as usize] += part.weights()[row]);
        }
        assert!((0..1000).all(|i| weights[i] == if i < 500 { 3.0 } else { 2.0 }));
        assert_eq!(parts, records.split(&[8.0, 1.0, 1.0], 7).unwrap());
        assert_ne!(parts, records.split(&[0.8, 0.1, 0.1], 8).unwrap());
        let low = (0..parts[1].len()).filter(|&row| value(&parts[1], row) < 500).count();
        assert!((100..200).contains(&low), "a fair split takes from everywhere: {low}");
    }

    #[test]
    fn weighted_rows_are_split_record_by_record() {
        let mut builder = RecordsBuilder::new(Names::numbered(1));
        builder.push([Some(true)], 600.0);
        builder.push([Some(false)], 400.0);
        let parts = builder.finish().split(&[0.5, 0.0, 0.5], 1).unwrap();
        assert_eq!(parts.iter().map(Records::total).collect::<Vec<_>>(), [500.0, 0.0, 500.0]);
        let trues = parts[0].count(parts[0].column(Var(0)));
        assert!((260.0..340.0).contains(&trues), "{trues}");
        assert_eq!(trues + parts[2].count(parts[2].column(Var(0))), 600.0);
    }

    #[test]
    fn rows_are_split_alike_in_any_order_repeated_or_weighted() {
        let repeated = numbers((0..90).flat_map(|i| vec![i; 1 + i as usize % 3]).chain(0..9));
        let shuffled = numbers((0..9).chain((0..90).rev().flat_map(|i| vec![i; 1 + i as usize % 3])));
        let mut weighted = RecordsBuilder::new(Names::numbered(12));
        for row in (0..repeated.len()).rev() {
            weighted.push(repeated.row(row), repeated.weights()[row]);
        }
        let rows = |records: &Records| -> Vec<Vec<(u32, f64)>> {
            let parts = records.split_rows(&[0.9, 0.1], 3).unwrap();
            let rows = |part: &Records| (0..part.len()).map(|row| (value(part, row), part.weights()[row])).collect();
            parts.iter().map(rows).collect()
        };
        let expected = rows(&repeated);
        assert_eq!((rows(&shuffled), rows(&weighted.finish())), (expected.clone(), expected));
    }

    #[test]
    fn real_weights_stay_together() {
        let mut builder = RecordsBuilder::new(Names::numbered(2));
        for i in 0..4 {
            builder.push([Some(i % 2 == 0), (i < 2).then_some(true)], 0.3 + f64::from(i));
        }
        let records = builder.finish();
        let parts = records.split(&[0.5, 0.5], 3).unwrap();
        assert_eq!(parts.iter().map(Records::len).collect::<Vec<_>>(), [2, 2]);
        assert!((parts[0].total() + parts[1].total() - records.total()).abs() < 1e-12);
    }

    #[test]
    fn subset_and_merged_are_inverse() {
        let records = numbers((0..100).chain(20..60));
        let low = |row: usize| value(&records, row) < 50;
        let (a, b) = (records.subset(low), records.subset(|row| !low(row)));
        assert_eq!((a.total(), b.total()), (80.0, 60.0));
        let merged = a.merged(&b).unwrap();
        assert_eq!((merged.rows(), merged.weights()), (records.rows(), records.weights()));
        let other = Records::from_rows(Names::numbered(2), [[true, false]]);
        let error = records.merged(&other).unwrap_err().to_string();
        assert!(error.contains("differ at column 3: \"x3\" in one and no column in the other"), "{error}");
    }

    #[test]
    fn bad_shares_are_errors() {
        for shares in [vec![], vec![0.0, 0.0], vec![-1.0, 2.0], vec![f64::NAN, 1.0], vec![f64::INFINITY]] {
            assert!(matches!(numbers(0..3).split(&shares, 0), Err(RecordsError::Shares { .. })), "{shares:?}");
        }
    }

    #[test]
    fn weights_that_are_whole_only_in_total_stay_together() {
        let mut builder = RecordsBuilder::new(Names::numbered(1));
        (0..4).for_each(|_| builder.push([Some(true)], 0.5));
        let parts = builder.finish().split(&[0.5, 0.5], 3).unwrap();
        assert_eq!(parts.iter().map(Records::total).collect::<Vec<_>>(), [1.0, 1.0]);
    }

    #[test]
    fn absurd_weights_are_an_error() {
        let mut builder = RecordsBuilder::new(Names::numbered(1));
        builder.push([Some(true)], 1e15);
        assert_eq!(builder.finish().split(&[1.0], 0), Err(RecordsError::TooManyToSplit { records: 1e15 }));
    }

    #[test]
    fn few_records() {
        let sizes =
            |n| -> Vec<f64> { numbers(0..n).split(&[0.8, 0.1, 0.1], 0).unwrap().iter().map(Records::total).collect() };
        assert_eq!(sizes(0), [0.0, 0.0, 0.0]);
        assert_eq!(sizes(1), [1.0, 0.0, 0.0]);
        assert_eq!(sizes(10), [8.0, 1.0, 1.0]);
    }
}

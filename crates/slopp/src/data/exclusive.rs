//! Groups of variables of which at most one is true in the records: columns that a file holds as Booleans.
//!
//! Exclusion alone is no reason, since rare values are seldom together by chance. A group must have had many occasions
//! to show two of its variables together: as many as independent variables with these shares would have.

use super::{Choice, PairCounts};
use crate::var::Var;

/// How many occasions a group needs beyond those that the luckiest of all pairs misses by chance.
const OCCASIONS: f64 = 8.0;

/// How many variables are tried as the next one of a group that is to cover all records.
const TRIES: usize = 2_000;

/// The largest number of variables of a group.
const MOST: usize = 250;

/// The choices, with variables that exclude each other taken together at the place of the first of them. `None` if
/// fewer than half of the variables are in such groups.
///
/// The values of a column are neighbours in most files, and one of them is true in every record. So groups are sought
/// in this order: neighbours that cover all records, any variables that do, neighbours that only exclude each other,
/// any that do.
pub(crate) fn exclusive(choices: &[Choice], pairs: &PairCounts) -> Option<Vec<Choice>> {
    let in_order: Vec<Var> = choices.iter().filter_map(Choice::as_boolean).collect();
    let mut by_count = in_order.clone();
    by_count.sort_by(|a, b| pairs.values(*b)[1].total_cmp(&pairs.values(*a)[1]));
    let total = pairs.total();
    let enough = OCCASIONS + 2.0 * (in_order.len() as f64).ln();
    let mut search = Search { pairs, total, enough, is_free: vec![false; pairs.var_count()] };
    in_order.iter().for_each(|var| search.is_free[var.index()] = true);
    let mut groups: Vec<Vec<Var>> = Vec::new();
    for covers in [true, false] {
        for (vars, adjacent) in [(&in_order, true), (&by_count, false)] {
            for start in 0..vars.len() {
                let found = match (covers, adjacent) {
                    (true, true) => search.covering_run(&vars[start..]),
                    (true, false) => search.cover(&vars[start..]),
                    // Neighbours first, then any others.
                    (false, true) => search.clique(vars[start..].iter(), &by_count),
                    (false, false) => search.clique(vars[start..start + 1].iter(), &by_count),
                };
                if let Some(mut group) = found {
                    group.sort_unstable();
                    group.iter().for_each(|var| search.is_free[var.index()] = false);
                    groups.push(group);
                }
            }
        }
    }
    // A few words that are never together do not make a text a table.
    if groups.is_empty() || 2 * groups.iter().map(Vec::len).sum::<usize>() < in_order.len() {
        return None;
    }
    let of_choice = |choice: &Choice| match choice.as_boolean().filter(|var| !search.is_free[var.index()]) {
        None => Some(choice.clone()),
        Some(var) => groups.iter().find(|group| group[0] == var).map(|group| Choice::found(group.clone())),
    };
    Some(choices.iter().filter_map(of_choice).collect())
}

struct Search<'a> {
    pairs: &'a PairCounts,
    total: f64,
    /// How many occasions suffice.
    enough: f64,
    /// Whether a variable is in no group yet.
    is_free: Vec<bool>,
}

impl Search<'_> {
    /// The weight of the records in which a variable is true.
    fn count(&self, var: Var) -> f64 {
        self.pairs.values(var)[1]
    }

    fn sum(&self, group: &[Var]) -> f64 {
        group.iter().map(|&var| self.count(var)).sum()
    }

    /// Whether a free variable is never true together with one of the group.
    fn excludes(&self, var: Var, group: &[Var]) -> bool {
        self.is_free[var.index()] && group.iter().all(|&other| self.pairs.cells(var, other)[3] <= 0.0)
    }

    /// In how many records two of the variables would be true together if they were independent.
    fn occasions(&self, group: &[Var]) -> f64 {
        let sum = self.sum(group);
        let squares: f64 = group.iter().map(|&var| self.count(var).powi(2)).sum();
        0.5 * (sum * sum - squares) / self.total
    }

    fn is_all(&self, sum: f64) -> bool {
        (self.total - sum).abs() < 1e-9 * self.total
    }

    /// The first variables, if one of them is true in every record.
    fn covering_run(&self, vars: &[Var]) -> Option<Vec<Var>> {
        let mut sum = 0.0;
        for (len, &var) in vars.iter().enumerate().take(MOST) {
            if !self.excludes(var, &vars[..len]) {
                return None;
            }
            sum += self.count(var);
            if self.is_all(sum) {
                let group = &vars[..=len];
                return (len > 0 && self.occasions(group) >= self.enough).then(|| group.to_vec());
            }
        }
        None
    }

    /// The first variable and rarer ones, if one of them is true in every record.
    fn cover(&self, vars: &[Var]) -> Option<Vec<Var>> {
        let (&first, others) = vars.split_first()?;
        let share = self.count(first) / self.total;
        if !self.is_free[first.index()] || share * (1.0 - share) * self.total < self.enough {
            return None;
        }
        let candidates = |group: &[Var], vars: &[Var]| -> Vec<Var> {
            let room = self.total - self.sum(group);
            let fits = |var: &&Var| {
                let count = self.count(**var);
                count > 0.0 && count <= room * (1.0 + 1e-9) && self.excludes(**var, group)
            };
            vars.iter().filter(fits).copied().collect()
        };
        // Each level holds what may follow the group, and how far it has been tried.
        let mut group = vec![first];
        let mut levels = vec![(candidates(&group, others), 0)];
        for _ in 0..TRIES {
            let (vars, next) = levels.last_mut()?;
            let open = self.total - self.sum(&group);
            let rest = &vars[(*next).min(vars.len())..];
            if rest.is_empty() || self.sum(rest) < open * (1.0 - 1e-9) || group.len() == MOST {
                levels.pop();
                group.pop();
                continue;
            }
            *next += 1;
            let (var, rest) = (rest[0], rest[1..].to_vec());
            group.push(var);
            if self.is_all(self.sum(&group)) {
                return Some(group);
            }
            levels.push((candidates(&group, &rest), 0));
        }
        None
    }

    /// The first variables and others, as far as each had enough occasions to be true together with those before it.
    fn clique<'v>(&self, first: impl Iterator<Item = &'v Var>, others: &'v [Var]) -> Option<Vec<Var>> {
        let mut group: Vec<Var> = Vec::new();
        let fits = |var: Var, group: &[Var]| {
            let is_enough = group.is_empty() || self.sum(group) * self.count(var) >= self.enough * self.total;
            is_enough && group.len() < MOST && self.excludes(var, group)
        };
        for &var in first {
            if !fits(var, &group) {
                break;
            }
            group.push(var);
        }
        if !group.is_empty() {
            for &var in others {
                if !group.contains(&var) && fits(var, &group) {
                    group.push(var);
                }
            }
        }
        (group.len() > 1).then_some(group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Records;
    use crate::names::Names;
    use crate::random::Random;

    /// Columns as one variable per value, the last value left out where `drop` says so, then independent variables.
    fn one_hot(values: &[usize], drop: &[bool], others: usize, rows: usize, random: &mut Random) -> Vec<Vec<bool>> {
        let mut row = || {
            let mut bits = Vec::new();
            for (&values, &drop) in values.iter().zip(drop) {
                let value = random.below(values).min(random.below(values));
                bits.extend((0..values - usize::from(drop)).map(|i| i == value));
            }
            bits.extend((0..others).map(|_| random.unit() < 0.3));
            bits
        };
        (0..rows).map(|_| row()).collect()
    }

    fn found(rows: &[Vec<bool>], order: &[usize]) -> Vec<Vec<u32>> {
        let shuffled = rows.iter().map(|row| order.iter().map(|&i| row[i]).collect::<Vec<bool>>());
        let records = Records::from_rows(Names::numbered(order.len()), shuffled);
        let choices = Choice::all(records.names());
        let all = exclusive(&choices, &PairCounts::of(&records)).unwrap_or_default();
        let groups = all.iter().filter(|choice| choice.as_boolean().is_none());
        let original = |choice: &Choice| {
            let mut vars: Vec<u32> = choice.vars().iter().map(|var| order[var.index()] as u32).collect();
            vars.sort_unstable();
            vars
        };
        let mut groups: Vec<Vec<u32>> = groups.map(original).collect();
        groups.sort_unstable();
        groups
    }

    #[test]
    fn columns_are_found_in_any_order_and_only_they() {
        for seed in 0..10 {
            let mut random = Random::new(seed);
            let rows = one_hot(&[3, 5, 4, 2], &[false, false, true, true], 6, 1500, &mut random);
            // The fourth column is one variable once a value is left out.
            let expected = vec![vec![0, 1, 2], vec![3, 4, 5, 6, 7], vec![8, 9, 10]];
            let mut order: Vec<usize> = (0..rows[0].len()).collect();
            assert_eq!(found(&rows, &order), expected, "seed {seed}");
            random.shuffle(&mut order);
            assert_eq!(found(&rows, &order), expected, "seed {seed}, shuffled");
        }
    }

    #[test]
    fn rare_variables_that_never_meet_are_no_group() {
        let mut random = Random::new(1);
        let rows: Vec<Vec<bool>> =
            (0..400).map(|_| (0..30).map(|_| random.unit() < 0.01).collect::<Vec<bool>>()).collect();
        assert!(found(&rows, &(0..30).collect::<Vec<_>>()).is_empty());
        let few = one_hot(&[3], &[false], 0, 12, &mut random);
        assert!(found(&few, &[0, 1, 2]).is_empty(), "twelve records prove nothing");
    }
}

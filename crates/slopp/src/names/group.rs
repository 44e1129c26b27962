//! Columns with several values: a variable for each value, of which exactly one is true.

use super::{NameError, Names, quote};
use crate::var::{Lit, Var};
use std::borrow::Cow;

/// The kinds of columns.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// True or false: one variable, named like the column.
    Boolean,
    /// One of these values, each a variable named `color=red`.
    Values(Vec<String>),
    /// A number in bins, each a variable named `age=young`.
    Bins(Bins),
}

/// Numbers cut into named ranges.
///
/// ```
/// use slopp::Bins;
/// let bins = Bins::new(["child", "adult", "old"].map(String::from).to_vec(), vec![18.0, 65.0]).unwrap();
/// assert_eq!([17.9, 18.0, 80.0].map(|age| bins.of(age)), [0, 1, 2]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Bins {
    names: Vec<String>,
    cuts: Vec<f64>,
}

/// A column with several values, and its variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    name: String,
    first: u32,
    values: Vec<String>,
    cuts: Option<Vec<f64>>,
}

// Cuts are never NaN.
impl Eq for Group {}

/// A column of a file and its variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column<'a> {
    /// A single variable.
    Boolean(Var),
    /// A variable per value.
    Group(&'a Group),
}

impl Column<'_> {
    /// Its variables.
    pub fn vars(self) -> impl ExactSizeIterator<Item = Var> + Clone + use<> {
        let (first, len) = match self {
            Column::Boolean(var) => (var.0, 1),
            Column::Group(group) => (group.first, group.values.len() as u32),
        };
        (first..first + len).map(Var)
    }

    /// The literal of each of its values; a Boolean column is false, then true.
    ///
    /// ```
    /// use slopp::{Kind, Names, Var};
    /// let colors = Kind::Values(["green", "red"].map(String::from).to_vec());
    /// let names = Names::of_columns([("fast".into(), Kind::Boolean), ("color".into(), colors)])?;
    /// let literals: Vec<_> = names.columns().map(|column| column.literals()).collect();
    /// assert_eq!(literals, [[Var(0).is(false), Var(0).is(true)], [Var(1).is(true), Var(2).is(true)]]);
    /// # Ok::<(), slopp::NameError>(())
    /// ```
    pub fn literals(self) -> Vec<Lit> {
        match self {
            Column::Boolean(var) => vec![var.is(false), var.is(true)],
            Column::Group(group) => group.vars().map(|var| var.is(true)).collect(),
        }
    }
}

impl Bins {
    /// Bins from their names, the lowest first, and the cuts between them; a cut belongs to the bin above it.
    ///
    /// `None` unless there is one more name than cuts, and cuts are finite and increase.
    pub fn new(names: Vec<String>, cuts: Vec<f64>) -> Option<Bins> {
        let increase = cuts.windows(2).all(|pair| pair[0] < pair[1]) && cuts.iter().all(|cut| cut.is_finite());
        (increase && names.len() == cuts.len() + 1).then_some(Bins { names, cuts })
    }

    /// At most this many bins of about equal weight, for weighted numbers, named by their ranges: `..30`, `30..45`,
    /// `45..`. The lower end belongs to a range, the upper does not.
    ///
    /// Equal numbers stay together, so there are fewer bins only if there are fewer distinct numbers. A cut has the
    /// fewest decimals that separate its neighbours. Without numbers there is one bin.
    pub fn quantiles(mut numbers: Vec<(f64, f64)>, wanted: usize) -> Bins {
        numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = numbers.iter().map(|(_, weight)| weight).sum();
        let (mut ends, mut spare) = (Vec::new(), Vec::new());
        let mut below = 0.0;
        for (i, &(number, weight)) in numbers.iter().enumerate() {
            let begins = i > 0 && numbers[i - 1].0 < number;
            // As many bins end below here as their share of the weight requires, so each cut is used once.
            if begins && ends.len() + 1 < wanted {
                let is_full = below >= total * (ends.len() + 1) as f64 / wanted as f64;
                if is_full { ends.push(i) } else { spare.push(i) }
            }
            below += weight;
        }
        // Heavy numbers at the upper end leave cuts over, which separate the numbers next to it.
        let left = wanted.saturating_sub(1 + ends.len());
        ends.extend(spare.into_iter().rev().take(left));
        ends.sort_unstable();
        let cuts: Vec<f64> = ends.into_iter().map(|i| roundest(numbers[i - 1].0, numbers[i].0)).collect();
        let end = |i: usize| cuts.get(i).map_or(String::new(), f64::to_string);
        let name = |i: usize| format!("{}..{}", if i == 0 { String::new() } else { end(i - 1) }, end(i));
        Bins { names: (0..=cuts.len()).map(name).collect(), cuts }
    }

    /// The names, the lowest first.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The cuts between the bins.
    pub fn cuts(&self) -> &[f64] {
        &self.cuts
    }

    /// The bin of a number.
    pub fn of(&self, number: f64) -> usize {
        bin(&self.cuts, number)
    }
}

/// The number above `below` and not above `to` that has the fewest decimals.
fn roundest(below: f64, to: f64) -> f64 {
    let cut = |decimals: i32| (to * 10f64.powi(decimals)).floor() / 10f64.powi(decimals);
    (0..17).map(cut).find(|&cut| below < cut && cut <= to).unwrap_or(to)
}

fn bin(cuts: &[f64], number: f64) -> usize {
    cuts.partition_point(|&cut| cut <= number)
}

/// The normal form of a value for comparison: `3.0` is `3`, as missing cells make whole numbers look in some files.
pub(crate) fn canonical(cell: &str) -> &str {
    let cell = cell.trim();
    match cell.strip_suffix(".0") {
        Some(whole) if whole.parse::<i64>().is_ok() => whole,
        _ => cell,
    }
}

impl Group {
    /// The name of the column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its values, each with its variable.
    pub fn values(&self) -> impl ExactSizeIterator<Item = (Var, &str)> {
        self.values.iter().enumerate().map(|(i, value)| (Var(self.first + i as u32), value.as_str()))
    }

    /// Its variables.
    pub fn vars(&self) -> impl ExactSizeIterator<Item = Var> + Clone + use<> {
        (self.first..self.first + self.values.len() as u32).map(Var)
    }

    /// The cuts between its bins, if it has bins.
    pub fn cuts(&self) -> Option<&[f64]> {
        self.cuts.as_deref()
    }

    /// Whether a variable is one of its values.
    pub fn contains(&self, var: Var) -> bool {
        (self.first..self.first + self.values.len() as u32).contains(&var.0)
    }

    /// The variable of a cell: its value, or the bin of a number.
    pub fn find(&self, cell: &str) -> Option<Var> {
        let cell = canonical(cell);
        let number = || cell.parse::<f64>().ok().filter(|number| !number.is_nan());
        let binned = self.cuts.as_ref().and_then(|cuts| Some(bin(cuts, number()?)));
        let place = binned.or_else(|| self.values.iter().position(|value| value == cell));
        place.map(|place| Var(self.first + place as u32))
    }

    /// The allowed cells, as text.
    pub(crate) fn known(&self) -> Vec<String> {
        let numbers = self.cuts.as_ref().map(|_| "any number".to_owned());
        numbers.into_iter().chain(self.values.iter().map(|value| quote(value))).collect()
    }

    /// The value in a world, if exactly one is true.
    pub fn value_in(&self, world: &[bool]) -> Option<&str> {
        let mut found = self.values().filter(|(var, _)| world[var.index()]).map(|(_, value)| value);
        found.next().filter(|_| found.next().is_none())
    }

    /// What a world has in this column: all true values, `red+blue`, or `-`.
    pub(crate) fn cell(&self, world: &[bool]) -> Cow<'_, str> {
        if let Some(value) = self.value_in(world) {
            return value.into();
        }
        let trues: Vec<&str> = self.values().filter(|(var, _)| world[var.index()]).map(|(_, value)| value).collect();
        if trues.is_empty() { "-".into() } else { trues.join("+").into() }
    }
}

impl Names {
    /// The names of the variables of columns.
    ///
    /// ```
    /// use slopp::{Kind, Names};
    /// let colors = Kind::Values(["green", "red"].map(String::from).to_vec());
    /// let names = Names::of_columns([("fast".into(), Kind::Boolean), ("color".into(), colors)])?;
    /// assert_eq!(names.iter().collect::<Vec<_>>(), ["fast", "color=green", "color=red"]);
    /// assert_eq!(names.cells(&[true, false, true]), ["1", "red"]);
    /// # Ok::<(), slopp::NameError>(())
    /// ```
    pub fn of_columns(columns: impl IntoIterator<Item = (String, Kind)>) -> Result<Names, NameError> {
        let (mut names, mut groups): (Vec<String>, Vec<Group>) = (Vec::new(), Vec::new());
        for (place, (name, kind)) in columns.into_iter().enumerate() {
            if name.is_empty() {
                return Err(NameError::Empty { column: place + 1 });
            }
            let (values, cuts) = match kind {
                Kind::Boolean => {
                    names.push(name);
                    continue;
                }
                Kind::Values(values) => (values, None),
                Kind::Bins(bins) => (bins.names, Some(bins.cuts)),
            };
            let first = names.len() as u32;
            names.extend(values.iter().map(|value| format!("{name}={value}")));
            groups.push(Group { name, first, values, cuts });
        }
        Names { groups, ..Names::new(names)? }.checked()
    }

    /// The same names, with `values` variables from `first` on as the values of a column; `None` if their names do not
    /// fit.
    pub(crate) fn with_group(mut self, name: &str, first: usize, len: usize, cuts: Option<Vec<f64>>) -> Option<Names> {
        let end = self.groups.last().map_or(0, |last| last.first as usize + last.values.len());
        let bins = cuts.as_ref().is_none_or(|cuts| Bins::new(vec![String::new(); len], cuts.clone()).is_some());
        if first < end || len == 0 || first.checked_add(len).is_none_or(|end| end > self.len()) || !bins {
            return None;
        }
        let value = |full: &String| Some(full.strip_prefix(name)?.strip_prefix('=')?.to_owned());
        let values = self.names[first..first + len].iter().map(value).collect::<Option<Vec<_>>>()?;
        self.groups.push(Group { name: name.to_owned(), first: first as u32, values, cuts });
        self.checked().ok()
    }

    /// Checks that columns and variables have distinct names.
    fn checked(self) -> Result<Names, NameError> {
        let mut columns: Vec<(&str, usize)> =
            self.columns().enumerate().map(|(i, column)| (self.column_name(column), i + 1)).collect();
        columns.sort_unstable();
        match columns.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            None => Ok(self),
            Some(&[(name, first), (_, second)]) => Err(NameError::Repeated { name: name.to_owned(), first, second }),
            Some(_) => unreachable!("windows of two"),
        }
    }

    /// The columns with several values.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The column with several values that a variable belongs to.
    pub fn group_of(&self, var: Var) -> Option<&Group> {
        let after = self.groups.partition_point(|group| group.first <= var.0);
        self.groups[..after].last().filter(|group| group.contains(var))
    }

    /// The column with several values of this name.
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// The columns, in the order of their variables.
    pub fn columns(&self) -> impl Iterator<Item = Column<'_>> {
        let mut groups = self.groups.iter().peekable();
        let mut next = 0;
        std::iter::from_fn(move || {
            let here = next;
            if let Some(group) = groups.next_if(|group| group.first == here) {
                next += group.values.len() as u32;
                return Some(Column::Group(group));
            }
            next += 1;
            ((here as usize) < self.len()).then_some(Column::Boolean(Var(here)))
        })
    }

    /// The name of a column.
    pub fn column_name<'a>(&'a self, column: Column<'a>) -> &'a str {
        match column {
            Column::Boolean(var) => self.of(var),
            Column::Group(group) => &group.name,
        }
    }

    /// Literals by column, without those that follow from the value of their column.
    pub fn by_column(&self, lits: &[Lit]) -> Vec<Lit> {
        let has_value = |group: &Group| lits.iter().any(|lit| lit.value && group.contains(lit.var));
        let needed = |lit: &Lit| lit.value || !self.group_of(lit.var).is_some_and(has_value);
        lits.iter().copied().filter(needed).collect()
    }

    /// A world by columns: 0 or 1, or the value. A column with several true values has all of them, `red+blue`; one
    /// with none has `-`.
    pub fn cells(&self, world: &[bool]) -> Vec<String> {
        let cell = |column| match column {
            Column::Boolean(var) => u8::from(world[var.index()]).to_string(),
            Column::Group(group) => group.cell(world).into_owned(),
        };
        self.columns().map(cell).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Kind {
        Kind::Values(text.split(' ').map(String::from).collect())
    }

    #[test]
    fn columns_become_variables_and_back() {
        let columns = [("a", Kind::Boolean), ("c", values("x y z")), ("b", Kind::Boolean), ("d", values("3 10"))];
        let names = Names::of_columns(columns.map(|(name, kind)| (name.to_owned(), kind))).unwrap();
        assert_eq!(names.iter().collect::<Vec<_>>(), ["a", "c=x", "c=y", "c=z", "b", "d=3", "d=10"]);
        let columns: Vec<&str> = names.columns().map(|column| names.column_name(column)).collect();
        assert_eq!(columns, ["a", "c", "b", "d"]);
        assert_eq!(names.cells(&[true, false, true, false, false, true, true]), ["1", "y", "0", "3+10"]);
        let of = |i: u32| names.group_of(Var(i)).map(Group::name);
        assert_eq!([0, 1, 3, 4, 5, 6].map(of), [None, Some("c"), Some("c"), None, Some("d"), Some("d")]);
        let d = names.group("d").unwrap();
        assert_eq!(
            ["3", " 3.0 ", "10", "4", "03"].map(|cell| d.find(cell)),
            [Some(5), Some(5), Some(6), None, None].map(|v| v.map(Var))
        );
        let plain = Names::new(names.iter().map(String::from).collect()).unwrap();
        let again = plain.clone().with_group("c", 1, 3, None).and_then(|names| names.with_group("d", 5, 2, None));
        assert_eq!(again, Some(names));
        for (name, first, len) in [("c", 0, 3), ("c", 1, 4), ("c", 6, 9), ("d", 5, 0), ("x", 1, 2)] {
            assert_eq!(plain.clone().with_group(name, first, len, None), None, "{name} {first} {len}");
        }
    }

    #[test]
    fn names_of_columns_are_used_once() {
        let twice = [("c".to_owned(), values("x y")), ("c".to_owned(), Kind::Boolean)];
        assert_eq!(Names::of_columns(twice), Err(NameError::Repeated { name: "c".into(), first: 1, second: 2 }));
        assert_eq!(Names::of_columns([(String::new(), values("x"))]), Err(NameError::Empty { column: 1 }));
    }

    #[test]
    fn quantiles_have_about_equal_weight() {
        let numbers = |list: &[f64]| list.iter().map(|&x| (x, 1.0)).collect::<Vec<_>>();
        let bins = Bins::quantiles(numbers(&[4.0, 1.0, 3.0, 2.0, 8.0, 7.0, 6.0, 5.0]), 4);
        assert_eq!(
            (bins.names(), bins.cuts()),
            (&["..3", "3..5", "5..7", "7.."].map(String::from)[..], &[3.0, 5.0, 7.0][..])
        );
        assert_eq!(Bins::quantiles(numbers(&[1.0, 1.0, 1.0, 1.0, 2.0]), 3).cuts(), [2.0]);
        assert_eq!(Bins::quantiles(numbers(&[1.0; 5]), 3).names(), [".."]);
        assert_eq!(Bins::quantiles(vec![], 2).names(), [".."]);
        // Two distinct numbers give two bins, wherever the weight is.
        let tied = |weights: [f64; 4], wanted| {
            let numbers = (0u8..).map(f64::from).zip(weights).collect();
            Bins::quantiles(numbers, wanted).cuts().to_vec()
        };
        assert_eq!(Bins::quantiles(vec![(0.0, 5.0), (1.0, 45.0)], 2).names(), ["..1", "1.."]);
        assert_eq!(Bins::quantiles(vec![(0.0, 45.0), (1.0, 5.0)], 2).names(), ["..1", "1.."]);
        assert_eq!(
            [tied([1.0, 1.0, 1.0, 97.0], 4), tied([97.0, 1.0, 1.0, 1.0], 4)],
            [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]
        );
        assert_eq!(tied([1.0, 1.0, 1.0, 97.0], 3), [2.0, 3.0]);
        assert_eq!(tied([1.0, 1.0, 1.0, 97.0], 1), [] as [f64; 0]);
        let thirds = Bins::quantiles(numbers(&[0.1, 0.32186939107594215, 0.5943000301996968, 0.6]), 3);
        assert_eq!(
            (thirds.names(), thirds.cuts()),
            (&["..0.5", "0.5..0.6", "0.6.."].map(String::from)[..], &[0.5, 0.6][..])
        );
        assert_eq!(Bins::quantiles(numbers(&[1e-30, 2e-30]), 2).cuts(), [2e-30]);
        assert_eq!(Bins::quantiles(numbers(&[-1e300, 1e300]), 2).cuts(), [1e300]);
        assert_eq!(Bins::quantiles(vec![(1.0, 1.0), (2.0, 1.0), (-0.5, 2.0)], 2).names(), ["..1", "1.."]);
        assert_eq!(Bins::new(vec!["a".into(), "b".into()], vec![f64::NAN]), None);
        assert_eq!(Bins::new(vec!["a".into(), "b".into(), "c".into()], vec![2.0, 2.0]), None);
    }
}

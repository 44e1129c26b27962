//! Vtrees from records.

mod bisection;
mod columns;
mod matching;

pub(in crate::learn) use crate::vtree::{ChowLiuTree, RootedTree, spanning_tree};
pub(in crate::learn) use columns::Columns;

use super::error::LearnError;
use crate::data::{MAX_PAIR_VARIABLES, PairCounts, Records, SymmetricMatrix};
use crate::vtree::Vtree;
use std::fmt;
use std::str::FromStr;

/// The pseudocount of every cell of a pair, as in the paper.
const LAPLACE: f64 = 1.0;

/// A way to make a vtree for given records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum VtreeMethod {
    /// Balanced, variables in the order of the columns.
    Balanced,
    /// Right-linear in the order of the columns.
    RightLinear,
    /// Left-linear in the order of the columns.
    LeftLinear,
    /// Random order, random splits.
    Random,
    /// The Chow-Liu tree from its centre, as in the paper.
    #[default]
    ChowLiu,
    /// Right-linear along the Chow-Liu tree.
    ChowLiuLinear,
    /// Repeated halving with the least mutual information.
    MiTopDown,
    /// Repeated pairing with the most mutual information.
    MiBottomUp,
}

impl VtreeMethod {
    /// All methods, in the order of help texts.
    pub const ALL: [VtreeMethod; 8] = [
        VtreeMethod::Balanced,
        VtreeMethod::RightLinear,
        VtreeMethod::LeftLinear,
        VtreeMethod::Random,
        VtreeMethod::ChowLiu,
        VtreeMethod::ChowLiuLinear,
        VtreeMethod::MiTopDown,
        VtreeMethod::MiBottomUp,
    ];

    /// The name of the method.
    pub fn name(self) -> &'static str {
        match self {
            VtreeMethod::Balanced => "balanced",
            VtreeMethod::RightLinear => "right-linear",
            VtreeMethod::LeftLinear => "left-linear",
            VtreeMethod::Random => "random",
            VtreeMethod::ChowLiu => "chow-liu",
            VtreeMethod::ChowLiuLinear => "chow-liu-linear",
            VtreeMethod::MiTopDown => "mi-top-down",
            VtreeMethod::MiBottomUp => "mi-bottom-up",
        }
    }

    /// Makes a vtree over the variables of the records.
    ///
    /// Methods work on columns; the values of one column have their own vtree node. Cost: negligible for the first four
    /// methods; `n²` pair counts and about as much again for the others.
    ///
    /// ```
    /// use slopp::{Names, Records, learn::VtreeMethod};
    /// let records = Records::from_rows(Names::numbered(3), [[true, false, true], [false, true, false], [true, true,
    /// true]]); let vtree = "chow-liu".parse::<VtreeMethod>()?.build(&records, 0)?; assert_eq!(vtree.to_string(),
    /// "(1,(2,3))");
    /// # Ok::<(), slopp::learn::LearnError>(())
    /// ```
    pub fn build(self, records: &Records, seed: u64) -> Result<Vtree, LearnError> {
        let variables = records.var_count();
        if variables == 0 {
            return Err(LearnError::NoVariables);
        }
        let columns = Columns::new(records.names());
        let information = || columns.information(records);
        let chow_liu = || information().map(|information| ChowLiuTree::new(&information));
        let vtree = match self {
            VtreeMethod::Balanced => Vtree::balanced(columns.len()),
            VtreeMethod::RightLinear => Vtree::right_linear(columns.len()),
            VtreeMethod::LeftLinear => Vtree::left_linear(columns.len()),
            VtreeMethod::Random => Vtree::random(columns.len(), seed),
            VtreeMethod::ChowLiu => chow_liu()?.vtree(),
            VtreeMethod::ChowLiuLinear => Vtree::right_linear_over(&columns.along(&chow_liu()?)),
            VtreeMethod::MiTopDown => bisection::top_down(&information()?, seed),
            VtreeMethod::MiBottomUp => matching::bottom_up(&information()?),
        };
        Ok(columns.vtree(&vtree))
    }

    fn list() -> String {
        VtreeMethod::ALL.map(VtreeMethod::name).join(", ")
    }
}

/// The mutual information of all pairs of variables, with one more record in every cell of a pair. Too many variables
/// are an error.
pub fn pair_information(records: &Records) -> Result<SymmetricMatrix, LearnError> {
    Ok(pairs(records)?.mutual_information(LAPLACE))
}

/// The counts of all pairs of variables. Too many variables are an error.
pub(in crate::learn) fn pairs(records: &Records) -> Result<PairCounts, LearnError> {
    match records.var_count() {
        variables if variables > MAX_PAIR_VARIABLES => Err(LearnError::TooManyPairs { variables }),
        _ => Ok(PairCounts::of(records)),
    }
}

impl fmt::Display for VtreeMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for VtreeMethod {
    type Err = LearnError;

    fn from_str(name: &str) -> Result<VtreeMethod, LearnError> {
        let found = VtreeMethod::ALL.into_iter().find(|method| method.name() == name);
        found.ok_or_else(|| LearnError::NoSuchVtree { name: name.to_owned(), known: VtreeMethod::list() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::RecordsBuilder;
    use crate::names::Names;

    #[test]
    fn names_lead_back_to_methods() {
        for method in VtreeMethod::ALL {
            assert_eq!(method.to_string().parse::<VtreeMethod>().unwrap(), method);
        }
        let error = "chowliu".parse::<VtreeMethod>().unwrap_err().to_string();
        assert!(VtreeMethod::ALL.iter().all(|method| error.contains(method.name())), "{error}");
    }

    #[test]
    fn poor_data_never_breaks_a_method() {
        let repeated = |row: &str, times: usize| -> Records {
            let mut builder = RecordsBuilder::new(Names::numbered(row.len()));
            let cells = |row: &str| row.chars().map(|c| (c != '?').then_some(c == '1')).collect::<Vec<_>>();
            (0..times).for_each(|_| builder.push(cells(row), 1.0));
            builder.finish()
        };
        for records in [
            repeated("1", 1),
            repeated("0", 5),
            repeated("?", 2),
            repeated("01", 1),
            repeated("0110100", 9),
            repeated("1?0?1", 3),
            repeated("0101", 0),
        ] {
            for method in VtreeMethod::ALL {
                let vtree = method.build(&records, 1).unwrap();
                assert_eq!(vtree.var_count(), records.var_count(), "{method}");
                assert_eq!(vtree, method.build(&records, 1).unwrap());
            }
        }
        let none = VtreeMethod::Balanced.build(&repeated("", 1), 0);
        assert!(matches!(none, Err(LearnError::NoVariables)));
    }

    #[test]
    fn too_many_variables_for_pairs_are_refused() {
        let records = Records::from_rows(Names::numbered(100_000), [vec![true; 100_000]]);
        let error = VtreeMethod::ChowLiu.build(&records, 0).unwrap_err().to_string();
        assert!(error.starts_with("this counts all pairs") && error.contains("balanced"), "{error}");
        assert_eq!(VtreeMethod::RightLinear.build(&records, 0).unwrap().var_count(), 100_000);
    }
}

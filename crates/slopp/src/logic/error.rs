//! Why rules, diagrams and bases have no answer; texts that are not formulas are [`FormulaError`](super::FormulaError).

use crate::circuit::BuildError;
use crate::data::MAX_PAIR_VARIABLES;

/// Why something cannot be done with rules, a diagram or a base.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LogicError {
    /// Rules over no variables, which have no vtree.
    #[error(
        "the rules {}such as: smoker -> !young",
        if *.rules > 0 {
            "name no variables, so there are no worlds; name at least one, "
        } else {
            "have no variables; write at least one rule, "
        }
    )]
    NoVariables {
        /// The number of rules.
        rules: usize,
    },
    /// The formula is false, so it has no distribution over its models.
    #[error("no world is possible: the formula is false, and a distribution needs at least one world")]
    Impossible,
    /// Some decision has the same element twice, or the circuit of a diagram is too large.
    #[error("{0}")]
    Build(#[from] BuildError),
    /// More variables than a table of all pairs can hold.
    #[error("{variables} variables have too many pairs (limit {MAX_PAIR_VARIABLES}); ask a circuit over fewer")]
    TooManyVariables {
        /// The number of variables of the circuit.
        variables: usize,
    },
    /// Records over another number of variables.
    #[error("the circuit has {expected} variables, but the records have {found}; give records of the circuit")]
    WrongRecords {
        /// The variables of the circuit.
        expected: usize,
        /// The variables of the records.
        found: usize,
    },
    /// A rule that cannot be written as DIMACS.
    #[error("the rule in line {line} is not a conjunction of few clauses: {text}; write the rules as text")]
    NotClausal {
        /// The line of the rule; zero if it has none.
        line: usize,
        /// The rule.
        text: String,
    },
}

//! Errors of queries.

use crate::advice::Advice;
use crate::circuit::Circuit;
use crate::data::{MAX_PAIR_VARIABLES, Records};
use crate::infer::Evidence;
use crate::limits::grouped;
use crate::logic::{Limit, Stopped};
use crate::names::{Group, abridged};
use crate::var::Var;
use std::fmt;

/// Why a query has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// A world, evidence or records over another number of variables.
    #[error(
        "the circuit has {expected} variables, but the {what} has {found}; give one value per variable of the circuit"
    )]
    WrongLength {
        /// What was given: "world", "evidence" or "data".
        what: &'static str,
        /// The number of variables of the circuit.
        expected: usize,
        /// The number of variables given.
        found: usize,
    },
    /// Conditioning on evidence that the circuit excludes.
    #[error(
        "the evidence has probability zero, so nothing can be conditioned on it; \
         drop a part of it, or ask for the nearest possible world"
    )]
    ImpossibleEvidence,
    /// A query over complete records met a missing cell.
    #[error(
        "record {record} has no value in column \"{}\", and complete records are needed; fill the cell or drop the record",
        abridged(.name)
    )]
    MissingCell {
        /// The record in the order it was given, from one.
        record: usize,
        /// The name of the column.
        name: String,
    },
    /// More variables than a table of all pairs can hold.
    #[error("{variables} variables have too many pairs (limit {MAX_PAIR_VARIABLES}); ask for single pairs")]
    TooManyPairs {
        /// The number of variables of the circuit.
        variables: usize,
    },
    /// Two circuits on different vtrees.
    #[error(
        "the circuits have different vtrees and cannot be compared or multiplied; learn or compile both on one vtree"
    )]
    DifferentVtrees,
    /// Two models over different variables, or the same ones in another order.
    #[error(
        "the models have different variables, or the same ones in another order: {0}; learn both from records with the \
         same columns"
    )]
    DifferentVariables(String),
    /// A question that only another kind of model answers.
    #[error("this needs {0}")]
    OtherKind(&'static str),
    /// A formula compiled on another vtree.
    #[error("the formula is compiled on another vtree; compile it on the vtree of the circuit")]
    FormulaVtree,
    /// Conditioning on a formula that the circuit excludes.
    #[error(
        "the formula has probability zero, so nothing can be conditioned on it; weaken it, or revise the model first"
    )]
    ImpossibleFormula,
    /// A product of circuits without a common world.
    #[error(
        "the two circuits have no possible world in common, so their product is zero everywhere; extend one of them"
    )]
    NothingInCommon,
    /// A noise that is out of range.
    #[error("the noise is {epsilon}, but must be a probability from 0 to 0.5")]
    Noise {
        /// The probability given.
        epsilon: String,
    },
    /// A circuit that allows several values of a column, or none.
    #[error(
        "the model allows records with several values of column \"{}\", or none, so noise is not defined; \
         condition it on the rules of its columns, as learning does", abridged(.column)
    )]
    ManyValues {
        /// The name of the column.
        column: String,
    },
    /// No records where some are needed.
    #[error("there are no records; give at least one")]
    NoRecords,
    /// A variable that the circuit does not have.
    #[error("there is no variable {variable}: the circuit has the variables 1 to {variables}")]
    UnknownVariable {
        /// The variable, from one.
        variable: u32,
        /// The number of variables of the circuit.
        variables: usize,
    },
    /// Literals that give a variable both values.
    #[error("variable {variable} is both true and false, which is impossible; keep one of the two")]
    Contradiction {
        /// The variable, from one.
        variable: u32,
    },
    /// The same variable twice.
    #[error("variable {variable} is given twice; give it once")]
    RepeatedVariable {
        /// The variable, from one.
        variable: u32,
    },
    /// No variables where some are needed.
    #[error("there are no variables to ask about; give at least one")]
    NoVariables,
    /// A set of variables with too many possible assignments to sum over.
    #[error(
        "the {variables} variables have more than {limit} possible assignments, and their marginal \
         is not deterministic; ask about fewer variables"
    )]
    TooManyAssignments {
        /// The number of variables.
        variables: usize,
        /// The largest number of assignments that is summed over.
        limit: usize,
    },
    /// A product that exceeds its limits.
    #[error("{}", Product(.limit, *.nodes, *.megabytes))]
    Stopped {
        /// Which limit.
        limit: Limit,
        /// The number of pairs of nodes so far.
        nodes: usize,
        /// The memory in use.
        megabytes: usize,
    },
    /// A formula whose diagram exceeds its limits.
    #[error(transparent)]
    Compile(#[from] Stopped),
    /// A sum-product network has no vtree to compile a formula on.
    #[error("a sum-product network has no vtree for formulas; ask about literals, or learn a PSDD")]
    OnlyLiterals,
    /// The most probable world of a circuit that is not deterministic.
    #[error("the most probable world needs a deterministic circuit: learn a PSDD, or distil the model into one")]
    NotDeterministic,
    /// More worlds than fit the limits.
    #[error("{} worlds and their ranks need more than {limit}; ask for fewer", grouped(.found))]
    TooManyWorlds {
        /// The number of worlds, as far as they were found or are known.
        found: usize,
        /// Which limit.
        limit: Limit,
    },
    /// A result with too many parts.
    #[error("the {what} would have more than {limit} parts; ask about less, or use a smaller formula or circuit")]
    TooLarge {
        /// "product", "marginal" or "diagram".
        what: &'static str,
        /// The largest number of parts.
        limit: usize,
    },
}

struct Product<'a>(&'a Limit, usize, usize);

impl fmt::Display for Product<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Product(limit, nodes, megabytes) = self;
        match limit {
            Limit::Cancelled => write!(f, "the work was cancelled")?,
            limit => write!(f, "the product with the model needs more than {limit}")?,
        }
        write!(f, " (reached: {} nodes, {} MB)", grouped(nodes), grouped(megabytes))?;
        match limit {
            Limit::Cancelled => Ok(()),
            _ => write!(f, "; ask about less, or use a smaller formula or model"),
        }
    }
}

impl QueryError {
    /// What to try.
    pub fn advice(&self) -> Vec<Advice> {
        match self {
            QueryError::ImpossibleEvidence => vec![Advice::NearestWorld],
            QueryError::Stopped { limit, .. } | QueryError::TooManyWorlds { limit, .. } => limit.advice(),
            QueryError::Compile(error) => error.advice(),
            QueryError::DifferentVtrees => vec![Advice::SameVtree],
            QueryError::NothingInCommon => vec![Advice::Difference],
            _ => Vec::new(),
        }
    }

    /// Whether the work was cancelled, so that there is nothing to conclude.
    pub(crate) fn is_cancelled(&self) -> bool {
        let (QueryError::Stopped { limit, .. } | QueryError::Compile(Stopped { limit, .. })) = self else {
            return false;
        };
        *limit == Limit::Cancelled
    }
}

impl Circuit {
    pub(crate) fn check_world(&self, world: &[bool]) -> Result<(), QueryError> {
        self.check_length("world", world.len())
    }

    pub(crate) fn check_evidence(&self, evidence: &Evidence) -> Result<(), QueryError> {
        self.check_length("evidence", evidence.var_count())
    }

    pub(crate) fn check_records(&self, records: &Records) -> Result<(), QueryError> {
        self.check_length("data", records.var_count())
    }

    pub(super) fn check_var(&self, var: crate::Var) -> Result<(), QueryError> {
        let (variable, variables) = (var.number(), self.var_count());
        if var.index() < variables { Ok(()) } else { Err(QueryError::UnknownVariable { variable, variables }) }
    }

    pub(crate) fn check_pairs(&self) -> Result<(), QueryError> {
        let variables = self.var_count();
        if variables > MAX_PAIR_VARIABLES { Err(QueryError::TooManyPairs { variables }) } else { Ok(()) }
    }

    /// Also checks that no cell is missing.
    pub(crate) fn check_complete(&self, records: &Records) -> Result<(), QueryError> {
        self.check_records(records)?;
        if !records.has_missing() {
            return Ok(());
        }
        let missing = |&row: &u32| records.row(row as usize).position(|cell| cell.is_none());
        let found = records.original().iter().enumerate().find_map(|(i, row)| Some((i + 1, missing(row)?)));
        match found {
            Some((record, variable)) => {
                let (names, var) = (records.names(), Var(variable as u32));
                let name = names.group_of(var).map_or_else(|| names.of(var), Group::name).to_owned();
                Err(QueryError::MissingCell { record, name })
            }
            None => Ok(()),
        }
    }

    fn check_length(&self, what: &'static str, found: usize) -> Result<(), QueryError> {
        let expected = self.var_count();
        if expected == found { Ok(()) } else { Err(QueryError::WrongLength { what, expected, found }) }
    }
}

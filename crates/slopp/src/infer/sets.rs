//! Entropy and mutual information of sets of variables.
//!
//! Summing variables out breaks determinism, and the entropy of a mixture has no formula over its parts. So these are
//! exact in two cases and an error otherwise: where the marginal circuit of the set proves deterministic (always for a
//! single variable or all variables of a deterministic circuit, and where the set follows the vtree so that
//! what remains of different elements still differs), or where the set has at most [`ASSIGNMENT_LIMIT`] possible
//! assignments, over which is then summed.

use super::QueryError;
use crate::circuit::Circuit;
use crate::data::{Records, RecordsBuilder};
use crate::logic::Limits;
use crate::logspace::x_log_x;
use crate::names::Names;
use crate::var::Var;

/// How many possible assignments of a set of variables are summed over.
pub const ASSIGNMENT_LIMIT: usize = 1 << 18;

impl Circuit {
    /// The entropy of the joint distribution of some variables, in nats.
    ///
    /// `−Σ P(a) ln P(a)`, exactly. The order of the variables does not matter, and giving one twice changes nothing; of
    /// no variables it is zero. Linear in the marginal circuit if that proves deterministic; otherwise its elements
    /// times the possible assignments, and an error if there are more than [`ASSIGNMENT_LIMIT`].
    ///
    /// ```
    /// # use slopp::Var;
    /// let psdd = slopp::example::psdd();
    /// let all: Vec<Var> = (0..4).map(Var).collect();
    /// assert!((psdd.entropy_of(&all)? - psdd.entropy()).abs() < 1e-12);
    /// assert_eq!(psdd.entropy_of(&[])?, 0.0);
    /// # Ok::<(), slopp::infer::QueryError>(())
    /// ```
    pub fn entropy_of(&self, vars: &[Var]) -> Result<f64, QueryError> {
        let mut set = vars.to_vec();
        set.sort_unstable();
        set.dedup();
        if set.is_empty() {
            return Ok(0.0);
        }
        match self.marginal(&set)?.certify_deterministic(&Limits::default()) {
            Ok(deterministic) => Ok(deterministic.entropy()),
            Err(refusal) => entropy_by_sum(&refusal.circuit),
        }
    }

    /// The entropy that is left in some variables when others are known, in nats.
    ///
    /// `H(A | B) = H(A, B) − H(B)`, with the limits of [`Circuit::entropy_of`].
    ///
    /// ```
    /// # use slopp::Var;
    /// let psdd = slopp::example::psdd();
    /// assert_eq!(psdd.conditional_entropy(&[Var(0)], &[Var(0), Var(2)])?, 0.0);
    /// assert!(psdd.conditional_entropy(&[Var(0)], &[Var(2)])? <= psdd.entropy_of(&[Var(0)])?);
    /// # Ok::<(), slopp::infer::QueryError>(())
    /// ```
    pub fn conditional_entropy(&self, vars: &[Var], given: &[Var]) -> Result<f64, QueryError> {
        if vars.iter().all(|var| given.contains(var)) {
            // Known for certain, however many assignments there are.
            return given.iter().try_for_each(|&var| self.check_var(var)).map(|()| 0.0);
        }
        Ok((self.entropy_of(&[vars, given].concat())? - self.entropy_of(given)?).max(0.0))
    }

    /// How much two sets of variables tell about each other, in nats.
    ///
    /// `I(A; B) = H(A) + H(B) − H(A, B)`, with the limits of [`Circuit::entropy_of`]; a variable in both sets tells
    /// about itself.
    ///
    /// ```
    /// # use slopp::Var;
    /// let psdd = slopp::example::psdd();
    /// let (a, b) = ([Var(0), Var(1)], [Var(2), Var(3)]);
    /// let chain = psdd.entropy_of(&a)? - psdd.conditional_entropy(&a, &b)?;
    /// assert!((psdd.mutual_information(&a, &b)? - chain).abs() < 1e-12);
    /// # Ok::<(), slopp::infer::QueryError>(())
    /// ```
    pub fn mutual_information(&self, a: &[Var], b: &[Var]) -> Result<f64, QueryError> {
        Ok((self.entropy_of(a)? + self.entropy_of(b)? - self.entropy_of(&[a, b].concat())?).max(0.0))
    }
}

/// The entropy as a sum over all possible worlds, which are found variable by variable.
fn entropy_by_sum(circuit: &Circuit) -> Result<f64, QueryError> {
    let n = circuit.var_count();
    let names = std::sync::Arc::new(Names::numbered(n));
    let mut worlds: Vec<Vec<bool>> = vec![Vec::new()];
    for known in 1..=n {
        let mut builder = RecordsBuilder::new(names.clone());
        for world in &worlds {
            for value in [false, true] {
                let cells = world.iter().chain([&value]).map(|&cell| Some(cell));
                builder.push(cells.chain(std::iter::repeat_n(None, n - known)), 1.0);
            }
        }
        let records = builder.finish();
        if known == n {
            let logs = circuit.log_likelihoods(&records)?;
            return Ok(-logs.into_iter().map(|log| x_log_x(log.exp())).sum::<f64>() + 0.0);
        }
        worlds = possible(circuit, &records, known)?;
        if worlds.len() > ASSIGNMENT_LIMIT {
            return Err(QueryError::TooManyAssignments { variables: n, limit: ASSIGNMENT_LIMIT });
        }
    }
    unreachable!("a circuit has at least one variable")
}

/// The first cells of the rows that are possible.
fn possible(circuit: &Circuit, records: &Records, known: usize) -> Result<Vec<Vec<bool>>, QueryError> {
    let possible = circuit.possible(records)?;
    let cells = |row: usize| records.row(row).take(known).flatten().collect();
    Ok((0..records.len()).filter(|&row| possible[row]).map(cells).collect())
}

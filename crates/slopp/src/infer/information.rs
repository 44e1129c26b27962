//! Entropy and divergence, and the information of sets of variables.
//!
//! Summing variables out breaks determinism, and the entropy of a mixture has no formula over its parts. So answers
//! about sets are exact in two cases, and an error otherwise. Either the marginal circuit of the set proves
//! deterministic: always for a single variable or all variables of a deterministic circuit, and wherever the elements
//! of the marginal stay exclusive. Or the set has at most 2¹⁸ possible assignments, which are summed over.

use super::QueryError;
use super::product::divergence;
use crate::circuit::{Circuit, Deterministic, Node};
use crate::data::{Records, RecordsBuilder};
use crate::logic::Limits;
use crate::logspace::x_log_x;
use crate::names::Names;
use crate::var::Var;

impl Deterministic {
    /// The entropy of the distribution, in nats.
    ///
    /// `H(sum) = Σ θᵢ (H(prime) + H(sub) − ln θᵢ)`, as elements are exclusive. Cost: elements.
    ///
    /// ```
    /// # use slopp::{Builder, Sharing, Var, Vtree};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let any_x = builder.top(Var(0), [0.5f64.ln(); 2])?;
    /// # let any_y = builder.top(Var(1), [0.5f64.ln(); 2])?;
    /// # let sum = builder.sum(root, &[(any_x, any_y, 0.0)])?;
    /// # let psdd = builder.finish(sum)?.certify(&slopp::logic::Limits::default())?; // two fair coins
    /// assert!((psdd.entropy() - 4f64.ln()).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn entropy(&self) -> f64 {
        let mut entropies: Vec<f64> = Vec::with_capacity(self.nodes().len());
        for (id, node) in self.ids().zip(self.nodes()) {
            entropies.push(match *node {
                Node::Literal(_) => 0.0,
                Node::Top { slot, .. } => {
                    -self.log_parameters().tops[slot as usize].iter().map(|log| x_log_x(log.exp())).sum::<f64>()
                }
                Node::Sum { .. } => self
                    .elements_of(id)
                    .map(|(e, log)| log.exp() * (entropies[e.prime.index()] + entropies[e.sub.index()] - log))
                    .sum(),
            });
        }
        entropies[self.root().index()]
    }

    /// The Kullback-Leibler divergence from this distribution to another one on the same vtree, in nats.
    ///
    /// `Σ P(w) ln(P(w) / Q(w))`, +∞ exactly when some world is possible here but not there: the common worlds are
    /// counted exactly. The structures may differ: with `A(n,m)` the probability under `n` of the
    /// base of `m`, `D(n,m) = Σᵢⱼ θᵢ [A(p,q) A(s,t) ln(θᵢ/φⱼ) + D(p,q) A(s,t) + A(p,q) D(s,t)]`. Cost: pairs of
    /// elements at the same vtree node, at most the product of the sizes; limits as in
    /// [`Circuit::log_probability_of`](crate::Circuit::log_probability_of).
    /// Liang and Van den Broeck, *Towards compact interpretable models: shrinking of learned PSDDs* (2017).
    ///
    /// ```
    /// # use slopp::{Builder, Psdd, Sharing, Var, Vtree};
    /// # fn psdd(p: f64) -> Result<Psdd, Box<dyn std::error::Error>> {
    /// #     let vtree = Vtree::balanced(2);
    /// #     let root = vtree.root();
    /// #     let mut builder = Builder::new(vtree, Sharing::Equal);
    /// #     let x = builder.literal(Var(0).is(true))?;
    /// #     let any = builder.top(Var(1), [(1.0 - p).ln(), p.ln()])?;
    /// #     let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// #     Ok(builder.finish(sum)?.certify(&slopp::logic::Limits::default())?)
    /// # }
    /// let (fair, bent) = (psdd(0.5)?, psdd(0.25)?);
    /// let expected = 0.5 * (0.5f64 / 0.25).ln() + 0.5 * (0.5f64 / 0.75).ln();
    /// let limits = slopp::logic::Limits::default();
    /// assert!((fair.kl_divergence(&bent, &limits)? - expected).abs() < 1e-12);
    /// assert_eq!(fair.kl_divergence(&fair, &limits)?, 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn kl_divergence(&self, other: &Deterministic, limits: &Limits) -> Result<f64, QueryError> {
        Ok(match divergence(self, other, limits)? {
            Some((worlds, divergence)) if worlds == self.model_count() => divergence.max(0.0),
            _ => f64::INFINITY,
        })
    }
}

/// The largest number of possible assignments that are summed over.
const ASSIGNMENT_LIMIT: usize = 1 << 18;

impl Circuit {
    /// The entropy of the joint distribution of some variables, in nats.
    ///
    /// `−Σ P(a) ln P(a)`, exactly. Order and repetition of the variables do not matter; the entropy of no variables is
    /// zero. Linear in the marginal circuit if that is proved deterministic within limits; otherwise its elements times the possible
    /// assignments, and an error if there are more than 2¹⁸.
    ///
    /// ```
    /// # use slopp::Var;
    /// let psdd = slopp::example::psdd();
    /// let limits = slopp::logic::Limits::default();
    /// let all: Vec<Var> = (0..4).map(Var).collect();
    /// assert!((psdd.entropy_of(&all, &limits)? - psdd.entropy()).abs() < 1e-12);
    /// assert_eq!(psdd.entropy_of(&[], &limits)?, 0.0);
    /// # Ok::<(), slopp::infer::QueryError>(())
    /// ```
    pub fn entropy_of(&self, vars: &[Var], limits: &Limits) -> Result<f64, QueryError> {
        let mut set = vars.to_vec();
        set.sort_unstable();
        set.dedup();
        if set.is_empty() {
            return Ok(0.0);
        }
        match self.marginal(&set)?.certify_deterministic(limits) {
            Ok(deterministic) => Ok(deterministic.entropy()),
            Err(refusal) => entropy_by_sum(&refusal.circuit),
        }
    }

    /// The entropy of some variables when others are known, in nats.
    ///
    /// `H(A | B) = H(A, B) − H(B)`, with the limits of [`Circuit::entropy_of`].
    ///
    /// ```
    /// # use slopp::Var;
    /// let psdd = slopp::example::psdd();
    /// let limits = slopp::logic::Limits::default();
    /// assert_eq!(psdd.conditional_entropy(&[Var(0)], &[Var(0), Var(2)], &limits)?, 0.0);
    /// assert!(psdd.conditional_entropy(&[Var(0)], &[Var(2)], &limits)? <= psdd.entropy_of(&[Var(0)], &limits)?);
    /// # Ok::<(), slopp::infer::QueryError>(())
    /// ```
    pub fn conditional_entropy(&self, vars: &[Var], given: &[Var], limits: &Limits) -> Result<f64, QueryError> {
        if vars.iter().all(|var| given.contains(var)) {
            // Known for certain, whatever the number of assignments.
            return given.iter().try_for_each(|&var| self.check_var(var)).map(|()| 0.0);
        }
        Ok((self.entropy_of(&[vars, given].concat(), limits)? - self.entropy_of(given, limits)?).max(0.0))
    }

    /// The mutual information of two sets of variables, in nats.
    ///
    /// `I(A; B) = H(A) + H(B) − H(A, B)`, with the limits of [`Circuit::entropy_of`]; the sets may overlap.
    ///
    /// ```
    /// # use slopp::Var;
    /// let psdd = slopp::example::psdd();
    /// let (a, b) = ([Var(0), Var(1)], [Var(2), Var(3)]);
    /// let limits = slopp::logic::Limits::default();
    /// let chain = psdd.entropy_of(&a, &limits)? - psdd.conditional_entropy(&a, &b, &limits)?;
    /// assert!((psdd.mutual_information(&a, &b, &limits)? - chain).abs() < 1e-12);
    /// # Ok::<(), slopp::infer::QueryError>(())
    /// ```
    pub fn mutual_information(&self, a: &[Var], b: &[Var], limits: &Limits) -> Result<f64, QueryError> {
        Ok((self.entropy_of(a, limits)? + self.entropy_of(b, limits)? - self.entropy_of(&[a, b].concat(), limits)?)
            .max(0.0))
    }
}

/// The entropy as a sum over all possible worlds, found variable by variable.
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

/// The first cells of the possible rows.
fn possible(circuit: &Circuit, records: &Records, known: usize) -> Result<Vec<Vec<bool>>, QueryError> {
    let possible = circuit.possible(records)?;
    let cells = |row: usize| records.row(row).take(known).flatten().collect();
    Ok((0..records.len()).filter(|&row| possible[row]).map(cells).collect())
}

//! Refinement: better structures from the one at hand, by local changes that keep its base and its certificate.
//!
//! [`learn_psdd`] is LearnPSDD (Liang, Bekker and Van den Broeck, 2017): split and clone operations, simulated before
//! they are done, chosen by gain in log-likelihood per added element. [`strudel`] is Strudel (Dang, Vergari and Van den
//! Broeck, 2020): where most records pass, split by the variable that tells most, without simulation. Both start from
//! any PSDD: a Chow-Liu tree, or what SLoPP learned, which the paper names as future work.

mod context;
mod draft;
mod learn_psdd;
mod looks;
mod plain;
mod split;
mod strudel;

pub use learn_psdd::{LearnPsddConfig, learn_psdd};
pub use strudel::{Scope, StrudelConfig, strudel, strudel_deterministic};

use crate::circuit::Psdd;

/// What refinement made of a circuit.
#[derive(Clone, Debug, PartialEq)]
pub struct Refined<C = Psdd> {
    /// The best circuit by validation likelihood; without validation records, the last.
    pub circuit: C,
    /// How many operations were done.
    pub steps: usize,
    /// Operations and validation log-likelihood per record that the start makes possible, at each look; empty without
    /// validation records.
    pub history: Vec<(usize, f64)>,
}

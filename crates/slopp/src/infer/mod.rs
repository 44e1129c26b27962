//! Queries on circuits.
//!
//! Every query is a method. Those that hold for any mixture are on [`Circuit`](crate::Circuit). Those that need
//! exclusive elements are on [`Deterministic`](crate::Deterministic), to which a [`Psdd`](crate::Psdd) derefs, and do
//! not compile on a plain circuit. `e` is evidence, `w` a world, `s` the number of elements, `n` of variables, `r` of
//! distinct records; a sum has parameters `θᵢ`, primes and subs. Sources are in `REFERENCES.md`.
//!
//! | query | answer | needs | cost | source |
//! |---|---|---|---|---|
//! | `log_probability` | `ln Σᵢ θᵢ P(prime) P(sub)` | `Circuit` | `s` | Kisa et al. 2014 |
//! | `log_evidence` | `ln Σ P(w)` over `w` that agree with `e`: both values of an unknown variable weigh one | `Circuit` | `s` | Kisa et al. 2014 |
//! | `log_likelihoods` | `log_evidence` of every record | `Circuit` | `s·r` | |
//! | `log_likelihoods` | the same, `Σ ln θ` along the one derivation, 256 records at once | `Deterministic` | `s·r/64` | |
//! | `conditional`, `_batch` | `P(a,e) / P(e)` | `Circuit` | `s` | |
//! | `marginals`, `_batch` | `P(x=1 \| e)`: the flow from the root into the leaves of `x` | `Circuit` | `s` | Darwiche 2003 |
//! | `pair_marginals`, `_batch` | `P(x=1, y=1 \| e) = Σ flow · P(x \| prime) P(y \| sub)` where the vtree separates `x` and `y` | `Circuit` | `Σᵥ s(v)·left·right` | |
//! | `sample`, `_in_parts`, `_batch` | worlds from `P(· \| e)`: the posterior is the same circuit with other parameters | `Circuit` | `s`, then `n` per world | |
//! | `is_possible`, `possible` | `P(w) > 0`: the base, in Boolean arithmetic | `Circuit` | `s·r/64` | |
//! | `nearest`, `_batch` | `min` Hamming distance of `e` to a possible world: min-plus arithmetic | `Circuit` | `s` | |
//! | `conflict` | cells that cannot hold together, all of them needed | `Circuit` | `s·conflict` for `n ≤ 256` | Junker 2004 |
//! | `log_likelihoods_noisy` | `ln Σ P(w) P_ε(x ∣ w)`: every cell changed with probability `ε` | `Circuit` | `s·r` | |
//! | `column_without_one_value` | a column with several values, or none, in some possible world | `Circuit` | `s·columns` | |
//! | `fit_noise` | the `ε` under which records are most likely | `Circuit` | `24·s·r` | |
//! | `entailed_by` | whether φ(D) entails the base: all records possible | `Circuit` | `s·r/64` | the SLoPP paper |
//! | `expected_counts` | `Σ weight · P(parameter used \| record)`: the E step of EM | `Circuit` | `s·r` | Dempster et al. 1977 |
//! | `flow_log_values` | `Σ ln θ` over *all* active edges: for reproducing the paper, not a likelihood | `Circuit` | `s·r/64` | |
//! | `log_probability_of` | `ln Σ P(w)` over the worlds of a formula on the same vtree: pairs of elements of circuit and formula | `Circuit` | pairs reached | Vergari et al. 2021 |
//! | `conditional_of` | `P(f ∧ g) / P(g)` of formulas | `Circuit` | pairs reached | |
//! | `marginals_given` | `P(x \| f)` for every variable, without building the circuit given `f` | `Circuit` | pairs reached | |
//! | `given` | the circuit of `P(w \| f)`, of the same kind; every other query on it is one given `f` | `Circuit` | pairs reached | Shen et al. 2016 |
//! | `product` | the circuit of `P(w) Q(w) / Z`, of the same kind, and `ln Z` | `Circuit` | `≤ s·s′` | Shen et al. 2016 |
//! | `marginal`, `_given` | the circuit of `P(a \| e) = Σ P(a,b \| e)` over some variables: a mixture | `Circuit` | `Σᵥ nodes(v)·s(below v)` | |
//! | `entropy_of`, `conditional_entropy`, `mutual_information` | of sets of variables, where their marginal is deterministic or has at most 2¹⁸ assignments | `Circuit` | size of the marginal (× assignments) | |
//! | `marginal_map` | `argmax P(a,e)`, other variables summed out: best first between bounds, within a budget | `Circuit` | size of the marginal × steps | Park and Darwiche 2003 |
//! | `mpe`, `_batch` | `argmax P(w)` over `w` that agree with `e`: max in place of sum | `Deterministic` | `s` | Kisa et al. 2014 |
//! | `top_worlds`, `_batch` | the `k` best of them, from lazy heaps | `Deterministic` | `s`, then `n log s` per world | Huang and Chiang 2005 |
//! | `nearest_worlds`, `_batch` | the first `k` by Hamming distance to `e`, then by probability | `Deterministic` | `s`, then `n log s` per world | Huang and Chiang 2005 |
//! | `explain`, `_batch` | `conflict` and `nearest_worlds` of impossible evidence | `Deterministic` | both | |
//! | `worlds` | all of them, in the order of the circuit | `Deterministic` | `s`, then `n` per world | |
//! | `entropy` | `Σ θᵢ (H(prime) + H(sub) − ln θᵢ)` | `Deterministic` | `s` | Vergari et al. 2021 |
//! | `kl_divergence` | `Σ P(w) ln(P(w)/Q(w))` over pairs of elements of the two circuits | `Deterministic` | `≤ s·s′·n`, memory `n` bits per pair of nodes | Liang and Van den Broeck 2017 |
//! | `model_count` | `#(sum) = Σ #(prime) · #(sub)`, exactly | `Deterministic` | `s·n` | Darwiche and Marquis 2002 |
//! | `equals_closed_world` | whether the base is φ(D): all records possible, and as many worlds as records | `Deterministic` | `s·(r/64 + n)` | the SLoPP paper |
//! | `count_records` | how many records use each parameter | `Deterministic` | `s·r/64` | Kisa et al. 2014 |
//!
//! A [`Mixture`](crate::Mixture) of circuits has the queries of a `Circuit` that are linear in the distribution, under
//! the same names. The trait [`Distribution`] has the queries of every kind of model.
//!
//! Probability zero is an answer; conditioning on it is [`QueryError::ImpossibleEvidence`]. Batches run on all threads
//! and give the same bytes on any number of them; an impossible row is `None` there and leaves the others intact. No
//! query recurses, and none underflows: where plain numbers are too small, it computes in log space.

mod complete;
mod distribution;
mod error;
mod event;
mod evidence;
mod expected;
mod factor;
mod information;
mod lanes;
mod likelihood;
mod logpass;
mod marginal;
mod marginal_map;
mod marginals;
mod masks;
mod mpe;
mod nearest;
pub(crate) mod noise;
mod pairs;
mod product;
mod ranking;
mod sample;
mod score;
mod side_by_side;
mod top_worlds;
mod worlds;

pub use complete::RecordCounts;
pub use distribution::Distribution;
pub(crate) use distribution::answer_by_methods;
pub use error::QueryError;
pub use event::Event;
pub use evidence::Evidence;
pub use expected::Expected;
pub use marginal_map::MarginalMap;
pub(crate) use marginals::certain;
pub(crate) use mpe::log_upper_bound;
pub use nearest::{Explanation, NearWorld, Nearest};
pub use noise::NoiseFit;
pub use pairs::PairMarginals;
pub use sample::Samples;
pub(crate) use sample::{Completer, Draw, Scratch, complete_records, draw_worlds, parts};
pub use score::Score;

pub(crate) use side_by_side::{ShareCounts, SideBySide, count_shares};
pub use worlds::Worlds;

//! Learn and use Probabilistic Sentential Decision Diagrams (PSDDs).
//!
//! A PSDD is a probabilistic circuit and a knowledge base in one. It gives probability zero to every impossible world,
//! and answers exactly. Marginals, most probable worlds, entropy and how many worlds are possible take time linear in
//! its size; the probability of a formula takes time in its size times that of the diagram of the formula. A mixture
//! of circuits answers less: of its most probable world it gives bounds.
//!
//! ```
//! // Five hundred configurations of cars, as CSV; read_records also takes the path of a file.
//! # let mut csv = Vec::new();
//! # slopp::io::write_records(&mut csv, &slopp::example::Truth::configurations().sample(500, 1), true)?;
//! let records = slopp::read_records(&csv)?;
//! let model = slopp::learn(&records)?;
//!
//! let p = model.probability("engine_electric", "fast_charging | !gearbox_automatic")?; // any formula, any condition
//! let marginals = model.marginals("engine_electric")?; // P(option | electric), for every option
//! let (car, log_probability) = model.mpe("engine_electric")?; // the most probable electric car
//! let cars = model.sample(10, "engine_electric, !heat_pump", 1)?; // ten more, from seed 1
//! model.save(std::env::temp_dir().join("cars.psdd"))?;
//! # assert!(p > 0.0 && marginals.len() == car.len() && log_probability < 0.0 && cars.total() == 10.0);
//! # Ok::<(), slopp::Error>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | read records | [`read_records`], or [`io`] with options and for other files |
//! | learn | [`learn()`], or [`learn::Task`] with rules, closed worlds and every learner of [`learn::registry`] |
//! | keep a model | [`Model`] with [`Model::save`] and [`Model::load`] |
//! | ask in words | [`Model::probability`], [`Model::marginals`], [`Model::mpe`], [`Model::sample`] |
//! | ask more | [`Circuit`], [`Deterministic`] and [`Psdd`], each with what its certificate allows; the table is in [`infer`] |
//! | say what is possible | [`Rules`], [`learn::Support`] |
//! | compare and explain bases | [`knowledge`] |
//! | mix models | [`Mixture`] |
//! | draw | [`render`] |
//! | handle errors | [`Error`], with [`Advice`] |
//! | read on | [`guide`] |
//!
//! Every answer is exact, every random act takes a seed, and the same input gives the same bytes on any number of
//! threads.

mod advice;
mod asking;
pub mod certified;
pub mod circuit;
pub mod data;
mod error;
pub mod example;
pub mod fidelity;
mod front;
pub mod guide;
mod heap;
pub mod infer;
pub mod io;
pub mod knowledge;
pub mod learn;
mod limits;
pub mod logic;
mod logspace;
pub mod mixture;
pub mod model;
pub mod names;
pub mod progress;
pub mod random;
pub mod render;
pub mod spn;
mod structured;
pub mod var;
pub mod vtree;

pub use advice::Advice;
pub use certified::Certified;
pub use circuit::{Builder, Circuit, Deterministic, Element, Node, NodeId, Psdd, Sharing, Weights};
pub use data::{Records, RecordsBuilder};
pub use error::Error;
pub use front::{learn, read_records};
pub use logic::Rules;
pub use mixture::Mixture;
pub use model::{Model, ModelKind};
pub use names::{Bins, Kind, NameError, Names};
pub use progress::Progress;
pub use random::Random;
pub use structured::Structured;
pub use var::{Lit, Var};
pub use vtree::{Vtree, VtreeId};

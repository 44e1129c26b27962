//! Learn and use Probabilistic Sentential Decision Diagrams (PSDDs).
//!
//! A PSDD is a probabilistic circuit and a knowledge base in one. It gives probability zero to every impossible world,
//! and answers exactly, in time linear in its size: marginals, most probable worlds, entropy, how many worlds are
//! possible, and the probability of any formula.
//!
//! ```
//! use slopp::infer::Evidence;
//! use slopp::learn::{Slopp, Task};
//!
//! let records = slopp::example::Truth::configurations().sample(500, 1); // or slopp::io::read_records("cars.csv")
//! let model = Task::closed(&records).learn(&Slopp::default(), &())?.model;
//! let psdd = model.into_psdd().expect("this learner makes certified PSDDs");
//!
//! let electric = Evidence::parse("engine_electric", records.names())?;
//! let marginals = psdd.marginals(&electric)?; // P(option | electric), for every option
//! let (world, log_probability) = psdd.mpe(&electric)?; // the most probable car
//! assert!(psdd.is_possible(&world)? && log_probability < 0.0 && marginals.len() == world.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | read and write files | [`io`]: `read_records`, `read_model`, `write_model` |
//! | hold data | [`Records`], [`Names`] |
//! | learn | [`learn::Task`], with a learner of [`learn::registry`] |
//! | say what is possible | [`learn::Support`], [`logic::Rules`] |
//! | keep a model | [`Model`] |
//! | ask | [`Circuit`], and more of what is proved: [`Deterministic`], [`Psdd`]; the table of queries is in [`infer`] |
//! | mix models | [`Mixture`] |
//! | compare and explain bases | [`knowledge`] |
//! | draw | [`render`] |
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
pub mod guide;
mod heap;
pub mod infer;
pub mod io;
pub mod knowledge;
pub mod learn;
mod limits;
pub mod logic;
pub mod logspace;
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
pub use asking::AskError;
pub use certified::Certified;
pub use circuit::{Builder, Circuit, Deterministic, Element, Node, NodeId, Psdd, Sharing, Weights};
pub use data::{Records, RecordsBuilder};
pub use error::Error;
pub use mixture::Mixture;
pub use model::{Model, ModelKind};
pub use names::{Bins, Kind, NameError, Names};
pub use progress::Progress;
pub use random::Random;
pub use structured::Structured;
pub use var::{Lit, Var};
pub use vtree::{Vtree, VtreeId};

//! Learn and use Probabilistic Sentential Decision Diagrams (PSDDs).
//!
//! Modules depend on each other in one direction: `var`, `names`, `logspace`, `random`, `progress`, `heap`, `limits` →
//! [`data`], [`vtree`] → [`circuit`] → [`logic`], [`infer`] → [`spn`], [`certified`] → [`mixture`] → [`model`],
//! `on_vtrees` → [`knowledge`] → [`learn`] → [`io`], [`render`].

pub mod certified;
pub mod circuit;
pub mod data;
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
mod on_vtrees;
pub mod progress;
pub mod random;
pub mod render;
pub mod spn;
pub mod var;
pub mod vtree;

pub use certified::Certified;
pub use circuit::{Builder, Circuit, Deterministic, Element, Node, NodeId, Psdd, Sharing, Weights};
pub use data::{Records, RecordsBuilder};
pub use mixture::Mixture;
pub use model::{Model, ModelKind};
pub use names::{Bins, Kind, NameError, Names};
pub use on_vtrees::OnVtrees;
pub use progress::Progress;
pub use random::Random;
pub use var::{Lit, Var};
pub use vtree::{Vtree, VtreeId};

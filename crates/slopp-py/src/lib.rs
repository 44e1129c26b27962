//! The compiled half of the Python package `slopp`: thin bindings, in which arrays come in, arrays go out, and the
//! library does the work. Its manners, such as frames, names and pictures in notebooks, are in `python/slopp`.

mod arrays;
mod circuit;
mod columns;
mod distil;
mod error;
mod event;
mod fit;
mod knowledge;
mod learn;
mod model;
mod records;
mod run;
mod vtree;
mod worlds;

use pyo3::prelude::*;

/// The compiled half of slopp.
#[pymodule]
mod _slopp {
    use super::*;

    #[pymodule_export]
    use super::columns::bins;
    #[pymodule_export]
    use super::distil::{chart, chart_of_sizes, distil};
    #[pymodule_export]
    use super::error::visible_lines;
    #[pymodule_export]
    use super::event::Event;
    #[pymodule_export]
    use super::knowledge::{Rules, Sdd, diff, entails};
    #[pymodule_export]
    use super::learn::{Support, curve, enforce, learn, world_for};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::records::{Parts, Records, configurations, rankings};
    #[pymodule_export]
    use super::run::set_threads;
    #[pymodule_export]
    use super::vtree::Vtree;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::arrays::load(module.py());
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("LEARNERS", super::learn::learners(module.py())?)?;
        module.add("OPTIONS", super::learn::options(module.py())?)
    }
}

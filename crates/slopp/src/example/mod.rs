//! Examples to learn from: distributions known exactly ([`Truth`]), and the example of the paper: Table 1, the vtree of
//! Figure 1a and the PSDD of Figure 2.
//!
//! Table 1 has thirty records over four variables, seven of them distinct. The printed clusters are not those of
//! k-means (squared error 3.43 against 1.5), so they are given as an explicit [`Partition`]. The circuit makes ten
//! worlds possible: the seven seen and three *virtual* ones.
//!
//! ```
//! let psdd = slopp::example::psdd();
//! assert_eq!(psdd.stats().size_paper, 29);
//! let p = psdd.log_probability(&[false, true, true, false])?.exp();
//! assert!((p - 9.0 / 35.0).abs() < 1e-12);
//! # Ok::<(), slopp::infer::QueryError>(())
//! ```

mod cars;
mod rankings;
mod truth;

pub use truth::{Agreement, Truth};

use crate::circuit::Psdd;
use crate::data::{Records, RecordsBuilder};
use crate::learn::{Partition, SloppKmeans, Task, Variant};
use crate::names::Names;
use crate::vtree::Vtree;

/// The rows of Table 1 with their counts.
const TABLE: [(f64, [u8; 4]); 7] = [
    (3.0, [0, 0, 1, 1]),
    (7.0, [0, 0, 0, 0]),
    (2.0, [1, 0, 0, 1]),
    (3.0, [0, 1, 1, 1]),
    (9.0, [0, 1, 1, 0]),
    (2.0, [1, 1, 0, 1]),
    (4.0, [1, 1, 1, 0]),
];

/// Table 1.
pub fn records() -> Records {
    let names = ["X1", "X2", "X3", "X4"].map(String::from).to_vec();
    let mut builder = RecordsBuilder::new(Names::new(names).expect("four different names"));
    for (count, row) in TABLE {
        builder.push(row.map(|cell| Some(cell == 1)), count);
    }
    builder.finish()
}

/// The vtree of Figure 1a.
pub fn vtree() -> Vtree {
    Vtree::balanced(4)
}

/// The clusters printed in Table 1: {00}, {10, 01} and {11} on the left variables.
pub fn partition() -> Partition {
    let root = vtree().root();
    let clusters: [&[[bool; 2]]; 3] = [&[[false, false]], &[[true, false], [false, true]], &[[true, true]]];
    let with = |partition: Partition, (number, rows): (usize, &[[bool; 2]])| {
        partition.with(root, number, rows.iter().map(|row| row.to_vec()))
    };
    clusters.into_iter().enumerate().fold(Partition::new(), with)
}

/// The PSDD of Figure 2, learned from Table 1 with the printed clusters.
pub fn psdd() -> Psdd {
    let paper = SloppKmeans { partition: partition(), ..SloppKmeans::new(Variant::Notebook, 3, 20) };
    let (records, vtree) = (records(), vtree().into());
    let task = Task { vtree: Some(&vtree), ..Task::closed(&records) };
    let learned = task.learn(&paper, &()).expect("Table 1 can be learned").model;
    learned.into_psdd().expect("at most two left variables, split by value: every prime is exact")
}

//! Table 1 and Figure 2: the paper's example, learned here and compared with exact fractions.

use super::paper::FIGURE_2;
use crate::plot::Bars;
use serde_json::Value;
use slopp::render::plot::Axis;
use slopp::{Psdd, example, render};
use slopp_cli::{Error, Table, json, object};

/// A world of the example.
pub(super) struct World {
    /// Its cells in the order of the variables.
    bits: String,
    /// How often it is in Table 1.
    records: f64,
    /// Its probability as a fraction; the numerator is zero if it is impossible.
    exact: (u32, u32),
    /// Its probability by the circuit learned here.
    computed: f64,
}

/// The example, learned.
pub(super) struct Example {
    psdd: Psdd,
    worlds: Vec<World>,
}

impl Example {
    /// Learns the circuit and asks for all sixteen worlds.
    pub(super) fn new() -> Result<Example, Error> {
        let (psdd, records) = (example::psdd(), example::records());
        let row_of = |row: usize| -> String {
            records.row(row).map(|cell| if cell == Some(true) { '1' } else { '0' }).collect()
        };
        let mut worlds = Vec::new();
        for number in 0..16u32 {
            let bits = format!("{number:04b}");
            let seen = (0..records.len()).find(|&row| row_of(row) == bits);
            let world: Vec<bool> = bits.chars().map(|c| c == '1').collect();
            worlds.push(World {
                records: seen.map_or(0.0, |row| records.weights()[row]),
                exact: FIGURE_2.iter().find(|(w, ..)| *w == bits).map_or((0, 1), |&(_, a, b)| (a, b)),
                computed: psdd.log_probability(&world)?.exp(),
                bits,
            });
        }
        Ok(Example { psdd, worlds })
    }

    /// The largest difference of a probability from its fraction.
    pub(super) fn difference(&self) -> f64 {
        self.worlds.iter().map(|world| (world.computed - world.exact()).abs()).fold(0.0, f64::max)
    }

    /// The worlds as a table.
    pub(super) fn table(&self) -> Table {
        let mut table = Table::titled(["X1X2X3X4", "records", "P exact", "P computed", "world"]);
        for world in &self.worlds {
            let exact = match world.exact {
                (0, _) => "0".to_owned(),
                (a, b) => format!("{a}/{b}"),
            };
            let computed = format!("{:.10}", world.computed);
            table.push([world.bits.clone(), format!("{:.0}", world.records), exact, computed, world.kind().to_owned()]);
        }
        table
    }

    /// What the table comes to, in a sentence.
    pub(super) fn summary(&self) -> String {
        let stats = self.psdd.stats();
        let total: f64 = self.worlds.iter().map(|world| world.computed).sum();
        format!(
            "All 16 probabilities are right to {:.0e} and sum to {total:.12}. {} worlds are possible: {} seen and {} \
             virtual. |C| = {} as the paper counts ({} sums + {} elements + {} ⊤ + {} literals), {} parameters. \
             Certified: a PSDD.",
            self.difference().max(1e-12),
            self.psdd.model_count(),
            self.kinds("seen"),
            self.kinds("virtual"),
            stats.size_paper,
            stats.sums,
            stats.elements,
            stats.tops,
            stats.literals,
            stats.parameters
        )
    }

    /// How many worlds are of a kind.
    fn kinds(&self, kind: &str) -> usize {
        self.worlds.iter().filter(|world| world.kind() == kind).count()
    }

    /// Figure 2, drawn.
    pub(super) fn figure(&self) -> String {
        self.psdd.svg(example::records().names(), render::DEFAULT_LIMIT)
    }

    /// Frequencies in Table 1 against probabilities.
    pub(super) fn chart(&self) -> String {
        let total: f64 = self.worlds.iter().map(|world| world.records).sum();
        let shown = self.worlds.iter().filter(|world| world.computed > 0.0);
        let bars = |world: &World| {
            let seen = (world.records > 0.0).then_some(world.records / total);
            (format!("{} {}", world.bits, world.kind()), vec![seen, Some(world.computed)])
        };
        Bars {
            title: "What the circuit makes of the records".into(),
            note: format!("virtual worlds are in no record; {} more worlds are impossible", self.kinds("impossible")),
            axis: Axis::linear("share"),
            series: vec!["of the records of Table 1".into(), "probability by Figure 2".into()],
            groups: shown.map(bars).collect(),
        }
        .svg()
    }

    /// Everything for programs.
    pub(super) fn document(&self) -> Value {
        let stats = self.psdd.stats();
        let world = |world: &World| {
            object([
                ("world", Value::from(world.bits.as_str())),
                ("records", json(world.records)),
                ("exact", Value::from(format!("{}/{}", world.exact.0, world.exact.1))),
                ("probability", json(world.computed)),
                ("kind", Value::from(world.kind())),
            ])
        };
        object([
            ("worlds", self.worlds.iter().map(world).collect()),
            ("largest_difference", json(self.difference())),
            ("model_count", Value::from(self.psdd.model_count().to_string())),
            ("size_paper", Value::from(stats.size_paper)),
            ("parameters", Value::from(stats.parameters)),
        ])
    }
}

impl World {
    fn exact(&self) -> f64 {
        f64::from(self.exact.0) / f64::from(self.exact.1)
    }

    fn kind(&self) -> &'static str {
        match (self.computed > 0.0, self.records > 0.0) {
            (true, true) => "seen",
            (true, false) => "virtual",
            (false, _) => "impossible",
        }
    }
}

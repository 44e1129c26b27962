//! Published results on the twenty datasets: average test log-likelihood in nats per record, over all test records.
//!
//! The sources are named on [`COLUMNS`] and listed in `REFERENCES.md`. Columns that hold the best of several papers
//! were collected by us: which paper a number is from differs from dataset to dataset.

/// A column of published numbers: its name, what it is, and its field of a line.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) source: &'static str,
    pub(super) value: fn(&Line) -> Option<f64>,
}

/// The published numbers of a dataset.
pub(super) struct Line {
    pub(super) dataset: &'static str,
    /// LearnPSDD, Strudel, XPC-SD-Det: single PSDDs.
    psdds: [f64; 3],
    /// Files of the Circuit Model Zoo.
    zoo: Option<f64>,
    /// Best single deterministic circuit, best mixture of PSDDs, best tractable circuit of any kind.
    best: [f64; 3],
}

impl Line {
    /// The best published single PSDD, which the plots are relative to: the best of the three columns.
    ///
    /// For cwebkb -159.99 was collected too, from none of these columns; it does not count.
    pub(super) fn best_psdd(&self) -> f64 {
        self.psdds.into_iter().fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The published columns, from the weakest to the strongest kind of model.
pub(super) const COLUMNS: &[Column] = &[
    Column {
        name: "LearnPSDD",
        source: "Liang, Bekker, Van den Broeck, UAI 2017, as printed by Dang, Vergari, Van den Broeck, PGM 2020",
        value: |line| Some(line.psdds[0]),
    },
    Column {
        name: "Strudel",
        source: "single models of Dang, Vergari, Van den Broeck, PGM 2020",
        value: |line| Some(line.psdds[1]),
    },
    Column {
        name: "XPC-SD-Det",
        source: "Di Mauro, Gala, Iannotta, Basile, UAI 2021",
        value: |line| Some(line.psdds[2]),
    },
    Column {
        name: "zoo",
        source: "no paper: .psdd files of the Circuit Model Zoo (UCLA StarAI), scored by us on the test part",
        value: |line| line.zoo,
    },
    Column {
        name: "best PSDD",
        source: "computed: the best of LearnPSDD, Strudel and XPC-SD-Det",
        value: |line| Some(line.best_psdd()),
    },
    Column {
        name: "det-any",
        source: "collected by us from several papers: for each dataset the best single deterministic circuit among \
                 selective SPNs (Peharz et al. 2014), CNet (Rahman et al. 2014), XCNet (Di Mauro et al. 2017), CNxD \
                 (Rahman et al. 2019) and the columns above",
        value: |line| Some(line.best[0]),
    },
    Column {
        name: "PSDD mix",
        source: "collected by us from two papers: for each dataset the best mixture of LearnPSDD or Strudel (PGM 2020) \
                 or EXPC-SD (UAI 2021)",
        value: |line| Some(line.best[1]),
    },
    Column {
        name: "best any",
        source: "collected by us from several papers: for each dataset the best tractable circuit or mixture of any kind, \
                 of those above, LearnSPN (2013), ID-SPN (2014), RAT-SPN (2019), HCLT (2021) and LearnRP (2021)",
        value: |line| Some(line.best[2]),
    },
];

/// The columns that wins and losses are counted against.
pub(super) const RIVALS: &[&str] = &["LearnPSDD", "Strudel", "XPC-SD-Det", "best PSDD", "det-any"];

/// What the published models cost: dataset, elements and, where given, seconds in total.
pub(super) struct Cost {
    pub(super) name: &'static str,
    pub(super) elements: &'static [(&'static str, f64)],
    pub(super) seconds: &'static [(&'static str, f64)],
}

/// The published costs of LearnPSDD and Strudel (Dang, Vergari, Van den Broeck, PGM 2020).
pub(super) const COSTS: &[Cost] = &[
    Cost {
        name: "LearnPSDD",
        elements: &[
            ("nltcs", 1304.0),
            ("plants", 11583.0),
            ("pumsb_star", 8298.0),
            ("tmovie", 20648.0),
            ("ad", 12238.0),
        ],
        seconds: &[("nltcs", 193.0), ("plants", 27438.0), ("baudio", 98457.0), ("cr52", 98796.0)],
    },
    Cost {
        name: "Strudel",
        elements: &[
            ("nltcs", 4373.0),
            ("plants", 119194.0),
            ("pumsb_star", 108876.0),
            ("tmovie", 123996.0),
            ("ad", 13152.0),
        ],
        seconds: &[("nltcs", 42.0), ("plants", 1911.0), ("baudio", 848.0), ("cr52", 1561.0)],
    },
];

/// The line of a dataset, if it is one of the twenty.
pub(super) fn line(dataset: &str) -> Option<&'static Line> {
    TWENTY.iter().find(|line| line.dataset == dataset)
}

const fn of(dataset: &'static str, psdds: [f64; 3], zoo: Option<f64>, best: [f64; 3]) -> Line {
    Line { dataset, psdds, zoo, best }
}

/// The twenty datasets in their usual order.
#[rustfmt::skip]
pub(super) const TWENTY: &[Line] = &[
    of("nltcs", [-6.03, -6.06, -6.09], Some(-6.04), [-6.01, -5.99, -5.99]),
    of("msnbc", [-6.04, -6.05, -6.21], Some(-6.04), [-6.04, -6.04, -6.04]),
    of("kdd", [-2.17, -2.17, -2.20], Some(-2.16), [-2.15, -2.11, -2.11]),
    of("plants", [-13.49, -13.72, -14.59], Some(-13.35), [-12.73, -12.98, -11.99]),
    of("baudio", [-41.51, -42.26, -41.97], Some(-41.59), [-40.69, -39.94, -39.75]),
    of("jester", [-54.63, -55.30, -54.94], Some(-54.43), [-53.67, -51.29, -51.29]),
    of("bnetflix", [-58.53, -58.68, -58.73], Some(-58.15), [-57.48, -55.71, -55.71]),
    of("accidents", [-28.29, -29.46, -31.03], Some(-29.25), [-26.88, -28.73, -26.74]),
    of("tretail", [-10.92, -10.90, -10.98], Some(-10.92), [-10.84, -10.72, -10.72]),
    of("pumsb_star", [-25.40, -25.28, -26.56], Some(-25.13), [-22.66, -24.12, -22.40]),
    of("dna", [-83.02, -87.10, -87.46], None, [-80.44, -86.22, -79.05]),
    of("kosarek", [-10.99, -10.98, -10.99], None, [-10.74, -10.52, -10.52]),
    of("msweb", [-9.93, -10.19, -10.12], Some(-10.14), [-9.76, -9.71, -9.66]),
    of("book", [-36.06, -35.77, -36.83], Some(-35.67), [-35.31, -34.49, -33.41]),
    of("tmovie", [-55.41, -59.47, -59.99], None, [-54.61, -53.67, -50.81]),
    of("cwebkb", [-161.42, -160.50, -161.26], Some(-159.97), [-155.77, -153.67, -151.80]),
    of("cr52", [-93.30, -92.38, -88.92], Some(-92.38), [-85.89, -84.70, -83.35]),
    of("c20ng", [-160.43, -160.77, -159.37], Some(-160.93), [-155.66, -153.75, -151.47]),
    of("bbc", [-260.24, -258.96, -260.62], Some(-258.05), [-253.50, -248.34, -237.42]),
    of("ad", [-20.13, -16.52, -16.39], Some(-16.77), [-15.40, -15.50, -13.45]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_kinds_of_models_are_not_worse() {
        assert_eq!(TWENTY.len(), 20);
        for line in TWENTY {
            let [deterministic, mixed, any] = line.best;
            assert!(deterministic >= line.best_psdd() && any >= deterministic && any >= mixed, "{}", line.dataset);
        }
        assert!(RIVALS.iter().all(|rival| COLUMNS.iter().any(|column| column.name == *rival)));
        let costs = COSTS.iter().flat_map(|cost| cost.elements.iter().chain(cost.seconds));
        assert!(costs.into_iter().all(|(dataset, _)| line(dataset).is_some()));
    }
}

//! The readers, each with samples of what it reads.

use slopp::infer::Evidence;
use slopp::io::{RecordsOptions, read_psdd_bytes, read_records_from, read_vtree_bytes};
use slopp::{Names, Vtree};

/// A reader under test.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) samples: &'static [&'static str],
    /// Reads the bytes; whether they were accepted.
    pub(crate) read: fn(&[u8]) -> bool,
}

const RECORDS: &[&str] = &[
    "a,b,c\n0,1,1\n1,0,0\n",
    "0,1,1\n1,0,0\n0,1,1\n",
    "\"x, y\";b\ntrue;no\nFALSE;yes\n;?\n",
    "2|0,1\n0.5|1,1\n1,0\n",
    "one\n1\n0\n",
    "a\tb\r\n1\t0\r\n0\tNA\r\n",
];

const VTREES: &[&str] = &[
    "c comment\nvtree 7\nL 0 1\nL 2 2\nI 1 0 2\nL 4 3\nL 6 4\nI 5 4 6\nI 3 1 5\n",
    "vtree 5\nL 0 1\nL 1 2\nL 2 3\nI 3 1 2\nI 4 0 3\n",
    "vtree 1\nL 0 1\n",
];

const PSDDS: &[&str] = &[
    "c one value\npsdd 6\nL 0 0 1\nL 1 0 -1\nT 2 2 2 -0.2876820724517809\nL 3 2 -2\nD 4 1 2 0 2 -0.6931471805599453 1 3 -0.6931471805599453",
    "psdd 5\nL 0 0 1\nL 1 0 -1\nT 2 2 2 -1.386294 -0.287682\nD 3 1 2 0 2 -0.693147 1 2 -0.693147\n",
    "psdd 9\nL 0 0 -1\nT 1 6 4 -0.69\nT 2 4 3 -0.69\nT 3 2 2 -0.69\nL 4 0 1\nD 5 1 1 0 3 0.0\nD 6 5 1 2 1 0.0\nD 7 1 1 4 3 0.0\nD 8 3 2 7 6 -0.69 5 6 -0.69",
];

const TEXTS: &[&str] = &["((1,2),(3,4))", "(1,(2,(3,(4,5))))", "1"];

const EVIDENCE: &[&str] = &["smoker, !cancer", "age=1 & not smoker", "\"x ray\", ~cancer", ""];

/// Every reader.
pub(crate) fn all() -> [Target; 5] {
    [
        Target {
            name: "records",
            samples: RECORDS,
            read: |bytes| read_records_from(bytes, &RecordsOptions::default(), None).is_ok(),
        },
        Target { name: "vtree", samples: VTREES, read: |bytes| read_vtree_bytes(bytes).is_ok() },
        Target { name: "psdd", samples: PSDDS, read: psdd },
        Target {
            name: "vtree text",
            samples: TEXTS,
            read: |bytes| text(bytes).is_some_and(|text| text.parse::<Vtree>().is_ok()),
        },
        Target { name: "evidence", samples: EVIDENCE, read: |bytes| text(bytes).is_some_and(evidence) },
    ]
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

fn evidence(text: &str) -> bool {
    let names = ["smoker", "cancer", "age", "x ray"].map(String::from).to_vec();
    Evidence::parse(text, &Names::new(names).expect("four different names")).is_ok()
}

/// What is read must have a certificate or an overlap, and a likelihood.
fn psdd(bytes: &[u8]) -> bool {
    let Ok(loaded) = read_psdd_bytes(bytes, None) else { return false };
    let world = vec![false; loaded.circuit.var_count()];
    let _ = loaded.circuit.log_probability(&world).expect("the world has the right length");
    let _ = loaded.circuit.overlaps(1);
    true
}

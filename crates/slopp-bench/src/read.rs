//! Reading files: megabytes per second.

use crate::measure::{Bar, Line, Report};
use slopp::io::{RecordsOptions, load_records, read_psdd};
use slopp::learn::{SloppTree, Task};

pub(crate) fn measure(report: &mut Report) {
    let (_, records) = crate::learn::records("jester");
    for penalty in [1.0, 0.8, 0.5] {
        let tree = SloppTree { parameter_penalty: penalty, ..SloppTree::default() };
        let model = Task::new(&records).learn(&tree, &()).expect("benchmark data can be learned").model;
        let psdd = model.into_psdd().expect("always a PSDD");
        let mut text = Vec::new();
        slopp::io::write_model(&mut text, &slopp::Model::new(records.names().clone(), psdd))
            .expect("memory can be written");
        let megabytes = text.len() as f64 / 1e6;
        let bar = Bar::Seconds(0.1 * megabytes);
        let line = Line { what: "read .psdd", size: format!("{megabytes:.1} MB"), work: megabytes, unit: "MB", bar };
        report.time(line, || read_psdd(&text, None).is_ok());
    }
    for rows in [50_000, 100_000, 200_000] {
        let mut text = Vec::new();
        for row in 0..rows {
            for i in 0..100u64 {
                let bit = (row as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15 ^ i) >> 37 & 1;
                text.extend_from_slice(if bit == 1 { b"1," } else { b"0," });
            }
            *text.last_mut().expect("not empty") = b'\n';
        }
        let megabytes = text.len() as f64 / 1e6;
        let line = Line {
            what: "read records",
            size: format!("{megabytes:.0} MB"),
            work: megabytes,
            unit: "MB",
            bar: Bar::None,
        };
        report.time(line, || load_records(text.as_slice(), &RecordsOptions::default()).is_ok());
    }
}

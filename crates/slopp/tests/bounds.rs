//! Files that are longer than they seem, or never end, are refused before they fill the memory.

use slopp::Names;
use slopp::io::{Problem, ReadError, RecordsOptions, read_all_within, read_model, read_records, read_records_from};
use std::fs;
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::sync::Arc;

const MEGABYTE: usize = 1 << 20;

fn small() -> RecordsOptions {
    RecordsOptions { max_line: MEGABYTE, max_text: 2 * MEGABYTE as u64, ..RecordsOptions::default() }
}

fn problem<T>(result: Result<T, ReadError>) -> (Problem, String) {
    let error = result.err().expect("this is refused");
    let message = error.to_string();
    (*error.problem, message)
}

/// A text without end.
struct Endless(&'static [u8], usize);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        for byte in buffer.iter_mut() {
            *byte = self.0[self.1 % self.0.len()];
            self.1 += 1;
        }
        Ok(buffer.len())
    }
}

#[test]
fn lines_without_end_are_refused() {
    let names = Arc::new(Names::numbered(2));
    let read = |bytes, names| problem(read_records_from(BufReader::new(Endless(bytes, 0)), &small(), names));
    let (found, message) = read(b"x", Some(&names));
    assert!(matches!(found, Problem::LongLine { limit: MEGABYTE }), "{message}");
    assert_eq!(
        message,
        "line 1: the line has more than 1 MB; write one record per line, and end lines with a line feed"
    );
    // Quotes join lines.
    let open = BufReader::new(b"\"".chain(Endless(b"a\n", 0)));
    assert!(matches!(problem(read_records_from(open, &small(), Some(&names))).0, Problem::LongLine { .. }));
    assert!(matches!(read(b"\0", Some(&names)).0, Problem::Nul));
    assert!(matches!(read(b"\0", None).0, Problem::Nul));
    let (found, message) = read(b"0,1\n", None);
    assert!(matches!(found, Problem::LongText { .. }) && message.contains("more than 2 MB"), "{message}");
    let cells = problem(read_records_from(&vec![b','; 10_000_000][..], &RecordsOptions::default(), None));
    assert!(matches!(cells.0, Problem::TooManyColumns), "{}", cells.1);
    // A line may have just as much as is allowed.
    let line = format!("{}0,1\n", " ".repeat(MEGABYTE - 3));
    assert_eq!(read_records_from(line.as_bytes(), &small(), None).unwrap().records.total(), 1.0);
}

#[test]
fn a_plain_file_may_be_longer_than_what_is_unpacked() {
    let folder = std::env::temp_dir().join(format!("slopp-bounds-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (plain, zipped) = (folder.join("long.csv"), folder.join("long.csv.gz"));
    let text = "0,1\n1,1\n".repeat(MEGABYTE / 2);
    fs::write(&plain, &text).unwrap();
    let mut zip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    zip.write_all(text.as_bytes()).unwrap();
    fs::write(&zipped, zip.finish().unwrap()).unwrap();
    let limit = MEGABYTE as u64;
    assert_eq!(read_all_within(&plain, limit).unwrap().len(), text.len());
    let (found, message) = problem(read_all_within(&zipped, limit));
    assert!(matches!(found, Problem::LongText { .. }), "{message}");
    assert!(message.contains("long.csv.gz: holds more than 1 MB") && message.contains("unzip it"), "{message}");
    // Records are not kept as text.
    assert_eq!(read_records(&zipped, &small()).unwrap().total(), MEGABYTE as f64);
    if Path::new("/dev/zero").exists() {
        assert!(matches!(problem(read_model(Path::new("/dev/zero"), None)).0, Problem::Nul));
        assert!(matches!(problem(read_records(Path::new("/dev/zero"), &small())).0, Problem::Nul));
    }
    fs::remove_dir_all(folder).unwrap();
}

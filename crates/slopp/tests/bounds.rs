//! Files that are longer than they seem, or never end, are refused before they fill the memory.

use slopp::io::{Problem, ReadError, RecordsOptions, load_records, read_model, read_records, read_text};
use std::fs;
use std::io::Write;
use std::path::Path;

const MEGABYTE: usize = 1 << 20;

fn small() -> RecordsOptions {
    RecordsOptions { max_line: MEGABYTE, max_text: 2 * MEGABYTE as u64, ..RecordsOptions::default() }
}

fn problem<T>(result: Result<T, ReadError>) -> (Problem, String) {
    let error = result.err().expect("this is refused");
    let message = error.to_string();
    (*error.problem, message)
}

#[test]
fn lines_have_a_limit() {
    let line = "0".repeat(MEGABYTE + 1);
    let (found, message) = problem(read_records(line.as_bytes(), &small()));
    assert!(matches!(found, Problem::LongLine { limit: MEGABYTE }), "{message}");
    assert_eq!(
        message,
        "line 1: the line has more than 1 MB; write one record per line, and end lines with a line feed"
    );
    let cells = problem(load_records(&vec![b','; 10_000_000][..], &RecordsOptions::default()));
    assert!(matches!(cells.0, Problem::TooManyColumns), "{}", cells.1);
    // A line may have just as much as is allowed.
    let line = format!("{}0,1\n", " ".repeat(MEGABYTE - 3));
    assert_eq!(load_records(line.as_bytes(), &small()).unwrap().records.total(), 1.0);
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
    assert_eq!(read_text(&plain, Some(limit)).unwrap().len(), text.len());
    let (found, message) = problem(read_text(&zipped, Some(limit)));
    assert!(matches!(found, Problem::LongText { .. }), "{message}");
    assert!(
        message.contains("long.csv.gz: holds more than 1 MB") && message.contains("save it in a plain file"),
        "{message}"
    );
    // Records are not kept as text.
    assert_eq!(read_records(&zipped, &small()).unwrap().total(), MEGABYTE as f64);
    if Path::new("/dev/zero").exists() {
        assert!(matches!(problem(read_model(Path::new("/dev/zero"), None, &Default::default())).0, Problem::Nul));
        assert!(matches!(problem(read_records(Path::new("/dev/zero"), &small())).0, Problem::Nul));
    }
    fs::remove_dir_all(folder).unwrap();
}

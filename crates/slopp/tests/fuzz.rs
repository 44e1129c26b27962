//! A plain seeded fuzz harness: no reader may panic, whatever the bytes.
//!
//! Runs for `SLOPP_FUZZ_SECONDS` seconds per reader, by default one; the seed is in the message of a failure.

use slopp::io::*;
use slopp::{Names, Random, Vtree};
use std::sync::Arc;
use std::time::{Duration, Instant};

const WORDS: &[&str] = &[
    "0",
    "1",
    "2",
    "-1",
    "3",
    "4294967295",
    "4294967296",
    "18446744073709551616",
    "-0.5",
    "0.0",
    "1e-7",
    "nan",
    "inf",
    "-inf",
    "-Infinity",
    "L",
    "T",
    "F",
    "D",
    "I",
    "c",
    "cc",
    "psdd",
    "sdd",
    "vtree",
    "\n",
    " ",
    "\t",
    ",",
    ";",
    "|",
    "\"",
    "\r\n",
    "?",
    "NA",
    "true",
    "a",
    "\u{feff}",
    "\0",
    "é",
    "c slopp 1\n",
    "c vtree (1,2)\n",
    "c names [\"a\"]\n",
    "c counts 1\n",
    "c count 2 1 1\n",
    "c false 2 -1\n",
    "c origin {}\n",
    "(",
    ")",
    "[",
    "{",
    "\\",
    "\u{1f}\u{8b}",
];

/// A seed text, changed at random: bytes flipped, words put in, pieces cut out, doubled or moved.
fn mutated(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut text = seeds[random.below(seeds.len())].clone();
    for _ in 0..random.below(6) {
        let at = random.below(text.len() + 1);
        let end = (at + random.below(30)).min(text.len());
        match random.below(6) {
            0 if at < text.len() => text[at] = random.below(256) as u8,
            1 => drop(text.splice(at..at, WORDS[random.below(WORDS.len())].bytes())),
            2 => drop(text.drain(at..end)),
            3 => {
                let piece = text[at..end].to_vec();
                let to = random.below(text.len() + 1);
                text.splice(to..to, piece);
            }
            4 => text.truncate(at),
            _ => drop(text.splice(at..end.min(at + 1), [b'0' + random.below(10) as u8])),
        }
    }
    text
}

fn run(name: &str, seeds: &[&[u8]], read: impl Fn(&[u8]) -> bool + std::panic::RefUnwindSafe) {
    let seconds = std::env::var("SLOPP_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let seeds: Vec<Vec<u8>> = seeds.iter().map(|s| s.to_vec()).collect();
    let start = Instant::now();
    let (mut runs, mut accepted) = (0u64, 0u64);
    while start.elapsed() < Duration::from_secs_f64(seconds) {
        let text = mutated(&seeds, &mut Random::stream(1, runs));
        let began = Instant::now();
        match std::panic::catch_unwind(|| read(&text)) {
            Ok(ok) => accepted += u64::from(ok),
            Err(_) => panic!("{name}, run {runs}: panic on {:?}", String::from_utf8_lossy(&text)),
        }
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "{name}, run {runs}: slow on {:?}",
            String::from_utf8_lossy(&text)
        );
        runs += 1;
    }
    assert!(accepted > 0 && accepted < runs, "{name}: {accepted} of {runs} accepted");
}

const VTREE: &[u8] = b"c hi\nvtree 7\nL 0 1\nL 2 2\nL 4 3\nL 6 4\nI 1 0 2\nI 5 4 6\nI 3 1 5\n";
const PSDD: &[u8] = b"psdd 9\nL 0 0 -1\nT 1 6 4 -0.69\nT 2 4 3 -0.69\nT 3 2 2 -0.69\nL 4 0 1\nD 5 1 1 0 3 0.0\nD 6 5 1 2 1 0.0\nD 7 1 1 4 3 0.0\nD 8 3 2 7 6 -0.69 5 6 -0.69";
const TWO_VALUES: &[u8] = b"c\npsdd 4\nL 0 0 1 \nL 1 0 -1\nT 2 2 2 -0.5 -0.9\nD 9 1 2 0 2 -0.25 1 2 -1.5\n";
const SDD: &[u8] = b"sdd 11\nL 1 0 1\nL 3 2 -2\nL 4 4 3\nL 5 2 2\nT 6\nD 2 3 2 3 4 5 6\nL 7 0 -1\nL 9 4 -3\nF 10\nD 8 3 2 3 9 5 10\nD 0 1 2 1 2 7 8\n";

#[test]
fn vtrees() {
    run("vtree", &[VTREE, b"vtree 1\nL 0 1"], |text| read_vtree_bytes(text).is_ok());
}

#[test]
fn psdds() {
    let vtree = LoadedVtree::in_order(Vtree::balanced(4));
    run("psdd", &[PSDD, TWO_VALUES], |text| {
        let given = read_psdd_bytes(text, Some(&vtree)).is_ok();
        read_psdd_bytes(text, None).is_ok() | given
    });
}

#[test]
fn sdds() {
    let vtree = LoadedVtree::in_order(Vtree::right_linear(3));
    run("sdd", &[SDD, b"sdd 1\nT 0\n"], |text| {
        let given = read_sdd_bytes(text, Some(&vtree)).map(|sdd| sdd.to_circuit().is_ok());
        read_sdd_bytes(text, None).is_ok() | given.is_ok()
    });
}

#[test]
fn models() {
    let model = read_model_bytes(PSDD, None).unwrap().model;
    let mut ours = Vec::new();
    write_model_to(&mut ours, &model).unwrap();
    let counted = b"c slopp 1\nc vtree (1,2)\nc names [\"a\",\"b\"]\nc origin {\"seed\":\"7\"}\nc false 1 -1.0\nc counts 2\nc count 1 3 4\nc count 2 7\npsdd 3\nL 0 0 1\nT 1 2 2 -0.5\nD 2 1 1 0 1 0.0\n";
    run("model", &[&ours, PSDD, SDD, counted], |text| match read_model_bytes(text, None) {
        Err(_) => false,
        Ok(loaded) => {
            // Whatever was read can be written and read again.
            let mut bytes = Vec::new();
            write_model_to(&mut bytes, &loaded.model).unwrap();
            assert_eq!(read_model_bytes(&bytes, None).unwrap().model, loaded.model);
            true
        }
    });
}

#[test]
fn records() {
    let names = Arc::new(Names::numbered(3));
    let seeds: [&[u8]; 4] = [
        b"0,1,0\n1,1,1\n",
        b"a,b,\"c\"\n0,1,?\nTrue,no,-1\n",
        b"2|0,1,0\n0.5|1,1,1\n0,0,0\n",
        b"x1;x3;x2\r\n0;1;0\r\n",
    ];
    run("records", &seeds, |text| {
        let known = read_records_from(text, &RecordsOptions::default(), Some(&names)).is_ok();
        let forced = RecordsOptions { header: Header::Absent, missing: false, delimiter: Some(b',') };
        let _ = read_records_from(text, &forced, None);
        read_records_from(text, &RecordsOptions::default(), None).is_ok() | known
    });
}

#[test]
fn gzip() {
    let zipped = {
        use std::io::Write;
        let mut zip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        zip.write_all(b"0,1,0\n1,1,1\n").unwrap();
        zip.finish().unwrap()
    };
    run("gzip", &[&zipped], |bytes| {
        let plain = unzipped(std::io::Cursor::new(bytes.to_vec()));
        plain.is_ok_and(|text| read_records_from(text, &RecordsOptions::default(), None).is_ok())
    });
}

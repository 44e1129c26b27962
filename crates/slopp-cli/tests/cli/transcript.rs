//! Commands with their answers, and texts compared with files.

use crate::folder::Folder;
use std::fs;
use std::path::Path;

/// Commands and what they answered, as one text.
pub(crate) struct Transcript {
    pub(crate) folder: Folder,
    text: String,
}

impl Transcript {
    pub(crate) fn new(folder: Folder) -> Transcript {
        Transcript { folder, text: String::new() }
    }

    pub(crate) fn run(&mut self, args: &[&str]) {
        let outcome = self.folder.run_args(args);
        self.text += &format!("$ slopp {}\n{}{}", args.join(" "), outcome.out, outcome.err);
        if outcome.code != 0 {
            self.text += &format!("(exit code {})\n", outcome.code);
        }
        self.text += "\n";
    }

    pub(crate) fn check(self, name: &str) {
        let text: String = self.text.lines().map(|line| without_time(line) + "\n").collect();
        compare(&text, &format!("tests/snapshots/{name}.txt"));
    }
}

/// Fails where a text is not that of a file, beside this crate; or writes the file, if that is asked for.
pub(crate) fn compare(text: &str, file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("SLOPP_BLESS").is_some() {
        fs::write(&path, text).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let differ = expected.lines().zip(text.lines()).position(|(a, b)| a != b);
    let line = differ.unwrap_or_else(|| expected.lines().count().min(text.lines().count()));
    assert!(
        expected == text,
        "{file} differs in line {}:\n- {}\n+ {}\nif that is meant: SLOPP_BLESS=1 cargo test -p {}",
        line + 1,
        expected.lines().nth(line).unwrap_or("(the end)"),
        text.lines().nth(line).unwrap_or("(the end)"),
        env!("CARGO_PKG_NAME"),
    );
}

/// Times differ from run to run, and last digits from machine to machine.
fn without_time(line: &str) -> String {
    let line = &rounded(line);
    match line.split_once("\"seconds\": ") {
        Some((start, _)) => format!("{start}\"seconds\": …,"),
        None if line.starts_with("time  ") => "time …".to_owned(),
        None => line.trim_end().to_owned(),
    }
}

/// The line with at most nine decimals in every number.
fn rounded(line: &str) -> String {
    let mut text = String::new();
    let mut decimals = None;
    for c in line.chars() {
        decimals = match (c, decimals) {
            ('.', _) if text.ends_with(|c: char| c.is_ascii_digit()) => Some(0),
            ('0'..='9', Some(n)) => Some(n + 1),
            _ => None,
        };
        if decimals.is_none_or(|n| n <= 9) {
            text.push(c);
        }
    }
    text
}

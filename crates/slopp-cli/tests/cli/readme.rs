//! The commands of the README work as printed.

use crate::folder::Folder;
use std::path::Path;

#[test]
fn the_commands_of_the_readme_work() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let text = std::fs::read_to_string(readme).unwrap();
    let folder = Folder::new();
    let mut commands = 0;
    for line in text.lines().filter_map(|line| line.strip_prefix("slopp ")) {
        let words = words(line);
        folder.run_args(&words.iter().map(String::as_str).collect::<Vec<_>>()).ok();
        commands += 1;
    }
    assert!(commands >= 5, "only {commands} commands were found");
}

/// The words of a command line: blanks separate, double quotes protect, `#` begins a comment.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            '#' if !quoted && word.is_none() => break,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
